"""Fits the confidence of cells and computed values: the weights in `answering/cells.json`.

    python -m spanwise.pipelines.training.cells --tables FILE=FOLDERS … --choose DIR --readers FOLDER …

`FILE` has questions about the folders in `FOLDERS`, like `eval/questions/fitting/tables.jsonl`. `DIR` is
that of `spanwise calibrate`; of its questions those near a table count. A reader's folder has what
`calibrate` recorded. All candidates weigh the same. Each source is also judged by the weights that are fitted
on the others.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from spanwise.types import AskOptions

from ...corpora.json_lines import json_lines
from ...eval.calibration import expected_calibration_error
from ...eval.quantities import parse_value
from ...eval.questions import FolderQuestion, Verdict, is_right, judge_computed
from ...reader.evidence import CELL_FEATURES, Calibrations, CellFeatures
from ...reader.load import CALIBRATION
from .. import answering
from ..answering.ask import Answerer
from ..answering.candidates import CellCandidate, answer_key, ranked_candidates, span_candidates
from ..answering.cells import WEIGHTS, cell_candidates
from ..answering.reading import HitReader
from ..answering.table_answers import TableResult
from ..answering.table_text import NUMERIC
from ..evaluation.asked_folders import asked_folders
from ..library.loaded_models import DEFAULT_RETRIEVER, WORDS
from ..open import open as open_library
from ..understanding.question import Question
from .calibration import RUN

CHOOSE = "choose"
PENALTY = 1.0  # of the squares of the weights
THRESHOLD = 0.4  # at which sources are judged


@dataclass(frozen=True, slots=True)
class ObservedCells:
    """The cells and values that may answer a question.

    source: the set of the question.
    features: of each candidate, float64 (n, len(CELL_FEATURES)).
    right: for each candidate whether it answers, bool (n,).
    answerable: true for a question with an answer.
    """

    source: str
    features: Any
    right: Any
    answerable: bool


def observe_tables(questions: Path, folders: Path, reader: str) -> Iterator[ObservedCells]:
    """The observations of questions about folders with tables, searched by words."""
    by_folder: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for line in json_lines(questions):
        by_folder[line.values["folder"]].append(line.values)
    source = questions.with_suffix("").name
    with TemporaryDirectory() as scratch:
        for name, asked in by_folder.items():
            with open_library(folders / name, Path(scratch) / name, cache=False) as library:
                library.sync(vectors=False)
                answerer = library.answerer(retriever=WORDS, reader=reader)
                for record in asked:
                    question = Question.of(record["question"], answerer.snapshot, answerer.analyzer)
                    for candidates in _cells(answerer, question):
                        right = [_is_gold(result.result.values, record) for _, result in candidates]
                        yield _observed(source, candidates, right, record["answerable"])


def observe_choose(folders: Path, reader: Path) -> Iterator[ObservedCells]:
    """The observations of the questions that `calibrate` has recorded for a reader, where a table is near."""
    options = AskOptions(retriever=DEFAULT_RETRIEVER, reader=str(reader))
    with asked_folders(folders, reader / RUN, options) as asked:
        for folder in asked:
            calibration = Calibrations.load(reader / CALIBRATION).of(folder.answerer.retriever.name)
            answerer = replace(folder.answerer, calibration=calibration)
            for wording in folder.wordings:
                question = wording.question
                for candidates in _cells(answerer, folder.question(wording)):
                    right = [_is_right(result, question) for _, result in candidates]
                    yield _observed(CHOOSE, candidates, right, question.answerable)


def _cells(answerer: Answerer, question: Question) -> Iterator[list[tuple[CellFeatures, TableResult]]]:
    """The candidates in the tables near a question, if there are any; all hits are read."""
    hits = answerer.retriever.search([question.text], answerer.options.k)[0]
    reader = HitReader(answerer.reader, answerer.analyzer)
    [material] = reader.read([answerer.material(question, hits)])
    spans = ranked_candidates(span_candidates(material, answerer.analyzer), answerer.calibration)
    if cells := cell_candidates(material, spans, answerer.analyzer):
        candidates = [each.candidate for each in cells if isinstance(each.candidate, CellCandidate)]
        yield [(each.features, each.result) for each in candidates]


def _observed(
    source: str, candidates: Sequence[tuple[CellFeatures, TableResult]], right: list[bool], answerable: bool
) -> ObservedCells:
    rows = [[getattr(features, name) for name in CELL_FEATURES] for features, _ in candidates]
    return ObservedCells(source, np.array(rows), np.array(right), answerable)


def _is_gold(values: Sequence[str], record: Mapping[str, Any]) -> bool:
    """True for the answers of a question about a table: one of them, or all if it wants all."""
    golds = record["answers"]
    is_all = len(values) == len(golds) and all(any(_is_same(v, gold) for v in values) for gold in golds)
    return is_all if record.get("all") else len(values) == 1 and any(_is_same(values[0], g) for g in golds)


def _is_same(value: str, gold: str) -> bool:
    """True for the same words, and for the same number in any unit."""
    numbers = parse_value(value), parse_value(gold)
    is_number = all(number and number.kind in NUMERIC for number in numbers)
    return answer_key(value) == answer_key(gold) or bool(
        is_number and numbers[0] and numbers[1] and numbers[0].number == numbers[1].number
    )


def _is_right(result: TableResult, question: FolderQuestion) -> bool:
    if result.result.is_computed:
        return judge_computed(question, result.result.values[0]) is Verdict.RIGHT
    row, column = result.result.cells[0]
    cell = result.table.cell(row, column)
    shown = result.table.row(row).text
    return question.answerable and is_right(question, cell.document_id, cell.text, shown)


def fit_cells(observed: Sequence[ObservedCells]) -> dict[str, float]:
    """The weights of the features, and "bias"."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1 / PENALTY, max_iter=1000).fit(
        np.concatenate([each.features for each in observed]),
        np.concatenate([each.right for each in observed]),
    )
    fitted = dict(zip(CELL_FEATURES, model.coef_[0].tolist(), strict=True))
    return {"bias": round(float(model.intercept_[0]), 3)} | {n: round(w, 3) for n, w in fitted.items()}


def judged(observed: Sequence[ObservedCells], weights: Mapping[str, float]) -> dict[str, float]:
    """How the best candidates of questions fare: all, and those that reach the threshold."""
    vector = np.array([weights[name] for name in CELL_FEATURES])
    confidences = [1 / (1 + np.exp(-(each.features @ vector + weights["bias"]))) for each in observed]
    best = [int(np.argmax(some)) for some in confidences]
    tops = [float(some[i]) for some, i in zip(confidences, best, strict=True)]
    right = [bool(each.right[i]) for each, i in zip(observed, best, strict=True)]
    shown = [confidence >= THRESHOLD for confidence in tops]
    return {
        "questions": len(observed),
        "with a right candidate": sum(bool(each.right.any()) for each in observed),
        "best is right": sum(right),
        "shown right": sum(r for r, is_shown in zip(right, shown, strict=True) if is_shown),
        "shown wrong": sum(not r for r, is_shown in zip(right, shown, strict=True) if is_shown),
        "of these without an answer": sum(
            not each.answerable for each, is_shown in zip(observed, shown, strict=True) if is_shown
        ),
        "ece": round(expected_calibration_error(tops, right), 3),
    }


def main() -> None:
    """Fits the weights, writes them, and prints how each source fares with those of the others."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--tables", nargs="+", required=True, metavar="FILE=FOLDERS")
    parser.add_argument("--choose", type=Path, required=True, help="the folders of `spanwise calibrate`")
    parser.add_argument("--readers", type=Path, nargs="+", required=True, help="with their recordings")
    options = parser.parse_args()
    observed: list[ObservedCells] = []
    for reader in options.readers:
        for pair in options.tables:
            file, _, folders = pair.partition("=")
            observed += observe_tables(Path(file), Path(folders), str(reader))
        observed += observe_choose(options.choose, reader)
    for source in sorted({each.source for each in observed}):
        rest = fit_cells([each for each in observed if each.source != source])
        inside = [each for each in observed if each.source == source]
        print(json.dumps({source: judged(inside, rest)}), flush=True)
    text = json.dumps(fit_cells(observed), indent=0)
    Path(str(files(answering))).joinpath(WEIGHTS).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
