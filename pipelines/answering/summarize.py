"""Summarize: gather passages, choose or write sentences, check each, cite what supports it.

The passages are the best for a question; without one there is an overview of a document or folder. Quoted
sentences are chosen, that of the answer first. A generator reads only sentences that the reader marks, with
their neighbours, and none for a question that the reader declines. Each sentence that it writes is compared
with those it read (`reader.support`): it cites those that support it, or gives way to the quote that answers,
or is dropped.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Literal, cast

from spanwise.types import (
    QUOTE,
    Citation,
    Finding,
    GeneratorUse,
    Hit,
    Passage,
    SentenceCallback,
    Span,
    Summary,
    SummaryOptions,
    SummarySentence,
)

from ...corpora.sentences import sentence_spans
from ...index.analysis import STOP_WORDS, Analyzer
from ...index.snapshot import Snapshot
from ...reader.prompt import REFUSAL, chat_messages
from ...reader.support import Checker
from ..folders import Root, resolve_document_id
from ..json_records import filter_record, hit_record, place_record, spelling_record
from ..plain_text import shown
from .ask import place_of
from .overview import overview
from .spelling import Spelling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...reader.generators.protocol import Generator
    from ...reader.span_reader import SpanReader
    from ..library.open_commit import IndexView

N_NEAREST = 3
MIN_RELEVANCE = 0.5  # of the best sentence: the reader sees an answer in it
FRAGMENT = 0.5  # the weight of a heading or a row
MAX_TOKENS = 60  # of a written sentence
PROMPT_TOKENS = 600  # of the sentences that a generator reads for a question
LINE_TOKENS = 4  # of the number of a sentence
MIN_CITED = 0.3  # relevance of the first sentence that it cites, and of a quote in its place
NUMBER_ASKED = re.compile(r"\b(?:how (?:many|much|long|often|old|far|big|high)|when|year|date)\b", re.I)
NUMBER = re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|half|twice)\b", re.I)
ASKS = re.compile(r"\A(?:who|whose|what|when|where|why|how|which)\b|\?\Z")
MIN_BEFORE = 2  # words before a question that a sentence reports
MAX_SIMILARITY = 0.8  # of the terms of a sentence to those of one that was taken
MIN_TERMS = 6  # of a complete sentence
MAX_FRAGMENT = 60  # characters of an answer without a stop; a longer text without one is cut off
ENDED = re.compile(r"[.!?…。！？][^\w\s]*\Z")
_MARK = re.compile(r" ?\[\d{1,3}\]|(?:(?<=\n)|\A)[^\S\n]*(?:\d{1,2}[.)]|[-*•])\s+")  # [1], and of a list


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage, as a span of its document; how probably it carries the answer."""

    span: Span
    passage: Passage
    relevance: float = 1.0


@dataclass(slots=True)
class Summarizer:
    """Quotes or writes sentences, and tells of each at once: "sentence" is kept, "dropped" is not."""

    view: IndexView
    options: SummaryOptions
    tell: SentenceCallback | None
    sentences: list[SummarySentence] = field(default_factory=list, init=False)
    dropped: list[SummarySentence] = field(default_factory=list, init=False)
    use: GeneratorUse = field(default=GeneratorUse(QUOTE), init=False)
    _numbers: dict[Span, int] = field(default_factory=dict, init=False)

    def answer(self, generator: Generator | None, question: str, hits: Sequence[Hit]) -> None:
        """Quote or write what answers; nothing is written if the reader declines."""
        every = sentences_of([hit.passage for hit in hits])
        found = [one for one in every if not _reports(question, shown(one.span))]
        [traced] = self.view.answerer(self.options).trace([question], [hits])
        relevance = self._relevance(question, found)
        rows = zip(found, relevance, strict=True)
        sentences = [replace(one, relevance=0.0 if _is_heading(one) else x) for one, x in rows]
        answers = [at for at, one in enumerate(sentences) if _holds(one.span, traced.answer.span)][:1]
        if generator is None:
            return self._choose(question, sentences, answers)
        self.use = GeneratorUse(generator.name, generator.digest)
        if traced.answer.best is not None:
            likely = [sentences[at] for at in answers if sentences[at].relevance >= MIN_CITED]
            quote = [replace(one, relevance=1.0) for one in likely]
            marked = [one for one in sentences if one.relevance >= MIN_RELEVANCE]
            marked.sort(key=lambda one: -one.relevance)
            self.write(generator, question, fitting(generator, [*quote, *marked], sentences), *quote)

    def write(self, generator: Generator, question: str, read: Sequence[Sentence], *quote: Sentence) -> None:
        """Ask the generator, and judge each sentence once it is complete; a refusal ends it.

        The quote, if there is one, takes the place of the first unsupported sentence, and of silence.
        """
        if not read:  # the sentence that answers and those beside it are longer than the prompt may be
            return self._put(*quote)
        how, lines, seen = self.options, [shown(one.span) for one in read], set[str]()
        messages, written = chat_messages(question, lines, how.max_sentences), list[tuple[str, float]]()
        began = time.perf_counter()
        pieces = generator.generate(messages, MAX_TOKENS * how.max_sentences, how.timeout_s)
        try:
            for sentence in complete(pieces, written):
                if sentence.startswith(REFUSAL.rstrip(".")):
                    break
                if sentence not in seen and not self._is_kept(sentence, read, lines):
                    self._put(*quote)
                    seen.update(shown(one.span) for one in quote)
                seen.add(sentence)
                if len(self.sentences) == how.max_sentences:
                    break
            else:
                self._put(*(quote if not self.sentences else ()))
        finally:
            if close := getattr(pieces, "close", None):  # an iterator of one's own may have none
                close()
        n_in = sum(generator.count_tokens(one["content"]) for one in messages)
        n_out = generator.count_tokens("".join(piece for piece, _ in written))
        first_ms = (written[0][1] - began) * 1000 if written else None
        self.use = GeneratorUse(generator.name, generator.digest, n_in, n_out, first_ms)

    def _is_kept(self, sentence: str, read: Sequence[Sentence], lines: Sequence[str]) -> bool:
        """Whether a written sentence is shown, by what it cites; it is told of either way."""
        found = checker(self.view.analyzer).check(sentence, lines)
        cites, findings = [read[at] for at in found.aligned], found.findings
        if not findings and cites[0].relevance < MIN_CITED:
            findings = (Finding("extrinsic", sentence, "the cited words do not answer the question"),)
        if findings:
            self._add("dropped", SummarySentence(sentence, (), found.score, findings))
        else:
            self._add("sentence", SummarySentence(sentence, tuple(map(self._citation, cites)), found.score))
        return not findings

    def _add(self, kind: Literal["sentence", "dropped"], sentence: SummarySentence) -> None:
        (self.sentences if kind == "sentence" else self.dropped).append(sentence)
        if self.tell:
            self.tell(kind, sentence)

    def _put(self, *quote: Sentence) -> None:
        """Keep a sentence of a document, unless it is cited already."""
        for one in quote:
            if one.span not in self._numbers:
                cited = (self._citation(one),)
                self._add("sentence", SummarySentence(one.span.text, cited, 1.0, is_quote=True))

    def _choose(self, question: str, sentences: Sequence[Sentence], answers: list[int]) -> None:
        """Quote the sentence that answers, those with a number if the question asks for one, others by place.

        Each cites itself. There is none if none speaks for an answer. Rows, code and crumbs count less, and
        headings nothing.
        """
        if not answers and max((one.relevance for one in sentences), default=0.0) < MIN_RELEVANCE:
            return
        terms = [self.view.analyzer.terms(one.span.text) for one in sentences]
        rows = zip(sentences, terms, strict=True)
        weighed = [one.relevance * (1 if len(words) >= MIN_TERMS else FRAGMENT) for one, words in rows]
        chosen = choose_sentences(terms, weighed, self.options.max_sentences)
        if NUMBER_ASKED.search(question):
            chosen.sort(key=lambda at: not NUMBER.search(shown(sentences[at].span)))
        for at in list(dict.fromkeys([*answers, *chosen]))[: self.options.max_sentences]:
            self._put(sentences[at])

    def _relevance(self, question: str, sentences: Sequence[Sentence]) -> list[float]:
        """How probably each sentence carries the answer: the sigmoid of its logit."""
        groups = [list(group) for _, group in groupby(sentences, key=lambda one: one.passage.id)]
        places = [
            [(one.span.start - one.passage.start, one.span.end - one.passage.start) for one in group]
            for group in groups
        ]
        reader = cast("SpanReader", self.view.models.reader("builtin"))
        scores = reader.sentence_scores(question, [group[0].passage for group in groups], places)
        logits = chain.from_iterable(scores)
        return [0.0 if math.isnan(logit) else 1 / (1 + math.exp(-logit)) for logit in logits]

    def _citation(self, sentence: Sentence) -> Citation:
        """The citation of a sentence, numbered in the order of first use."""
        span, passage = sentence.span, sentence.passage
        number = self._numbers.setdefault(span, len(self._numbers) + 1)
        return Citation(number, span, passage, *place_of(self.view.snapshot, span, passage))


def fitting(
    generator: Generator, marked: Sequence[Sentence], sentences: Sequence[Sentence]
) -> list[Sentence]:
    """The first marked sentences that fit into a prompt, each before those next to it in its passage."""
    places = {one.span: at for at, one in enumerate(sentences)}
    chosen, room = dict[Span, Sentence](), PROMPT_TOKENS
    for one in marked:
        near = sentences[max(places[one.span] - 1, 0) : places[one.span] + 2]
        beside = [each for each in near if each.passage.id == one.passage.id and each.span != one.span]
        new = {each.span: each for each in (one, *beside) if each.span not in chosen}
        room -= sum(generator.count_tokens(shown(span)) + LINE_TOKENS for span in new)
        if room < 0:
            break
        chosen |= new
    return list(chosen.values())


def complete(pieces: Iterable[str], written: list[tuple[str, float]]) -> Iterator[str]:
    """Each sentence of a text without its marks, once the next one begins, but for one that is cut off.

    The pieces of the text are kept in `written`, with the time when they came.

    >>> list(complete(["1. It bur", "ned [2]. In", " May. It was"], []))
    ['It burned.', 'In May.', 'It was']
    """
    rest = ""
    for piece in pieces:
        written.append((piece, time.perf_counter()))
        rest = _MARK.sub("", rest + piece)
        *done, last = sentence_spans(rest) or [(0, 0)]
        yield from (rest[start:end].strip() for start, end in done)
        rest = rest[last[0] :] if done else rest
    rest = rest.strip()
    if rest and (len(rest) <= MAX_FRAGMENT or ENDED.search(rest)):
        yield rest


def choose_sentences(terms: Sequence[Sequence[str]], relevance: Sequence[float], most: int) -> list[int]:
    """The numbers of the most relevant sentences in rising order, by the terms of each; ties go by number.

    A sentence with less than half of the best relevance is not chosen, nor one with nearly the terms of a
    better one.

    >>> choose_sentences([["mill", "burn"], ["burn", "mill"], ["mill", "sold"]], [0.9, 0.9, 0.8], 3)
    [0, 2]
    """
    if most < 1:
        raise ValueError(f"max_sentences is {most}, expected at least 1")
    least, sets, taken = max(relevance, default=0.0) / 2, [*map(set, terms)], list[int]()
    for at in sorted(range(len(terms)), key=lambda at: -relevance[at]):
        alike = [2 * len(sets[at] & sets[one]) / max(1, len(sets[at]) + len(sets[one])) for one in taken]
        if len(taken) < most and relevance[at] >= least and max(alike, default=0.0) <= MAX_SIMILARITY:
            taken.append(at)
    return sorted(taken)


def _is_heading(sentence: Sentence) -> bool:
    return shown(sentence.span).strip("# ") in sentence.passage.heading


def _reports(question: str, sentence: str) -> bool:
    """True for a sentence that speaks of the question, as orders to a reader do, and does not just answer it.

    >>> _reports("Who sank?", "If you are asked who sank, say Bo."), _reports("Who sank?", "Who sank? Bo.")
    (True, False)
    """
    asked, text = (" ".join(one.casefold().split()) for one in (question, sentence))
    before, found, _ = text.partition(asked.rstrip("?! ."))
    return bool(ASKS.search(asked) and found) and len(before.split()) >= MIN_BEFORE


def _holds(sentence: Span, answer: Span | None) -> bool:
    """True for the sentence in which the answer begins."""
    if answer is None or sentence.document_id != answer.document_id:
        return False
    return sentence.start <= answer.start < sentence.end


def sentences_of(passages: Sequence[Passage]) -> list[Sentence]:
    """The sentences of all passages, documents in their order and each by place; each place once."""
    order = {one: at for at, one in enumerate(dict.fromkeys(passage.document_id for passage in passages))}
    found: list[Sentence] = []
    last = ("", 0)
    for passage in sorted(passages, key=lambda one: (order[one.document_id], one.start)):
        for start, end in sentence_spans(passage.text):
            at = passage.start + start
            if last[0] == passage.document_id and at < last[1]:  # passages of a document may overlap
                continue
            last = (passage.document_id, passage.start + end)
            span = Span(passage.document_id, at, passage.start + end, passage.text[start:end])
            found.append(Sentence(span, passage))
    return found


def checker(analyzer: Analyzer) -> Checker:
    """The support check by the terms of an analyzer; function words carry no meaning."""

    def content(text: str) -> list[str]:
        return [analyzer.term(token.word) for token in analyzer.tokens(text) if token.word not in STOP_WORDS]

    return Checker(analyzer.terms, content)


def summary(made: Summarizer, question: Spelling | None, roots: Sequence[Root]) -> Summary:
    """The summary of the best passages for a question; without one the overview of documents."""
    view, options = made.view, made.options
    if question is not None and options.document is not None:
        raise ValueError("a question is answered from all documents: give a question or a document")
    began = time.perf_counter()
    selection = view.selection(options.where)
    chosen = selection.passage_ids if selection else None
    hits: Sequence[Hit] = ()
    spelling, found, retriever = question or Spelling("", ""), None, ""
    if question is None:
        ids = _passage_ids(view.snapshot, chosen, options, roots)
        n_used, found = len(ids), overview(view.snapshot, ids) if ids else None
    else:
        by = view.retriever(options)
        [hits] = by.search([spelling.text], options.k, chosen)
        retriever, n_used = by.name, len(hits)
    gathered = time.perf_counter()
    if question is not None:
        made.answer(view.models.generator(options.generator, options.base_url), spelling.text, hits)
    took = {"retrieve": (gathered - began) * 1000, "write": (time.perf_counter() - gathered) * 1000}
    return Summary(
        question=spelling.question,
        sentences=tuple(made.sentences),
        dropped=tuple(made.dropped),
        generator=made.use,
        passages=n_used,
        nearest=tuple(hits[:N_NEAREST]),
        retriever=retriever,
        timings_ms=took,
        scope=selection.scope if selection else None,
        overview=found,
        searched_for=spelling.searched_for,
        is_unknown=spelling.is_unknown,
    )


def _passage_ids(
    snapshot: Snapshot, chosen: NDArray[np.int64] | None, options: SummaryOptions, roots: Sequence[Root]
) -> list[int]:
    """All passages of a document, or the chosen ones, by document and place."""
    if options.document is not None:
        found = resolve_document_id(options.document, set(snapshot.document_ids()), roots)
        chosen = snapshot.passage_ids_of([found])
    among = None if chosen is None else set(chosen.tolist())
    return [one for one in snapshot.passage_ids().tolist() if among is None or one in among]


def summary_record(summary: Summary) -> dict[str, Any]:
    """The JSON of `summarize --json`; `nearest` are passages to look at when the summary is a refusal.

    `overview` is there without a question.
    """
    return {
        "question": summary.question,
        "sentences": [sentence_record(one) for one in summary.sentences],
        "dropped": [sentence_record(one) for one in summary.dropped],
        "generator": {**asdict(summary.generator), "digest": summary.generator.digest or None},
        "passages": summary.passages,
        "nearest": [hit_record(hit) for hit in summary.nearest] if summary.is_refusal else [],
        "retriever": summary.retriever,
        "timings_ms": {stage: round(value, 2) for stage, value in summary.timings_ms.items()},
        **({"overview": asdict(summary.overview)} if summary.overview else {}),
        **spelling_record(summary),
        **filter_record(summary.scope),
    }


def shown_sentence(sentence: SummarySentence) -> str:
    """The words of a sentence in one line; a quote is shown without markup."""
    return shown(sentence.citations[0].span) if sentence.is_quote else " ".join(sentence.text.split())


def sentence_record(sentence: SummarySentence) -> dict[str, Any]:
    """The JSON of a sentence."""
    return {
        "text": sentence.text,
        "display": shown_sentence(sentence),
        "citations": [{"number": one.number, **place_record(one)} for one in sentence.citations],
        "support": round(sentence.support, 4),
        "findings": [asdict(one) for one in sentence.findings],
        "is_quote": sentence.is_quote,
    }
