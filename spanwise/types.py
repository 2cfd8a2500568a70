"""The values that cross folders: frozen, slotted dataclasses and nothing else.

A span is half-open, `(document_id, start, end)`, in code points of the document's stored text, so that
`document.text[start:end]` is the quoted text for every format. Nothing here imports anything outside
the standard library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Literal

ProgressCallback = Callable[[str, int, int], None]
"""Called with the name of a task, how many of its steps are done, and how many there are."""


def no_progress(task: str, done: int, total: int) -> None:
    """A progress callback that does nothing."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document: where it starts, how deep it stands (1 is the top), and its words."""

    start: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Label:
    """What the format calls the place that starts here: "slide 3", "Sheet1!B7", "cell 12", "row 17"."""

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
class ScoredSpan:
    """A span that a reader proposes inside a passage.

    `score` is the raw start logit + end logit, comparable between the passages of one question;
    `null_score` is the same sum at [CLS] for that passage, and NaN for a model without a null answer.
    `sentence_score` says how much more the sentences that the span touches speak for carrying the answer
    than for there being none; NaN for a model that does not score sentences.
    """

    span: Span
    passage: Passage
    score: float
    null_score: float
    sentence_score: float = math.nan


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """An answer that is shown: the span, the sentence or sentences around it, and how sure we are.

    `short` is the reader's own span: the answer to a factoid question, the heart of a longer answer.
    `confidence` is the fitted probability that the answer is right, None until it has been fitted;
    `page` (None for a format without pages) and `line` count from 1; they and `label` belong to the
    span's start. `duplicates` are passages that say nearly the same as `passage` and were not read.
    `agreeing` are the answers of other passages in the same words, best first, listed nowhere else.
    """

    span: Span
    short: Span
    sentence: Span
    passage: Passage
    page: int | None
    line: int
    score: float
    confidence: float | None
    label: str = ""
    duplicates: tuple[Passage, ...] = ()
    agreeing: tuple[AnswerSpan, ...] = ()

    @property
    def text(self) -> str:
        """The quoted words themselves."""
        return self.span.text


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents are searched: those that meet every condition given; without any, all.

    `paths` are patterns as in a `.spanwiseignore`, each for documents or for folders with all below them:
    "notes/**", "*.md", "/README.md"; any of them will do, the last that matches decides, and "!" in front
    leaves out again. `types` are names of file types, "pdf", "md", or media types, "text/html"; any of them.
    `after` is the first moment that is taken, `before` the first that no longer is: a `date`, a `datetime` or
    either in ISO 8601, in local time unless it says otherwise. A document's time is its own metadata "date"
    where that is ISO 8601, else the time of its file; one without a time meets neither. `metadata` are values
    a document must have, all of them; keys match in any case.
    """

    paths: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    after: date | str | None = None
    before: date | str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep copies that nobody changes, and refuse a bare string: it would be one pattern a character."""
        for name, values in (("paths", self.paths), ("types", self.types)):
            if isinstance(values, str):
                raise ValueError(f"{name} must be a tuple such as ({values!r},), not {values!r}")
            object.__setattr__(self, name, tuple(values))
        object.__setattr__(self, "metadata", dict(self.metadata))


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How passages are ranked.

    `k` is the number of passages. `retriever` is a name ("bm25", "dense", "hybrid", "bm25+colbert", …), an
    object with a method `search`, or "" for the default of the index. `rerank` names the cross-encoder that
    re-ranks the best `rerank_depth` passages ("builtin", a folder, name@revision); "" is none, and
    "bm25+rerank" as the retriever means "builtin". `dedupe` merges near-duplicate passages into the best of
    them. `where` selects documents. `exact` scans every vector, also where an approximate index is faster.
    """

    k: int = 10
    retriever: str | object = ""
    rerank: str = ""
    rerank_depth: int = 30
    dedupe: bool = True
    where: Filter | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        """Reject numbers below 1."""
        if self.k < 1:
            raise ValueError(f"k is {self.k}, expected at least 1")
        if self.rerank_depth < 1:
            raise ValueError(f"rerank_depth is {self.rerank_depth}, expected at least 1")


@dataclass(frozen=True, slots=True)
class AskOptions(SearchOptions):
    """How a question is answered from the best `k` passages.

    `reader` is "builtin", a folder, name@revision, or an object with a method `read`. `threshold` is the
    minimum confidence of an answer: by default the fitted one, 0 always answers. `alternatives` is the number
    of other answers. `read_all` reads all `k` passages, also where the first are enough.
    """

    k: int = 20
    reader: str | object = "builtin"
    threshold: float | None = None
    alternatives: int = 3
    read_all: bool = False

    def __post_init__(self) -> None:
        """Reject numbers out of range."""
        SearchOptions.__post_init__(self)
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold is {self.threshold}, expected 0 to 1")
        if self.alternatives < 0:
            raise ValueError(f"alternatives is {self.alternatives}, expected 0 or more")


EXTRACTIVE = "extractive"
"""The generator that writes nothing: summaries quote sentences of the documents."""


@dataclass(frozen=True, slots=True)
class SummaryOptions(AskOptions):
    """How a summary is made, of the best `k` passages for a question, or of documents.

    `document` names the one document to summarize: its id, a path, or the end of the id. `generator` is
    "extractive", the URL of an OpenAI-compatible server with #model, a folder or name@revision of a model, or
    an object with a method `generate`; it writes for at most `timeout_s` seconds. `strict` drops sentences
    that the documents do not support.
    """

    document: str | None = None
    max_sentences: int = 5
    generator: str | object = EXTRACTIVE
    strict: bool = False
    timeout_s: float | None = None

    def __post_init__(self) -> None:
        """Reject numbers out of range."""
        AskOptions.__post_init__(self)
        if self.max_sentences < 1:
            raise ValueError(f"max_sentences is {self.max_sentences}, expected at least 1")
        if self.timeout_s is not None and not self.timeout_s > 0:
            raise ValueError(f"timeout_s is {self.timeout_s}, expected more than 0")


@dataclass(frozen=True, slots=True)
class Scope:
    """What a filter left to be searched: how many `documents` of all, and how many `passages` they have."""

    where: Filter
    documents: int
    of_documents: int
    passages: int


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """A word of a question by its place: `question[start:end]`, in code points."""

    start: int
    end: int

    def of(self, question: str) -> str:
        """The word itself."""
        return question[self.start : self.end]


@dataclass(frozen=True, slots=True)
class UnknownWord:
    """A word of a question that no passage of the index holds.

    `nearest` is the most common word of the documents within one edit of it, where it stands first in
    `passage`; both are None when there is none.
    """

    word: QuestionWord
    nearest: Span | None = None
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class RejectedSpan:
    """A span that was read and not shown as the answer, and what spoke against it.

    `threshold` is the least confidence that would have been shown, None while none has been fitted. `margin`
    is the span's score minus that of "no answer" for its passage (logits), below 0 when "no answer" won, None
    for a reader that cannot say so. `lacks` are the words of the question that neither the passage nor the
    headings above it hold.
    """

    answer: AnswerSpan
    threshold: float | None
    margin: float | None
    lacks: tuple[QuestionWord, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question: the best answer or None, its rivals, and what was searched.

    `best` is None when the documents do not hold the answer as far as the reader can tell; then
    `rejected` are the spans that came nearest, best first, `unknown` the words of the question that stand in
    no passage, and `nearest` the passages to look at. All passages of all documents were searched, or those
    that `scope` says a filter left; the best `passages_read` of them were read, and the next
    `passages_unread`, asked for as well, left unread, as the answer was sure without them. `cached` is true
    when the same question was answered before; the time is then that of looking the answer up. `threshold` is
    the least confidence that was shown, None where none was fitted.
    """

    question: str
    best: AnswerSpan | None
    alternatives: tuple[AnswerSpan, ...]
    documents_searched: int
    passages_searched: int
    passages_read: int
    rejected: tuple[RejectedSpan, ...]
    unknown: tuple[UnknownWord, ...]
    nearest: tuple[Hit, ...]
    retriever: str
    timings_ms: Mapping[str, float]
    scope: Scope | None = None
    cached: bool = False
    threshold: float | None = None
    passages_unread: int = 0

    @property
    def best_rejected(self) -> AnswerSpan | None:
        """The span that came nearest to being the answer of a question that was declined, or None."""
        return self.rejected[0].answer if self.rejected else None

    @property
    def no_answer(self) -> bool:
        """True when the question was declined."""
        return self.best is None

    @property
    def text(self) -> str:
        """The words of the best answer, or the empty string."""
        return "" if self.best is None else self.best.text

    @property
    def span(self) -> Span | None:
        """The span of the best answer, or None."""
        return None if self.best is None else self.best.span

    @property
    def confidence(self) -> float | None:
        """The fitted probability that the best answer is right, or None."""
        return None if self.best is None else self.best.confidence


class Verdict(StrEnum):
    """How far the documents support a sentence."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    UNSUPPORTED = "unsupported"


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
    """A sentence with the spans that support it, best first; an unsupported one cites nothing.

    `support` is 0..1, see `reader.support`. `findings` say what the documents do not support.
    """

    text: str
    citations: tuple[Citation, ...]
    support: float
    verdict: Verdict
    findings: tuple[Finding, ...] = ()

    @property
    def cited(self) -> str:
        """The sentence in one line with the numbers of its citations, such as "It burned in 1871. [1]"."""
        numbers = sorted({one.number for one in self.citations})
        return " ".join([*self.text.split(), "".join(f"[{number}]" for number in numbers)]).rstrip()


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary for a question or of documents: its sentences in order, and those that were dropped.

    `question` is empty for a summary of documents. Without sentences it is a refusal, and `nearest` are the
    passages to look at. `passages` were used; `left_out` of them did not fit into the prompt.
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
    scope: Scope | None = None

    @property
    def is_refusal(self) -> bool:
        """True when the documents support no sentence."""
        return not self.sentences

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
class Rejection:
    """A file that was found and could not be read, and why."""

    document_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to know about a document that was read: pages without text, another language."""

    document_id: str
    text: str


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What one sync did; document ids in sorted order. `skipped` counts files passed over, by reason.

    Every file found is in exactly one place: `found` = added + updated + unchanged + rejected + skipped.
    `deleted` are documents whose files are gone or can no longer be read. `remarks` are on documents
    added or updated. `reused_vectors` counts passages whose vector was there already under another id,
    `encoded_tokens` those whose token vectors were made; `seconds` is what all of it took.
    """

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: int = 0
    rejected: tuple[Rejection, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    found: int = 0
    reused_vectors: int = 0
    encoded_tokens: int = 0
    passages: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RankingExample:
    """A question with passages to rank, to train on: the first `n_positive` answer it, the others do not.

    `scores`, if there are any, are those of a teacher, one a passage, higher being better.
    """

    question: str
    passages: tuple[str, ...]
    n_positive: int = 1
    scores: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a list that nothing could be learned from, or whose scores belong to other passages."""
        if not 1 <= self.n_positive <= len(self.passages):
            raise ValueError(
                f"{self.n_positive} of {len(self.passages)} passages are positive, expected 1 or more"
            )
        if self.scores and len(self.scores) != len(self.passages):
            raise ValueError(f"{len(self.scores)} scores for {len(self.passages)} passages")
