"""Summarize: quote or write the sentences that answer a question, or give an overview of documents.

With a question, sentences of the best passages are quoted, the one with the answer first. If the answer has
steps, all of them are quoted instead. A model writes its sentences as in `model_answers`; where all of them
are dropped, what they cite is quoted. Without a question, there is an overview of a document or folder:
counts by format, dates, and a line with headings for each document or folder.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast

from spanwise.types import (
    QUOTE,
    GeneratorUse,
    Hit,
    Overview,
    OverviewEntry,
    Span,
    Spelling,
    Summary,
    SummaryOptions,
    SummarySentence,
)

from ...corpora.front_matter import without_tags
from ...corpora.reading import names_of
from ...eval.quantities import values_in
from ...index.schema import Description
from ...index.snapshot import Snapshot
from ..folders import Root, resolve_document_id
from ..plain_text import shown
from ..understanding.patterns import pattern
from ..understanding.question import Question
from .ask import N_NEAREST, citation_of
from .filters import count_unread, day_of
from .prompts import Sentence, sentences_of

if TYPE_CHECKING:
    from ...index.protocol import Ids
    from ...reader.span_reader import SpanReader
    from ..library.open_commit import OpenCommit

MIN_RELEVANCE = 0.5  # of a sentence that counts as relevant
FRAGMENT = 0.5  # the weight of a short sentence, such as a table row
NUMBER_ASKED = pattern("asks.number")
MAX_SIMILARITY = 0.8  # of the terms of two sentences that are both chosen
MIN_TERMS = 6  # of a complete sentence
MAX_ENTRIES = 20  # of an overview; also headings of an entry


@dataclass(slots=True)
class Quoter:
    """Quotes the sentences of a summary.

    Attributes:
        commit: the commit, with its models.
        options: the options.
        sentences: the sentences that are quoted.
    """

    commit: OpenCommit
    options: SummaryOptions
    sentences: list[SummarySentence] = field(default_factory=list, init=False)

    def answer(self, spelling: Spelling, hits: Sequence[Hit]) -> None:
        """Quote what answers the question."""
        question = spelling.text
        sentences = sentences_of([hit.passage for hit in hits], question)
        asked = Question(spelling, self.commit.snapshot, self.commit.analyzer)
        [trace] = self.commit.answerer(self.options).trace([asked], [hits])
        best = trace.answer.best
        if best and (steps := trace.answer.steps):
            above = [best.context] if best.span.end <= steps[0].start else []
            for span in (*above, *steps):
                self.put(Sentence(span, best.passage, shown(span)))
            return
        relevance = self._relevance(question, sentences)
        sentences = [
            replace(sentence, relevance=0.0 if _is_heading(sentence) else probability)
            for sentence, probability in zip(sentences, relevance, strict=True)
        ]
        answers = [n for n, each in enumerate(sentences) if best and _holds_start(each.span, best.span)][:1]
        self._choose(question, sentences, answers)

    def put(self, quote: Sentence) -> None:
        """Quote a sentence of a document, unless it is quoted already."""
        if all(each.citations[0].span != quote.span for each in self.sentences):
            document_of = self.commit.snapshot.document
            citation = citation_of(len(self.sentences) + 1, quote.span, quote.passage, document_of)
            self.sentences.append(SummarySentence(quote.span.text, (citation,), is_quote=True))

    def _choose(self, question: str, sentences: Sequence[Sentence], answers: list[int]) -> None:
        """Quote the sentence with the answer, then relevant ones in document order; each cites itself.

        Sentences with a number come first if the question asks for a number. Without an answer, nothing is
        quoted if no sentence is relevant. Rows, code and fragments count less; headings do not count.
        """
        if not answers and max((each.relevance for each in sentences), default=0.0) < MIN_RELEVANCE:
            return
        terms = [self.commit.analyzer.terms(sentence.span.readable) for sentence in sentences]
        weighed = [
            sentence.relevance * (1 if len(words) >= MIN_TERMS else FRAGMENT)
            for sentence, words in zip(sentences, terms, strict=True)
        ]
        chosen = choose_sentences(terms, weighed, self.options.max_sentences)
        if NUMBER_ASKED.search(question):
            chosen.sort(key=lambda number: not values_in(sentences[number].text))
        for number in list(dict.fromkeys([*answers, *chosen]))[: self.options.max_sentences]:
            self.put(sentences[number])

    def _relevance(self, question: str, sentences: Sequence[Sentence]) -> list[float]:
        """The probability that each sentence carries the answer: the sigmoid of its logit."""
        groups = [list(group) for _, group in groupby(sentences, key=lambda each: each.passage.id)]
        places = [
            [(each.span.start - each.passage.start, each.span.end - each.passage.start) for each in group]
            for group in groups
        ]
        reader = cast("SpanReader", self.commit.models.reader("fast"))
        scores = reader.sentence_scores(question, [group[0].passage for group in groups], places)
        logits = chain.from_iterable(scores)
        return [0.0 if math.isnan(logit) else 0.5 + 0.5 * math.tanh(logit / 2) for logit in logits]


def choose_sentences(terms: Sequence[Sequence[str]], relevance: Sequence[float], most: int) -> list[int]:
    """The numbers of the most relevant sentences, ascending; `terms` are the terms of each sentence.

    Equal relevance prefers the lower number. Left out are sentences with less than half of the best
    relevance, and those that nearly repeat a better one.

    >>> choose_sentences([["mill", "burn"], ["burn", "mill"], ["mill", "sold"]], [0.9, 0.9, 0.8], 3)
    [0, 2]
    """
    if most < 1:
        raise ValueError(f"max_sentences is {most}, expected at least 1")
    least = max(relevance, default=0.0) / 2
    sets = [set(words) for words in terms]
    chosen: list[int] = []
    for number in sorted(range(len(sets)), key=lambda number: -relevance[number]):
        if len(chosen) == most or relevance[number] < least:
            break
        if all(_similarity(sets[number], sets[other]) <= MAX_SIMILARITY for other in chosen):
            chosen.append(number)
    return sorted(chosen)


def _similarity(a: set[str], b: set[str]) -> float:
    """The Dice coefficient of two sets of terms."""
    return 2 * len(a & b) / max(1, len(a) + len(b))


def _is_heading(sentence: Sentence) -> bool:
    return sentence.text.strip("# ") in sentence.passage.heading


def _holds_start(sentence: Span, answer: Span) -> bool:
    return sentence.document_id == answer.document_id and sentence.start <= answer.start < sentence.end


def summary(
    commit: OpenCommit, options: SummaryOptions, spelling: Spelling | None, roots: Sequence[Root]
) -> Summary:
    """The summary of the best passages for a question; without one the overview of documents."""
    if spelling is None:
        return overview_summary(commit, options, roots)
    if options.document is not None:
        raise ValueError("a question is answered from all documents: give either a question or a document")
    if options.generator != QUOTE:
        return _written(commit, options, spelling)
    began = time.perf_counter()
    selection = commit.selection(options.where)
    retriever = commit.retriever(options)
    [hits] = retriever.search([spelling.text], options.k, selection.passage_ids if selection else None)
    gathered = time.perf_counter()
    quoter = Quoter(commit, options)
    quoter.answer(spelling, hits)
    return Summary(
        question=spelling.question,
        sentences=tuple(quoter.sentences),
        dropped=(),
        generator=GeneratorUse(QUOTE),
        passages=len(hits),
        nearest=tuple(hits[:N_NEAREST]),
        retriever=retriever.name,
        timings_ms={
            "retrieve": (gathered - began) * 1000,
            "write": (time.perf_counter() - gathered) * 1000,
        },
        scope=selection.scope if selection else None,
        searched_for=spelling.searched_for,
        understood=spelling.understood,
        is_unknown=spelling.is_unknown,
        unread_files=0 if quoter.sentences else count_unread(commit.snapshot, options.where),
    )


def _written(commit: OpenCommit, options: SummaryOptions, spelling: Spelling) -> Summary:
    """The summary that a model writes."""
    asker = commit.asker(replace(options, reader=options.generator), max_sentences=options.max_sentences)
    [trace] = asker.trace([Question(spelling, commit.snapshot, commit.analyzer)])
    answer = trace.answer
    sentences = answer.written
    if not sentences and answer.best:
        quoter = Quoter(commit, options)
        for part in answer.parts or (answer.best,):
            quoter.put(Sentence(part.context, part.passage, shown(part.context)))
        sentences = tuple(quoter.sentences)
    return Summary(
        question=answer.question,
        sentences=sentences,
        dropped=answer.model.dropped if answer.model else (),
        generator=answer.model.use if answer.model else GeneratorUse(QUOTE),
        passages=answer.passages_read,
        nearest=answer.nearest,
        retriever=answer.retriever,
        timings_ms=answer.timings_ms,
        scope=answer.scope,
        searched_for=answer.searched_for,
        understood=answer.understood,
        is_unknown=answer.is_unknown,
        unread_files=0 if sentences else answer.unread_files,
    )


def overview_summary(commit: OpenCommit, options: SummaryOptions, roots: Sequence[Root]) -> Summary:
    """The overview of the document, or of all documents that the filter selects."""
    began = time.perf_counter()
    selection = commit.selection(options.where)
    selected = selection.passage_ids if selection else None
    ids = _passage_ids(commit.snapshot, selected, options, roots)
    return Summary(
        question="",
        sentences=(),
        dropped=(),
        generator=GeneratorUse(QUOTE),
        passages=len(ids),
        nearest=(),
        retriever="",
        overview=overview(commit.snapshot, ids) if ids else None,
        scope=selection.scope if selection else None,
        timings_ms={"retrieve": (time.perf_counter() - began) * 1000, "write": 0.0},
    )


def _passage_ids(
    snapshot: Snapshot, selected: Ids | None, options: SummaryOptions, roots: Sequence[Root]
) -> list[int]:
    """All passages of a document, or the selected ones, by document and place."""
    if options.document is not None:
        document_id = resolve_document_id(options.document, set(snapshot.document_ids()), roots)
        selected = snapshot.passage_ids_of([document_id])
    among = None if selected is None else set(selected.tolist())
    return [number for number in snapshot.passage_ids().tolist() if among is None or number in among]


def overview(snapshot: Snapshot, passage_ids: Sequence[int]) -> Overview:
    """The overview of the documents of these passages, by folder if there are many."""
    n_passages = Counter(document_id for document_id, _, _ in snapshot.places(passage_ids))
    documents = [document for document in snapshot.descriptions() if document.id in n_passages]
    groups = _groups(documents)
    sizes = {name: sum(n_passages[document.id] for document in group) for name, group in groups.items()}
    longest = sorted(groups, key=lambda name: -sizes[name])[:MAX_ENTRIES]
    return Overview(
        documents=len(documents),
        passages=n_passages.total(),
        formats=dict(Counter(names_of(document.media_type)[0] for document in documents).most_common()),
        dates=_period(documents),
        entries=tuple(_entry(snapshot, name, groups[name], n_passages) for name in sorted(longest)),
    )


def _groups(documents: Sequence[Description]) -> Mapping[str, Sequence[Description]]:
    """Documents by id if they are few, else by folder, at the deepest level with few folders."""
    parents = {document.id: PurePosixPath(document.id).parent.parts for document in documents}
    deepest = max(map(len, parents.values())) if len(documents) > MAX_ENTRIES else 0
    for depth in range(deepest, 0, -1):
        folders = defaultdict[str, list[Description]](list)
        for document in documents:
            folders["/".join((*parents[document.id][:depth], ""))].append(document)
        if 1 < len(folders) <= MAX_ENTRIES:
            return folders
    return {document.id: [document] for document in documents}


def _entry(
    snapshot: Snapshot, name: str, documents: Sequence[Description], n_passages: Mapping[str, int]
) -> OverviewEntry:
    """The entry of a document, with its top headings, or of a folder, with its documents' titles."""
    title = ""
    if name == documents[0].id:
        title = documents[0].title
        headings = snapshot.document(name).headings
        levels = sorted(heading.level for heading in headings)
        few = [level for level in levels if bisect_right(levels, level) <= MAX_ENTRIES] or levels[:1]
        words = [heading.text for heading in headings if heading.level <= few[-1] and heading.text != title]
    else:
        words = [each.title for each in sorted(documents, key=lambda each: -n_passages[each.id])]
    shown = tuple(filter(None, (without_tags(text).strip(" #*>-=_") for text in words)))
    return OverviewEntry(
        name=name,
        title=title,
        documents=len(documents),
        passages=sum(n_passages[document.id] for document in documents),
        dates=_period(documents),
        headings=shown[:MAX_ENTRIES],
    )


def _period(documents: Sequence[Description]) -> tuple[str, ...]:
    """The first and the last day in metadata or names of documents; one day if they are the same."""
    days = list(filter(None, map(day_of, documents)))
    return tuple(sorted({min(days), max(days)})) if days else ()
