"""Whatever a comparison is given: a result folder, its records, SQuAD predictions, or a TREC run.

A folder holds results, `.jsonl` records; of other files, gzipped or not, one that begins with `{` holds
predictions, and any other is a run.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spanwise.errors import DataMalformed

from ...corpora.beir import Collection
from ...corpora.squad import SquadDataset, read_squad
from ...eval.predictions import read_predictions
from ...eval.ranking.evaluate import Qrels, evaluate
from ...eval.ranking.measures import parse_measure
from ...eval.ranking.qrels import read_qrels
from ...eval.ranking.run_file import read_run
from ...eval.significance.pairing import Asked, Scored
from ...eval.squad import question_scores_v1, question_scores_v2
from .scored_records import Source, from_records_file, from_results
from .squad import gold_questions

RUN_MEASURES = ("nDCG@10", "R@100", "RR", "AP", "P@10")
GZIP = b"\x1f\x8b"
CHARACTERS = 4096  # that are looked at to tell what a file holds


@dataclass(frozen=True, slots=True)
class Truth:
    """What files are scored by: predictions by `dataset`, runs by `qrels`; `queries` are texts by id."""

    dataset: SquadDataset | None = None
    qrels: Qrels | None = None
    queries: Mapping[str, str] = field(default_factory=dict)


def read_truth(data: Path | None, qrels: Path | None, questions: object = None) -> Truth:
    """What the SQuAD-format file and the judgements say, which for a test collection are its own.

    DataMalformed where a file cannot be read.
    """
    dataset, judgements = read_squad(data) if data else None, read_qrels(qrels) if qrels else None
    if not isinstance(questions, Collection):
        return Truth(dataset, judgements)
    queries = {query.id: query.text for query in questions.judged}
    own = {qid: questions.qrels[qid] for qid in queries}
    return Truth(dataset, judgements or own, queries)


def read_sources(paths: Iterable[Path], truth: Truth, measures: Sequence[str] = ()) -> list[Source]:
    """What the paths hold, in order; `measures` are those that runs are scored by.

    Without any, runs are scored by the ranking measures that the results beside them have, or else by
    RUN_MEASURES. ValueError: nothing at a path, or nothing that its file could be scored by. DataMalformed:
    a file that cannot be read.
    """
    paths = list(paths)
    read = [None if _is_run(path) else _read(path, truth) for path in paths]
    beside = [name for source in read if source for one in source.systems for name in one.scores]
    names = measures or list(dict.fromkeys(filter(_is_ranking, beside))) or RUN_MEASURES
    return [source or from_run(path, truth, names) for path, source in zip(paths, read, strict=True)]


def from_predictions(path: Path, truth: Truth) -> Source:
    """Exact match and F1 (0..1) of each question; `read_predictions` says what is refused.

    As the official scripts have it, a question without a prediction scores 0 in version 1.1 and has no
    score in version 2.0.
    """
    if truth.dataset is None:
        raise ValueError(f"{path} holds predictions, which are scored by a data set: name it with --data")
    questions, predictions = gold_questions(truth.dataset), read_predictions(path)
    golds = {question.id: question.answers for question in questions}
    score = question_scores_v2 if truth.dataset.version == "2.0" else question_scores_v1
    exact, f1 = score(golds, predictions)
    asked = {question.id: Asked(question.text, frozenset(question.answers)) for question in questions}
    missing = len(golds.keys() - predictions.keys())
    notes = (f"{path}: {missing} of {len(golds)} questions have no prediction",) if missing else ()
    return Source(path, (Scored(_name(path), {"exact": exact, "f1": f1}, asked),), notes)


def from_run(path: Path, truth: Truth, measures: Sequence[str]) -> Source:
    """The measures, by the names given, of each query with judgements; one that is not in the run has 0."""
    if truth.qrels is None:
        raise ValueError(f"{path} is a run, which is scored by judgements: name them with --qrels")
    parsed = {name: parse_measure(name) for name in measures}
    run = read_run(path)
    values = evaluate(truth.qrels, run, list(parsed.values())).per_query
    scores = {name: {qid: values[qid][one.name] for qid in values} for name, one in parsed.items()}
    missing = len(truth.qrels.keys() - run.keys())
    notes = (f"{path}: {missing} of {len(truth.qrels)} judged queries are missing and score 0",)
    asked = {qid: Asked(truth.queries.get(qid)) for qid in values}
    return Source(path, (Scored(_name(path), scores, asked),), notes if missing else ())


def _read(path: Path, truth: Truth) -> Source:
    if path.is_dir():
        return from_results(path)
    return from_records_file(path) if path.suffix == ".jsonl" else from_predictions(path, truth)


def _is_run(path: Path) -> bool:
    if not path.exists():
        raise ValueError(f"{path} is not there; expected results, records, predictions or a run")
    if path.is_dir() or path.suffix == ".jsonl":
        return False
    try:
        with path.open("rb") as file:
            packed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            start = gzip.GzipFile(fileobj=file).read(CHARACTERS) if packed else file.read(CHARACTERS)
        return not start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    except (OSError, EOFError, zlib.error) as error:
        raise DataMalformed(f"{path}: cannot be read: {error}") from error


def _is_ranking(name: str) -> bool:
    try:
        return parse_measure(name).name == name
    except ValueError:
        return False


def _name(path: Path) -> str:
    """The name of the file without its endings for form and packing.

    >>> _name(Path("runs/bm25+dense.trec.gz"))
    'bm25+dense'
    """
    name = path.name
    for ending in (".gz", ".json", ".trec", ".txt", ".tsv", ".run"):
        name = name.removesuffix(ending)
    return name
