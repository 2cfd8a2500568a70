"""What comes of `summarize`: sentences that stand on spans, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanwise.types import Hit, Passage, Scope, Span

from ...reader.support.verdict import Finding, Verdict


@dataclass(frozen=True, slots=True)
class Citation:
    """A span that a sentence stands on, numbered from 1 in the order in which spans are first cited.

    `page` (None for a format without pages) and `line` count from 1 and belong, as `label`, to its start.
    """

    number: int
    span: Span
    passage: Passage
    page: int | None
    line: int
    label: str


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """A sentence with the spans that it stands on, best first, and what the check said of it.

    `support` is 0..1, see `reader.support.check`. One that is unsupported cites nothing.
    """

    text: str
    citations: tuple[Citation, ...]
    support: float
    verdict: Verdict
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of a question or a document: sentences in order, and those that were dropped.

    `question` is empty where a document or folder was to be summarized. Without sentences it is a refusal,
    and `nearest` are the passages to look at. `passages` were given to the generator, `left_out` of those
    that were gathered were not, as they did not fit. `decoding` says how the text was decoded; empty for the
    extractive generator. `tokens` is how many it wrote, dropped sentences included; 0 for the extractive one.
    """

    question: str
    sentences: tuple[SummarySentence, ...]
    dropped: tuple[SummarySentence, ...]
    generator: str
    passages: int
    left_out: int
    nearest: tuple[Hit, ...]
    retriever: str
    timings_ms: Mapping[str, float]
    decoding: Mapping[str, object]
    scope: Scope | None = None
    tokens: int = 0

    @property
    def is_refusal(self) -> bool:
        """True when nothing could be said that stands on the documents."""
        return not self.sentences

    @property
    def text(self) -> str:
        """The sentences with their citations, as "It burned in 1871. [1]"."""
        return " ".join(map(cited, self.sentences))

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Every span that is cited, by number."""
        found = {one.number: one for sentence in self.sentences for one in sentence.citations}
        return tuple(found[number] for number in sorted(found))


def cited(sentence: SummarySentence) -> str:
    """A sentence in one line with the numbers of its citations."""
    words = " ".join(sentence.text.split())
    return " ".join([words, "".join(f"[{number}]" for number in numbers_of(sentence.citations))]).rstrip()


def numbers_of(citations: Sequence[Citation]) -> list[int]:
    """The numbers of citations in rising order."""
    return sorted({one.number for one in citations})
