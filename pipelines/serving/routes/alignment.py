"""How similar each token of a question is to each token of a passage."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import Field

from ..faults import Refused
from ..requests import Question, Strict
from ..responses import Record
from ..service import Service, service_of
from .documents import MOST_ID

router = APIRouter(prefix="/api")
NO_TOKENS = "this index keeps no token vectors; they are made with: spanwise index --colbert builtin"
POOLED = "several tokens share a vector in this index, so that none can be told to have matched"


class AlignmentRequest(Strict):
    """The body: a question, and a passage by its id."""

    question: Question
    passage: Annotated[int, Field(ge=1, le=MOST_ID)]


@router.post("/alignment")
async def alignment(asked: AlignmentRequest, service: Annotated[Service, Depends(service_of)]) -> Record:
    """The tokens of both, and the inner product of each pair; 409 where there are no vectors of tokens."""
    from ...explaining.alignment import alignment_record

    question, setting = service.checked_length(asked.question), service.library.colbert
    if setting is None:
        raise Refused(409, "NoTokenVectors", NO_TOKENS)
    if setting.pool > 1:
        raise Refused(409, "NoTokenVectors", POOLED)

    def compute() -> dict[str, Any]:
        return alignment_record(service.library.alignment(question, asked.passage))

    return Record(await service.alone(compute))
