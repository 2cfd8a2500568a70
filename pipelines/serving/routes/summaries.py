"""Summaries, whole or sentence by sentence."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Generator
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from ..events import Stepped, event, stream
from ..faults import Refused, fault_of, is_of_the_server, timed_out
from ..guards.observer import DEADLINE
from ..requests import SummarizeRequest
from ..responses import Record
from ..service import Service, service_of
from .questions import known_document, ranking_of

if TYPE_CHECKING:
    from ...summarizing.summary import Summary, SummarySentence

router = APIRouter(prefix="/api")
T = TypeVar("T")
log = logging.getLogger("spanwise.serving")
Sentences = Generator["SummarySentence", None, "Summary"]


@router.post("/summarize")
async def summarize(
    asked: SummarizeRequest, request: Request, service: Annotated[Service, Depends(service_of)]
) -> Response:
    """A summary as `summarize --json` has it; with `stream` each sentence when it has been checked.

    A stream holds events `sentence`, and at its end one `summary`. Without it the text is not whole; `error`
    says why.
    """
    begin = await _begun(asked, service)
    if asked.stream:
        return stream(_streamed(service, begin(), request.scope[DEADLINE]))
    return Record(await service.alone(lambda: _whole(begin())))


async def _begun(asked: SummarizeRequest, service: Service) -> Any:
    if asked.question is not None and asked.document is not None:
        raise Refused(400, "BadRequest", "a question is answered from all documents: give one of the two")
    k = service.checked_k(asked.k)
    if asked.question is not None:
        service.checked_length(asked.question)
    if asked.document is not None:
        document = asked.document
        await service.looked_up(lambda snapshot: known_document(snapshot, document))
    where, name, model = await ranking_of(asked, service)
    given = (asked.length, service.settings.writing, asked.strict, k, name, asked.group, where, model)

    def begin() -> Sentences:
        depth = service.settings.rerank_depth
        return service.library.summary_sentences(asked.question, asked.document, *given, depth)

    return begin


def _whole(sentences: Sentences) -> dict[str, Any]:
    from ...summarizing.record import summary_record
    from ...summarizing.summarize import exhausted

    return summary_record(exhausted(sentences))


async def _streamed(service: Service, sentences: Sentences, deadline: float) -> AsyncIterator[bytes]:
    from ...summarizing.record import sentence_record, summary_record

    pieces = Stepped(service, sentences)
    try:
        while (sentence := await _before(deadline, anext(pieces, None))) is not None:
            yield event("sentence", await service.placed(sentence_record(sentence)))
        yield event("summary", await service.placed(summary_record(pieces.returned)))
    except Exception as error:
        is_late = isinstance(error, TimeoutError)
        fault = timed_out(service.settings.request_s) if is_late else fault_of(error, service.hidden)
        if is_of_the_server(fault):
            log.exception("a summary was broken off")
        yield event("error", fault.record()["error"])


async def _before(deadline: float, piece: Awaitable[T]) -> T:
    """The piece; TimeoutError when it does not come before the deadline."""
    async with asyncio.timeout_at(deadline):
        return await piece
