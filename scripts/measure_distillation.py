"""What distillation brought: systems of several `spanwise eval open` results beside one another, as Markdown.

    python scripts/measure_distillation.py "bm25=runs/base:bm25" "student=runs/student:colbert" \\
        "teacher=runs/base:bm25+rerank" --teacher teacher

The first system is the baseline. Each other one is compared with it on the questions that both were asked,
by a paired randomization test; p is corrected for all rows. The share of the teacher's gain is
(system - baseline) / (teacher - baseline), over the questions that all three were asked.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from spanwise.errors import SpanwiseError
from spanwise.eval.significance.pairing import Scored
from spanwise.pipelines.evaluation.compare import compare_systems
from spanwise.pipelines.evaluation.scored_records import from_results

MEASURES = ("recall@1", "recall@5", "recall@20", "rr")


@dataclass(frozen=True, slots=True)
class Row:
    """A system: its means over its own questions, and `measure` beside the baseline over common ones.

    `kept` is the share of the teacher's gain, None for the baseline and where the teacher gains nothing.
    """

    name: str
    questions: int
    means: dict[str, float]
    difference: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None
    kept: float | None = None


def rows(systems: Mapping[str, Scored], measure: str, teacher: str | None) -> list[Row]:
    """A row for each system, the baseline first."""
    (first, baseline), *others = systems.items()
    compared = compare_systems([(baseline, other) for _, other in others], [measure])
    found = [_row(first, baseline)]
    for (name, system), one in zip(others, compared, strict=True):
        gain = kept_gain(baseline, system, systems[teacher], measure) if teacher else None
        row = _row(name, system)
        found.append(replace(row, difference=one.difference, interval=one.interval, p=one.p_holm, kept=gain))
    return found


def kept_gain(baseline: Scored, system: Scored, teacher: Scored, measure: str) -> float | None:
    """(system - baseline) / (teacher - baseline), common questions; None where the teacher gains nothing."""
    values = [one.scores[measure] for one in (baseline, system, teacher)]
    common = [name for name in values[0] if name in values[1] and name in values[2]]
    if not common:
        return None
    low, own, high = (fmean(value[name] for name in common) for value in values)
    return (own - low) / (high - low) if high > low else None


def _row(name: str, system: Scored) -> Row:
    means = {
        measure: fmean(system.scores[measure].values()) for measure in MEASURES if measure in system.scores
    }
    return Row(name, len(system.questions), means)


def markdown(found: Sequence[Row], measure: str) -> Iterator[str]:
    """The lines of the table."""
    names = [name for name in MEASURES if name in found[0].means]
    heads = [*names, f"{measure} against {found[0].name}", "p", "of the teacher's gain"]
    yield f"| | questions | {' | '.join(heads)} |"
    yield "|---" * (len(names) + 5) + "|"
    for row in found:
        figures = " | ".join(f"{row.means[name]:.3f}" for name in names)
        beside = "" if row.difference is None else f"{row.difference:+.3f} {_interval(row.interval)}".strip()
        p = "" if row.p is None else f"{row.p:.4f}"
        kept = "" if row.kept is None else f"{row.kept:.0%}"
        yield f"| {row.name} | {row.questions:,} | {figures} | {beside} | {p} | {kept} |"


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"[{interval[0]:+.3f}, {interval[1]:+.3f}]"


def read(spec: str) -> tuple[str, Scored]:
    """The system of "NAME=FOLDER:SYSTEM", and the name it is shown by."""
    name, _, place = spec.partition("=")
    folder, _, system = place.rpartition(":")
    if not (name and folder and system):
        raise ValueError(f"{spec!r}: expected NAME=FOLDER:SYSTEM")
    return name, from_results(Path(folder)).named([system])[0]


def main() -> None:
    """Reads the arguments and the results, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("systems", nargs="+", metavar="NAME=FOLDER:SYSTEM", help="the baseline first")
    parser.add_argument("--teacher", help="the name of the system whose gain the others are measured by")
    parser.add_argument("--measure", default="recall@1", help="what is compared; default: recall@1")
    parser.add_argument("--json", action="store_true", help="print one JSON value")
    given = parser.parse_args()
    try:
        systems = dict(map(read, given.systems))
        if given.teacher is not None and given.teacher not in systems:
            raise ValueError(f"there is no system {given.teacher!r}; expected one of {', '.join(systems)}")
        found = rows(systems, given.measure, given.teacher)
    except (SpanwiseError, ValueError) as error:
        sys.exit(f"measure_distillation.py: {error}")
    if given.json:
        print(json.dumps([_values(row) for row in found]))
    else:
        print("\n".join(markdown(found, given.measure)))


def _values(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in Row.__slots__}


if __name__ == "__main__":
    main()
