"""`spanwise train convert`: lists from any form that is read into any that is written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..arguments import JsonOption
from ..terminal import print_json, say
from .options import SplitOption
from .run import read_lists


def convert(
    data: Annotated[
        Path, typer.Option(help="Lists or a test collection, in any form that is known; see the errors.")
    ],
    out: Annotated[Path, typer.Option(help="A folder, or for dpr a file.")],
    to: Annotated[str, typer.Option(help="lists: as the other verbs read them; colbert; dpr.")] = "lists",
    without: Annotated[
        list[Path] | None,
        typer.Option(help="Evaluation data, as for `train negatives`: what repeats it is left out."),
    ] = None,
    split: SplitOption = None,
    json: JsonOption = False,
) -> None:
    """Write lists, with their scores, in another form: ColBERT's is what the field exchanges."""
    from ...training.examples import write_examples
    from ...training.leaks import Leaks

    leaks, examples = Leaks.of(without or ()), read_lists(data, split)
    written = write_examples(out, leaks.without(examples) if without else examples, to)
    if json:
        print_json({"out": str(out), "lists": written, "left_out": leaks.dropped})
    else:
        say(f"{out}: {written:,} lists, {len(examples) - written:,} left out")
