"""Summarize: gather passages, choose or generate sentences, check each against them, cite what supports it.

The passages are the best for a question. Without one a generator gets those of a document or folder; without
a generator there is an overview of them. Extractive sentences are quotes, that of the answer first. A written
sentence is aligned with the sentences of the passages (`reader.support`): it cites those that support it, and
is marked or dropped when none does.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, compress, groupby
from typing import TYPE_CHECKING, Any, cast

from spanwise.errors import GenerationFailed
from spanwise.types import (
    EXTRACTIVE,
    Citation,
    Hit,
    Passage,
    Span,
    Summary,
    SummaryOptions,
    SummarySentence,
    Verdict,
)

from ..corpora.sentences import sentence_spans
from ..index.analysis import STOP_WORDS, Analyzer
from ..index.snapshot import Snapshot
from ..reader.prompt import REFUSAL, Message, chat_messages
from ..reader.support import Checker
from .ask import place_of
from .display import shown
from .folders import Root, resolve_document_id
from .overview import overview
from .records import filter_record, hit_record, place_record, spelling_record
from .spelling import Spelling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..reader.generator import Generator
    from ..reader.span_reader import SpanReader
    from .view import IndexView

N_NEAREST = 3
MIN_RELEVANCE = 0.5  # of the best sentence: the reader sees an answer in it
FRAGMENT = 0.5  # the weight of a heading or a row
MAX_TOKENS = 60  # of a generated sentence
NUMBER_ASKED = re.compile(r"\b(?:how (?:many|much|long|often|old|far|big|high)|when|year|date)\b", re.I)
NUMBER = re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|half|twice)\b", re.I)
MAX_SIMILARITY = 0.8  # of the terms of a sentence to those of one that was taken
MIN_TERMS = 6  # of a complete sentence
_MARK = re.compile(r" ?\[\d{1,3}\]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage, as a span of its document."""

    span: Span
    passage: Passage


@dataclass(slots=True)
class Summarizer:
    """Writes sentences from passages, or quotes those of hits."""

    view: IndexView
    options: SummaryOptions
    _numbers: dict[Span, int] = field(default_factory=dict, init=False)

    def write(
        self, generator: Generator, question: str, passages: Sequence[Passage]
    ) -> tuple[list[SummarySentence], int]:
        """The sentences, and how many passages were used; GenerationFailed when the generator fails."""
        messages, used = self._prompt(generator, question, passages)
        return self._checked(self._text(generator, messages), used) if used else [], len(used)

    def quote(self, question: str, hits: Sequence[Hit]) -> list[SummarySentence]:
        """The sentence that answers, those with a number if the question asks for one, and others by place.

        Each cites itself. There is none if none speaks for an answer. Headings, rows, code and crumbs count
        less.
        """
        sentences, most = sentences_of([hit.passage for hit in hits]), self.options.max_sentences
        [traced] = self.view.answerer(self.options).trace([question], [hits])
        answers = [at for at, one in enumerate(sentences) if _holds(one.span, traced.answer.span)][:1]
        relevance = self._relevance(question, sentences)
        if not answers and max(relevance, default=0.0) < MIN_RELEVANCE:
            return []
        terms = [self.view.analyzer.terms(one.span.text) for one in sentences]
        weighed = [
            x * (1 if len(t) >= MIN_TERMS else FRAGMENT) for x, t in zip(relevance, terms, strict=True)
        ]
        chosen = choose_sentences(terms, weighed, most)
        if NUMBER_ASKED.search(question):
            chosen.sort(key=lambda at: not NUMBER.search(shown(sentences[at].span)))
        quotes = [sentences[at] for at in dict.fromkeys([*answers, *chosen])]
        return [
            SummarySentence(one.span.text, (self._citation(one),), 1.0, Verdict.SUPPORTED)
            for one in quotes[:most]
        ]

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

    def _prompt(
        self, generator: Generator, question: str, passages: Sequence[Passage]
    ) -> tuple[list[Message], list[Passage]]:
        """The prompt with as many passages as fit, and these."""
        room = generator.context_tokens - MAX_TOKENS * self.options.max_sentences
        for n in range(len(passages), 0, -1):
            documents = [(" > ".join((one.document_id, *one.heading)), one.text) for one in passages[:n]]
            messages = chat_messages(question, documents, self.options.max_sentences)
            if generator.count_tokens(messages) <= room:
                return messages, list(passages[:n])
        return [], []

    def _text(self, generator: Generator, messages: Sequence[Message]) -> str:
        most = MAX_TOKENS * self.options.max_sentences
        text = "".join(generator.generate(messages, most, self.options.timeout_s))
        if not text.strip() and self.options.timeout_s is None:
            raise GenerationFailed(f"{generator.name} wrote nothing. Try again, or another model.")
        return text

    def _checked(self, text: str, passages: Sequence[Passage]) -> list[SummarySentence]:
        """The sentences of a text without their marks, each with the verdict and its citations."""
        evidence = sentences_of(passages)
        words = [one.span.text for one in evidence]
        check = checker(self.view.analyzer)
        made = []
        for start, end in sentence_spans(text := _MARK.sub("", text)):
            sentence = text[start:end].strip()
            if sentence and not sentence.startswith(REFUSAL.rstrip(".")):
                found = check.check(sentence, words)
                cited = found.aligned if found.verdict != Verdict.UNSUPPORTED else ()
                citations = tuple(self._citation(evidence[at]) for at in cited)
                made.append(SummarySentence(sentence, citations, found.score, found.verdict, found.findings))
        return made

    def _citation(self, sentence: Sentence) -> Citation:
        """The citation of a sentence, numbered in the order of first use."""
        span, passage = sentence.span, sentence.passage
        number = self._numbers.setdefault(span, len(self._numbers) + 1)
        return Citation(number, span, passage, *place_of(self.view.snapshot, span, passage))


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


def summary(
    view: IndexView, options: SummaryOptions, question: Spelling | None, roots: Sequence[Root]
) -> Summary:
    """The summary of the best passages for a question; without one, or the overview, of documents."""
    if question is not None and options.document is not None:
        raise ValueError("a question is answered from all documents: give a question or a document")
    began = time.perf_counter()
    selection = view.selection(options.where)
    chosen = selection.passage_ids if selection else None
    hits: Sequence[Hit] = ()
    spelling, made = question or Spelling("", ""), list[SummarySentence]()
    found, retriever, generator = None, "", view.models.generator(options.generator)
    if question is None:
        ids = _passage_ids(view.snapshot, chosen, options, roots)
        passages = view.snapshot.passages(ids) if generator else []
        n_used, found = len(ids), overview(view.snapshot, ids) if ids and not generator else None
    else:
        by = view.retriever(options)
        [hits] = by.search([spelling.text], options.k, chosen)
        retriever, passages, n_used = by.name, [hit.passage for hit in hits], len(hits)
    gathered = time.perf_counter()
    if generator:
        made, n_used = Summarizer(view, options).write(generator, spelling.text, passages)
    elif question is not None:
        made = Summarizer(view, options).quote(spelling.text, hits)
    took = {"retrieve": (gathered - began) * 1000, "write": (time.perf_counter() - gathered) * 1000}
    is_kept = [one.verdict == Verdict.SUPPORTED or not options.strict for one in made]
    return Summary(
        question=spelling.question,
        sentences=tuple(compress(made, is_kept)),
        dropped=tuple(one for one, kept in zip(made, is_kept, strict=True) if not kept),
        generator=generator.name if generator else EXTRACTIVE,
        passages=n_used,
        left_out=max(len(passages) - n_used, 0),
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
        "sentences": [_sentence_record(one) for one in summary.sentences],
        "dropped": [_sentence_record(one) for one in summary.dropped],
        "generator": summary.generator,
        "passages": summary.passages,
        "left_out": summary.left_out,
        "nearest": [hit_record(hit) for hit in summary.nearest] if summary.is_refusal else [],
        "retriever": summary.retriever,
        "timings_ms": {stage: round(value, 2) for stage, value in summary.timings_ms.items()},
        **({"overview": asdict(summary.overview)} if summary.overview else {}),
        **spelling_record(summary),
        **filter_record(summary.scope),
    }


def shown_sentence(sentence: SummarySentence) -> str:
    """The words of a sentence in one line; a quote is shown without markup."""
    quoted = sentence.citations and sentence.citations[0].span
    return shown(quoted) if quoted and quoted.text == sentence.text else " ".join(sentence.text.split())


def _sentence_record(sentence: SummarySentence) -> dict[str, Any]:
    return {
        "text": sentence.text,
        "display": shown_sentence(sentence),
        "citations": [{"number": one.number, **place_record(one)} for one in sentence.citations],
        "support": round(sentence.support, 4),
        "verdict": sentence.verdict.value,
        "findings": [asdict(one) for one in sentence.findings],
    }
