"""The application: JSON routes over a library, and the page.

Routes are plain functions, so FastAPI runs them in threads; the library computes one question at a time.
Errors have one form, {"error": {"type", "message"}}, and name no path of this machine.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any
from unicodedata import category
from urllib.parse import quote
from uuid import uuid4

from fastapi import Depends, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from spanwise import errors
from spanwise.types import Answer, Document, Filter, SearchOptions, SummaryOptions

from ..explain import explanation_record
from ..library import Library
from ..records import answer_record, search_record
from ..summarize import summary_record
from .run import WatchThread
from .security import Access, protect

MAX_QUESTION = 4_096  # characters
MAX_NAME = 512
MAX_K = 100
MAX_LISTED = 1_000
MAX_TEXT = 1_000_000  # characters of a document in one response
MAX_OFFSET = 2**53
MAX_IN_FLIGHT = 8  # questions that are computed or wait for it
PAGE = Path(__file__).parent / "page"

log = logging.getLogger("spanwise.server")


def plain(text: str) -> str:
    """The text itself; ValueError for control characters other than white space, and for half surrogates.

    >>> plain("who founded the mill?")
    'who founded the mill?'
    """
    for character in text:
        if category(character) in ("Cc", "Cs") and character not in "\t\n\r":
            raise ValueError(f"contains U+{ord(character):04X}. Send plain text.")
    return text


Question = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION), AfterValidator(plain)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME), AfterValidator(plain)]
Names = Annotated[list[Name], Field(max_length=32)]
K = Annotated[int, Field(ge=1, le=MAX_K)]
Retriever = Annotated[str, Field(max_length=64, pattern=r"^[a-z0-9_]+([+-][a-z0-9_]+)*$")]
Id = Annotated[str, Query(min_length=1, max_length=MAX_NAME)]
Offset = Annotated[int, Query(ge=0, le=MAX_OFFSET)]


class Body(BaseModel):
    """A request of which every field is known."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Where(Body):
    """Which documents are searched; see `Filter`."""

    paths: Names = []
    types: Names = []
    after: Name | None = None
    before: Name | None = None
    metadata: Annotated[dict[Name, Name], Field(max_length=32)] = {}

    def filter(self) -> Filter | None:
        """The filter; None without a condition."""
        where = Filter(tuple(self.paths), tuple(self.types), self.after, self.before, self.metadata)
        return None if where == Filter() else where


class SearchBody(Body):
    """A search."""

    question: Question
    k: K = 10
    retriever: Retriever | None = None
    dedupe: bool = True
    rerank: bool = False
    where: Where = Field(default_factory=Where)


class AskBody(SearchBody):
    """A question; `threshold` is the minimum confidence of an answer."""

    k: K = 20
    alternatives: Annotated[int, Field(ge=0, le=20)] = 3
    threshold: Annotated[float, Field(ge=0, le=1, strict=False)] | None = None
    read_all: bool = False


class SummaryBody(Body):
    """A summary of what answers a question, of a document, or of all documents that `where` selects."""

    question: Question | None = None
    document: Name | None = None
    max_sentences: Annotated[int, Field(ge=1, le=50)] = 5
    strict: bool = False
    k: K = 20
    where: Where = Field(default_factory=Where)


class ChatMessage(BaseModel):
    """A message of a chat; only text is read."""

    role: Annotated[str, Field(max_length=32)]
    content: str | list[dict[str, Any]] | None = None

    def text(self) -> str:
        """Its words."""
        parts = self.content if isinstance(self.content, list) else [{"type": "text", "text": self.content}]
        return "\n".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")


class ChatBody(BaseModel):
    """A chat completion as OpenAI clients send it; other fields are ignored."""

    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=1000)]
    stream: bool = False

    def question(self) -> AskBody:
        """The last message of the user."""
        said = [message.text() for message in self.messages if message.role == "user"]
        if not said:
            raise ValueError("no message has the role user")
        return AskBody(question=said[-1])


class Record(JSONResponse):
    """JSON in ASCII: a document may hold half surrogates, which UTF-8 cannot."""

    def render(self, content: Any) -> bytes:
        """The bytes."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


async def slot(request: Request) -> AsyncIterator[None]:
    """A place among the questions in progress; 503 when all are taken."""
    state = request.app.state
    if state.in_flight >= MAX_IN_FLIGHT:
        raise HTTPException(503, "too many questions at the same time. Try again.", {"retry-after": "1"})
    state.in_flight += 1
    try:
        yield
    finally:
        state.in_flight -= 1


class Routes:
    """The JSON routes. `options` name the models, which no request can change."""

    def __init__(self, library: Library, options: SummaryOptions, watch: WatchThread | None = None) -> None:
        self._library, self._options, self._watch = library, options, watch
        self.hidden = [str(library.store.path), *(str(root.folder) for root in library.roots)]
        self.hidden += [str(Path.home()), str(Path.cwd()), sys.prefix]

    async def health(self) -> Record:
        """That the server runs."""
        watch = {} if self._watch is None else {"watch": redacted(self._watch.state, self.hidden)}
        return Record({"status": "ok", **watch})

    def status(self) -> Record:
        """What the index holds."""
        found = dict(self._library.status())
        for private in ("index", "roots"):
            del found[private]
        return Record({**found, "retriever": self._library.default_retriever})

    def search(self, body: SearchBody) -> Record:
        """The best passages, as `search --json`."""
        changes = self._changes(body)
        hits = self._library.search(body.question, SearchOptions(**changes))
        scope = self._library.scope(changes["where"]) if changes["where"] else None
        return Record(search_record(body.question, changes["retriever"], hits, scope))

    def ask(self, body: AskBody) -> Record:
        """The answer, as `ask --json`."""
        return Record(answer_record(self._answer(body)))

    def explain(self, body: AskBody) -> Record:
        """The answer and its evidence, as `ask --explain --json`."""
        changes = self._ask_changes(body)
        return Record(explanation_record(self._library.explain(body.question, self._options, **changes)))

    def summarize(self, body: SummaryBody) -> Record:
        """The summary, as `summarize --json`."""
        if body.document is not None:
            self._known(body.document)
        given = body.model_dump(exclude={"where", "question"})
        options = replace(self._options, rerank="", where=body.where.filter(), **given)
        return Record(summary_record(self._library.summarize(body.question, options)))

    def documents(
        self,
        limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 100,
        offset: Offset = 0,
    ) -> Record:
        """`limit` documents by id, from number `offset` on."""
        with self._library.reading() as snapshot:
            found = snapshot.descriptions()
        shown = [
            {"document": one.id, "title": one.title, "media_type": one.media_type}
            for one in found[offset : offset + limit]
        ]
        return Record({"documents": shown, "total": len(found), "offset": offset})

    def document(
        self,
        id: Id,
        start: Offset = 0,
        end: Annotated[int | None, Query(ge=0, le=MAX_OFFSET)] = None,
    ) -> Record:
        """The text of a document from `start` to `end`, with all its headings, labels and page starts."""
        found = self._known(id)
        end = min(len(found.text) if end is None else end, len(found.text), start + MAX_TEXT)
        return Record(
            {
                "document": found.id,
                "title": found.title,
                "media_type": found.media_type,
                "metadata": dict(found.metadata),
                "characters": len(found.text),
                "start": min(start, end),
                "end": end,
                "text": found.text[start:end],
                "page_starts": list(found.page_starts),
                "headings": [{"start": h.start, "level": h.level, "text": h.text} for h in found.headings],
                "labels": [{"start": one.start, "text": one.text} for one in found.labels],
            }
        )

    def models(self) -> Record:
        """The model names of the chat interface: one."""
        return Record({"object": "list", "data": [{"id": "spanwise", "object": "model"}]})

    def chat(self, body: ChatBody) -> Response:
        """The answer as an OpenAI chat completion; the whole record is under the key `spanwise`."""
        answer = self._answer(body.question())
        head = {"id": f"chatcmpl-{uuid4().hex}", "created": 0, "model": "spanwise"}
        text, marks = chat_text(answer)
        record = {"spanwise": answer_record(answer)}
        if body.stream:
            return StreamingResponse(_chunks(head, text, marks, record), media_type="text/event-stream")
        message = {"role": "assistant", "content": text, "refusal": None, "annotations": marks}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return Record({**head, "object": "chat.completion", "choices": [choice], **record})

    def _answer(self, body: AskBody) -> Answer:
        return self._library.ask(body.question, self._options, **self._ask_changes(body))

    def _ask_changes(self, body: AskBody) -> dict[str, Any]:
        names = ("alternatives", "threshold", "read_all")
        return {**self._changes(body), **{name: getattr(body, name) for name in names}}

    def _changes(self, body: SearchBody) -> dict[str, Any]:
        retriever = body.retriever or self._options.retriever or self._library.default_retriever
        rerank = (self._options.rerank or "builtin") if body.rerank else ""
        where, dedupe = body.where.filter(), body.dedupe
        return {"k": body.k, "retriever": retriever, "dedupe": dedupe, "where": where, "rerank": rerank}

    def _known(self, document_id: str) -> Document:
        try:
            return self._library.document(document_id)
        except ValueError:
            raise errors.DocumentNotFound(f"no document has the id {document_id!r}") from None


def chat_text(answer: Answer) -> tuple[str, list[dict[str, Any]]]:
    """The sentence that answers with its citation mark, and the citation as OpenAI clients know it."""
    if answer.best is None:
        nearest = ", ".join(dict.fromkeys(hit.passage.document_id for hit in answer.nearest))
        return f"The answer is not in these documents.{f' Nearest: {nearest}.' if nearest else ''}", []
    text, span = " ".join(answer.best.sentence.text.split()), answer.best.span
    url = f"{quote(span.document_id)}#char={span.start},{span.end}"  # RFC 5147
    place = {"start_index": len(text) + 1, "end_index": len(text) + 4, "title": span.document_id, "url": url}
    return f"{text} [1]", [{"type": "url_citation", "url_citation": place}]


def _chunks(head: dict[str, Any], text: str, marks: list[Any], record: dict[str, Any]) -> Iterator[str]:
    first: dict[str, Any] = {"role": "assistant", "content": text}
    for delta, finish, more in ((first, None, {}), ({"annotations": marks}, "stop", record)):
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        chunk = {**head, "object": "chat.completion.chunk", "choices": [choice], **more}
        yield f"data: {json.dumps(chunk)}\n\n"
    yield "data: [DONE]\n\n"


def create_app(
    library: Library,
    access: Access | None = None,
    options: SummaryOptions | None = None,
    watch: WatchThread | None = None,
) -> FastAPI:
    """The application that serves an open library; it does not close it."""
    app = FastAPI(
        title="spanwise",
        version=version("spanwise"),
        description="Question answering over documents. Every answer is an exact quote with its location.",
        docs_url=None,
        redoc_url=None,
    )
    app.state.in_flight = 0
    routes, busy = Routes(library, options or SummaryOptions(), watch), [Depends(slot)]
    app.get("/health")(routes.health)
    app.get("/api/status")(routes.status)
    app.get("/api/documents")(routes.documents)
    app.get("/api/document")(routes.document)
    app.post("/api/search", dependencies=busy)(routes.search)
    app.post("/api/ask", dependencies=busy)(routes.ask)
    app.post("/api/explain", dependencies=busy)(routes.explain)
    app.post("/api/summarize", dependencies=busy)(routes.summarize)
    app.get("/v1/models")(routes.models)
    app.post("/v1/chat/completions", dependencies=busy)(routes.chat)
    app.mount("/", StaticFiles(directory=PAGE, html=True))
    _handle_errors(app, routes.hidden)
    protect(app, access or Access())
    return app


STATUS: dict[type[Exception], int] = {
    errors.DocumentNotFound: 404,
    errors.DocumentChanged: 409,
    errors.DocumentRejected: 422,
    errors.FilterUnknown: 400,
    errors.IndexEmpty: 503,
    errors.IndexLocked: 503,
    errors.IndexNotFound: 503,
    errors.SpanwiseError: 500,
    ValueError: 400,
}


def _handle_errors(app: FastAPI, hidden: list[str]) -> None:
    def response(status: int, kind: str, message: str, headers: Any = None) -> Record:
        return Record({"error": {"type": kind, "message": redacted(message, hidden)}}, status, headers)

    def on_known(request: Request, error: Exception) -> Record:
        status = next(status for kind, status in STATUS.items() if isinstance(error, kind))
        if status == 500:
            log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        kind = type(error).__name__ if isinstance(error, errors.SpanwiseError) else "BadRequest"
        return response(status, kind, str(error))

    def on_http(request: Request, error: Any) -> Record:
        return response(error.status_code, "HttpError", error.detail, error.headers)

    def on_invalid(request: Request, error: Any) -> Record:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        return response(400, "BadRequest", f"{where}: {first['msg']}".removeprefix(": "))

    def on_bug(request: Request, error: Exception) -> Record:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return response(500, "ServerError", "the request failed. The server's log has the reason.")

    app.add_exception_handler(errors.SpanwiseError, on_known)
    app.add_exception_handler(ValueError, on_known)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(Exception, on_bug)


_PATH = re.compile(r"(?<![\w.\"'])/[^\s'\",;:()]+")


def redacted(message: str, hidden: list[str]) -> str:
    """The message in one line, with "…" for paths of this machine.

    >>> redacted("no passage 7 in the index /data/notes/.spanwise", ["/data/notes"])
    'no passage 7 in the index …'
    """
    for folder in sorted(hidden, key=len, reverse=True):
        message = message.replace(folder, "/…") if len(folder) > 1 else message
    return " ".join(_PATH.sub("…", message).split())
