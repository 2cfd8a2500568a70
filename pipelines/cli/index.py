"""`spanwise index FOLDER`: makes an index of a folder, or brings it up to date."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from spanwise.errors import DocumentRejected
from spanwise.types import SyncReport

from ..library import Library, open
from ..records import sync_record
from .arguments import IndexOption, JsonOption
from .terminal import print_json, progress, say, visible

LINES_OF_A_KIND = 10


def index(
    folder: Annotated[Path, typer.Argument(help="The folder to index.", show_default=False)],
    index: IndexOption = None,
    model: Annotated[
        str | None, typer.Option(help="Encoder of the dense vectors: base, a folder, or name@revision.")
    ] = None,
    lexical_only: Annotated[
        bool, typer.Option("--lexical-only", help="Leave out the dense vectors.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that read files; by default one a core, 4 at most.")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Read again what was refused before.")] = False,
    json: JsonOption = False,
) -> None:
    """Index a folder: add what is new, update what changed, delete what is gone."""
    with open(folder, index, model) as library:
        report = run_sync(library, not lexical_only, workers, retry)
        if not report.passages and not (report.deleted or report.unchanged):
            raise DocumentRejected(_nothing(folder, report))
        if json:
            print_json(sync_record(report))
        else:
            say_report(report)
            n_documents = library.snapshot.n_documents
            print(f"{n_documents} documents, {report.passages} passages in {library.store.path}")


def run_sync(
    library: Library, vectors: bool = True, workers: int | None = None, retry: bool = False
) -> SyncReport:
    """Syncs with a progress bar."""
    with progress() as report:
        return library.sync(vectors, report, workers, retry)


def say_report(report: SyncReport) -> None:
    """Tells on stderr what a sync changed and what it could not read, a few lines of each kind."""
    _say_some([f"rejected {r.document_id}: {r.reason}" for r in report.rejected])
    _say_some([f"skipped {count}: {reason}" for reason, count in report.skipped.items()])
    _say_some([f"{r.document_id}: {r.text}" for r in report.remarks])
    if report.deleted and not report.found:
        say("the folder is empty now: every document was deleted from the index, no file was touched")
    if report.added or report.updated or report.deleted:
        say(
            f"{len(report.added)} added, {len(report.updated)} updated, {len(report.deleted)} deleted, "
            f"{report.unchanged} unchanged in {report.seconds:.1f} s"
        )


def _say_some(lines: Sequence[str]) -> None:
    for line in lines[:LINES_OF_A_KIND]:
        say(visible(line))
    if len(lines) > LINES_OF_A_KIND:
        say(f"and {len(lines) - LINES_OF_A_KIND} more; see: spanwise status")


def _nothing(folder: Path, report: SyncReport) -> str:
    seen = [f"{r.document_id}: {r.reason}" for r in report.rejected[:3]] + [
        f"{count} skipped: {reason}" for reason, count in report.skipped.items()
    ]
    return f"{folder} holds no document that can be read ({'; '.join(seen) or 'it is empty'})"
