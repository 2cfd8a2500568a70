"""The tools: what each is called and takes, what it computes, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spanwise.types import SearchOptions

from ...corpora.path_patterns import path_matcher
from ..library import Library
from ..folders import resolve_document_id
from ..records import answer_record, search_record
from ..status import file_records
from ..summarizing.record import summary_record
from . import arguments, schemas
from .quoted import DATA, in_one_line, quoted
from .settings import Settings
from .told import told_answer, told_hits, told_summary
from .window import window, window_record


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool gives back: a record of plain values, and the same in words."""

    record: dict[str, Any]
    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its name, what a model reads about it, its arguments, its output, and what it does."""

    name: str
    title: str
    description: str
    arguments: type[arguments.Arguments]
    output: schemas.Schema
    call: Callable[[Library, Settings, Any], Result]


def search(library: Library, settings: Settings, given: arguments.Search) -> Result:
    """The best passages for a question."""
    where, name = given.filter(), _retriever(library, settings, given)
    rerank = settings.rerank if given.rerank else ""
    options = SearchOptions(given.k, name, rerank, settings.rerank_depth, given.group, where)
    hits = library.search(given.question, options)
    scope = library.scope(where) if where else None
    return Result(search_record(given.question, name, hits, scope), told_hits(hits, scope))


def ask(library: Library, settings: Settings, given: arguments.Ask) -> Result:
    """The answer to a question as a span, or none."""
    answer = library.ask(
        given.question,
        k=given.k,
        retriever=_retriever(library, settings, given),
        reader=settings.reader,
        alternatives=given.alternatives,
        threshold=given.threshold,
        dedupe=given.group,
        where=given.filter(),
        rerank=settings.rerank if given.rerank else "",
        rerank_depth=settings.rerank_depth,
        read_all=given.read_all,
    )
    return Result(answer_record(answer), told_answer(answer))


def summarize(library: Library, settings: Settings, given: arguments.Summarize) -> Result:
    """A summary whose sentences cite the spans that carry them."""
    document = given.document
    if document is not None:
        with library.reading() as snapshot:
            document = resolve_document_id(document, set(snapshot.document_ids()))
    summary = library.summarize(
        given.question,
        document,
        given.length,
        settings.writing,
        given.strict,
        given.k,
        _retriever(library, settings, given),
        given.group,
        given.filter(),
        settings.rerank if given.rerank else "",
        settings.rerank_depth,
    )
    return Result(summary_record(summary), told_summary(summary))


def read_passage(library: Library, settings: Settings, given: arguments.ReadPassage) -> Result:
    """A passage or a window of a document."""
    record = window_record(window(library, given))
    page = f"page {record['page']}, " if record["page"] else ""
    where = f"{page}line {record['line']}, characters {record['start']}-{record['end']}"
    told = f"{in_one_line(record['document'])}, {where} of {record['characters']}"
    return Result(record, f"{DATA}\n\n{told}\n{quoted(record['text'])}")


def list_documents(library: Library, settings: Settings, given: arguments.ListDocuments) -> Result:
    """The documents by id, and the files that could not be read."""
    records = file_records(library)
    if given.path is not None:
        kept = set(filter(path_matcher([given.path]), (one["document"] for one in records)))
        records = [one for one in records if one["document"] in kept]
    shown = records[given.offset : given.offset + given.limit]
    lines = [in_one_line("  ".join(filter(None, _line(one)))) for one in shown]
    head = f"{len(shown)} of {len(records)} files, from number {given.offset}. {DATA}"
    record = {"documents": shown, "total": len(records), "offset": given.offset}
    return Result(record, "\n".join([head, *(f"> {line}" for line in lines)]))


def status(library: Library, settings: Settings, given: arguments.Status) -> Result:
    """Figures of the index."""
    full = library.status()
    record = {name: full[name] for name in STATUS_KEYS}
    record |= {"retriever": settings.retriever or library.default_retriever}
    formats = ", ".join(f"{count} {name}" for name, count in record["formats"].items())
    told = [
        f"{record['documents']} documents in {record['passages']} passages: {formats}",
        f"last commit {record['last_commit']}, generation {record['generation']}",
        f"searched by {record['retriever']}",
    ]
    return Result(record, "\n".join(told))


STATUS_KEYS = (
    *("generation", "last_commit", "documents", "passages", "vectors", "missing_vectors", "model"),
    *("colbert", "beyond_window", "formats", "remarks", "rejected", "skipped"),
)

TOOLS: tuple[Tool, ...] = (
    Tool(
        "search",
        "Search the documents",
        "The passages of the indexed documents that come nearest to a question, best first, each with the "
        "file, page or line, headings and character offsets at which it stands.",
        arguments.Search,
        schemas.SEARCH,
        search,
    ),
    Tool(
        "ask",
        "Ask the documents",
        "The exact words of a document that answer a question, with the place and a calibrated confidence; "
        "or that the answer is not in these documents, with what came near. Nothing is made up.",
        arguments.Ask,
        schemas.ANSWER,
        ask,
    ),
    Tool(
        "read_passage",
        "Read a passage or a part of a document",
        "The words of a passage by its number, as search gives it, or those of a document from one character "
        f"to another, at most {arguments.WINDOW_CHARACTERS:,} at once: to see what stands around a hit.",
        arguments.ReadPassage,
        schemas.WINDOW,
        read_passage,
    ),
    Tool(
        "summarize",
        "Summarize what the documents say",
        "Sentences that sum up what the documents say to a question, what one document says, or, with "
        "neither, what all say. Each cites the spans that carry it.",
        arguments.Summarize,
        schemas.SUMMARY,
        summarize,
    ),
    Tool(
        "list_documents",
        "List the documents",
        "The ids of the documents, their format, and the files that could not be read and why.",
        arguments.ListDocuments,
        schemas.DOCUMENTS,
        list_documents,
    ),
    Tool(
        "status",
        "Figures of the index",
        "How many documents and passages there are, of which formats, and when they were last brought up to "
        "date.",
        arguments.Status,
        schemas.STATUS,
        status,
    ),
)


def _retriever(library: Library, settings: Settings, given: arguments.Searching) -> str:
    return given.retriever or settings.retriever or library.default_retriever


def _line(record: dict[str, str]) -> tuple[str, ...]:
    state = record["state"] if record["state"] != "indexed" else ""
    return record["document"], record["format"], state, record["remark"]
