"""`spanwise eval speed`: how fast it is beside other programs, on one machine and in one run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanwise.errors import SpanwiseError

from ..arguments import JsonOption
from ..terminal import print_json, progress, say
from .options import SeedOption

if TYPE_CHECKING:
    from ...evaluation.speed.row import Row


def speed(
    only: Annotated[
        list[str] | None, typer.Option(help="A comparison to make; may be given several times.")
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(help="A SQuAD-format file with paragraphs and questions; may be given several times."),
    ] = None,
    passages: Annotated[int | None, typer.Option(min=1, help="Index only so many paragraphs.")] = None,
    vectors: Annotated[
        int, typer.Option(min=1, help="Search so many paragraphs by vectors, computed first.")
    ] = 4096,
    questions: Annotated[int, typer.Option(min=1, help="How many questions are searched for.")] = 100,
    rounds: Annotated[int, typer.Option(min=1, help="How often each engine has its turn.")] = 5,
    threads: Annotated[int, typer.Option(min=1, help="Threads and processors of every engine.")] = 1,
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages are found.")] = 10,
    seed: SeedOption = 0,
    out: Annotated[
        Path | None, typer.Option(help="Write the figures there, with their spread and the machine.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure search, indexing and encoding beside other programs: medians and ratios of one run."""
    from ...evaluation.speed.comparisons import chosen
    from ...evaluation.speed.data import read_paragraphs
    from ...evaluation.speed.pinning import processors
    from ...evaluation.speed.registry import all_entrants
    from ...evaluation.speed.report import evaluate_speed
    from ...evaluation.speed.settings import Settings

    comparisons = chosen(only or [])
    settings = Settings(rounds, threads, k, passages, vectors, questions, seed)
    processors(threads)  # which refuses more threads than there are processors
    if out is not None and not out.absolute().parent.is_dir():
        raise ValueError(f"--out {out}: there is no folder {out.absolute().parent}")
    paragraphs = read_paragraphs(data or [], seed)
    say(f"{len(paragraphs.asked):,} paragraphs of {paragraphs.source}")
    with progress() as report:
        found = evaluate_speed(comparisons, all_entrants(), paragraphs, settings, out, report, say)
    for row in found.rows:
        if row.doubt:
            say(f"{row.comparison.name}: {row.peer_name} may not do the same work: {row.doubt}")
    if json:
        print_json([row.record() for row in found.rows])
    else:
        _print(found.rows)
    if failed := [str(one) for one in found.left_out if one.is_ours]:
        raise SpanwiseError("; ".join(failed))


def _print(rows: Sequence[Row]) -> None:
    print(f"{'':28} {'ours':>10} {'peer':>10} {'ratio':>7}  {'by round':15} {'recall':>13} {'overlap':>8}")
    for name, group in groupby(rows, lambda row: row.comparison):
        print(f"{name.name}, {name.unit}: {name.about}")
        for row in group:
            spread = f"{min(row.ratios):.3g} to {max(row.ratios):.3g}"
            recall = f"{row.ours.recall:.2f}, {row.peer.recall:.2f}"
            figures = f"{row.ours.median:10.4g} {row.peer.median:10.4g} {row.ratio:7.3g}"
            print(f"  {row.peer_name:26} {figures}  {spread:15} {recall:>13} {row.peer.overlap:8.2f}")
