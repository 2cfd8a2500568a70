"""Where a verb of `eval` keeps what it finds: the folder of `--out`, or one that goes away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from ..terminal import progress, say

OutOption = Annotated[
    Path | None,
    typer.Option(
        help="Keep records, figures and report.html there; stopped, the same command goes on.",
        show_default=False,
    ),
]


@contextmanager
def kept(out: Path | None) -> Iterator[Path]:
    """The folder to write results into; when it is to be kept, its report is made in the end."""
    if out is None:
        with TemporaryDirectory() as temporary:
            yield Path(temporary) / "results"
        return
    from ...evaluation.report import write_report
    from ...evaluation.result_folder import ResultFolder

    yield out
    with progress() as report:
        say(f"the report is {write_report(ResultFolder.open(out), report)}")
