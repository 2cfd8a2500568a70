"""`spanwise doctor`: whether this machine and this index are fit, and what to do where they are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import IndexOption, JsonOption
from .terminal import print_json, visible

if TYPE_CHECKING:
    from ..doctor import Finding


def doctor(
    index: IndexOption = None,
    reader: Annotated[str, typer.Option(help="builtin, a folder, or name@revision.")] = "builtin",
    generator: Annotated[
        str | None,
        typer.Option(help="Ask the server at this address, too: URL#model.", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Check the installation, the models, the machine and an index; exit 1 when something does not work."""
    from ..doctor import State, checkup

    findings = list(_shown(checkup(index, Path.cwd(), reader, generator), json))
    if json:
        print_json({"findings": [_record(finding) for finding in findings]})
    if any(finding.state is State.FAIL for finding in findings):
        raise typer.Exit(1)


def _shown(findings: Iterable[Finding], quiet: bool) -> Iterator[Finding]:
    """The findings, each printed as soon as it is made."""
    for finding in findings:
        if not quiet:
            print(f"{finding.state.value:5} {finding.subject:11} {visible(finding.seen)}", flush=True)
            if finding.advice:
                print(f"{'':17} {visible(finding.advice)}", flush=True)
        yield finding


def _record(finding: Finding) -> dict[str, str]:
    return {
        "subject": finding.subject,
        "state": finding.state.value,
        "seen": finding.seen,
        "advice": finding.advice,
    }
