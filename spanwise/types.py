"""The values that packages exchange: frozen dataclasses, with the standard library only.

A span is half-open, `(document_id, start, end)`, in code points of the document's stored text. So
`document.text[start:end]` is the quoted text for every format.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .documents import (
    Bounds as Bounds,
    CheckedQuote as CheckedQuote,
    Document as Document,
    DocumentWarning as DocumentWarning,
    Heading as Heading,
    Hit as Hit,
    Label as Label,
    Passage as Passage,
    QuoteMatch as QuoteMatch,
    RejectedFile as RejectedFile,
    Span as Span,
    Step as Step,
    SyncReport as SyncReport,
    Table as Table,
    TablePart as TablePart,
    blanked as blanked,
    within as within,
)
from .options import (
    QUOTE as QUOTE,
    AskOptions as AskOptions,
    ClusterOptions as ClusterOptions,
    Decider as Decider,
    Filter as Filter,
    FilterResult as FilterResult,
    ModelOptions as ModelOptions,
    ProgressCallback as ProgressCallback,
    SearchOptions as SearchOptions,
    SummaryOptions as SummaryOptions,
    Turn as Turn,
    no_progress as no_progress,
)
from .search_results import (
    QuestionTerm as QuestionTerm,
    SearchedWord as SearchedWord,
    SearchResult as SearchResult,
    Spelling as Spelling,
)
from .written import (
    Citation as Citation,
    Finding as Finding,
    GeneratorUse as GeneratorUse,
    ModelReading as ModelReading,
    ModelStatus as ModelStatus,
    PlaceMatch as PlaceMatch,
    SummarySentence as SummarySentence,
    citations_of as citations_of,
)


@dataclass(frozen=True, slots=True)
class PassageMass:
    """Logarithms of sums of exponentials over a passage, for a reader's softmax over several passages.

    Attributes:
        start: over the start logits of its tokens.
        end: over the end logits of its tokens.
        null_start: the start logit of "no answer".
        null_end: the end logit of "no answer".
    """

    start: float
    end: float
    null_start: float
    null_end: float


@dataclass(frozen=True, slots=True)
class ScoredSpan:
    """A span that a reader proposes inside a passage.

    Attributes:
        span: the span.
        passage: the passage that holds it.
        score: start logit + end logit, comparable between the passages of one question.
        null_score: the same sum for "no answer" in the passage; NaN for a model without it.
        relevance: logit: the passage answers the question. NaN for a model without evidence.
        support: logit: the sentences that the span touches answer it. NaN for a model without evidence.
        verdict: "yes" or "no", from a reader that gives one; the fitted rule of a calibration comes first.
        yes: logit: the answer is yes. NaN for a question that asks for something else.
        is_list_question: the question asks for several things.
        mass: the mass of the passage; None from a reader without it.
    """

    span: Span
    passage: Passage
    score: float
    null_score: float
    relevance: float = math.nan
    support: float = math.nan
    verdict: str | None = None
    is_list_question: bool = False
    mass: PassageMass | None = None
    yes: float = math.nan


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """An answer with its place and its confidence.

    Attributes:
        span: the quoted words.
        context: the sentence or sentences around the span.
        passage: the passage that was read.
        page: page of the span's start, from 1; None for a format without pages.
        line: line of the span's start, from 1; 0 until it is looked up.
        score: the reader's score; 0 for words that no reader scores.
        confidence: the fitted probability that the answer is right; None without a calibration, for words
            that a model points at, for a section of a topic, and for a mention.
        label: the format's name of the place of the span's start, or "".
        verdict: "yes" or "no" for a yes-no question where it is certain enough, else None.
        verdict_confidence: the fitted probability that the verdict is right, or None.
        duplicates: near-duplicates of `passage`, which were not read.
        also_in: the answers of other passages with the same words, best first.
        heading: the path of headings above the span's start, title first.
        match: how the words that a model points at are found; None for an answer of the reader.
        date: of a mail, or of a document, as far as known, if other versions of the sentence say otherwise;
            else "".
    """

    span: Span
    context: Span
    passage: Passage
    page: int | None = None
    line: int = 0
    score: float = 0.0
    confidence: float | None = None
    label: str = ""
    verdict: str | None = None
    verdict_confidence: float | None = None
    duplicates: tuple[Passage, ...] = ()
    also_in: tuple[AnswerSpan, ...] = ()
    heading: tuple[str, ...] = ()
    match: PlaceMatch | None = None
    date: str = ""

    @property
    def text(self) -> str:
        """The quoted words."""
        return self.span.text


@dataclass(frozen=True, slots=True)
class MentioningDocument:
    """A document that mentions some words.

    Attributes:
        document_id: the document.
        count: the number of places.
        places: the first five of them, each with its sentence.
        copy_of: the document before it with the same bytes, with which it counts once; else "".
    """

    document_id: str
    count: int
    places: tuple[AnswerSpan, ...]
    copy_of: str = ""


@dataclass(frozen=True, slots=True)
class Computed:
    """A value that is computed from the cells of a table, or the documents that mention some words.

    Attributes:
        operation: "count", "sum", "mean" or "difference"; "list" or "count" of documents.
        value: the value, with its unit.
        cells: the cells from which it is computed, or the places of the documents.
        first: the first of them with its place; None where no document mentions the words.
        words: the words that the documents mention; "" for a table.
        documents: all documents that mention them, by id.
        near: ids of other documents, near in meaning; only `Library.mentions` looks for them.
        cell_names: for each cell of a table the names of its row and column, such as "Weir, Cost".
    """

    operation: str
    value: str
    cells: tuple[Span, ...]
    first: AnswerSpan | None
    words: str = ""
    documents: tuple[MentioningDocument, ...] = ()
    near: tuple[str, ...] = ()
    cell_names: tuple[str, ...] = ()

    @property
    def is_list(self) -> bool:
        """True for a list or count of documents, False for a value of a table."""
        return bool(self.words)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question, or a declined question with what is near it.

    Attributes:
        question: the question as typed.
        best: the best answer; None for a computed value, a list of documents, and a declined question.
        alternatives: other answers, best first; none beside a cell or a computed value.
        documents_searched: the number of documents searched.
        passages_searched: the number of passages searched.
        passages_read: the number of best hits that were read.
        rejected: the best spans of a declined question, whatever their confidence.
        missing_terms: up to eight words of a declined question that no document mentions.
        nearest: the best passages, also of an answered question.
        retriever: the name of the retriever.
        timings_ms: milliseconds by stage.
        scope: what the filter selects; None without a filter.
        cached: the answer comes from the cache; the time is that of the look-up.
        threshold: minimum confidence of this answer: a user's, or the fitted one; None without a calibration.
        passages_unread: the number of further hits, unread because the answer was sure without them.
        parts: several answers, `best` first: of passages, if the question asks for several things; the cells
            of several rows; or all spans that a model cites.
        candidates: up to two spans worth a look when the question is declined. A section whose heading the
            question names comes first, without a confidence. Empty without a calibration.
        searched_for: misspelled words, each with the word that was searched instead.
        is_unknown: no content word of the question occurs in the documents.
        left_out: what was not searched, such as "7 of 8 shards"; "" for nothing.
        unread_files: documents that may hold the answer but could not be read; 0 unless it is not found.
        computed: a value computed from a table, or a list of documents, instead of `best`; else None.
        steps: for a question how to do something or for several things, the whole list at the best answer.
        understood: the question that is asked of the documents, where a conversation changes it; else "".
        table: the rows around `best`, if it is a cell of a table; else None.
        written: the sentences of a model, checked, with the spans that they cite; `best` is the first span.
        model: how a model answered; None for an answer of the reader.
        failure: why the built-in reader answers in place of a model; else "".
        otherwise: what other versions of the sentence or cell of `best` say, in other documents or in the
            same one: those of the time that is asked for, in force and newest first; see their `date`.
        note: what a reader of the answer should know about it, in a sentence; "" for nothing.
    """

    question: str
    best: AnswerSpan | None = None
    alternatives: tuple[AnswerSpan, ...] = ()
    documents_searched: int = 0
    passages_searched: int = 0
    passages_read: int = 0
    rejected: tuple[AnswerSpan, ...] = ()
    missing_terms: tuple[QuestionTerm, ...] = ()
    nearest: tuple[Hit, ...] = ()
    retriever: str = ""
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    scope: FilterResult | None = None
    cached: bool = False
    threshold: float | None = None
    passages_unread: int = 0
    parts: tuple[AnswerSpan, ...] = ()
    candidates: tuple[AnswerSpan, ...] = ()
    searched_for: tuple[SearchedWord, ...] = ()
    is_unknown: bool = False
    left_out: str = ""
    unread_files: int = 0
    computed: Computed | None = None
    steps: tuple[Step, ...] = ()
    understood: str = ""
    table: TablePart | None = None
    written: tuple[SummarySentence, ...] = ()
    model: ModelReading | None = None
    otherwise: tuple[AnswerSpan, ...] = ()
    note: str = ""
    failure: str = ""

    @property
    def outcome(self) -> Literal["answer", "computed", "not sure", "not found"]:
        """Answered by a quote, computed from quoted cells, declined with candidates, or declined without."""
        if self.computed:
            return "computed"
        return "answer" if self.best else "not sure" if self.candidates else "not found"

    @property
    def decided_by(self) -> Decider:
        """ "reader", or the "model" that `AskOptions.reader` names."""
        return "model" if self.model else "reader"

    @property
    def primary(self) -> AnswerSpan | None:
        """`best`, or the first cell or place of `computed`; None for a declined question."""
        return self.computed.first if self.computed else self.best

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Every span that the sentences of a model cite, by number."""
        return citations_of(self.written)

    @property
    def values(self) -> tuple[str, ...]:
        """The words of the answer, one entry for each thing that it names; empty for a declined question."""
        if self.computed:
            return (self.computed.value,)
        return tuple(part.text for part in self.parts) or ((self.best.text,) if self.best else ())

    @property
    def best_rejected(self) -> AnswerSpan | None:
        """The best span of a declined question, or None."""
        return self.rejected[0] if self.rejected else None

    @property
    def no_answer(self) -> bool:
        """True when the question was declined."""
        return self.best is None and self.computed is None

    @property
    def text(self) -> str:
        """The words of the best answer, or the empty string."""
        return "" if self.best is None else self.best.text

    @property
    def verdict(self) -> str | None:
        """Yes or no for an answered yes-no question, else None."""
        return None if self.best is None else self.best.verdict

    @property
    def span(self) -> Span | None:
        """The span of the best answer, or None."""
        return None if self.best is None else self.best.span

    @property
    def confidence(self) -> float | None:
        """The fitted probability that the best answer is right, or None."""
        return None if self.best is None else self.best.confidence


AnswerCallback = Callable[[Answer], None]
"""Called with the answer of the built-in reader, before a model answers."""


def no_callback(answer: Answer) -> None:
    """An answer callback that does nothing."""


@dataclass(frozen=True, slots=True)
class OverviewEntry:
    """A document with its headings, or a folder with the titles of its documents.

    Attributes:
        name: the document's id, or the folder's path with "/" at its end.
        title: the document's title; "" for a folder.
        documents: the number of documents.
        passages: the number of passages.
        dates: first and last day, as in `Overview`.
        headings: headings of the document, or titles of the folder's documents.
    """

    name: str
    title: str
    documents: int
    passages: int
    dates: tuple[str, ...]
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts of documents, and the longest of them.

    Attributes:
        documents: the number of documents.
        passages: the number of passages.
        formats: the number of documents by format.
        dates: the first and the last day in metadata or names of documents; one where they are equal.
        entries: the longest documents or folders, by name.
    """

    documents: int
    passages: int
    formats: Mapping[str, int]
    dates: tuple[str, ...]
    entries: tuple[OverviewEntry, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary for a question, or the overview of documents.

    Attributes:
        question: the question as typed; "" for an overview.
        sentences: the sentence with the answer comes first. Without sentences and overview it is a refusal.
        dropped: written sentences that the documents do not support.
        generator: what wrote the sentences.
        passages: the number of passages used.
        nearest: the passages to look at after a refusal.
        retriever: the name of the retriever; "" for an overview.
        timings_ms: milliseconds by stage.
        scope: what the filter selects; None without a filter.
        overview: the overview; None for a question.
        searched_for: misspelled words, each with the word that was searched instead.
        is_unknown: no content word of the question occurs in the documents.
        unread_files: documents that may hold the answer but could not be read; 0 unless it is a refusal.
        understood: the question that is asked of the documents, where a conversation changes it; else "".
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
    unread_files: int = 0
    understood: str = ""

    @property
    def outcome(self) -> Literal["answer", "not found"]:
        """Answered or an overview, or declined."""
        return "not found" if self.is_refusal else "answer"

    @property
    def is_refusal(self) -> bool:
        """True when the documents support no sentence."""
        return not self.sentences and self.overview is None

    @property
    def text(self) -> str:
        """The sentences with their citations."""
        return " ".join(sentence.cited for sentence in self.sentences)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Every cited span, by number."""
        return citations_of(self.sentences)


@dataclass(frozen=True, slots=True)
class RankingExample:
    """A training example: a question with passages that answer it or not.

    Attributes:
        question: the question.
        passages: texts; the first `n_positive` answer the question.
        n_positive: the number of positive passages, at least 1.
        scores: a teacher's score for each passage, higher is better; empty without a teacher.
    """

    question: str
    passages: tuple[str, ...]
    n_positive: int = 1
    scores: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """`ValueError` without a positive passage, and for a wrong number of scores."""
        n = len(self.passages)
        if not 1 <= self.n_positive <= n:
            raise ValueError(f"{self.n_positive} of {n} passages are positive, expected 1 or more")
        if self.scores and len(self.scores) != n:
            raise ValueError(f"{len(self.scores)} scores for {n} passages")
