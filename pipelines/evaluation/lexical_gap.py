"""The lexical gap: questions that search by meaning can answer and search by words cannot, and the reverse.

A question is won by a retriever in one of two ways:

found      its paragraph is among the first 20 documents, and not among those of the other retriever
answered   its answer is an exact match, and that of the other retriever shares no word with any gold
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from ...corpora.sentences import sentence_spans
from ...corpora.squad import SquadDataset
from ...eval.question_record import QuestionRecord
from ...index.analysis import Analyzer

Test = Callable[[Mapping[str, float]], bool]
Records = Mapping[str, QuestionRecord]

FOUND_AT = "recall@20"


@dataclass(frozen=True, slots=True)
class Way:
    """A way to win a question: what the scores of the winner and those of the loser must be like."""

    name: str
    measure: str
    right: Test
    failed: Test


WAYS = (
    Way("found", FOUND_AT, lambda scores: scores[FOUND_AT] == 1, lambda scores: scores[FOUND_AT] == 0),
    Way("answered", "exact", lambda scores: scores["exact"] == 1, lambda scores: scores["f1"] == 0),
)


@dataclass(frozen=True, slots=True)
class GoldPlace:
    """A question with its first answer, the sentence that holds it, and the words shared with the paragraph.

    `overlap` is the share, 0..1, of the question's distinct terms, stop words left out, that occur in the
    paragraph.
    """

    id: str
    question: str
    answer: str
    sentence: str
    overlap: float


@dataclass(frozen=True, slots=True)
class Group:
    """Questions that were won or lost in the same way; `overlap` is their mean, `quoted` a few of them."""

    questions: int
    overlap: float | None
    quoted: tuple[GoldPlace, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """One way to win, over the questions that both retrievers have been measured on."""

    way: str
    questions: int
    both: Group
    only_first: Group
    only_second: Group


def lexical_gaps(
    first: Iterable[QuestionRecord], second: Iterable[QuestionRecord], dataset: SquadDataset, quoted: int = 5
) -> list[Gap]:
    """What one retriever wins over another, in each way that their records tell of.

    The questions `quoted` are the first by the sha256 of their ids: a sample that nobody chose. ValueError:
    a record is of a question that the data set does not have.
    """
    one, other = (
        {record.id: record for record in records if record.answerable} for records in (first, second)
    )
    shared = sorted(one.keys() & other.keys(), key=_shuffled)
    golds = gold_places(dataset, shared)
    return [
        gap
        for way in WAYS
        for measured in [
            [i for i in shared if way.measure in one[i].scores and way.measure in other[i].scores]
        ]
        if measured
        for gap in [_gap(way, measured, one, other, golds, quoted)]
    ]


def gold_places(dataset: SquadDataset, ids: Sequence[str]) -> dict[str, GoldPlace]:
    """Where the first answer of each of these questions stands; ValueError for one without an answer."""
    analyzer, wanted = Analyzer(), set(ids)
    places: dict[str, GoldPlace] = {}
    for article in dataset.articles:
        for paragraph in article.paragraphs:
            asked = [q for q in paragraph.questions if q.id in wanted and q.answers]
            held = set(analyzer.terms(paragraph.context)) if asked else set()
            for q in asked:
                terms = set(analyzer.question_terms(q.text))
                answer = q.answers[0]
                sentence = _sentence(paragraph.context, answer.start)
                overlap = len(terms & held) / max(1, len(terms))
                places[q.id] = GoldPlace(q.id, q.text, answer.text, sentence, overlap)
    if missing := wanted - places.keys():
        raise ValueError(
            f"the data has no answer to the question {min(missing)!r} ({len(missing)} of {len(wanted)} are "
            "missing): name the files that were asked"
        )
    return places


def _gap(
    way: Way, ids: Sequence[str], one: Records, other: Records, golds: Mapping[str, GoldPlace], quoted: int
) -> Gap:
    def group(first: Test, second: Test) -> Group:
        members = [golds[i] for i in ids if first(one[i].scores) and second(other[i].scores)]
        overlap = fmean(member.overlap for member in members) if members else None
        return Group(len(members), overlap, tuple(members[:quoted]))

    return Gap(
        way.name,
        len(ids),
        group(way.right, way.right),
        group(way.right, way.failed),
        group(way.failed, way.right),
    )


def _sentence(context: str, position: int) -> str:
    spans = sentence_spans(context)
    start, end = next((span for span in spans if span[0] <= position < span[1]), (0, len(context)))
    return " ".join(context[start:end].split())


def _shuffled(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
