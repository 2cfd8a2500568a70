"""A program as a user writes it: mypy checks it, strictly, and that no result is an `Any`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import spanwise
from spanwise import Answer, AnswerSpan, Document, Filter, Hit, Passage, Span, Summary, SummarySentence
from spanwise.errors import IndexClosed, SpanwiseError
from spanwise.types import ScoredSpan


class Mine:
    def __init__(self, found: Sequence[Passage]) -> None:
        self.found = found

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        return [[Hit(passage, 1.0, 1) for passage in self.found[:k]] for _ in questions]


class First:
    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        return [[[self.first(passage)] for passage in group] for group in passages]

    def first(self, passage: Passage) -> ScoredSpan:
        span = Span(passage.document_id, passage.start, passage.end, passage.text)
        return ScoredSpan(span, passage, 1.0, 0.0)


def ask(folder: Path) -> str:
    with spanwise.open(folder, cache=False) as library:
        assert_type(library, spanwise.Library)
        assert_type(library.sync(vectors=False), spanwise.SyncReport)
        library.use_retriever("mine", lambda passages: Mine(list(passages.all_passages())))
        library.use_reader("first", First())
        answer = library.ask("who?", k=3, reader="first", where=Filter(paths=("*.md",)))
        assert_type(answer, Answer)
        assert_type(answer.best, AnswerSpan | None)
        assert_type(answer.span, Span | None)
        assert_type(answer.confidence, float | None)
        assert_type(library.search("who?"), list[Hit])
        assert_type([one for one in library.ask_each(["who?"])], list[Answer])
        assert_type(library.document("a.md"), Document)
        assert_type(library.summarize("who?"), Summary)
        assert_type(library.explain("who?"), spanwise.Explanation)
        assert_type(library.why_not("a.md", "who?"), spanwise.WhyNot)
        assert_type(spanwise.verify(folder), spanwise.Verification)
        assert_type(spanwise.plugins(), tuple[spanwise.Plugin, ...])
    return answer.text


async def ask_all(folder: Path, questions: Sequence[str]) -> list[Answer]:
    async with spanwise.open_async(folder) as library:
        assert_type(library, spanwise.AsyncLibrary)
        answers = await asyncio.gather(*map(library.ask, questions))
        assert_type(answers, list[Answer])
        assert_type(await library.search("who?", k=3), list[Hit])
        stream = library.summary_sentences("who?")
        async for sentence in stream:
            assert_type(sentence, SummarySentence)
        assert_type(stream.returned, Summary | None)
        async for answer in library.ask_each(questions, k=5):
            assert_type(answer, Answer)
    return answers


def careful(folder: Path) -> str:
    try:
        return ask(folder)
    except IndexClosed:
        return "closed"
    except SpanwiseError as error:
        return str(error)
