"""Whether the server lives, what it counted, and what its index holds. None of it needs a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from ...status import advice, cache_record
from ..responses import Record
from ..service import Service, service_of

router = APIRouter()
SYNC = "spanwise index"
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/health")
async def health(service: Annotated[Service, Depends(service_of)]) -> Record:
    """That the server answers; "draining" once it was told to stop. With --watch, how the watching goes."""
    watching = {} if service.watch is None else {"watching": service.watch.state.name}
    return Record({"status": "draining" if service.is_draining else "ok", **watching})


@router.get("/metrics")
async def metrics(service: Annotated[Service, Depends(service_of)]) -> Response:
    """Figures in the text format of Prometheus."""
    return Response(service.metrics.text(), media_type=METRICS_TYPE)


@router.get("/api/status")
async def status(service: Annotated[Service, Depends(service_of)]) -> Record:
    """What the index holds, as `status --json` has it, without paths of the machine."""

    def read() -> dict[str, Any]:
        found = dict(service.shelf.status())
        roots = [{"label": root["label"], "there": root["there"]} for root in found.pop("roots")]
        path = Path(found.pop("index"))
        told = advice({**found, "roots": [{**root, "folder": root["label"]} for root in roots]}, SYNC)
        return {
            **found,
            "roots": roots,
            "cache": cache_record(path, service.library.is_caching),
            "retriever": service.shelf.default_retriever,
            "watching": None if service.watch is None else str(service.watch.state),
            "advice": told,
        }

    return Record(await service.looked_up(lambda snapshot: read()))
