"""The values that packages exchange: frozen dataclasses, with the standard library only.

A span is half-open, `(document_id, start, end)`, in code points of the document's stored text, so that
`document.text[start:end]` is the quoted text for every format.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .options import QUOTE as QUOTE
from .options import AskOptions as AskOptions
from .options import ClusterOptions as ClusterOptions
from .options import Filter as Filter
from .options import ProgressCallback as ProgressCallback
from .options import SearchOptions as SearchOptions
from .options import SummaryOptions as SummaryOptions
from .options import no_progress as no_progress


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document: its start, its level (1 is the top), and its words."""

    start: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Label:
    """The format's name of the place that starts here: "slide 3", "Sheet1!B7", "cell 12", "row 17"."""

    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read: the text that all spans point into, and the structure found in it.

    `id` is the POSIX path relative to the root of its folder. `page_starts[i]` is the offset at which
    page i + 1 starts; it is empty for formats without pages. `labels` are ordered by their start; each
    holds up to the next one. `sha256` is that of the file's bytes.
    """

    id: str
    media_type: str
    sha256: str
    title: str
    text: str
    page_starts: tuple[int, ...] = ()
    headings: tuple[Heading, ...] = ()
    labels: tuple[Label, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieval unit: `text == document.text[start:end]`, with where a person finds it.

    `id` is a positive integer that an index never uses twice; 0 means "not stored yet". `page` and
    `line` count from 1 and belong to `start`; `heading` is the path of headings above it, title first;
    `label` is the last of the document's labels at or before `start`, or empty.
    """

    id: int
    document_id: str
    start: int
    end: int
    text: str
    page: int | None = None
    line: int = 1
    heading: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found for a question. `rank` counts from 1; higher scores are better.

    Equal scores are ordered by (document id, start). `scores` holds the score of each stage by name.
    `duplicates` are passages that say nearly the same and would have ranked below; best first.
    """

    passage: Passage
    score: float
    rank: int
    scores: Mapping[str, float] = field(default_factory=dict)
    duplicates: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a document: `document.text[start:end] == text`."""

    document_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class PassageMass:
    """What a reader's softmax over several passages needs of one: logarithms of sums of exponentials.

    `start` and `end` are over the logits of its tokens; `null_start` and `null_end` are those of no answer.
    """

    start: float
    end: float
    null_start: float
    null_end: float


@dataclass(frozen=True, slots=True)
class ScoredSpan:
    """A span that a reader proposes inside a passage.

    `score` is the raw start logit + end logit, comparable between the passages of one question;
    `null_score` is the same sum at [CLS] for that passage, and NaN for a model without a null answer.
    The others come from a model that judges evidence: `relevance`, a logit, says whether the passage answers
    the question, `support` whether the sentences that the span touches do (NaN from other models). `verdict`
    is "yes" or "no" for a question whether something is so; `several` means a question for several things.
    `mass` is that of the passage, None from other readers.
    """

    span: Span
    passage: Passage
    score: float
    null_score: float
    relevance: float = math.nan
    support: float = math.nan
    verdict: str | None = None
    several: bool = False
    mass: PassageMass | None = None


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """An answer: the span that is shown, its place and its confidence.

    `context` is the sentence or sentences around the span. `confidence` is the fitted probability that the
    answer is right, None without a calibration. `page` (None for a format without pages) and `line` count
    from 1; they and `label` belong to the span's start. `duplicates` are near-duplicates of `passage`, which
    were not read. `also_in` are the answers of other passages with the same words, best first. `verdict` is
    "yes" or "no" for a question whether something is so, else None.
    """

    span: Span
    context: Span
    passage: Passage
    page: int | None
    line: int
    score: float
    confidence: float | None
    label: str = ""
    verdict: str | None = None
    duplicates: tuple[Passage, ...] = ()
    also_in: tuple[AnswerSpan, ...] = ()

    @property
    def text(self) -> str:
        """The quoted words themselves."""
        return self.span.text


@dataclass(frozen=True, slots=True)
class FilterResult:
    """The result of a filter: the number of `documents`, of all documents, and of their `passages`.

    `nearest_path` is a pattern like those of a filter that matches no document, which matches some, or "".
    """

    where: Filter
    documents: int
    of_documents: int
    passages: int
    nearest_path: str = ""


@dataclass(frozen=True, slots=True)
class QuestionTerm:
    """A word of a question by its place: `question[start:end]`, in code points."""

    start: int
    end: int

    def of(self, question: str) -> str:
        """The word itself."""
        return question[self.start : self.end]


@dataclass(frozen=True, slots=True)
class SearchedWord:
    """A word of a question that occurs nowhere, and the word of the documents that is searched instead."""

    term: QuestionTerm
    word: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question: the best one or None, the alternatives, and what was searched.

    `best` is None when the question is declined. Then `rejected` are the nearest spans, best first,
    `candidates` up to two worth a look (none without a calibration), `missing_terms` the words of the
    question that no passage holds, and `nearest` the passages to look at. The section whose heading a topic
    names is the first candidate, without a confidence. All documents were searched, or those that the filter
    of `scope` selects. The best `passages_read` hits were read; the next `passages_unread` were not, as the
    answer was sure without them. `cached` is true for an earlier result; its time is that of the look-up.
    `threshold` is the minimum confidence, None without a calibration. `parts` are the pieces of an answer to
    a question for several things, `best` first, where more than one passage gives some. `searched_for` are
    misspelled words with those that were searched instead; `is_unknown`: no content word occurs.
    `partial` is the part of an index that was searched, such as "7 of 8 shards", "" for all of it.
    """

    question: str
    best: AnswerSpan | None
    alternatives: tuple[AnswerSpan, ...]
    documents_searched: int
    passages_searched: int
    passages_read: int
    rejected: tuple[AnswerSpan, ...]
    missing_terms: tuple[QuestionTerm, ...]
    nearest: tuple[Hit, ...]
    retriever: str
    timings_ms: Mapping[str, float]
    scope: FilterResult | None = None
    cached: bool = False
    threshold: float | None = None
    passages_unread: int = 0
    parts: tuple[AnswerSpan, ...] = ()
    candidates: tuple[AnswerSpan, ...] = ()
    searched_for: tuple[SearchedWord, ...] = ()
    is_unknown: bool = False
    partial: str = ""

    @property
    def outcome(self) -> Literal["answer", "not sure", "not found"]:
        """Whether there is an answer, a declined question with candidates, or nothing near."""
        return "answer" if self.best else "not sure" if self.candidates else "not found"

    @property
    def best_rejected(self) -> AnswerSpan | None:
        """The span that came nearest to being the answer of a question that was declined, or None."""
        return self.rejected[0] if self.rejected else None

    @property
    def no_answer(self) -> bool:
        """True when the question was declined."""
        return self.best is None

    @property
    def text(self) -> str:
        """The words of the best answer, or the empty string."""
        return "" if self.best is None else self.best.text

    @property
    def verdict(self) -> str | None:
        """Yes or no, for a question whether something is so; None for others and without an answer."""
        return None if self.best is None else self.best.verdict

    @property
    def span(self) -> Span | None:
        """The span of the best answer, or None."""
        return None if self.best is None else self.best.span

    @property
    def confidence(self) -> float | None:
        """The fitted probability that the best answer is right, or None."""
        return None if self.best is None else self.best.confidence


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason against a sentence: its kind, the words of the sentence, and why.

    "extrinsic": the documents do not say it. "factual": they say another number, date or name, or the
    opposite. "style": the sentence speaks of itself, or asks.
    """

    failure: Literal["extrinsic", "factual", "style"]
    words: str
    reason: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A span that supports a sentence, numbered from 1 in the order in which spans are first cited.

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
    """A sentence with the spans that support it, best first; a dropped one has findings and cites nothing.

    `support` is 0..1, see `reader.support`. `is_quote`: it is not written, but stands so in a document.
    """

    text: str
    citations: tuple[Citation, ...]
    support: float
    findings: tuple[Finding, ...] = ()
    is_quote: bool = False

    @property
    def cited(self) -> str:
        """The sentence in one line with the numbers of its citations, such as "It burned in 1871. [1]"."""
        numbers = sorted({one.number for one in self.citations})
        return " ".join([*self.text.split(), "".join(f"[{number}]" for number in numbers)]).rstrip()


SentenceCallback = Callable[[Literal["sentence", "dropped"], SummarySentence], None]
"""Called with each sentence of a summary once it is checked: whether it is shown or dropped."""


@dataclass(frozen=True, slots=True)
class OverviewEntry:
    """A document with its headings, or a folder (`name` ends with "/") with the titles of its documents."""

    name: str
    title: str
    documents: int
    passages: int
    dates: tuple[str, ...]
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts of documents, also by format, the first and last day that they name, and the longest of them."""

    documents: int
    passages: int
    formats: Mapping[str, int]
    dates: tuple[str, ...]
    entries: tuple[OverviewEntry, ...]


@dataclass(frozen=True, slots=True)
class GeneratorUse:
    """The name of a generator, the sha256 of its files ("" if unknown), and the tokens it read and wrote.

    They are exact or an upper estimate. Where nothing was written, `first_token_ms` is None.
    """

    name: str
    digest: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    first_token_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary for a question or of documents: its sentences, first the one that answers, or the overview.

    `question` is empty for a summary of documents. Without sentences it is a refusal, and `nearest` are the
    passages to look at. `dropped` are written sentences that the documents do not support; the quote that
    answers takes the place of the first of them. `passages` were used.
    """

    question: str
    sentences: tuple[SummarySentence, ...]
    dropped: tuple[SummarySentence, ...]
    generator: GeneratorUse
    passages: int
    nearest: tuple[Hit, ...]
    retriever: str
    timings_ms: Mapping[str, float]
    scope: FilterResult | None = None
    overview: Overview | None = None
    searched_for: tuple[SearchedWord, ...] = ()
    is_unknown: bool = False

    @property
    def is_refusal(self) -> bool:
        """True when the documents support no sentence."""
        return not self.sentences and self.overview is None

    @property
    def text(self) -> str:
        """The sentences with their citations."""
        return " ".join(one.cited for one in self.sentences)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Every cited span, by number."""
        found = {one.number: one for sentence in self.sentences for one in sentence.citations}
        return tuple(found[number] for number in sorted(found))


@dataclass(frozen=True, slots=True)
class RejectedFile:
    """A file that could not be read, and the reason."""

    document_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class DocumentWarning:
    """A remark on a document that was read, such as pages without text."""

    document_id: str
    text: str


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The result of a sync; document ids in sorted order. `skipped` counts ignored files by reason.

    Every file is counted once: `found` = added + updated + unchanged + rejected + skipped. `deleted` are
    documents whose files are gone or can no longer be read. `remarks` are on documents added or updated.
    `reused_vectors` counts passages whose vector was stored already, `encoded_tokens` those whose token
    vectors were made.
    """

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: int = 0
    rejected: tuple[RejectedFile, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[DocumentWarning, ...] = ()
    found: int = 0
    reused_vectors: int = 0
    encoded_tokens: int = 0
    passages: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RankingExample:
    """A training example: a question with passages, of which the first `n_positive` answer it.

    `scores` are those of a teacher, if any: one a passage, higher is better.
    """

    question: str
    passages: tuple[str, ...]
    n_positive: int = 1
    scores: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Reject a list without a positive passage, or with too few or too many scores."""
        n = len(self.passages)
        if not 1 <= self.n_positive <= n:
            raise ValueError(f"{self.n_positive} of {n} passages are positive, expected 1 or more")
        if self.scores and len(self.scores) != n:
            raise ValueError(f"{len(self.scores)} scores for {n} passages")
