"""Ways to summarize a document for a question: the first sentences, the most words asked, LexRank.

All but the first see the best passages of the document by tf-idf with the question, as after retrieval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from summary_sets import Case

from spanwise.corpora.passages import split
from spanwise.corpora.sentences import sentence_spans
from spanwise.index.analysis import Analyzer
from spanwise.pipelines.summarizing.extracted import ASKED
from spanwise.reader.summary.extractive import Limits, Weights, extract
from spanwise.reader.summary.similarity import (
    idf_modified_cosine,
    inverse_sentence_frequency,
    term_counts,
    vocabulary,
)
from spanwise.types import Passage

if TYPE_CHECKING:
    from spanwise.reader.span_reader import SpanReader

ANALYZER = Analyzer()
LEAD, READ = "lead-3", "the same with the reader"


@dataclass(frozen=True, slots=True)
class Task:
    """A case with the sentences of its document, its best passages and the spans of their sentences."""

    case: Case
    opening: Sequence[str]  # the first sentences of the document
    passages: Sequence[Passage]
    spans: Sequence[Sequence[tuple[int, int]]]

    @property
    def asked(self) -> list[str]:
        """The terms of the question."""
        return ANALYZER.question_terms(self.case.question)

    @property
    def sentences(self) -> list[str]:
        """Those of the best passages, best passage first."""
        pairs = zip(self.passages, self.spans, strict=True)
        return [passage.text[start:end] for passage, spans in pairs for start, end in spans]


System = Callable[[Task, Limits, Weights], str]


def tasks(cases: Iterable[Case], k: int) -> list[Task]:
    """Each case with the best k passages of its document; equal ones by their place."""
    cut = cache(lambda document_id: split(documents[document_id]))
    found, documents = [], {}
    for case in cases:
        documents[case.document.id] = case.document
        best = _best(case.question, cut(case.document.id), k)
        text = case.document.text
        opening = [text[start:end] for start, end in sentence_spans(text[:20_000])]
        found.append(Task(case, opening, best, [sentence_spans(passage.text) for passage in best]))
    return found


def _best(question: str, passages: Sequence[Passage], k: int) -> list[Passage]:
    texts = [ANALYZER.terms(passage.text) for passage in passages]
    columns = vocabulary(texts)
    counts = term_counts([*texts, ANALYZER.question_terms(question)], columns)
    cosines = idf_modified_cosine(counts, inverse_sentence_frequency(counts[:-1]))[-1, :-1]
    return [passages[at] for at in np.argsort(-cosines.round(12), kind="stable")[:k]]


def lead(task: Task, limits: Limits, weights: Weights) -> str:
    """The first sentences of the document."""
    return _first(task.opening, limits)


def passage_lead(task: Task, limits: Limits, weights: Weights) -> str:
    """The first sentences of the best passage, and of the next where it has too few."""
    return _first(task.sentences, limits)


def overlap(task: Task, limits: Limits, weights: Weights) -> str:
    """The sentences that share most different terms with the question."""
    asked = set(task.asked)
    return _first(
        sorted(task.sentences, key=lambda one: -len(asked.intersection(ANALYZER.terms(one)))), limits
    )


def _first(sentences: Iterable[str], limits: Limits) -> str:
    """The sentences in order, without those said, until one does not fit."""
    chosen: dict[str, None] = {}
    for one in sentences:
        used = len(" ".join([*chosen, one]).split())
        if len(chosen) == limits.sentences or (limits.words is not None and used > limits.words):
            break
        chosen[one] = None
    return " ".join(chosen)


def plain_lexrank(task: Task, limits: Limits, weights: Weights) -> str:
    """The most central sentences of the best passages, whatever was asked."""
    return _joined(task, limits, (), weights)


def lexrank(task: Task, limits: Limits, weights: Weights) -> str:
    """The extractive summary for the question."""
    return _joined(task, limits, task.asked, weights)


def read_lexrank(task: Task, limits: Limits, weights: Weights) -> str:
    """The same with what the built-in reader makes of each sentence, as `spanwise summarize` does it."""
    scored = reader().sentence_scores(task.case.question, task.passages, task.spans)
    told = [0.0 if math.isnan(score) else 1 / (1 + math.exp(-score)) for row in scored for score in row]
    return _joined(task, limits, task.asked, ASKED, told)


@cache
def reader() -> SpanReader:
    """The built-in reader, loaded once."""
    from spanwise.reader.load import load_reader

    return load_reader("builtin", split=sentence_spans)


def _joined(
    task: Task,
    limits: Limits,
    asked: Sequence[str],
    weights: Weights,
    relevance: Sequence[float] | None = None,
) -> str:
    chosen = extract(task.passages, task.spans, ANALYZER.terms, asked, limits, weights, relevance)
    return " ".join(one.span.text for one in chosen)


SYSTEMS: dict[str, System] = {
    LEAD: lead,
    "lead of the best passage": passage_lead,
    "most words of the question": overlap,
    "plain LexRank + MMR": plain_lexrank,
    "LexRank for the question + MMR": lexrank,
}
