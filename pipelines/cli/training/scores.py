"""`spanwise train scores`: what a teacher says of every list."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..arguments import JsonOption
from ..terminal import print_json, progress, say
from .options import ListsOption
from .run import read_lists


def scores(
    lists: ListsOption,
    out: Annotated[Path, typer.Option(help="Folder for the lists with their scores; the same one resumes.")],
    teacher: Annotated[
        str,
        typer.Option(help="builtin, a folder of `train cross-encoder`, or a cross-encoder's name@revision."),
    ] = "builtin",
    drop_within: Annotated[
        float | None,
        typer.Option(
            help="Leave out negatives that score above the positive minus so much: they may be answers."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Score the first so many lists; those mined are shuffled.")
    ] = None,
    passages: Annotated[
        int | None, typer.Option(min=2, help="Keep the first so many passages of each list.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Score lists with a teacher, for a student to be distilled from; an interrupted run goes on."""
    from dataclasses import asdict

    from ....models.cross_encoder import load_cross_encoder
    from ...training.score import score_lists, shortened

    examples = [shortened(one, passages) for one in read_lists(lists)[:limit]]
    with progress() as report:
        scored = score_lists(examples, load_cross_encoder(teacher), out, report, drop_within)
    if json:
        print_json({"out": str(out), **asdict(scored)})
        return
    say(
        f"{out}: {scored.lists:,} lists with {scored.pairs:,} pairs; the positive passage is first in "
        f"{scored.first / scored.lists:.1%}, {scored.dropped:,} likely false negatives left out"
    )
