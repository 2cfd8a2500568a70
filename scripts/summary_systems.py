"""Ways to summarize a document for a question: the first sentences, the most words asked, LexRank.

All but the first see the best passages of the document by tf-idf with the question, as after retrieval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from summary_sets import Case

from spanwise.corpora.passages import split
from spanwise.corpora.sentences import sentence_spans
from spanwise.index.analysis import Analyzer
from spanwise.reader.summary.extractive import Limits, Vectors, Weights, extract
from spanwise.reader.summary.similarity import (
    idf_modified_cosine,
    inverse_sentence_frequency,
    term_counts,
    vocabulary,
)
from spanwise.types import Passage

if TYPE_CHECKING:
    from spanwise.models.encoder import TextEncoder

ANALYZER = Analyzer()
LEAD, VECTORS = "lead-3", "the same with vectors"


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


def vector_lexrank(task: Task, limits: Limits, weights: Weights) -> str:
    """The same with vectors of the built-in encoder."""
    rows = encoder().encode([*task.sentences, task.case.question])
    return _joined(task, limits, task.asked, weights, Vectors(rows[:-1], rows[-1]))


@cache
def encoder() -> TextEncoder:
    """The built-in encoder, loaded once."""
    from spanwise.models.encoder import TextEncoder

    return TextEncoder.load()


def _joined(
    task: Task,
    limits: Limits,
    asked: Sequence[str],
    weights: Weights,
    vectors: Vectors | None = None,
) -> str:
    chosen = extract(task.passages, task.spans, ANALYZER.terms, asked, limits, weights, vectors)
    return " ".join(one.span.text for one in chosen)


SYSTEMS: dict[str, System] = {
    LEAD: lead,
    "lead of the best passage": passage_lead,
    "most words of the question": overlap,
    "plain LexRank + MMR": plain_lexrank,
    "LexRank for the question + MMR": lexrank,
}
