"""Where a verb of `eval` keeps what it finds: the folder of `--out`, or one that goes away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

OutOption = Annotated[
    Path | None,
    typer.Option(
        help="Folder for records and figures; the same command resumes an interrupted run.",
        show_default=False,
    ),
]


@contextmanager
def kept(out: Path | None) -> Iterator[Path]:
    """The folder for the results; a temporary one without `--out`."""
    if out is None:
        with TemporaryDirectory() as temporary:
            yield Path(temporary) / "results"
        return
    yield out
