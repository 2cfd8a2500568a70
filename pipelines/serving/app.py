"""The application: routes behind guards, each error in one form."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from spanwise.errors import SpanwiseError

from ..library import Library
from .faults import Fault, Refused, fault_of, is_of_the_server
from .guards.body import BodyGuard
from .guards.flight import FlightGuard
from .guards.headers import HeaderGuard
from .guards.host import HostGuard
from .guards.observer import Observer
from .guards.origin import OriginGuard
from .guards.token import TokenGuard
from .index_watch import IndexWatch
from .responses import fault_response
from .routes import chat, documents, health, page, pdf_pages, questions, summaries
from .service import Service
from .settings import Settings

log = logging.getLogger("spanwise.serving")

# Those of the page's own data stand in modules of their own; add them here.
ROUTERS = (
    health.router,
    questions.router,
    summaries.router,
    documents.router,
    chat.router,
    page.router,
    pdf_pages.router,
)


def create_app(library: Library, settings: Settings, watch: IndexWatch | None = None) -> FastAPI:
    """The application that serves a library, and tells how its `watch` goes; it closes neither."""
    service = Service(library, settings, watch)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        looking = asyncio.create_task(service.keep_current())
        yield
        looking.cancel()
        service.close()
        if service.is_stuck:
            log.warning("a computation went on for more than %g s and was given up", settings.shutdown_s)

    app = FastAPI(
        title="spanwise",
        version=version("spanwise"),
        description="Answers from a folder of documents, each one a span of a source file.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service = service
    for router in ROUTERS:
        app.include_router(router)
    for kind in (Refused, SpanwiseError, ValueError, MemoryError):
        app.add_exception_handler(kind, _told)
    app.add_exception_handler(HTTPException, _told_of_http)
    app.add_exception_handler(RequestValidationError, _told_of_body)
    _guard(app, service, settings)
    return app


def _guard(app: FastAPI, service: Service, settings: Settings) -> None:
    """Puts the guards around the routes, the innermost first."""
    app.add_middleware(FlightGuard, service=service)
    app.add_middleware(BodyGuard, settings=settings)
    app.add_middleware(TokenGuard, settings=settings)
    app.add_middleware(OriginGuard, settings=settings)
    app.add_middleware(HostGuard, settings=settings)
    app.add_middleware(Observer, service=service)
    app.add_middleware(HeaderGuard)


async def _told(request: Request, error: Exception) -> Response:
    service: Service = request.app.state.service
    fault = fault_of(error, service.hidden)
    if is_of_the_server(fault):
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return fault_response(fault)


async def _told_of_http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    known = {404: ("NotFound", "there is no such route"), 405: ("MethodNotAllowed", "not with this method")}
    return fault_response(Fault(status, *known.get(status, ("BadRequest", "the request is malformed"))))


async def _told_of_body(request: Request, error: Exception) -> Response:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    where = ".".join(str(part) for part in first.get("loc", ())[1:])
    message = str(first.get("msg", "the request is malformed")).removeprefix("Value error, ")
    return fault_response(Fault(400, "BadRequest", f"{where}: {message}" if where else message))
