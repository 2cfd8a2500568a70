"""What comes of `summarize`: sentences that stand on spans, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanwise.types import Hit, Passage, Scope, Span

from ...reader.support.verdict import Failure, Finding, Verdict
from ...reader.support.whole import Coverage


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

    @property
    def obeys(self) -> bool:
        """True where it says what only an order to the reader would have it say: it is not shown."""
        return any(one.failure == Failure.ORDER for one in self.findings)


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of a question or a document: sentences in order, and those that were dropped.

    `question` is empty where a document or folder was to be summarized. Without sentences it is a refusal,
    and `nearest` are the passages to look at. `passages` were given to the generator, `left_out` of those
    that were gathered were not, as they did not fit. `decoding` says how the text was decoded; empty for the
    extractive generator. `tokens` is how many it wrote, dropped sentences and notes included; 0 for the
    extractive one. `inconsistent` are pairs of sentences, by place, that say the same with other numbers.
    `orders` counts the sentences of the passages that give orders to the reader: none was used. `coverage`
    says how much of a document or folder it rests on; None where there is a question. `words_over` counts the
    words beyond those of its length, which a generator is asked for and need not keep. `agreement` is the
    share of several samples that were the one taken, 0..1; None for one.
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
    inconsistent: tuple[tuple[int, int], ...] = ()
    tokens: int = 0
    orders: int = 0
    coverage: Coverage | None = None
    words_over: int = 0
    agreement: float | None = None

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


def told_of_orders(summary: Summary) -> str:
    """One line on what was set aside, or the empty string: "2 sentences that give orders …"."""
    if not summary.orders:
        return ""
    those = "1 sentence that gives" if summary.orders == 1 else f"{summary.orders:,} sentences that give"
    return f"{those} orders to the reader {'was' if summary.orders == 1 else 'were'} not used"


def cited(sentence: SummarySentence) -> str:
    """A sentence in one line with the numbers of its citations."""
    words = " ".join(sentence.text.split())
    return " ".join([words, "".join(f"[{number}]" for number in numbers_of(sentence.citations))]).rstrip()


def numbers_of(citations: Sequence[Citation]) -> list[int]:
    """The numbers of citations in rising order."""
    return sorted({one.number for one in citations})
