"""Retrieval on a test collection: what each retriever ranks for the judged queries, and how good that is."""

from __future__ import annotations

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from spanwise.types import Document, Hit, ProgressCallback, no_progress

from ...corpora.beir import Collection, Query, read_beir
from ...eval.question_record import Evidence, QuestionRecord
from ...eval.ranking.evaluate import evaluate
from ...eval.ranking.measures import Measure
from ...eval.ranking.qrels import read_qrels
from ...retrieval.protocol import Retriever
from ..document_library import digest_of, document_library, text_document
from ..library import Library
from ..reranking import AS_USUAL, Reranking, stages_below, system_reranking
from .document_ranking import rank_documents
from .result_folder import Ranking, ResultFolder

RECORDS_AT_ONCE = 16
N_EVIDENCE = 3

Figures = dict[str, dict[str, float]]
"""The mean of each measure, by the name of the retriever or run."""


def open_collection(folder: Path, split: str | None = None) -> Collection:
    """The test collection in a folder; `DataMalformed` names what was looked for when there is none."""
    return read_beir(folder, split, read_qrels)


@dataclass(frozen=True, slots=True)
class RetrievalTest:
    """What is measured on which collection.

    `passages` is "whole" or "split", see `document_library`; `depth` documents are ranked for each query.
    `reranking` says how those retrievers are re-ranked whose name ends in "+rerank".
    """

    collection: Collection
    measures: Sequence[Measure]
    passages: str = "whole"
    depth: int = 1000
    model: str = "base"
    colbert: str = "builtin"
    reranking: Reranking = AS_USUAL

    @property
    def settings(self) -> dict[str, Any]:
        """What must be the same for results to be gone on with."""
        return {
            "collection": self.collection.name,
            "documents": digest_of(self._documents(), self.passages),
            "queries": digest([(query.id, query.text) for query in self.collection.judged]),
            "judgements": digest(self.collection.qrels),
            "measures": [measure.name for measure in self.measures],
            "passages": self.passages,
            "depth": self.depth,
            "model": self.model,
            "colbert": self.colbert,
            "rerank": self.reranking.model,
            "rerank_depth": self.reranking.depth,
        }

    def library(
        self, index: Path, retrievers: Sequence[str], report: ProgressCallback = no_progress
    ) -> Library:
        """The collection as these retrievers need it, at `index`; what is there already is not made again."""
        stages = stages_below(retrievers)
        library = document_library(self._documents(), index, self.passages, self.model, report)
        library.encode_for(stages, self.colbert, report)
        return library

    def run(
        self,
        library: Library,
        retrievers: Sequence[str],
        results: ResultFolder,
        report: ProgressCallback = no_progress,
    ) -> Figures:
        """The figures of each retriever over the judged queries; `results` keeps the rest.

        Queries that `results` has a record of are not asked again. `ValueError` when no query is judged.
        """
        if not self.collection.judged:
            raise ValueError(f"no query of {self.collection.name} is judged: there is nothing to measure")
        for name in retrievers:
            retriever = library.retriever(name, **system_reranking(name, self.reranking))
            self._ask(retriever, name, results, partial(report, f"search {name}"))
        figures = mean_scores(results.records(), len(self.collection.judged))
        results.finish(figures)
        return {name: figures[name] for name in retrievers}

    def _ask(
        self, retriever: Retriever, name: str, results: ResultFolder, report: Callable[[int, int], None]
    ) -> None:
        done = results.done(name)
        waiting = [query for query in self.collection.judged if query.id not in done]
        for at in range(0, len(waiting), RECORDS_AT_ONCE):
            asked = [self._judged(retriever, name, query) for query in waiting[at : at + RECORDS_AT_ONCE]]
            results.add([record for record, _ in asked], {record.id: ranking for record, ranking in asked})
            report(len(done) + at + len(asked), len(self.collection.judged))

    def _judged(self, retriever: Retriever, name: str, query: Query) -> tuple[QuestionRecord, Ranking]:
        """The record of one query and what was found; asked alone, so that no other query plays a part."""
        began = time.perf_counter()
        found = rank_documents(retriever, query.text, self.depth)
        ms = (time.perf_counter() - began) * 1000
        judged = self.collection.qrels[query.id]
        scores = evaluate({query.id: judged}, {query.id: dict(found.documents)}, self.measures)
        record = QuestionRecord(
            system=name,
            id=query.id,
            question=query.text,
            scores=scores.per_query[query.id],
            documents=relevant(judged),
            timings_ms={"retrieve": ms},
            evidence=tuple(_evidence(hit) for hit in found.hits[:N_EVIDENCE]),
        )
        return record, found.documents

    def _documents(self) -> list[Document]:
        """The documents as they are indexed, the title in front of the text."""
        return [text_document(each.id, each.title, each.text) for each in self.collection.documents]


def relevant(judged: Mapping[str, int]) -> tuple[str, ...]:
    """The documents of a grade above 0, in the order of the judgements."""
    return tuple(document for document, grade in judged.items() if grade > 0)


def mean_scores(records: Iterable[QuestionRecord], n_questions: int) -> Figures:
    """The mean of each score of each system that has a record of all questions."""
    scores: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    for record in records:
        scores[record.system].append(record.scores)
    return {
        system: {name: fmean(each[name] for each in of_system) for name in of_system[0]}
        for system, of_system in scores.items()
        if len(of_system) == n_questions
    }


def digest(values: Any) -> str:
    """What names some values of JSON."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _evidence(hit: Hit) -> Evidence:
    passage = hit.passage
    return Evidence(passage.document_id, passage.start, passage.end, passage.text, hit.score)
