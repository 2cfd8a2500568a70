"""A run that is there already, of whatever system, scored against judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...eval.question_record import QuestionRecord
from ...eval.ranking.evaluate import Qrels, Run, evaluate
from ...eval.ranking.measures import Measure
from ...eval.run_file import read_run
from ...eval.trec_run import trec_id
from .result_folder import ResultFolder
from .retrieval import digest, mean_scores, relevant


def evaluate_runs(
    paths: Sequence[Path],
    qrels: Qrels,
    measures: Sequence[Measure],
    results: ResultFolder,
    questions: Mapping[str, str] | None = None,
) -> dict[str, dict[str, float]]:
    """The mean of each measure over the judged queries for each run, by the name of its file.

    A query that a run lacks counts as 0. `questions` are the texts of the queries, for those who read the
    records. `ValueError` when two files have the same name.
    """
    if len({system_of(path) for path in paths}) < len(paths):
        raise ValueError(f"two runs have the same name: {', '.join(map(str, paths))}")
    for path in paths:
        name, run = system_of(path), read_run(path)
        scores = evaluate(as_written(qrels, run), run, measures).per_query.values()
        done = results.done(name)
        results.add(
            QuestionRecord(name, query, (questions or {}).get(query, ""), values, documents=relevant(judged))
            for (query, judged), values in zip(qrels.items(), scores, strict=True)
            if query not in done
        )
    figures = mean_scores(results.records(), len(qrels))
    results.finish(figures)
    return {system_of(path): figures[system_of(path)] for path in paths}


def run_settings(qrels: Qrels, measures: Sequence[Measure]) -> dict[str, Any]:
    """What must be the same for results to be gone on with."""
    return {"judgements": digest(qrels), "measures": [measure.name for measure in measures]}


def system_of(path: Path) -> str:
    """The name of a run: that of its file, without its endings."""
    return path.name.removesuffix(".gz").removesuffix(".trec").removesuffix(".txt").removesuffix(".tsv")


def as_written(qrels: Qrels, run: Run) -> Qrels:
    """The judgements under the ids that the run has for them.

    Our own runs have white space and "%" percent-encoded; a foreign one may hold a plain "%".
    """
    written = {}
    for query, judged in qrels.items():
        name = query if query in run else trec_id(query)
        found = run.get(name, {})
        written[name] = {
            document if document in found else trec_id(document): grade for document, grade in judged.items()
        }
    return written
