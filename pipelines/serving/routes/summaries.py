"""Summaries."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from ...summarize import summary_record
from ..faults import Refused
from ..requests import SummarizeRequest
from ..responses import Record
from ..service import Service, service_of
from .questions import known_document, ranking_of

router = APIRouter(prefix="/api")
MAX_SENTENCES = {"short": 2, "medium": 5, "long": 10}


@router.post("/summarize")
async def summarize(asked: SummarizeRequest, service: Annotated[Service, Depends(service_of)]) -> Record:
    """A summary, as `summarize --json` prints it."""
    if asked.question is not None and asked.document is not None:
        raise Refused(400, "BadRequest", "a question is answered from all documents: give one of the two")
    k = service.checked_k(asked.k)
    if asked.question is not None:
        service.checked_length(asked.question)
    if asked.document is not None:
        document = asked.document
        await service.looked_up(lambda snapshot: known_document(snapshot, document))
    where, name, model = await ranking_of(asked, service)
    given = {
        "document": asked.document,
        "max_sentences": MAX_SENTENCES[asked.length],
        "generator": service.settings.generator,
        "strict": asked.strict,
        "k": k,
        "retriever": name or "",
        "dedupe": asked.group,
        "where": where,
        "rerank": model or "",
        "rerank_depth": service.settings.rerank_depth,
    }
    return Record(
        await service.alone(lambda: summary_record(service.library.summarize(asked.question, **given)))
    )
