"""Searching, asking and explaining."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends

from spanwise.errors import DocumentNotFound
from spanwise.types import Answer, AskOptions, Filter, SearchOptions

from ....index.snapshot import Snapshot
from ...records import answer_record, search_record
from ...models import split_rerank
from ..requests import Asking, AskRequest, Ranked, SearchRequest
from ..responses import Record
from ..service import Service, service_of

router = APIRouter(prefix="/api")
Served = Annotated[Service, Depends(service_of)]


@router.post("/search")
async def search(asked: SearchRequest, service: Served) -> Record:
    """The passages that come nearest, as `search --json` has them."""
    k, question = service.checked_k(asked.k), service.checked_length(asked.question)
    where, name, model = await ranking_of(asked, service)
    library, depth = service.library, service.settings.rerank_depth
    options = SearchOptions(k, name or "", model or "", depth, asked.group, where)

    def many(questions: Sequence[str]) -> list[dict[str, Any]]:
        found = library.search_many(questions, options)
        scope, used = library.scope(where) if where else None, name or library.default_retriever
        used += "+rerank" if model else ""
        return [search_record(*row, scope) for row in zip(questions, [used] * len(found), found, strict=True)]

    return Record(await service.batched("search", options_of(asked), many, question))


@router.post("/ask")
async def ask(asked: AskRequest, service: Served) -> Record:
    """The answer as a span, or that it is not there, as `ask --json` has it."""
    return Record(await answered(asked, asked.question, service, answer_record, "ask"))


@router.post("/explain")
async def explain(asked: AskRequest, service: Served) -> Record:
    """The answer and what it rests on, as `ask --explain --json` has it."""
    from ...explain import explanation_record

    k, question = service.checked_k(asked.k), service.checked_length(asked.question)
    options = await ask_options(asked, service, k)

    def compute() -> dict[str, Any]:
        explained = service.library.explain(question, options)
        return {**answer_record(explained.answer), "explanation": explanation_record(explained)}

    return Record(await service.alone(compute))


async def answered(asked: Asking, question: str, service: Service, record: Any, verb: str) -> Any:
    """What `record` makes of the answer; questions of the same verb and options are read together."""
    k, question = service.checked_k(asked.k), service.checked_length(question)
    options = await ask_options(asked, service, k)

    def many(questions: Sequence[str]) -> list[Any]:
        answers = service.library.ask_many(questions, options)
        return [_counted(answer, record, service) for answer in answers]

    return await service.batched(verb, options_of(asked), many, question)


def _counted(answer: Answer, record: Any, service: Service) -> Any:
    service.metrics.observe_answer(answer.best is not None)
    return record(answer)


async def ask_options(asked: Asking, service: Service, k: int) -> AskOptions:
    """The options of a question that is answered."""
    where, name, model = await ranking_of(asked, service)
    return AskOptions(
        k=k,
        retriever=name or "",
        rerank=model or "",
        rerank_depth=service.settings.rerank_depth,
        dedupe=asked.group,
        where=where,
        reader=service.settings.reader,
        threshold=asked.threshold,
        alternatives=asked.alternatives,
        read_all=asked.read_all,
    )


async def ranking_of(asked: Ranked, service: Service) -> tuple[Filter | None, str | None, str | None]:
    """The filter, the retriever below, and the model that re-ranks; a wrong filter is told at once."""
    where = asked.filter
    if where is not None:
        await service.looked_up(lambda snapshot: service.shelf.scope(where))
    if asked.retriever is None:
        return where, None, service.settings.rerank if asked.rerank else None
    below, reranking = split_rerank(asked.retriever)
    return where, below, service.settings.rerank if asked.rerank or reranking else None


def options_of(asked: Ranked) -> str:
    """All that was asked for but the question, as one key."""
    return asked.model_dump_json(exclude={"question"})


def known_document(snapshot: Snapshot, document: str, refused: bool = False) -> str:
    """The id itself; DocumentNotFound for one that is not in the index. No file is looked for.

    With `refused` those files are known, too, that could not be read.
    """
    known = set(snapshot.document_ids())
    if document in known or (refused and document in snapshot.refusals()):
        return document
    from difflib import get_close_matches

    nearest = get_close_matches(document, sorted(known)[:2000], 3)
    told = f"; the nearest are {', '.join(nearest)}" if nearest else ""
    raise DocumentNotFound(f"no document has the id {document!r}{told}")
