"""Judging a folder of one's own: are its questions answered right, and the absent ones declined?"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from spanwise.types import ProgressCallback, no_progress

from ...eval.question_set import FolderQuestion
from ...index.snapshot import Snapshot
from ...models import locate
from ..ask import Answerer
from ..library import Library
from ..models import DEFAULT_RERANKING, Reranking, stages_below, system_reranking
from .folder_figures import folder_figures
from .folder_records import TOP, folder_record
from .index_bytes import index_bytes
from .result_folder import ResultFolder

COMMAND = "folder"
QUESTIONS_AT_ONCE = 1  # as a person asks them, so that the times are those of a question


def evaluate_folder(
    library: Library,
    questions: Sequence[FolderQuestion],
    out: Path,
    retriever: str | None = None,
    reader: str = "builtin",
    k: int = 20,
    threshold: float | None = None,
    report: ProgressCallback = no_progress,
    group: bool = True,
    reranking: Reranking = DEFAULT_RERANKING,
) -> dict[str, Any]:
    """The figures of one retriever, or of the default one; see `evaluate_retrievers`."""
    name, given = retriever or library.default_retriever, (reader, k, threshold, report, group, reranking)
    return evaluate_retrievers(library, questions, out, [name], *given)[name]


def evaluate_retrievers(
    library: Library,
    questions: Sequence[FolderQuestion],
    out: Path,
    retrievers: Sequence[str],
    reader: str = "builtin",
    k: int = 20,
    threshold: float | None = None,
    report: ProgressCallback = no_progress,
    group: bool = True,
    reranking: Reranking = DEFAULT_RERANKING,
) -> dict[str, dict[str, Any]]:
    """The figures of each retriever, see `folder_figures`.

    `reranking` says how those are re-ranked whose name ends in "+rerank".

    A record of every question is in the result folder `out`, by system, in the order of the questions. See
    `eval.abstention` for what counts as right. A folder that was begun goes on; ValueError when it was begun
    with other questions, other documents or other settings.
    """
    askers = {
        name: library.answerer(
            retriever=name,
            reader=reader,
            dedupe=group,
            k=k,
            alternatives=TOP - 1,
            threshold=threshold,
            **system_reranking(name, reranking),
        )
        for name in retrievers
    }
    settings = _settings(library, askers, questions, threshold, reranking)
    settings |= {"reader": reader, "k": k, "group": group}
    with ResultFolder.start(out, COMMAND, settings) as results:
        for name, asker in askers.items():
            told = partial(report, "questions" if len(askers) == 1 else f"ask {name}")
            _ask(asker, name, questions, results, k, told)
        records = {name: list(results.records(name)) for name in askers}
        figures = {name: folder_figures(found) for name, found in records.items()}
        if len(askers) > 1:
            for name in askers:
                figures[name] |= {"index_bytes": index_bytes(library, name)}
        results.finish(figures)
    return figures


def _ask(
    asker: Answerer,
    system: str,
    questions: Sequence[FolderQuestion],
    results: ResultFolder,
    k: int,
    report: Callable[[int, int], None],
) -> None:
    """Keeps a record of each question that there is none of yet."""
    done = results.done(system)
    waiting = [question for question in questions if question.id not in done]
    report(len(done), len(questions))
    for at in range(0, len(waiting), QUESTIONS_AT_ONCE):
        batch = waiting[at : at + QUESTIONS_AT_ONCE]
        asked = zip(batch, asker.trace([q.question for q in batch]), strict=True)
        results.add(folder_record(q, one.answer, one.hits, k, system) for q, one in asked)
        report(len(done) + at + len(batch), len(questions))


def _settings(
    library: Library,
    askers: Mapping[str, Answerer],
    questions: Sequence[FolderQuestion],
    threshold: float | None,
    reranking: Reranking,
) -> dict[str, Any]:
    """What must be equal for results to be gone on with, also when only one of the retrievers needs it."""
    first, *others = askers
    settings = comparable_settings(askers[first], questions, threshold)
    settings["retriever"] = [first, *others] if others else first
    thresholds = {name: _fitted_threshold(asker) for name, asker in askers.items()}
    if threshold is None and len(set(thresholds.values())) > 1:
        settings["threshold"] = thresholds
    fitted = {name: asker.calibration for name, asker in askers.items() if asker.calibration}
    if stopping := {name: asdict(one.stopping) for name, one in fitted.items() if one.stopping}:
        settings["stopping"] = stopping
    for name in askers:
        if how := system_reranking(name, reranking):
            settings |= {**how, "rerank_digest": locate.model_digest(reranking.model, "cross-encoder")}
    if "colbert" in stages_below(askers) and library.colbert is not None:
        settings |= {
            **{"colbert": library.colbert},
            "token_encoders": sorted(library.snapshot.token_models()),
        }
    return settings


def comparable_settings(
    asker: Answerer, questions: Sequence[FolderQuestion], threshold: float | None
) -> dict[str, Any]:
    """What else must be equal for two runs to be one: models, the threshold meant, documents, questions."""
    return {
        "reader_digest": asker.reader.digest,
        "threshold": _fitted_threshold(asker) if threshold is None else threshold,
        **documents_and_questions(asker.snapshot, questions),
    }


def documents_and_questions(snapshot: Snapshot, questions: Sequence[FolderQuestion]) -> dict[str, Any]:
    """Digests of what is asked and of the documents, and what they were encoded by."""
    files = {name: state.sha256 for name, state in snapshot.files().items()}
    return {
        "encoders": sorted(snapshot.vector_models()),
        "passages": snapshot.n_passages,
        "documents_digest": _digest(files),
        "questions_digest": _digest([asdict(question) for question in questions]),
    }


def _fitted_threshold(asker: Answerer) -> float | None:
    return asker.calibration.threshold if asker.calibration else None


def unindexed_documents(library: Library, questions: Iterable[FolderQuestion]) -> dict[str, int]:
    """Documents that questions name and the index does not hold, and how many questions name each.

    No answer from there can be right, and most often the name is misspelt.
    """
    indexed = library.snapshot.files()
    named = Counter(name for question in questions for name in set(question.documents))
    return {name: count for name, count in sorted(named.items()) if name not in indexed}


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
