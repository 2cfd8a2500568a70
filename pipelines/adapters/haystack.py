"""A library as components of Haystack: a retriever, and an answerer that quotes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spanwise.types import Answer, AnswerSpan, Hit, Passage

from spanwise.errors import needing
from ..questions import checked_k
from ..reranking import DEPTH
from .metadata import Search, hit_metadata, place_metadata
from .opened import OpenedLibrary, filter_of, plain_filter

with needing("haystack"):
    from haystack import Document, ExtractedAnswer, component, default_from_dict, default_to_dict


@component
class SpanwiseRetriever:
    """Finds what `Library.search` finds, in that order, as documents of Haystack.

    `index` names the index as `--index` does; it is opened by `warm_up` or the first run. `where` holds the
    fields of a `Filter` as plain values. The other arguments are those of `Library.search`, with `top_k` for
    `k`. The metadata of each document say where it stands, see `metadata.hit_metadata`.
    """

    def __init__(
        self,
        index: str | Path,
        top_k: int = 10,
        retriever: str | None = None,
        group: bool = True,
        where: Mapping[str, Any] | None = None,
        rerank: str | None = None,
        rerank_depth: int = DEPTH,
    ) -> None:
        self._opened = OpenedLibrary(index)
        self._search = Search(top_k, retriever, group, filter_of(where), rerank, rerank_depth)
        self._where = plain_filter(where)

    def warm_up(self) -> None:
        """Opens the index."""
        self._opened.get()

    def close(self) -> None:
        """Closes the index; another run opens it again."""
        self._opened.close()

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """The best passages for a question, best first."""
        hits = self._search.hits(self._opened.get(), query, top_k)
        return {"documents": [document_of(hit) for hit in hits]}

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """The same, searched in a thread."""
        return await asyncio.to_thread(self.run, query, top_k)

    def to_dict(self) -> dict[str, Any]:
        """The arguments, as they are written into a pipeline's file."""
        how = self._search
        return default_to_dict(
            self,
            index=self._opened.path,
            top_k=how.k,
            retriever=how.retriever,
            group=how.group,
            where=self._where,
            rerank=how.rerank,
            rerank_depth=how.rerank_depth,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SpanwiseRetriever:
        """The component that such arguments stand for."""
        return default_from_dict(cls, data)


@component
class SpanwiseAnswerer:
    """Answers with the exact words of a document, as `Library.ask` does, best first.

    The score of an answer is its fitted confidence, or the raw score of a reader for which none was fitted.
    Where the documents do not hold the answer there is one answer whose `data` is None, with `no_answer`,
    or none at all. `top_k` is how many answers there may be, `read` how many passages are read for them.
    """

    def __init__(
        self,
        index: str | Path,
        top_k: int = 4,
        read: int = 20,
        retriever: str | None = None,
        reader: str = "builtin",
        threshold: float | None = None,
        group: bool = True,
        where: Mapping[str, Any] | None = None,
        rerank: str | None = None,
        rerank_depth: int = DEPTH,
        no_answer: bool = True,
    ) -> None:
        self._opened = OpenedLibrary(index)
        checked_k(top_k)
        self._search = Search(read, retriever, group, filter_of(where), rerank, rerank_depth)
        self._where = plain_filter(where)
        self._top_k, self._reader, self._threshold, self._no_answer = top_k, reader, threshold, no_answer

    def warm_up(self) -> None:
        """Opens the index."""
        self._opened.get()

    def close(self) -> None:
        """Closes the index; another run opens it again."""
        self._opened.close()

    @component.output_types(answers=list[ExtractedAnswer])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[ExtractedAnswer]]:
        """The answers to a question, best first."""
        how, most = self._search, checked_k(self._top_k if top_k is None else top_k)
        answer = self._opened.get().ask(
            query,
            k=how.k,
            retriever=how.retriever or "",
            reader=self._reader,
            alternatives=most - 1,
            threshold=self._threshold,
            dedupe=how.group,
            where=how.where,
            rerank=how.rerank or "",
            rerank_depth=how.rerank_depth,
        )
        return {"answers": answers_of(answer, self._no_answer)}

    @component.output_types(answers=list[ExtractedAnswer])
    async def run_async(self, query: str, top_k: int | None = None) -> dict[str, list[ExtractedAnswer]]:
        """The same, computed in a thread."""
        return await asyncio.to_thread(self.run, query, top_k)

    def to_dict(self) -> dict[str, Any]:
        """The arguments, as they are written into a pipeline's file."""
        how = self._search
        return default_to_dict(
            self,
            index=self._opened.path,
            top_k=self._top_k,
            read=how.k,
            retriever=how.retriever,
            reader=self._reader,
            threshold=self._threshold,
            group=how.group,
            where=self._where,
            rerank=how.rerank,
            rerank_depth=how.rerank_depth,
            no_answer=self._no_answer,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SpanwiseAnswerer:
        """The component that such arguments stand for."""
        return default_from_dict(cls, data)


def document_of(hit: Hit) -> Document:
    """A hit as a document of Haystack."""
    passage = hit.passage
    return Document(id=str(passage.id), content=passage.text, meta=hit_metadata(hit), score=hit.score)


def answers_of(answer: Answer, no_answer: bool) -> list[ExtractedAnswer]:
    """The best answer and the others; for a declined question one without data, or none."""
    if answer.best is not None:
        return [extracted(answer.question, one) for one in (answer.best, *answer.alternatives)]
    meta = {"documents": answer.documents_searched, "passages": answer.passages_searched}
    near = answer.best_rejected
    unsure = 0.0 if near is None or near.confidence is None else near.confidence
    return [ExtractedAnswer(query=answer.question, score=1 - unsure, meta=meta)] if no_answer else []


def extracted(question: str, found: AnswerSpan) -> ExtractedAnswer:
    """One answer: offsets of `document_offset` are of the passage, of `context_offset` of the sentence.

    Those in the metadata are of the document's stored text.
    """
    span, passage, sentence = found.span, found.passage, found.sentence
    place = {**place_metadata(passage), "start": span.start, "end": span.end}
    place |= {"page": found.page, "line": found.line, "label": found.label}
    return ExtractedAnswer(
        query=question,
        score=found.score if found.confidence is None else found.confidence,
        data=span.text,
        document=_passage_document(passage),
        context=sentence.text,
        document_offset=_offset(span.start, span.end, passage.start, passage.end),
        context_offset=_offset(span.start, span.end, sentence.start, sentence.end),
        meta={**place, "confidence": found.confidence, "score": found.score},
    )


def _passage_document(passage: Passage) -> Document:
    return Document(id=str(passage.id), content=passage.text, meta=place_metadata(passage))


def _offset(start: int, end: int, from_: int, to: int) -> ExtractedAnswer.Span | None:
    """The place of a span in a part of the document; None where it reaches out of it."""
    return ExtractedAnswer.Span(start - from_, end - from_) if from_ <= start and end <= to else None
