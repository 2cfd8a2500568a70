"""The application: JSON routes over a library, and the page.

Routes are plain functions, so FastAPI runs them in threads; the library computes one question at a time.
Every error has the form {"error": {"type", "message"}} and names no path of this machine.
"""

import json
import logging
import re
import sys
import time
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote
from uuid import uuid4

from fastapi import Depends, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.routing import Route

from spanwise import errors
from spanwise.types import (
    Answer,
    Document,
    Filter,
    SearchOptions,
    SummaryOptions,
)

from ...corpora.folder import MAX_BYTES, read_regular
from ...corpora.ignore import path_matcher
from ...corpora.readers.pdf import MAX_WIDTH
from ...index.pages import recognised_page
from ...models.model_files import BUILTIN
from ..folders import file_of
from ..json_records import Record as Json, answer_record, explanation_record, search_record, summary_record
from ..library.library import Library
from ..library.loaded_models import chosen_reader
from ..parsing.pool import PageDrawer
from ..plain_text import chat_text
from .queue import Queue
from .security import Access, protect
from .uploads import Uploads

MAX_QUESTION = 4_096  # characters
MAX_NAME = 512
MAX_K = 100
MAX_LISTED = 1_000
MAX_TEXT = 1_000_000  # characters of a document in one response
MAX_OFFSET = 2**53
AROUND = 400  # characters before and after a span that tell it from equal words on its PDF page
NO_JSON = "the body is not sent as JSON. Send the header Content-Type: application/json."
PRIVATE = ("index", "roots")  # keys of the status that contain paths
PAGE = Path(__file__).parent / "page"

log = logging.getLogger("spanwise.server")

PLAIN = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+$"  # no control characters other than white space

Question = Annotated[str, Field(max_length=MAX_QUESTION, pattern=PLAIN)]
Name = Annotated[str, Field(max_length=MAX_NAME, pattern=PLAIN)]
Names = Annotated[list[Name], Field(max_length=32)]
K = Annotated[int, Field(ge=1, le=MAX_K)]
Retriever = Annotated[str, Field(max_length=64, pattern=r"^[a-z0-9_]+([+-][a-z0-9_]+)*$")]
Id = Annotated[str, Query(min_length=1, max_length=MAX_NAME)]
Offset = Annotated[int, Query(ge=0, le=MAX_OFFSET)]
PathPattern = Annotated[str, Query(max_length=MAX_NAME, pattern=PLAIN)]
Width = Annotated[int, Query(ge=1, le=MAX_WIDTH)]


class Body(BaseModel):
    """A request; an unknown field is an error."""

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


class TurnBody(Body):
    """A turn of a conversation before the question; see `AskOptions.history`."""

    role: Annotated[str, Field(max_length=32)]
    content: str


History = Annotated[list[TurnBody], Field(max_length=1000)]


class SearchBody(Body):
    """A search; fields that are set replace the server's options."""

    question: Question
    history: History = []
    k: K = 10
    retriever: Retriever = ""
    dedupe: bool = True
    rerank: bool = False
    where: Where = Field(default_factory=Where)


class AskBody(SearchBody):
    """A question; `threshold` is the minimum confidence of an answer, `reader` one that the server offers."""

    k: K = 20
    reader: Name | None = None
    alternatives: Annotated[int, Field(ge=0, le=20)] = 3
    threshold: Annotated[float, Field(ge=0, le=1, strict=False)] | None = None
    read_all: bool = False


class SummaryBody(Body):
    """A summary of what answers a question, of a document, or of all documents that `where` selects."""

    question: Question | None = None
    document: Name | None = None
    max_sentences: Annotated[int, Field(ge=1, le=50)] = 5
    history: History = []
    k: K = 20
    where: Where = Field(default_factory=Where)


class ChatMessage(BaseModel):
    """A message of a chat; only text is read."""

    role: Annotated[str, Field(max_length=32)]
    content: str | list[Json] | None = None

    def text(self) -> str:
        """The words of the message."""
        parts = self.content if isinstance(self.content, list) else [{"type": "text", "text": self.content}]
        return "\n".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")


class ChatBody(BaseModel):
    """A chat completion as OpenAI clients send it; other fields are ignored.

    `model` picks one of the readers that the server offers; another name is that of its first reader.
    """

    model: str = "spanwise"
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=1000)]
    stream: bool = False
    stream_options: Json | None = None

    def question(self) -> AskBody:
        """The last message of the user, after those before it."""
        turns = [TurnBody(role=message.role, content=message.text()) for message in self.messages]
        while turns and turns[-1].role != "user":
            turns.pop()
        if not turns:
            raise ValueError("no message has the role user")
        return AskBody(question=turns.pop().content, history=turns)


class Record(JSONResponse):
    """JSON in ASCII, because a document may hold lone surrogates, which UTF-8 cannot encode."""

    def render(self, content: Any) -> bytes:
        """The body of the response."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class Routes:
    """The JSON routes. `options` and `readers` name the models that a request may use."""

    def __init__(
        self, library: Library, options: SummaryOptions, readers: Sequence[str], uploads: Uploads | None
    ) -> None:
        self._library = library
        self._uploads = uploads
        self._options = options
        self._readers = readers or [str(options.reader)]
        self._drawer = PageDrawer()
        folders = [library.store.path, Path.home(), Path.cwd(), *(root.folder for root in library.roots)]
        self.hidden = [sys.prefix, *map(str, folders)]

    async def health(self) -> Record:
        """A constant, which shows that the server runs."""
        return Record({"status": "ok"})

    def status(self) -> Record:
        """The figures of the index."""
        figures = {name: value for name, value in self._library.status().items() if name not in PRIVATE}
        models = {"retriever": self._library.default_retriever, "readers": list(self._readers)}
        uploads = {"max_bytes": MAX_BYTES} if self._uploads else None
        return Record({**figures, **models, "uploads": uploads})

    def search(self, body: SearchBody) -> Record:
        """The best passages, as `search --json`."""
        changes = self._changes(body)
        return Record(search_record(self._library.search(body.question, SearchOptions(**changes))))

    def ask(self, body: AskBody) -> Record:
        """The answer, as `ask --json`."""
        return Record(answer_record(self._library.ask(body.question, self._options, **self._changes(body))))

    def explain(self, body: AskBody) -> Record:
        """The answer and its evidence, as `ask --explain --json`."""
        explanation = self._library.explain(body.question, self._options, **self._changes(body))
        return Record(explanation_record(explanation))

    def summarize(self, body: SummaryBody) -> Record:
        """The summary, as `summarize --json`."""
        if body.document is not None:
            self._library.document(body.document)
        changes = self._changes(body)
        return Record(summary_record(self._library.summarize(body.question, self._options, **changes)))

    def documents(
        self,
        limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 100,
        offset: Offset = 0,
        path: PathPattern | None = None,
    ) -> Record:
        """`limit` documents by id, from number `offset` on; only those that match the pattern `path`."""
        is_match = path_matcher([path] if path else [])
        with self._library.reading() as snapshot:
            documents = [document for document in snapshot.descriptions() if is_match(document.id)]
        shown = [
            {"document": document.id, "title": document.title, "media_type": document.media_type}
            for document in documents[offset : offset + limit]
        ]
        return Record({"documents": shown, "total": len(documents), "offset": offset})

    def document(self, id: Id, start: Offset = 0, end: Offset = MAX_OFFSET) -> Record:
        """The text of a document from `start` to `end`, with all its headings, labels and page starts."""
        document = self._library.document(id)
        end = min(end, len(document.text), start + MAX_TEXT)
        record = {
            "document": document.id,
            "title": document.title,
            "media_type": document.media_type,
            "characters": len(document.text),
            "start": min(start, end),
            "end": end,
            "text": document.text[start:end],
            "page_starts": list(document.page_starts),
            "headings": [asdict(heading) for heading in document.headings],
            "labels": [asdict(label) for label in document.labels],
        }
        return Record(record)

    def page(
        self, id: Id, start: Offset = 0, end: Offset = 0, page: Offset = 0, width: Width = 1000
    ) -> Record:
        """A picture of the PDF page where a span starts, or of `page`, and boxes in points over the span."""
        document = self._library.document(id)
        text = document.text
        edges = [*document.page_starts, len(text)]
        number = page or max(bisect_right(document.page_starts, start), 1)
        first = edges[min(number, len(edges)) - 1]
        last = edges[min(number, len(edges) - 1)]
        start = min(max(start, first), last)
        end = min(max(end, first), last)
        near = text[start:end], text[max(first, start - AROUND) : start], text[end : min(last, end + AROUND)]
        data = self._source(document)
        recognised = recognised_page(self._library.store.path, document.metadata, number)
        pages, page_width, page_height, boxes = self._drawer.boxes(data, number, *near, recognised)
        record = {
            "document": id,
            "page": number,
            "pages": pages,
            "width": page_width,
            "height": page_height,
            "boxes": boxes,
            "png": b64encode(self._drawer.png(data, number, width)).decode(),
        }
        return Record(record)

    def file(self, id: Id) -> Response:
        """The file of a document, to be downloaded."""
        name = quote(id.rpartition("/")[2], safe="")
        headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
        return Response(
            self._source(self._library.document(id)), headers=headers, media_type="application/octet-stream"
        )

    async def put(self, request: Request) -> Response:
        """The state of a document whose file is sent; without `replace=true` its name has to be new."""
        if self._uploads is None:
            raise HTTPException(403, "this server takes no files. Start it with: --uploads FOLDER")
        replace = request.query_params.get("replace") == "true"
        return Record(await self._uploads.put(request, request.path_params["name"], replace), 201)

    def _source(self, document: Document) -> bytes:
        """The bytes that a document was read from."""
        root, place = file_of(document.id, self._library.roots)
        data = read_regular(root.folder, place) if root else b""
        if sha256(data).hexdigest() != document.sha256:
            raise errors.DocumentChanged(f"{document.id} has changed. Update the index with: spanwise index")
        return data

    def models(self) -> Record:
        """The names of models of the chat interface: that of the first reader, and all readers."""
        names = ["spanwise", *dict.fromkeys([*self._readers, BUILTIN])]
        return Record({"object": "list", "data": [{"id": name, "object": "model"} for name in names]})

    def chat(self, body: ChatBody) -> Response:
        """The answer as an OpenAI chat completion; the whole record is under the key `spanwise`."""
        asked = body.question()
        if body.model in (BUILTIN, *self._readers):
            asked.reader = body.model
        changes = self._changes(asked)
        result = self._library.ask(asked.question, self._options, **changes)
        record = {"spanwise": answer_record(result)}
        model = BUILTIN if result.failure else body.model
        head = {"id": f"chatcmpl-{uuid4().hex}", "created": int(time.time()), "model": model}
        text, marks = chat_text(result)
        usage = _usage(result, body, text)
        if body.stream:
            last = {"usage": usage} if (body.stream_options or {}).get("include_usage") is True else None
            chunks = _chunks(head, text, marks, record, last)
            return StreamingResponse(chunks, media_type="text/event-stream")
        message = {"role": "assistant", "content": text, "refusal": None, "annotations": marks}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return Record({**head, "object": "chat.completion", "choices": [choice], "usage": usage, **record})

    def _changes(self, body: SearchBody | SummaryBody) -> Json:
        """The options that a request changes."""
        changes = body.model_dump(exclude={"question", "where", "stream"}, exclude_none=True)
        if "reader" in changes:
            changes["reader"] = chosen_reader(changes["reader"], self._options, self._readers)
        changes["where"] = body.where.filter()
        changes["rerank"] = (self._options.rerank or "builtin") if changes.get("rerank") else ""
        return changes | {"retriever": changes.get("retriever") or self._options.retriever}


def _usage(answer: Answer, body: ChatBody, text: str) -> Json:
    """The tokens of the model that answered; without one, the words of the messages and of the answer."""
    n_in = sum(len(message.text().split()) for message in body.messages)
    n_out = len(text.split())
    if answer.model:
        n_in = answer.model.use.tokens_in
        n_out = answer.model.use.tokens_out
    return {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out}


def _chunks(head: Json, text: str, marks: list[Any], record: Json, last: Json | None) -> Iterator[str]:
    """The events of a streamed completion; `last` is in one without choices, as OpenAI sends the usage."""
    first: Json = {"role": "assistant", "content": text}
    for delta, finish, more in ((first, None, {}), ({"annotations": marks}, "stop", record)):
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        chunk = {**head, "object": "chat.completion.chunk", "choices": [choice], **more}
        yield f"data: {json.dumps(chunk)}\n\n"
    if last is not None:
        yield f"data: {json.dumps({**head, 'object': 'chat.completion.chunk', 'choices': [], **last})}\n\n"
    yield "data: [DONE]\n\n"


def create_app(
    library: Library,
    access: Access,
    options: SummaryOptions,
    readers: Sequence[str] = (),
    uploads: Uploads | None = None,
) -> FastAPI:
    """The application that serves an open library; it does not close it. `uploads` takes files."""
    app = FastAPI(title="spanwise", version=version("spanwise"), docs_url=None, redoc_url=None)
    queue = Queue()
    routes = Routes(library, options, readers, uploads)
    quick: dict[str, Callable[..., Any]] = {
        "/health": routes.health,
        "/api/status": routes.status,
        "/api/documents": routes.documents,
        "/api/document": routes.document,
        "/api/document/page": routes.page,
        "/api/document/file": routes.file,
        "/v1/models": routes.models,
    }
    limited: dict[str, Callable[..., Any]] = {
        "/api/search": routes.search,
        "/api/ask": routes.ask,
        "/api/explain": routes.explain,
        "/api/summarize": routes.summarize,
        "/v1/chat/completions": routes.chat,
    }
    for path, route in quick.items():
        app.get(path)(route)
    for path, route in limited.items():
        app.post(path, dependencies=[Depends(queue.slot)])(route)
    whole = [Middleware(RequestBodyLimitMiddleware, max_body_size=MAX_BYTES)]
    app.router.routes.append(
        Route("/api/documents/{name:path}", routes.put, methods=["PUT"], middleware=whole)
    )
    app.mount("/", StaticFiles(directory=PAGE, html=True))

    def answer(request: Request, error: Any) -> Record:
        status, record = error_of(error, routes.hidden, f"{request.method} {request.url.path}")
        return Record(record, status, getattr(error, "headers", None))

    for kind in (errors.SpanwiseError, ValueError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, answer)
    protect(app, access)
    return app


STATUS: dict[type[Exception], int] = {
    errors.DocumentNotFound: 404,
    errors.DocumentChanged: 409,
    errors.DocumentRejected: 422,
    errors.FilterUnknown: 400,
    errors.GenerationFailed: 502,
    errors.IndexEmpty: 503,
    errors.IndexLocked: 503,
    errors.IndexNotFound: 503,
    errors.ShardsMissing: 503,
    errors.QuestionEmpty: 400,
    errors.StorageFull: 507,
    errors.SpanwiseError: 500,
    ValueError: 400,
}


def error_of(error: Any, hidden: list[str], request: str) -> tuple[int, Json]:
    """The status of the error of a request and its record; bugs and damaged files are logged."""
    status, kind, message = _described(error)
    if status == 500:
        log.error("%s failed", request, exc_info=error)
    return status, {"error": {"type": kind, "message": redacted(message, hidden)}}


def _described(error: Any) -> tuple[int, str, str]:
    """The status, type and message of an error."""
    if isinstance(error, HTTPException):
        return error.status_code, "HttpError", error.detail
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        if isinstance(first["input"], bytes):
            return 400, "BadRequest", NO_JSON
        where = ".".join(str(part) for part in first["loc"][1:])
        is_text = first["type"] == "string_pattern_mismatch"
        reason = "empty, or has characters that are not allowed" if is_text else first["msg"]
        return 400, "BadRequest", f"{where}: {reason}".removeprefix(": ")
    status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)
    if isinstance(error, errors.SpanwiseError):
        return status, type(error).__name__, str(error)
    if status == 500:
        return status, "ServerError", "the request failed. The server's log has the reason."
    return status, "BadRequest", str(error)


_PATH = re.compile(r"(?<![\w.\"'])(?<!:/)/(?!/)[^\s'\",;:()]+")  # not of a URL


def redacted(message: str, hidden: list[str]) -> str:
    """The message in one line, with "…" for paths of this machine.

    >>> redacted("no passage 7 in the index /data/notes/.spanwise", ["/data/notes"])
    'no passage 7 in the index …'
    """
    for folder in sorted(hidden, key=len, reverse=True):
        message = message.replace(folder, "/…") if len(folder) > 1 else message
    return " ".join(_PATH.sub("…", message).split())
