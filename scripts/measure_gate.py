"""Measures the gate: how often it fails when nothing became worse, and how often it finds a real loss.

    python scripts/measure_gate.py null      the false-alarm rate, on two kinds of null changes
    python scripts/measure_gate.py loss      the power, on published systems of which one is worse

Scores are those of the published SQuAD predictions in `$SPANWISE_DATA/squad-official`, question by question.
Null changes: "swapped", where each question's two scores change sides by a coin, so that neither system is
better; and "drawn", where questions are drawn from differences that were moved to a mean of 0, so that they
may be skewed. A loss: the worse of two systems in place of the better, on questions drawn with replacement.
Prints a Markdown table; the interval of a share is Wilson's, 95 %.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from spanwise.corpora.squad import read_squad
from spanwise.eval.comparison import Method
from spanwise.eval.pairing import Asked, Scored
from spanwise.eval.wilson import wilson_interval
from spanwise.pipelines.evaluation.gate import ALPHA, gate
from spanwise.pipelines.evaluation.scored_files import Truth, from_predictions
from spanwise.pipelines.evaluation.scored_records import Source

Table = dict[str, np.ndarray]  # by measure: (n, 2) scores of the baseline and the system, NaN where none
SIZES = (30, 100, 1000)
CLOSE = ("v1.1-r-net-ensemble", "v1.1-slqa-ensemble")
CLOSE_V2 = ("v2.0-nlnet-single", "v2.0-bert-single")
FALLS = (CLOSE, ("v1.1-bert-ensemble", CLOSE[0]), (CLOSE[0], "v1.1-match-lstm-ensemble"))


def scores(data: Path, pair: tuple[str, str]) -> Table:
    """Exact match and F1 of each question for two published systems."""
    dataset = read_squad(data / "squad" / f"dev-{pair[0][:4]}.json.gz")
    files = [data / "squad-official" / f"{name}.json.gz" for name in pair]
    sides = [from_predictions(file, Truth(dataset)).systems[0] for file in files]
    ids = sorted(sides[0].questions)
    table = {
        name: np.array([[side.scores[name][qid] for side in sides] for qid in ids]) for name in ("exact", "f1")
    }
    absent = np.array([not sides[0].questions[qid].golds for qid in ids])[:, np.newaxis]
    if absent.any():  # as a folder's questions are scored: the answerable and the others by their own measure
        table["right"] = np.where(absent, np.nan, table["exact"])
        table["declined"] = np.where(absent, table["exact"], np.nan)
    return table


def fails(drawn: Mapping[str, np.ndarray], method: Method) -> bool:
    """Whether the gate fails on these scores, the baseline in the first column."""
    n = len(next(iter(drawn.values())))
    sides = []
    for column, name in enumerate(("baseline", "system")):
        values = {
            measure: {str(i): float(pair[column]) for i, pair in enumerate(pairs) if pair[column] == pair[column]}
            for measure, pairs in drawn.items()
        }
        sides.append(Source(Path(name), (Scored("it", values, {str(i): Asked() for i in range(n)}),)))
    return bool(gate(sides[0], sides[1], method=method).losses)


def swapped(table: Table, n: int, generator: np.random.Generator) -> Table:
    """n questions, each with its two scores on sides decided by a coin, for all measures alike."""
    rows = generator.choice(len(next(iter(table.values()))), n, replace=False)
    coins = generator.random(n) < 0.5
    return {
        name: np.where(coins[:, np.newaxis], pairs[rows, ::-1], pairs[rows]) for name, pairs in table.items()
    }


def drawn(table: Table, n: int, generator: np.random.Generator, centred: bool = True) -> Table:
    """n questions drawn with replacement; `centred` moves the system's mean to the baseline's before."""
    rows = generator.integers(len(next(iter(table.values()))), size=n)
    gaps = {name: np.nanmean(pairs[:, 0] - pairs[:, 1]) * centred for name, pairs in table.items()}
    return {name: pairs[rows] + [0, gaps[name]] for name, pairs in table.items()}


def share(outcomes: Iterable[bool]) -> str:
    """The share that are true, in percent, with its interval."""
    values = list(outcomes)
    low, high = wilson_interval(sum(values) / len(values), len(values))
    return f"{100 * sum(values) / len(values):.1f} ({100 * low:.1f} to {100 * high:.1f})"


def print_row(*cells: object) -> None:
    """One row of a Markdown table."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def null(data: Path, repetitions: int, method: Method, seed: int) -> None:
    """The table of false alarms."""
    v1, v2 = scores(data, CLOSE), scores(data, CLOSE_V2)
    tables = [{name: v1[name] for name in names} for names in (("exact",), ("f1",), ("exact", "f1"))]
    tables.append({name: v2[name] for name in ("right", "declined")})
    print_row("measures", "questions", "swapped: gates that fail, %", "drawn: gates that fail, %")
    print_row("---", "---:", "---:", "---:")
    for table in tables:
        for n in SIZES:
            generator = np.random.default_rng([seed, n])
            cells = [
                share(fails(make(table, n, generator), method) for _ in range(repetitions))
                for make in (swapped, drawn)
            ]
            print_row(" and ".join(table), n, *cells)


def loss(data: Path, repetitions: int, method: Method, seed: int) -> None:
    """The table of real losses."""
    print_row("baseline", "system", "loss in exact, F1", *(f"{n} questions: gates that fail, %" for n in SIZES))
    print_row("---", "---", "---:", *("---:" for _ in SIZES))
    for better, worse in FALLS:
        table = scores(data, (better, worse))
        falls = ", ".join(f"{np.mean(pairs[:, 0] - pairs[:, 1]):.3f}" for pairs in table.values())
        cells = []
        for n in SIZES:
            generator = np.random.default_rng([seed, n])
            cells.append(
                share(
                    fails(drawn(table, n, generator, centred=False), method) for _ in range(repetitions)
                )
            )
        print_row(better, worse, falls, *cells)


def main() -> None:
    """Reads the arguments, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("null", "loss"))
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--permutations", type=int, default=1999)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if "SPANWISE_DATA" not in os.environ:
        sys.exit("SPANWISE_DATA is not set: it names the folder of data sets")
    measure = null if arguments.what == "null" else loss
    method = Method("less", arguments.permutations)
    print(f"alpha {ALPHA}, {arguments.repetitions} repetitions, {arguments.permutations} permutations\n")
    measure(Path(os.environ["SPANWISE_DATA"]), arguments.repetitions, method, arguments.seed)


if __name__ == "__main__":
    main()
