"""The arguments of `train reader` alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SquadOption = Annotated[
    list[Path], typer.Option("--data", help="SQuAD-format files; may be given several times.")
]
ReaderBaseOption = Annotated[
    str,
    typer.Option(
        help="What gets a fresh head: base, a folder or name@revision of any encoder; its own head is kept."
    ),
]
ReaderStartOption = Annotated[
    str,
    typer.Option(
        help="Go on with a reader in place of a fresh head on the base: builtin, or the folder of one."
    ),
]
AbsentOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Unanswerable questions made for each answerable one, as KIND=SHARE; may be given several "
        "times. Kinds: article, figures, names. Default: article=0.33."
    ),
]
EvaluationsOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="How often it is measured, evenly spaced. Default: after a half, three quarters, all."
    ),
]
PatienceOption = Annotated[
    int, typer.Option(min=0, help="So many evaluations without a better F1 end the run; 0: none do.")
]


def share_of(given: str) -> tuple[str, float]:
    """The kind and the share in KIND=SHARE."""
    kind, _, share = given.partition("=")
    try:
        return kind, float(share)
    except ValueError:
        raise typer.BadParameter(f"{given!r}: expected KIND=SHARE", param_hint="--absent") from None
