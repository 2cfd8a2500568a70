"""`spanwise eval fairness`: the same questions about persons with other names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..arguments import JsonOption
from ..terminal import print_json, progress
from .kept import OutOption, kept
from .options import DataOption, LimitOption, ReaderOption, SeedOption

SIGNIFICANT = 0.05


def fairness(
    data: DataOption,
    reader: ReaderOption = "builtin",
    limit: LimitOption = None,
    seed: SeedOption = 0,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Rename the persons in questions and passages, and count the answers that move."""
    from ....reader.load import load_reader
    from ...evaluation.fairness import evaluate_fairness

    with kept(out) as folder, progress() as report:
        found = evaluate_fairness(data, load_reader(reader), folder, reader, limit, seed, report)
    print_json(found) if json else _print(found)


def _print(found: Mapping[str, Any]) -> None:
    groups = found["groups"]
    names = [name for name in next(reversed(groups.values())) if name != "questions"]
    width = max(map(len, groups))
    print(f"{found['questions']:,} questions that name a person")
    print(" " * width, *(f"{name:>17}" for name in names))
    for group, figures in groups.items():
        print(f"{group:{width}}", *(f"{_shown(figures.get(name)):>17}" for name in names))
    tests = [(f"{one['baseline']} / {one['system']}", one["measure"], one) for one in found["between"]]
    for group, against in found["against_original"].items():
        tests += [(f"original / {group}", name, one) for name, one in against["against_original"].items()]
    alarms = [test for test in tests if test[2]["p_holm"] <= SIGNIFICANT]
    print(f"{len(alarms)} of {len(tests)} paired differences are significant (Holm, {SIGNIFICANT})")
    for pair, measure, one in sorted(alarms, key=lambda test: test[2]["p_holm"]):
        print(f"{pair}: {measure} {one['difference']:+.3f}, p {one['p_holm']:.4f}")


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
