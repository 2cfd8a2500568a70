"""What a model writes from documents: sentences with their citations, findings against them, and its work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .documents import Passage, QuoteMatch, Span

PlaceMatch = QuoteMatch | Literal["sentence"]
"""How words of a document are found that a model points at; "sentence": the whole sentence is marked."""

ModelStatus = Literal["answered", "partly", "conflict", "none"]
"""What a model says of its answer: whole, in part, documents that contradict each other, or no answer."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason against a written sentence.

    Attributes:
        failure: "extrinsic": the documents do not say it. "factual": they give another number, date or name,
            or the opposite.
        words: the words of the sentence.
        reason: the reason in words.
    """

    failure: Literal["extrinsic", "factual"]
    words: str
    reason: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A span that supports a sentence.

    Attributes:
        number: counts from 1, in the order in which spans are first cited.
        span: the quoted words.
        passage: the passage that holds them.
        page: page of the span's start, from 1; None for a format without pages.
        line: line of the span's start, from 1.
        label: the format's name of the place, such as "slide 3", or "".
        heading: the path of headings above the span's start, title first.
        match: how the words that a model points at are found; None for a whole sentence that is cited.
        date: the day of its document, where that is known, else "".
    """

    number: int
    span: Span
    passage: Passage
    page: int | None
    line: int
    label: str
    heading: tuple[str, ...] = ()
    match: PlaceMatch | None = None
    date: str = ""


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """A sentence of a summary.

    Attributes:
        text: the words.
        citations: the spans that support it, best first; none for a dropped sentence.
        findings: why it was dropped; none for a sentence that is shown.
        is_quote: the sentence is a quote from a document.
        underlined: words that the cited passages do not have, in an answer of a model.
    """

    text: str
    citations: tuple[Citation, ...]
    findings: tuple[Finding, ...] = ()
    is_quote: bool = False
    underlined: tuple[str, ...] = ()

    @property
    def cited(self) -> str:
        """The sentence in one line with the numbers of its citations: "It burned in 1871. [1]"."""
        numbers = sorted({citation.number for citation in self.citations})
        return " ".join([*self.text.split(), "".join(f"[{number}]" for number in numbers)]).rstrip()


def citations_of(sentences: Sequence[SummarySentence]) -> tuple[Citation, ...]:
    """Every cited span, by number."""
    by_number = {citation.number: citation for each in sentences for citation in each.citations}
    return tuple(by_number[number] for number in sorted(by_number))


@dataclass(frozen=True, slots=True)
class GeneratorUse:
    """A generator and the work that it did.

    Attributes:
        name: the name of the generator.
        digest: the sha256 of its files, "" if unknown.
        tokens_in: tokens read: exact, or an upper estimate.
        tokens_out: tokens written: exact, or an upper estimate.
    """

    name: str
    digest: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True)
class ModelReading:
    """How a model answered a question from passages.

    Attributes:
        use: the model; its tokens are those of all requests, exact where the server counts them.
        status: what the model says of its answer.
        passages: the number of passages that it read in its last request.
        agrees: the built-in reader quotes one of the sentences that the model points at; None where it
            declines.
        searches: the searches that the model asked for.
        dropped: written sentences that the documents contradict, with the findings.
        requests: the number of requests.
        seconds: the time that they took.
    """

    use: GeneratorUse
    status: ModelStatus
    passages: int
    agrees: bool | None = None
    searches: tuple[str, ...] = ()
    dropped: tuple[SummarySentence, ...] = ()
    requests: int = 1
    seconds: float = 0.0
