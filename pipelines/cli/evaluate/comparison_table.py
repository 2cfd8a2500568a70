"""Comparisons for people: a table for each pair of systems, then the questions that were won and lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from textwrap import shorten

from ....eval.significance.comparison import Change, Comparison
from ..terminal import say, visible

WIDTH = 90  # of a question
HEAD = tuple("measure n baseline system diff interval p Holm wins losses ties".split())


def print_comparisons(comparisons: Iterable[Comparison], show: int) -> None:
    """Prints the figures of each pair, then of each measure at most `show` wins, losses and ties."""
    for one, group in groupby(comparisons, key=lambda comparison: comparison.pair):
        print(visible(f"{one.system.system} against {one.baseline.system} (baseline)"))
        found = list(group)
        _print_table(found)
        for comparison in found:
            _print_changes(comparison, show)


def tell(lines: Iterable[str]) -> None:
    """Says what is worth knowing about what is compared, a line each."""
    for line in lines:
        say(visible(line))


def _print_table(comparisons: Sequence[Comparison]) -> None:
    """Aligned columns that are never cut to fit a terminal, as a figure that is cut short misleads."""
    rows = [HEAD, *map(_row, comparisons)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        print("  ".join([first.ljust(widths[0]), *cells]))


def _row(one: Comparison) -> tuple[str, ...]:
    interval = "-" if one.interval is None else "{:+.4f} {:+.4f}".format(*one.interval)
    means = (f"{one.baseline_mean:.4f}", f"{one.system_mean:.4f}", f"{one.difference:+.4f}", interval)
    counts = (str(len(changes)) for changes in (one.wins, one.losses, one.ties))
    return (visible(one.measure), str(one.questions), *means, f"{one.p:.4f}", f"{one.p_holm:.4f}", *counts)


def _print_changes(one: Comparison, show: int) -> None:
    if not show:
        return
    for what, changes in (("loss", one.losses), ("win", one.wins)):
        if changes:
            print(visible(f"{one.measure}, {_count(what, changes, show)}:"))
        for change in changes[:show]:
            print(f"  {change.difference:+.3f}  {visible(_named(change))}")
    if one.ties:
        ids = ", ".join(change.id for change in one.ties[:show])
        print(visible(f"{one.measure}, {_count('tie', one.ties, show)}: {ids}"))


def _count(what: str, changes: Sequence[Change], show: int) -> str:
    many = {"loss": "losses"}.get(what, f"{what}s") if len(changes) > 1 else what
    return f"{len(changes):,} {many}" + (f", the first {show}" if len(changes) > show else "")


def _named(change: Change) -> str:
    return f"{change.id}  {shorten(change.question, WIDTH, placeholder=' …')}".rstrip()
