"""Versions of an answer: the same sentence or cell with another value, in another document or later in it.

Two sentences are versions of each other if they share most of their terms besides the answers and numbers; in
one document, the best one also shares a term with the question: two lines of a transcript may have only their
speaker in common. So do two cells by the names of their rows and columns.
The version that the question names comes first, then the one in force: of those that are neither drafts nor
superseded the newest. With a year in the question it is the newest of that year or before.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from spanwise.types import Document

from ...eval.quantities import DATE, DATES, YEARS, parse_value, values_in
from ...index.analysis import Analyzer
from ..understanding.patterns import words
from ..understanding.question import Question
from .candidates import RankedCandidate, answer_key

MIN_SHARED = 0.6  # of the terms of two sentences in different documents, over all of both
MIN_SHARED_INSIDE = 0.8  # the same in one document
MIN_TERMS = 2  # of a sentence besides its answer
HEAD = 300  # characters at the start of a document that may date it
NOT_IN_FORCE = words("versions.not_in_force")
UNDATED = 0


def with_versions(
    ranked: Sequence[RankedCandidate],
    question: Question,
    document_of: Callable[[str], Document],
    analyzer: Analyzer,
) -> list[RankedCandidate]:
    """The candidates with the version of the best one that is asked for first, and the others beside it.

    It has the confidence of the best one. A computed value and a list of cells have no versions.
    """
    if not ranked or not _is_single(ranked[0]):
        return list(ranked)
    best = ranked[0]
    others = _versions(best, ranked[1:], question, analyzer)
    if not others:
        return list(ranked)
    choice = _Choice(question, cache(document_of), analyzer)
    in_order = sorted([best, *others], key=choice.key, reverse=True)
    first, *behind = [replace(each, date=choice.date_text(each)) for each in in_order]
    first = replace(first, confidence=best.confidence, versions=tuple(behind))
    spans = {each.candidate.scored.span for each in in_order}
    return [first, *behind, *(each for each in ranked if each.candidate.scored.span not in spans)]


def _versions(
    best: RankedCandidate, others: Sequence[RankedCandidate], question: Question, analyzer: Analyzer
) -> list[RankedCandidate]:
    """The best candidate of each other version, which has all numbers around the best answer."""
    around = _around(best, question, analyzer)
    numbers = {term for term in around if term.isdecimal()}
    if len(around) < MIN_TERMS:
        return []
    words_of_best = answer_key(best.candidate.scored.span.readable)
    versions: dict[str, RankedCandidate] = {}
    for other in others:
        key = answer_key(other.candidate.scored.span.readable)
        if key == words_of_best or not _are_alike(best, other):
            continue
        around_other = _around(other, question, analyzer)
        is_inside = _document(other) == _document(best)
        if is_inside and around.isdisjoint(question.terms):
            continue
        shared = len(around & around_other) / len(around | around_other)
        if numbers <= around_other and shared >= (MIN_SHARED_INSIDE if is_inside else MIN_SHARED):
            versions.setdefault(key, other)
    return list(versions.values())


def _are_alike(best: RankedCandidate, other: RankedCandidate) -> bool:
    """True for two spans outside of tables, and for two cells of different tables."""
    if best.result and other.result:
        return best.result.table is not other.result.table and _is_single(other)
    return best.result is other.result


def _is_single(ranked: RankedCandidate) -> bool:
    result = ranked.result
    return result is None or (len(result.result.cells) == 1 and not result.result.is_computed)


def _around(ranked: RankedCandidate, question: Question, analyzer: Analyzer) -> frozenset[str]:
    """The terms of the sentence besides the answer; of a cell those of its names.

    Of the numbers in a sentence those of the question.
    """
    candidate = ranked.candidate
    if ranked.result:
        name = ranked.result.table.name(*ranked.result.result.cells[0])
        return frozenset(analyzer.question_terms(name))
    start = candidate.scored.span.start - candidate.sentence.start
    sentence = candidate.sentence.readable
    rest = f"{sentence[: max(0, start)]} {sentence[start + len(candidate.scored.span.text) :]}"
    terms = analyzer.question_terms(rest)
    return frozenset(term for term in terms if term in question.terms or not term.isdecimal())


def _document(ranked: RankedCandidate) -> str:
    return ranked.candidate.scored.span.document_id


class _Choice:
    """Which version a question asks for."""

    def __init__(
        self, question: Question, document_of: Callable[[str], Document], analyzer: Analyzer
    ) -> None:
        self.question = question
        self.document_of = document_of
        self.analyzer = analyzer
        years = [int(value.number) for value in values_in(question.text) if value.kind == "year"]
        self.until = (max(years) + 1) * 10_000 if years else None

    def key(self, ranked: RankedCandidate) -> tuple[int, ...]:
        """Larger for the version that is asked for; a later place of a document is newer."""
        document = self.document_of(_document(ranked))
        heading = " ".join(ranked.candidate.scored.passage.heading)
        names = f"{document.id} {document.title} {' '.join(document.metadata.values())} {heading}"
        terms = frozenset(self.analyzer.terms(names)) | self.analyzer.name_terms(document.id)
        day = self._day(ranked)
        is_in_time = self.until is None or UNDATED < day < self.until
        n_named = 0 if self.until else len(self.question.terms & terms)
        is_in_force = terms.isdisjoint(map(self.analyzer.term, NOT_IN_FORCE))
        return is_in_time, n_named, is_in_force, day, ranked.candidate.scored.span.start

    def _day(self, ranked: RankedCandidate) -> int:
        """The latest day in the headings above a candidate, else that of its document."""
        heading = " ".join(ranked.candidate.scored.passage.heading)
        return _latest(heading) or date_of(self.document_of(_document(ranked)))

    def date_text(self, ranked: RankedCandidate) -> str:
        """The date of a version as far as it is known: "2024-03-01", "2024" or ""."""
        digits = f"{self._day(ranked):08}"
        parts = (digits[:4], digits[4:6], digits[6:])
        return "-".join(part for part in parts if int(part))


def date_of(document: Document) -> int:
    """The day of a document as 20240301, or its year as 20240000; UNDATED if neither is known.

    From its metadata, else the latest one in its name, else the latest one at its start.
    """
    stated = parse_value(document.metadata.get("date", "")[:10])
    if stated and stated.unit == DATE:
        return int(stated.number)
    return _latest(document.id) or _latest(document.text[:HEAD])


def _latest(text: str) -> int:
    """The latest day or year in a text."""
    matches = (parse_value(match[0]) for pattern in DATES for match in pattern.finditer(text))
    days = [int(value.number) for value in matches if value and value.number >= YEARS.start * 10_000]
    years = [int(value.number) * 10_000 for value in values_in(text) if value.kind == "year"]
    return max([*days, *years], default=UNDATED)
