"""Measures the gate: how often it fails when nothing became worse, and how often it finds a real loss.

    python scripts/measure_gate.py null      the false-alarm rate, on two kinds of null changes
    python scripts/measure_gate.py loss      the power, on published systems of which one is worse

Scores are those of the published SQuAD predictions in `$SPANWISE_DATA/squad-official`, question by question.
Null changes: "swapped", where the two scores of close systems change sides by a coin for each question; and
"mixed", where baseline and system both answer each question as some published system does, drawn at random,
so that many more scores differ. Neither side is better. A loss: the worse of two systems in place of the
better. Questions are drawn with replacement. Prints a Markdown table; the interval of a share is Wilson's.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spanwise.corpora.squad import read_squad
from spanwise.eval.significance.comparison import Method
from spanwise.eval.significance.pairing import Asked, Scored
from spanwise.eval.significance.wilson import wilson_interval
from spanwise.pipelines.evaluation.gate import ALPHA, gate
from spanwise.pipelines.evaluation.scored_files import Truth, from_predictions
from spanwise.pipelines.evaluation.scored_records import Source

Table = dict[str, NDArray[np.float64]]  # by measure: (questions, systems), NaN where there is no score
Draw = Callable[[Table, NDArray[np.intp], np.random.Generator], Table]
SIZES = (30, 100, 1000)
CLOSE = ("v1.1-r-net-ensemble", "v1.1-slqa-ensemble")
BEST, FAR = "v1.1-bert-ensemble", "v1.1-match-lstm-ensemble"
V1 = (*CLOSE, BEST, FAR, "v1.1-logistic-regression")
V2 = ("v2.0-nlnet-single", "v2.0-bert-single", "v2.0-bidaf-selfattention-elmo")


def scores(data: Path, names: Sequence[str]) -> Table:
    """Exact match and F1 of each question for each published system.

    In version 2.0 exact match is split as the questions of a folder are judged: `right` for those that have
    an answer, `declined` for the others.
    """
    dataset = read_squad(data / "squad" / f"dev-{names[0][:4]}.json.gz")
    files = [data / "squad-official" / f"{name}.json.gz" for name in names]
    sides = [from_predictions(file, Truth(dataset)).systems[0] for file in files]
    ids = sorted(sides[0].questions)
    exact, f1 = (
        np.array([[side.scores[name].get(qid, np.nan) for side in sides] for qid in ids])
        for name in ("exact", "f1")
    )
    if dataset.version == "1.1":
        return {"exact": exact, "f1": f1}
    absent = np.array([[not sides[0].questions[qid].golds] for qid in ids])
    return {"right": np.where(absent, np.nan, exact), "declined": np.where(absent, exact, np.nan)}


def as_they_are(table: Table, rows: NDArray[np.intp], _: np.random.Generator) -> Table:
    """The first two systems."""
    return {name: values[rows, :2] for name, values in table.items()}


def swapped(table: Table, rows: NDArray[np.intp], generator: np.random.Generator) -> Table:
    """The first two systems, on sides that a coin decides for each question, for all measures alike."""
    sides = np.array([[0, 1], [1, 0]])[generator.integers(2, size=len(rows))]
    return {name: values[rows[:, np.newaxis], sides] for name, values in table.items()}


def mixed(table: Table, rows: NDArray[np.intp], generator: np.random.Generator) -> Table:
    """Two systems, drawn for each question from all of them."""
    n_systems = next(iter(table.values())).shape[1]
    sides = generator.integers(n_systems, size=(len(rows), 2))
    return {name: values[rows[:, np.newaxis], sides] for name, values in table.items()}


def fails(table: Table, method: Method) -> bool:
    """Whether the gate fails on these scores, (n, 2) by measure, the baseline in the first column."""
    sources = []
    for column, place in enumerate(("baseline", "system")):
        values = {
            name: {str(i): float(v) for i, v in enumerate(pairs[:, column]) if not np.isnan(v)}
            for name, pairs in table.items()
        }
        asked = {str(i): Asked() for i in range(len(next(iter(table.values()))))}
        sources.append(Source(Path(place), (Scored("it", values, asked),)))
    return bool(gate(sources[0], sources[1], method=method).losses)


def share_of_failures(table: Table, draw: Draw, n: int, options: argparse.Namespace) -> str:
    """How many of the repetitions fail, in percent, with the interval."""
    generator = np.random.default_rng([options.seed, n])
    n_questions = len(next(iter(table.values())))
    method = Method("less", options.permutations)
    failed = sum(
        fails(draw(table, generator.integers(n_questions, size=n), generator), method)
        for _ in range(options.repetitions)
    )
    low, high = wilson_interval(failed / options.repetitions, options.repetitions)
    return f"{100 * failed / options.repetitions:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def print_row(cells: Iterable[object]) -> None:
    """One row of a Markdown table."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def print_head(words: Sequence[str], numbers: Sequence[str]) -> None:
    """The head of a Markdown table."""
    print_row([*words, *numbers])
    print_row(["---"] * len(words) + ["---:"] * len(numbers))


def null(data: Path, options: argparse.Namespace) -> None:
    """The table of false alarms."""
    v1, v2 = scores(data, V1), scores(data, V2)
    tables = [{"exact": v1["exact"]}, {"f1": v1["f1"]}, v1, v2]
    print_head(["measures"], ["questions", "swapped: fail, %", "mixed: fail, %"])
    for table in tables:
        for n in SIZES:
            cells = (share_of_failures(table, draw, n, options) for draw in (swapped, mixed))
            print_row([" and ".join(table), n, *cells])


def loss(data: Path, options: argparse.Namespace) -> None:
    """The table of real losses."""
    print_head(["baseline", "system"], ["loss in exact, f1", *(f"{n} questions: fail, %" for n in SIZES)])
    for better, worse in (CLOSE, (BEST, CLOSE[0]), (CLOSE[0], FAR)):
        table = scores(data, (better, worse))
        lost = ", ".join(f"{np.mean(values[:, 0] - values[:, 1]):.3f}" for values in table.values())
        cells = (share_of_failures(table, as_they_are, n, options) for n in SIZES)
        print_row([better, worse, lost, *cells])


def main() -> None:
    """Reads the arguments, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("null", "loss"))
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--permutations", type=int, default=1999)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if "SPANWISE_DATA" not in os.environ:
        sys.exit("SPANWISE_DATA is not set: it names the folder of data sets")
    print(f"alpha {ALPHA}, {options.repetitions} repetitions, {options.permutations} permutations\n")
    measure = null if options.what == "null" else loss
    measure(Path(os.environ["SPANWISE_DATA"]), options)


if __name__ == "__main__":
    main()
