"""Measures extractive summaries against ones that people wrote for a question, beside simple baselines.

    python scripts/measure_summaries.py --set qmsum --data DIR

DIR, or else SPANWISE_DATA, holds the data sets that `summary_sets` reads. Documents are cut into passages,
of which the best `--passages` by tf-idf with the question are summarized, as after retrieval. Printed are
means of ROUGE F1 (stemmed, the best of several references), distinct-2 over all summaries of a system, words
of a summary, and the difference in ROUGE-L to lead-3 with its 95 % interval and p, corrected for all rows.
`--reader` adds what `spanwise summarize` does: LexRank with the built-in reader, which takes longer.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from summary_sets import SETS, Case
from summary_systems import LEAD, READ, SYSTEMS, System, Task, read_lexrank, tasks

from spanwise.eval.significance.comparison import Comparison, compare
from spanwise.eval.significance.pairing import Asked, Scored, pair
from spanwise.eval.text.distinct import distinct_n, words
from spanwise.eval.text.rouge import rouge
from spanwise.reader.summary.extractive import Limits, Weights

MEASURES = ("rouge1", "rouge2", "rougeL")


@dataclass(frozen=True, slots=True)
class Row:
    """A system: means of ROUGE F1, distinct-2, words a summary, and what it gains over lead-3."""

    name: str
    means: dict[str, float]
    distinct: float
    n_words: float
    gain: Comparison | None


def rows(found: Sequence[Task], systems: dict[str, System], limits: Limits, weights: Weights) -> list[Row]:
    """A row for each system, lead-3 first."""
    texts = {name: [system(task, limits, weights) for task in found] for name, system in systems.items()}
    scored = {name: _scores(name, found, written) for name, written in texts.items()}
    others = [name for name in systems if name != LEAD]
    gains = compare([(pair(scored[LEAD], scored[name]), "rougeL") for name in others])
    return [
        Row(
            name,
            {measure: fmean(scored[name].scores[measure].values()) for measure in MEASURES},
            distinct_n([words(text) for text in texts[name]], 2),
            fmean(len(text.split()) for text in texts[name]),
            dict(zip(others, gains, strict=True)).get(name),
        )
        for name in systems
    ]


def _scores(name: str, found: Sequence[Task], written: Sequence[str]) -> Scored:
    scores: dict[str, dict[str, float]] = {measure: {} for measure in MEASURES}
    for task, text in zip(found, written, strict=True):
        compared = rouge(task.case.references, text, stem=True)
        for measure in MEASURES:
            scores[measure][task.case.id] = compared[measure].f1
    return Scored(name, scores, {task.case.id: Asked(task.case.question) for task in found})


def table(found: Sequence[Row]) -> str:
    """The rows as Markdown, ROUGE in percent."""
    lines = [
        "| system | ROUGE-1 | ROUGE-2 | ROUGE-L | distinct-2 | words | ROUGE-L to lead-3 |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found:
        means = " | ".join(f"{100 * row.means[measure]:.2f}" for measure in MEASURES)
        gain = "" if row.gain is None else _gain(row.gain)
        lines.append(f"| {row.name} | {means} | {row.distinct:.3f} | {row.n_words:.0f} | {gain} |")
    return "\n".join(lines)


def _gain(one: Comparison) -> str:
    ends = "" if one.interval is None else f" ({100 * one.interval[0]:+.2f} to {100 * one.interval[1]:+.2f})"
    return f"{100 * one.difference:+.2f}{ends}, p = {one.p_holm:.4f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("SPANWISE_DATA") or None)
    parser.add_argument("--set", choices=SETS, required=True, dest="name")
    parser.add_argument("--passages", type=int, default=10, help="how many are summarized (default 10)")
    parser.add_argument("--sentences", type=int, default=3, help="at most so many (default 3)")
    parser.add_argument("--words", type=int, help="at most so many (default: no limit)")
    parser.add_argument("--n", type=int, help="so many questions, drawn by a fixed seed (default: all)")
    for name, value in asdict(Weights()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=value, help=f"default {value}")
    parser.add_argument("--reader", action="store_true", help="with the built-in reader, too")
    given = parser.parse_args(arguments)
    if given.data is None:
        parser.error("name a folder with --data, or set SPANWISE_DATA")
    found = tasks(drawn(given.name, given.data, given.n), given.passages)
    weights = Weights(**{name: getattr(given, name) for name in asdict(Weights())})
    systems = SYSTEMS | ({READ: read_lexrank} if given.reader else {})
    print(f"{given.name}: {len(found)} questions, the best {given.passages} passages of each document\n")
    print(table(rows(found, systems, Limits(given.sentences, given.words), weights)))


def drawn(name: str, data: Path, n: int | None) -> list[Case]:
    """The cases of a set, or n of them, always the same."""
    cases = list(SETS[name](data))
    return cases if n is None or n >= len(cases) else random.Random(0).sample(cases, n)


if __name__ == "__main__":
    main()
