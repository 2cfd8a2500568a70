"""Runs that are there already, of whatever system, scored against judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...eval.question_record import QuestionRecord
from ...eval.ranking.evaluate import Qrels, Run, evaluate
from ...eval.ranking.measures import Measure
from ...eval.ranking.run_file import read_run
from ...eval.ranking.trec_run import trec_id
from .result_folder import ResultFolder
from .retrieval import Figures, digest, mean_scores, relevant


def read_runs(paths: Sequence[Path]) -> dict[str, Run]:
    """The runs by the names of their files, without ending; `ValueError` when two have the same name."""
    names = [Path(path.name.removesuffix(".gz")).stem for path in paths]
    if len(set(names)) < len(names):
        raise ValueError(f"two runs have the same name: {', '.join(map(str, paths))}")
    return {name: read_run(path) for name, path in zip(names, paths, strict=True)}


def run_settings(runs: Mapping[str, Run], qrels: Qrels, measures: Sequence[Measure]) -> dict[str, Any]:
    """What must be the same for results to be gone on with."""
    return {
        "runs": {name: digest(run) for name, run in runs.items()},
        "judgements": digest(qrels),
        "measures": [measure.name for measure in measures],
    }


def evaluate_runs(
    runs: Mapping[str, Run],
    qrels: Qrels,
    measures: Sequence[Measure],
    results: ResultFolder,
    questions: Mapping[str, str],
) -> Figures:
    """The mean of each measure over the judged queries for each run; `results` keeps a record of each query.

    A query that a run lacks counts as 0. `questions` are the texts of the queries, as far as they are known.
    """
    for name, run in runs.items():
        done = results.done(name)
        scores = evaluate(as_written(qrels, run), run, measures).per_query.values()
        results.add(
            QuestionRecord(name, query, questions.get(query, ""), values, documents=relevant(judged))
            for (query, judged), values in zip(qrels.items(), scores, strict=True)
            if query not in done
        )
    figures = mean_scores(results.records(), len(qrels))
    results.finish(figures)
    return figures


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
