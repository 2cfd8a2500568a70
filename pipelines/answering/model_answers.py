"""Answers of a model that reads passages and points at sentences.

The built-in reader answers first. The model reads the passages that are not irrelevant and points at
sentences and words in them. These are looked up: what is shown and cited are the document's own words. What
it writes is checked (`reader.written`). It may search again with words of its own. A sentence that is dropped
leaves its quote. A value that is computed from a table is one of the numbered sentences.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from typing import get_args

from spanwise.errors import GenerationFailed
from spanwise.types import (
    Answer,
    AnswerCallback,
    AnswerSpan,
    AskOptions,
    Citation,
    Document,
    Finding,
    Hit,
    ModelReading,
    Passage,
    PlaceMatch,
    QuoteMatch,
    Span,
    SummarySentence,
    no_callback,
)

from ...index.analysis import STOP_WORDS, name_of
from ...reader.generators.protocol import Generator
from ...reader.written import WrittenChecker
from ..understanding.question import Question
from ..understanding.spelling import spelling_of
from .ask import Answerer, AnswerTrace, citation_of, placed_span
from .filters import day_of
from .prompts import (
    COMPUTED,
    MAX_TOKENS,
    SCHEMA,
    STANDALONE_SCHEMA,
    Prompt,
    Reply,
    Requests,
    Sentence,
    fitting,
    make_prompt,
    read_reply,
    standalone_messages,
    strings,
)
from .quotes import find_words

MAX_SENTENCES = 3  # of an answer
MIN_PASSAGES = 4  # that are read in any case
MIN_RELEVANCE = -6.0  # logit; 0.7 % of the passages with the answer are below it, and 19 % of all
CONTEXT_TOKENS = 4096  # of a generator that states no limit
HEAD_TOKENS = 900  # for the instructions and the question
COMMON = 0.25  # of the passages that have a name: it is that of what the folder is about
MIN_COMMON = 3  # passages
MIN_WORDS = 4  # that are looked up in other sentences than the one that is named
WHOLE: tuple[QuoteMatch, ...] = ("exact", "folded")
C = 60  # of the fusion by reciprocal ranks
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class PlacedEvidence:
    """Words that a model points at, in their document.

    sentence: the sentence that holds them.
    span: the words.
    match: how they were found.
    quote: what is cited: the sentence, to the last word that is marked or written.
    is_computed: the value of a table is meant.
    """

    sentence: Sentence
    span: Span
    match: PlaceMatch
    quote: Span
    is_computed: bool = False


@dataclass(frozen=True, slots=True)
class ModelAnswerer:
    """Answers questions with a model.

    Attributes:
        built_in: the built-in reader, which answers before the model.
        generator: the model; None where a record is replayed.
        options: the options.
        on_answer: called with the answer of the built-in reader.
        max_sentences: the maximum number of written sentences.
        waiting: makes the block in which a reply is waited for.
    """

    built_in: Answerer
    generator: Generator | None
    options: AskOptions
    on_answer: AnswerCallback = no_callback
    max_sentences: int = MAX_SENTENCES
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext

    def trace(self, questions: Sequence[str | Question]) -> list[AnswerTrace]:
        """One answer per question, with the hits that were read last.

        GenerationFailed if the model fails, unless the options say that the built-in reader answers then.
        """
        return [self._trace(question) for question in questions]

    def _trace(self, question: str | Question) -> AnswerTrace:
        asked = Question.of(question, self.built_in.snapshot, self.built_in.analyzer)
        requests = Requests(self.generator, self.options.model, asked.spelling.question, self.waiting)
        [trace] = self.built_in.trace([asked])
        self.on_answer(trace.answer)
        try:
            understood, searches = self._understood(asked, requests)
            if understood is not asked:
                [trace] = self.built_in.trace([understood])
            return self._answered(understood, trace, searches, requests)
        except GenerationFailed as error:
            if not self.options.model.fallback:
                raise
            failure = f"{error}. The built-in reader answers"
            return replace(trace, answer=replace(trace.answer, failure=failure))

    def _understood(self, asked: Question, requests: Requests) -> tuple[Question, list[str]]:
        """The question as it stands alone, after a conversation, and the searches of the model."""
        if not (self.options.history or self.options.model.search_first):
            return asked, []
        typed = asked.spelling.question
        messages = standalone_messages(typed, self.options.history)
        record, _ = requests.object("understand", messages, STANDALONE_SCHEMA, ("question", "search"))
        standalone = " ".join(str(record.get("question") or "").split())
        searches = strings(record.get("search")) if self.options.model.search_first else []
        if not self.options.history or standalone in ("", asked.spelling.uncorrected):
            return asked, searches
        snapshot = self.built_in.snapshot
        spelling = spelling_of(typed, snapshot, self.built_in.analyzer, standalone)
        return Question(spelling, snapshot, self.built_in.analyzer), searches

    def _answered(
        self, asked: Question, trace: AnswerTrace, searches: list[str], requests: Requests
    ) -> AnswerTrace:
        """The answer of the model, after its searches."""
        hits = list(trace.hits)
        passages = self._relevant(asked, trace)
        pointed_at: list[Passage] = []
        searched: list[str] = []
        began = time.perf_counter()
        n_left = self.options.model.searches
        step = "answer"
        while True:
            if searches:
                searched += searches
                irrelevant = {hit.passage.id for hit in trace.hits} - {passage.id for passage in passages}
                hits = self._fused([hits, *self._search(searches)])
                relevant = [hit.passage for hit in hits if hit.passage.id not in irrelevant]
                passages = list({passage.id: passage for passage in (*pointed_at, *relevant)}.values())
            reply, prompt = self._reply(step, asked, passages, trace, requests)
            numbers = [each.number for each in reply.evidence if each.number in prompt.sentences]
            pointed_at = [prompt.sentences[number].passage for number in numbers]
            searches = [words for words in reply.search if words not in searched]
            if reply.status in ("answered", "conflict") or not (searches and n_left):
                break
            n_left -= 1
            step = f"answer {self.options.model.searches - n_left + 1}"
        answer = self._of_reply(asked, trace.answer, reply, prompt, requests, searched)
        timings = {**trace.answer.timings_ms, "model": (time.perf_counter() - began) * 1000}
        return replace(trace, answer=replace(answer, timings_ms=timings), hits=hits)

    # Searching

    def _relevant(self, asked: Question, trace: AnswerTrace) -> list[Passage]:
        """The passages of the hits that the reader does not find irrelevant, best first."""
        readings = [*trace.readings]
        if unread := trace.hits[len(readings) :]:
            reader = self.built_in.small.reader if self.built_in.small else self.built_in.reader
            [more] = reader.read([asked.text], [[hit.passage for hit in unread]])
            readings += more
        passages = []
        for hit, spans in zip(trace.hits, readings, strict=True):
            relevance = max((span.relevance for span in spans if not math.isnan(span.relevance)), default=0.0)
            if relevance >= MIN_RELEVANCE or hit.rank <= MIN_PASSAGES:
                passages.append(hit.passage)
        return passages

    def _search(self, searches: Sequence[str]) -> list[list[Hit]]:
        among = self.built_in.selection.passage_ids if self.built_in.selection else None
        return self.built_in.retriever.search(searches, self.options.k, among)

    def _fused(self, rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
        """The best hits of several rankings by reciprocal ranks."""
        scores: dict[int, float] = {}
        hits: dict[int, Hit] = {}
        for ranking in rankings:
            for rank, hit in enumerate(ranking, start=1):
                hits.setdefault(hit.passage.id, hit)
                scores[hit.passage.id] = scores.get(hit.passage.id, 0.0) + 1 / (C + rank)
        order = sorted(scores, key=lambda number: -scores[number])[: self.options.k]
        return [replace(hits[number], rank=rank) for rank, number in enumerate(order, start=1)]

    # Asking

    def _reply(
        self, step: str, asked: Question, passages: Sequence[Passage], trace: AnswerTrace, requests: Requests
    ) -> tuple[Reply, Prompt]:
        """The reply to a prompt; where a server cuts it, half of the passages are sent again."""
        document_of = cache(self.built_in.snapshot.document)
        if self.generator is None:
            passages = passages[: requests.recorded_passages(step)]
        else:
            n_left = getattr(self.generator, "context_tokens", CONTEXT_TOKENS) - MAX_TOKENS - HEAD_TOKENS
            passages = fitting(passages, self.generator.count_tokens, n_left) or passages[:1]
        while True:
            prompt = make_prompt(
                asked.spelling.uncorrected, passages, document_of, self.max_sentences, trace.answer.computed
            )
            requests.n_passages = len(passages)
            record, completion = requests.object(step, prompt.messages, SCHEMA, ("status", "answer"))
            n_words = sum(len(_WORD.findall(message["content"])) for message in prompt.messages)
            if not (completion.is_cut or 0 < completion.tokens_in < n_words):
                return read_reply(record), prompt
            if len(passages) < 2:
                raise GenerationFailed(
                    f"{requests.use.name} cuts its prompt or its reply. Give it a longer context."
                )
            passages = passages[: len(passages) // 2]
            step += " half"

    # From the reply to an answer

    def _of_reply(
        self,
        asked: Question,
        answer: Answer,
        reply: Reply,
        prompt: Prompt,
        requests: Requests,
        searched: Sequence[str],
    ) -> Answer:
        """The answer: the words that the model points at, and the sentences that pass the check."""
        document_of = cache(self.built_in.snapshot.document)
        placed = {
            number: place
            for number, each in enumerate(reply.evidence)
            if (place := place_evidence(each.number, each.words, prompt.sentences))
        }
        sentences, used = self._sentences(reply, self._quoted(placed, reply), asked, document_of)
        model = ModelReading(
            use=requests.use,
            status=reply.status if used else "none",
            passages=len(prompt.passages),
            agrees=_agrees(answer, used),
            searches=tuple(searched),
            dropped=tuple(sentence for sentence in sentences if sentence.findings),
            requests=requests.n,
            seconds=requests.seconds,
        )
        written = tuple(sentence for sentence in sentences if not sentence.findings)
        spans = [placed_span(document_of, _answer_span(each, reply.verdict)) for each in used]
        if spans:
            answer = replace(answer, candidates=(), missing_terms=(), unread_files=0)
        is_computed = any(each.is_computed for each in used)
        return replace(
            answer,
            best=None if is_computed else next(iter(spans), None),
            computed=answer.computed if is_computed else None,
            parts=tuple(spans) if len(spans) > 1 and not is_computed else (),
            alternatives=(),
            otherwise=(),
            rejected=(),
            steps=(),
            table=None,
            passages_read=len(prompt.passages),
            passages_unread=0,
            threshold=None,
            written=written,
            model=model,
            note=""
            if written or not model.dropped
            else "nothing could be written that the documents support",
        )

    def _sentences(
        self,
        reply: Reply,
        placed: Mapping[int, PlacedEvidence],
        asked: Question,
        document_of: Callable[[str], Document],
    ) -> tuple[list[SummarySentence], list[PlacedEvidence]]:
        """The sentences of a reply, with citations or findings, and the evidence of all of them."""
        cited: dict[Span, Citation] = {}
        used: dict[PlacedEvidence, None] = {}
        sentences = []
        for text, places in reply.answer:
            evidence = [placed[number] for number in places if number in placed]
            used |= dict.fromkeys(evidence)
            sentence = self._checked(text, evidence, asked, document_of)
            if not sentence.findings:
                citations = tuple(_citation(each, cited, document_of) for each in evidence)
                sentence = replace(sentence, citations=citations)
            sentences.append(sentence)
        return sentences, [*used]

    def _quoted(self, placed: Mapping[int, PlacedEvidence], reply: Reply) -> dict[int, PlacedEvidence]:
        """The places with a quote for each sentence: to the last word that is marked or written."""
        by_sentence: dict[Span, list[int]] = {}
        for number, place in placed.items():
            by_sentence.setdefault(place.sentence.span, []).append(number)
        quoted = dict(placed)
        for span, numbers in by_sentence.items():
            texts = [text for text, places in reply.answer if not {*numbers}.isdisjoint(places)]
            written = set(self._content(" ".join(texts)))
            tokens = self.built_in.analyzer.tokens(span.text)
            ends = [token.end for token in tokens if self.built_in.analyzer.term(token.word) in written]
            end = max([*(span.start + end for end in ends), *(placed[number].span.end for number in numbers)])
            for number in numbers:
                place = placed[number]
                first = place.sentence.passage.start
                quote = place.sentence.passage.span(span.start - first, end - first)
                quoted[number] = place if place.is_computed else replace(place, quote=quote)
        return quoted

    def _checked(
        self,
        text: str,
        evidence: Sequence[PlacedEvidence],
        asked: Question,
        document_of: Callable[[str], Document],
    ) -> SummarySentence:
        """The sentence with its findings, or with the words that are underlined."""
        if not evidence:
            nothing = Finding("extrinsic", text, "it points at no sentence")
            return SummarySentence(text, (), (nothing,))
        passages = {each.sentence.passage.id: each.sentence.passage for each in evidence}.values()
        above = [
            words
            for passage in passages
            for words in (
                *passage.heading,
                passage.label,
                name_of(passage.document_id),
                passage.document_id,
                day_of(document_of(passage.document_id)),
                *self.built_in.tables.columns(passage),
            )
        ]
        cited = [text for each in evidence for text in (each.sentence.text, each.sentence.span.text)]
        around = [passage.text for passage in passages]
        check = WrittenChecker(self._content, self._is_common).check(
            text, list(dict.fromkeys(cited)), above, around, asked.spelling.uncorrected
        )
        findings = check.findings
        if self.options.model.strict and not findings:
            findings = tuple(
                Finding("extrinsic", word, "the cited passages do not have this word")
                for word in check.underlined
            )
        return SummarySentence(text, (), findings, underlined=check.underlined)

    def _content(self, text: str) -> list[str]:
        """The terms of a text without stop words."""
        analyzer = self.built_in.analyzer
        return [analyzer.term(token.word) for token in analyzer.tokens(text) if token.word not in STOP_WORDS]

    def _is_common(self, name: str) -> bool:
        """True for a name that many passages have."""
        terms = self.built_in.analyzer.terms(name)
        statistics = self.built_in.snapshot.postings().statistics(terms)
        least = max(MIN_COMMON, COMMON * statistics.n_docs)
        return bool(terms) and all(statistics.df.get(term, 0) >= least for term in terms)


def place_evidence(number: str, words: str, sentences: Mapping[str, Sentence]) -> PlacedEvidence | None:
    """The place of words in the sentence of this number, or else in another one that has all of them.

    Where no sentence has them, the whole one of this number is marked; None for an unknown number.
    """
    named = sentences.get(number)
    if named and number == COMPUTED:
        return PlacedEvidence(named, named.span, "exact", named.span, is_computed=True)
    here = [(named, kind) for kind in get_args(QuoteMatch)] if named else []
    is_long = not named or len(words.split()) >= MIN_WORDS
    elsewhere = ((each, kind) for kind in WHOLE for each in sentences.values() if is_long)
    for sentence, kind in (*here, *elsewhere):
        if sentence and words.strip() and (place := find_words(words, sentence.span.text, kind)):
            start = sentence.span.start - sentence.passage.start
            span = sentence.passage.span(start + place.start, start + place.end)
            return PlacedEvidence(sentence, span, place.match, span)
    return PlacedEvidence(named, named.span, "sentence", named.span) if named else None


def _answer_span(evidence: PlacedEvidence, verdict: str | None) -> AnswerSpan:
    sentence = evidence.sentence
    return AnswerSpan(
        span=evidence.span,
        context=sentence.span,
        passage=sentence.passage,
        verdict=verdict,
        match=evidence.match,
    )


def _citation(
    evidence: PlacedEvidence, cited: dict[Span, Citation], document_of: Callable[[str], Document]
) -> Citation:
    """The citation of a quote, numbered in the order of first use in `cited`."""
    span = evidence.quote
    if span not in cited:
        citation = citation_of(len(cited) + 1, span, evidence.sentence.passage, document_of)
        day = day_of(document_of(span.document_id))
        cited[span] = replace(citation, match=evidence.match, date=day)
    return cited[span]


def _agrees(built_in: Answer, used: Sequence[PlacedEvidence]) -> bool | None:
    """True if the built-in reader quotes one of the sentences; None where it declines."""
    best = built_in.primary
    if best is None:
        return None
    return any(
        each.span.document_id == best.span.document_id
        and each.sentence.span.start < best.span.end
        and best.span.start < each.sentence.span.end
        for each in used
    )
