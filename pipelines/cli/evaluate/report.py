"""`spanwise eval report`: the report of a result folder is made again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..arguments import JsonOption
from ..terminal import print_json, progress, say


def report(
    results: Annotated[
        Path, typer.Argument(help="A folder that an evaluation wrote with --out.", show_default=False)
    ],
    json: JsonOption = False,
) -> None:
    """Make report.html of a result folder again, also of an evaluation that is not finished."""
    from ...evaluation.report import is_finished, write_report
    from ...evaluation.result_folder import ResultFolder

    found = ResultFolder.open(results)
    with progress() as told:
        path = write_report(found, told)
    finished = is_finished(found)
    if not finished:
        say(f"{results} is not finished: the report shows what is there so far")
    if json:
        print_json({"report": str(path), "finished": finished})
    else:
        print(path)
