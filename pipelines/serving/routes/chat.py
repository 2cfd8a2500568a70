"""The chat of OpenAI's interface: the last message is the question, the answer cites where it stands.

Of a conversation only the last message of the user is read. The text is the sentence that carries the answer
with its marks, "[1]"; the citations are data beside it: `annotations` of the message, and the whole record of
the answer under the key `spanwise`.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi import APIRouter, Depends
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from spanwise.types import Answer

from ...ask import checked_question
from ...records import answer_record
from ...summarizing.record import summary_record
from ..citations import chat_text, url_citations
from ..events import data, stream
from ..faults import Refused
from ..requests import Asking, plain
from ..responses import Record
from ..service import Service, service_of
from .questions import answered

router = APIRouter(prefix="/v1")
MODEL: Literal["spanwise"] = "spanwise"
Served = Annotated[Service, Depends(service_of)]


class Part(BaseModel):
    """A part of a message; only text is read."""

    type: str
    text: str = ""


class Message(BaseModel):
    """A message of the conversation."""

    model_config = ConfigDict(extra="ignore")
    role: Annotated[str, Field(max_length=32)]
    content: str | list[Part] | None = None

    def words(self) -> str:
        """Its text."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class ChatRequest(BaseModel):
    """What is read of a request; fields of OpenAI's that mean nothing here are passed over.

    `spanwise` are options as for asking: k, retriever, where, …
    """

    model_config = ConfigDict(extra="ignore")
    model: Literal["spanwise"] = MODEL
    messages: Annotated[list[Message], Field(min_length=1, max_length=1000)]
    stream: bool = False
    n: Literal[1] | None = None
    spanwise: Asking = Asking()

    def question(self) -> str:
        """The last message of the user; Refused when there is none, or nothing in it."""
        said = [one.words() for one in self.messages if one.role == "user"]
        if not said:
            raise Refused(400, "BadRequest", "no message has the role user")
        try:
            return checked_question(plain(said[-1]))
        except ValueError as error:
            raise Refused(400, "BadRequest", str(error)) from None


@router.get("/models")
async def models() -> Record:
    """The one model there is."""
    return Record({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": MODEL}]})


@router.post("/chat/completions")
async def completions(asked: ChatRequest, service: Served) -> Response:
    """The answer as a chat completion, whole or as a stream of chunks."""

    def record(answer: Answer) -> dict[str, Any]:
        return {"answer": answer_record(answer), "written": summary_record(service.library.written(answer))}

    found = await answered(asked.spanwise, asked.question(), service, record, "chat")
    head = {"id": f"chatcmpl-{uuid4().hex}", "created": int(time.time()), "model": MODEL}
    text = chat_text(found["written"])
    marks = url_citations(text, found["written"])
    if asked.stream:
        return stream(_chunks(head, text, marks, found))
    message = {"role": "assistant", "content": text, "refusal": None, "annotations": marks}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return Record({**head, "object": "chat.completion", "choices": [choice], "spanwise": found["answer"]})


async def _chunks(
    head: dict[str, Any], text: str, marks: list[dict[str, Any]], found: dict[str, Any]
) -> AsyncIterator[bytes]:
    def chunk(delta: dict[str, Any], ended: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": ended, "logprobs": None}
        return data({**head, "object": "chat.completion.chunk", "choices": [choice], **more})

    yield chunk({"role": "assistant", "content": ""})
    yield chunk({"content": text})
    yield chunk({"annotations": marks}, "stop", spanwise=found["answer"])
    yield b"data: [DONE]\n\n"
