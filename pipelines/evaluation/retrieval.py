"""`eval retrieval` and `eval open`: rankings of documents for questions, judged, and the answers read.

`eval retrieval` ranks the documents of a BEIR folder and scores them by its judgements. `eval open` ranks the
paragraphs of SQuAD files and reads: a question's gold document is its own paragraph. Questions are asked one
at a time, so that times are those of one question.

Figures of `eval open`, by retriever:

recall@k, rr          the gold paragraph among the first k documents; its reciprocal rank
answer_recall@k       an answer, word for word, in the text of one of the first k documents
exact, f1             of the answerable questions that are read: the best candidate, at any confidence
abstained             of the answerable questions: share that is declined
false_answers         of the unanswerable questions: share that is answered
passages_read         the mean over the questions that are read

EM and F1 are in percent, shares and recall 0..1. Figures that were not measured are left out.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from spanwise.errors import DataMalformed
from spanwise.types import Answer, AskOptions, Document, Hit, ProgressCallback, no_progress

from ...corpora.datasets.beir import Collection, Query
from ...corpora.datasets.squad import SquadArticle, read_squad
from ...eval.questions import Evidence, QuestionRecord
from ...eval.ranking import MEASURES, judge, trec_order
from ...eval.squad import question_scores_v2
from ...eval.text import match_text, match_tokens
from ...retrieval.protocol import Retriever
from ..library.library import Library
from ..library.loaded_models import RERANKER, stages_below
from .corpus import (
    GoldQuestion,
    contents_digest,
    document_id_of,
    document_library,
    gold_questions,
    paragraph_documents,
    text_document,
)
from .results import Figures, ResultFolder, digest

Ranking = Sequence[tuple[str, float]]
Asked = TypeVar("Asked", GoldQuestion, Query)

DEFAULTS = AskOptions()
RERANKING = {"rerank": RERANKER, "rerank_depth": DEFAULTS.rerank_depth}
CUTOFFS = (1, 5, 20, 100)
DEPTH = 1000  # documents ranked for a query of a test collection
TEXTS_KEPT = 50_000


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The result of a retriever for a question.

    hits: passages, best first.
    documents: ids and scores, best first.
    ms: the time of the search, in milliseconds.
    """

    hits: Sequence[Hit]
    documents: Ranking
    ms: float


def rank_documents(
    retriever: Retriever, question: str, n_documents: int, n_passages: int = 1
) -> tuple[Sequence[Hit], Ranking]:
    """The passages of the first search, and (id, score) of the best `n_documents`, by best passage.

    The first search is for `n_passages`, or `n_documents` if that is more. While these lie in too few
    documents, the next search is for a third more; earlier documents keep their rank. Scores never rise
    along the ranking, so that a run sorted by score keeps its order.
    """
    k = max(n_documents, n_passages)
    first = retriever.search([question], k)[0]
    hits = first
    best: dict[str, float] = {}
    lowest = float("inf")
    while True:
        for hit in hits:
            if hit.passage.document_id not in best:
                lowest = min(lowest, hit.score)
                best[hit.passage.document_id] = lowest
        if len(best) >= n_documents or len(hits) < k:
            return first, list(best.items())[:n_documents]
        k += -(-k // 3)
        hits = retriever.search([question], k)[0]


def evaluate_retrieval(
    collection: Collection,
    retrievers: Sequence[str],
    out: Path | None = None,
    index: Path | None = None,
    model: str = "base",
    on_progress: ProgressCallback = no_progress,
) -> Figures:
    """The mean of each of `eval.ranking.MEASURES` over the judged queries, by retriever.

    Each document is one passage, its title in front of the text. The index lies at `index`, or in `out`, and
    is reused. "+rerank" behind a retriever's name re-ranks with the built-in reader.
    ValueError: no judged query, or an index or results of something else.
    """
    if not collection.judged:
        raise ValueError(f"no query of {collection.name} is judged: there is nothing to measure")
    documents = [text_document(each.id, each.title, each.text) for each in collection.documents]
    settings = {
        "collection": collection.name,
        "documents": contents_digest(documents, "whole"),
        "queries": digest([(query.id, query.text) for query in collection.judged]),
        "judgements": digest(collection.qrels),
        "model": model,
        **RERANKING,
    }
    names = list(dict.fromkeys(retrievers))
    stages = stages_below(names)
    results = ResultFolder.start(out, "retrieval", settings)
    with _searchable(documents, stages, index, out, on_progress, passages="whole", model=model) as library:
        for name in names:
            retriever = library.retriever(name)
            rankings = _rankings(name, retriever, collection.judged, (DEPTH, 1), results, on_progress)
            for query, result in rankings:
                grades = collection.qrels[query.id]
                ranking = judge(trec_order(dict(result.documents)), grades)
                record = QuestionRecord(
                    name,
                    query.id,
                    query.text,
                    {measure: score(ranking) for measure, score in MEASURES.items()},
                    documents=tuple(document for document, grade in grades.items() if grade > 0),
                    timings_ms={"retrieve": result.ms},
                )
                results.add([record])
    figures: Figures = {}
    for name in names:
        records = results.records(name)
        figures[name] = {measure: fmean(record.scores[measure] for record in records) for measure in MEASURES}
    results.finish(figures)
    return figures


def evaluate_open(
    data: Sequence[Path],
    retrievers: Sequence[str],
    out: Path | None = None,
    corpus: Sequence[Path] = (),
    index: Path | None = None,
    reader: str = "builtin",
    k: int = DEFAULTS.k,
    limit: int | None = None,
    read_limit: int = 1000,
    seed: int = 0,
    on_progress: ProgressCallback = no_progress,
) -> Figures:
    """The figures of each retriever on the questions of SQuAD files, see the module.

    The paragraphs of `data` and `corpus` are searched, in the index at `index` or in `out`, which is made
    where there is none. `limit` questions are drawn by the seed, and `read_limit` of these are read for EM
    and F1. Results in `out` of the same settings are completed, also for more retrievers.
    """
    names = list(dict.fromkeys(retrievers))
    stages = stages_below(names)
    articles = _read_together(data)
    questions, read = questions_to_ask(articles, limit, read_limit, seed)
    if not questions:
        raise DataMalformed(f"{', '.join(map(str, data))}: no answerable question; --read adds others")
    searched = [*articles, *(article for path in corpus for article in read_squad(path).articles)]
    documents = paragraph_documents(
        paragraph.context for article in searched for paragraph in article.paragraphs
    )
    settings = {
        "data": [path.name for path in data],
        "corpus": [path.name for path in corpus],
        "questions": digest([(q.id, q.text, q.context, q.answers) for q in questions]),
        "documents": digest(sorted(document.id for document in documents)),
        **RERANKING,
        "k": k,
        "limit": limit,
        "read": len(read),
        "seed": seed,
        **(_reader_settings(reader) if read else {}),
    }
    results = ResultFolder.start(out, "open", settings)
    with _searchable(documents, stages, index, out, on_progress, superset=True) as library:
        texts = lru_cache(TEXTS_KEPT)(lambda name: match_text(library.document(name).text))
        for name in names:
            retriever = library.retriever(name)
            asker = library.answerer(AskOptions(k, name, reader=reader)) if read else None
            rankings = _rankings(name, retriever, questions, (CUTOFFS[-1], k), results, on_progress)
            for question, result in rankings:
                record = _retrieval_record(name, question, result, texts)
                if asker is not None and question.id in read:
                    hits = result.hits[:k]
                    answer = asker.trace([question.text], [hits])[0].answer
                    record = _with_answer(record, answer)
                results.add([record])
    figures = {name: open_figures(results.records(name)) for name in names}
    results.finish(figures)
    return figures


def questions_to_ask(
    articles: Sequence[SquadArticle], limit: int | None, read_limit: int, seed: int
) -> tuple[list[GoldQuestion], frozenset[str]]:
    """The questions, and the ids of those that are read, drawn by the seed from all or from `limit` of them.

    An unanswerable question has no gold paragraph, so it is left out unless it is read.
    """
    drawn = gold_questions(articles, limit, seed)
    numbers = random.Random(seed).sample(range(len(drawn)), min(read_limit, len(drawn)))
    read = frozenset(drawn[i].id for i in numbers)
    return [question for question in drawn if question.answers or question.id in read], read


def open_figures(records: Sequence[QuestionRecord]) -> dict[str, Any]:
    """The figures by name, those of retrieval first; times are means in milliseconds. See the module."""
    figures: dict[str, Any] = {}

    def add(some: Sequence[QuestionRecord], score: str, figure: str, scale: int = 1, start: int = 0) -> None:
        if some:
            figures[figure] = start + scale * fmean(record.scores[score] for record in some)

    answerable = [record for record in records if record.answerable]
    read = [record for record in records if record.prediction is not None]
    answerable_read = [record for record in read if record.answerable]
    absent = [record for record in read if not record.answerable]
    for name in ("recall", "answer_recall"):
        for cutoff in CUTOFFS:
            add(answerable, f"{name}@{cutoff}", f"{name}@{cutoff}")
    add(answerable, "rr", "rr")
    add(answerable_read, "exact", "exact", 100)
    add(answerable_read, "f1", "f1", 100)
    add(answerable_read, "answered", "abstained", -1, 1)
    add(absent, "declined", "false_answers", -1, 1)
    if absent:
        figures["unanswerable"] = len(absent)
    passages = [record.passages_read for record in read if record.passages_read is not None]
    if passages:
        figures["passages_read"] = fmean(passages)
    ms: dict[str, float] = {}
    for stage in ("retrieve", "read", "rank", "tables"):
        times = [each.timings_ms[stage] for each in read or records if stage in each.timings_ms]
        if times:
            ms[stage] = fmean(times)
    counts = {"questions": len(answerable), "read": len(read)}
    return {**figures, **counts, "ms_per_question": sum(ms.values()), "ms": ms}


@contextmanager
def _searchable(
    documents: Sequence[Document],
    stages: Container[str],
    index: Path | None,
    out: Path | None,
    on_progress: ProgressCallback,
    **options: Any,
) -> Iterator[Library]:
    """A library of the documents with the vectors of these stages, at `index`, in `out`, or temporary."""
    with TemporaryDirectory() as temporary:
        place = index or (out or Path(temporary)) / "index"
        with document_library(documents, place, **options, on_progress=on_progress) as library:
            library.encode_for(stages, "builtin", on_progress=on_progress)
            yield library


def _rankings(
    name: str,
    retriever: Retriever,
    questions: Sequence[Asked],
    depth: tuple[int, int],
    results: ResultFolder,
    on_progress: ProgressCallback,
) -> Iterator[tuple[Asked, RetrievalResult]]:
    """Each question that has no record yet, with the result."""
    recorded = results.question_ids(name)
    waiting = [question for question in questions if question.id not in recorded]
    for number, question in enumerate(waiting, start=1):
        began = time.perf_counter()
        hits, documents = rank_documents(retriever, question.text, *depth)
        yield question, RetrievalResult(hits, documents, (time.perf_counter() - began) * 1000)
        on_progress(name, len(recorded) + number, len(questions))


def _retrieval_record(
    system: str, question: GoldQuestion, result: RetrievalResult, texts: Callable[[str], str]
) -> QuestionRecord:
    """The record of an open-domain question before it is read.

    `texts` returns the text of a document as `match_text` does.
    """
    gold = document_id_of(question.context)
    scores: dict[str, float] = {}
    if question.answers:
        documents = [document for document, _ in result.documents]
        rank = documents.index(gold) + 1 if gold in documents else 0
        forms = [match_text(answer) for answer in question.answers if match_tokens(answer)]
        answer_ranks = (
            number
            for number, document in enumerate(documents, 1)
            if any(form in texts(document) for form in forms)
        )
        for name, first in (("recall", rank), ("answer_recall", next(answer_ranks, 0))):
            for cutoff in CUTOFFS:
                scores[f"{name}@{cutoff}"] = float(0 < first <= cutoff)
        scores["rr"] = 1 / rank if rank else 0.0
    return QuestionRecord(
        system,
        question.id,
        question.text,
        scores,
        answerable=bool(question.answers),
        golds=question.answers,
        type=question.type,
        documents=(gold,) if question.answers else (),
        timings_ms={"retrieve": result.ms},
    )


def _with_answer(record: QuestionRecord, answer: Answer) -> QuestionRecord:
    """The record with the answer."""
    shown = answer.primary or answer.best_rejected
    scores = dict(record.scores)
    if record.answerable:
        exact, f1 = _exact_f1(record, "" if shown is None else shown.text)
        scores |= {"exact": exact, "f1": f1, "answered": float(not answer.no_answer)}
    else:
        scores["declined"] = float(answer.no_answer)
    return replace(
        record,
        scores=scores,
        prediction=answer.computed.value if answer.computed else answer.text,
        confidence=None if shown is None else shown.confidence,
        timings_ms={**answer.timings_ms, **record.timings_ms},
        evidence=() if shown is None else (Evidence.of_answer(shown),),
        passages_read=answer.passages_read,
    )


def _exact_f1(record: QuestionRecord, prediction: str) -> tuple[float, float]:
    exact, f1 = question_scores_v2({record.id: record.golds}, {record.id: prediction})
    return exact[record.id], f1[record.id]


def _read_together(paths: Sequence[Path]) -> list[SquadArticle]:
    """The articles of several files; DataMalformed: a question id occurs twice, or a question is empty."""
    articles: list[SquadArticle] = []
    seen: set[str] = set()
    for path in paths:
        of_file = list(read_squad(path).articles)
        questions = gold_questions(of_file)
        for question in questions:
            if question.id in seen:
                raise DataMalformed(f"{path}: the question {question.id!r} is in another of the files, too")
            if not question.text.strip():
                raise DataMalformed(f"{path}: the question {question.id!r} is empty")
        seen |= {question.id for question in questions}
        articles += of_file
    return articles


def _reader_settings(reader: str) -> dict[str, Any]:
    from ...reader.load import calibration_sha256, load_reader

    return {
        "reader": reader,
        "reader_digest": load_reader(reader).digest,
        "calibration": calibration_sha256(reader),
    }
