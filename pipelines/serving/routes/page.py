"""The page: files of this package, by names from a list; a request never becomes a path."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter
from fastapi.responses import Response

from ..faults import Refused

router = APIRouter(include_in_schema=False)
TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
INDEX = "index.html"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def _read() -> dict[str, tuple[bytes, str]]:
    """The files of the page with their types, by name; read once, when the server starts."""
    folder = files("spanwise.pipelines.serving").joinpath("page")
    kinds = ((each.name, each.name.rpartition(".")[2], each) for each in folder.iterdir())
    return {name: (each.read_bytes(), TYPES[kind]) for name, kind, each in kinds if kind in TYPES}


FILES = _read()


@router.get("/")
async def index() -> Response:
    """The page itself."""
    return await file(INDEX)


@router.get("/page/{name}")
async def file(name: str) -> Response:
    """A file of the page; Refused for any other name."""
    if name not in FILES:
        raise Refused(404, "NotFound", "the page has no such file")
    content, kind = FILES[name]
    return Response(content, media_type=kind, headers={"cache-control": "no-cache"})
