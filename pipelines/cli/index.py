"""`spanwise index FOLDER…`: makes an index of folders, or brings it up to date and keeps it so."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from spanwise.errors import DocumentRejected
from spanwise.types import Rejection, SyncReport

from ..library import Library, open
from ..locations import FOLDER_NAME
from ..records import sync_record
from .arguments import IndexOption, JsonOption, library_of
from .terminal import json_line, print_json, progress, say, visible


def index(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="The folders to index; none: those that the index is of.", show_default=False),
    ] = None,
    index: IndexOption = None,
    drop: Annotated[
        list[Path] | None,
        typer.Option(help="Take this folder and its documents out.", show_default=False),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Encoder of the dense vectors: base, a folder, or name@revision.")
    ] = None,
    lexical_only: Annotated[
        bool, typer.Option("--lexical-only", help="Leave out the dense vectors.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Stay and sync whenever something changes.")] = False,
    watch_delay: Annotated[float, typer.Option(min=0.05, help="Seconds of quiet before a sync.")] = 1.6,
    json: JsonOption = False,
) -> None:
    """Index folders: add what is new, update what changed, delete what is gone."""
    with _library(folders, index, model) as library:
        if drop:
            library.drop(drop)
        _say_place(library, index)
        report = run_sync(library, vectors=not lexical_only)
        if not watch and not report.passages and not (report.deleted or report.unchanged):
            raise DocumentRejected(_nothing(library, report))
        _tell(library, report, json)
        if watch:
            _stay(library, not lexical_only, watch_delay, report, json)


def _library(folders: list[Path] | None, index: Path | None, model: str | None) -> Library:
    if folders:
        return open(folders, index, model)
    library = library_of(None, index)
    library.require_model(model)
    return library


def _say_place(library: Library, index: Path | None) -> None:
    path = library.store.path
    if index is None and path.name != FOLDER_NAME:
        say(f"{visible(str(library.roots[0].folder))} cannot be written to: its index is in {path}")


def _tell(library: Library, report: SyncReport, json: bool) -> None:
    if json:
        print_json(sync_record(report))
        return
    say_report(report)
    n_documents = library.snapshot.n_documents
    print(f"{n_documents} documents, {report.passages} passages in {visible(str(library.store.path))}")


def _stay(library: Library, vectors: bool, delay_s: float, first: SyncReport, json: bool) -> None:
    """Watches until Ctrl-C, with one line for each sync that found something."""
    from ..watch import Watch

    known = set(first.rejected)

    def tell(report: SyncReport) -> None:
        new = [rejection for rejection in report.rejected if rejection not in known]
        known.clear()
        known.update(report.rejected)
        if new or report.added or report.updated or report.deleted:
            say_rejected(new)
            line = json_line(sync_record(report)) if json else f"{datetime.now():%H:%M:%S} {changes(report)}"
            print(line, flush=True)

    say("watching; Ctrl-C ends it")
    try:
        Watch(library, lambda: run_sync(library, vectors), tell, lambda text: say(visible(text))).run(delay_s)
    except KeyboardInterrupt:
        say("no longer watching; what was committed is kept")


def run_sync(library: Library, vectors: bool = True) -> SyncReport:
    """Syncs with a progress bar."""
    with progress() as report:
        return library.sync(vectors=vectors, report=report)


def say_report(report: SyncReport) -> None:
    """Tells on stderr what a sync changed and what it could not read."""
    say_rejected(report.rejected)
    for reason, count in report.skipped.items():
        say(f"skipped {count}: {visible(reason)}")
    if report.added or report.updated or report.deleted:
        say(changes(report))


def say_rejected(rejected: Iterable[Rejection]) -> None:
    """Tells on stderr which files could not be read, and why."""
    for rejection in rejected:
        say(f"rejected {visible(rejection.document_id)}: {visible(rejection.reason)}")


def changes(report: SyncReport) -> str:
    """What a sync changed, in one line."""
    return (
        f"{len(report.added)} added, {len(report.updated)} updated, {len(report.deleted)} deleted, "
        f"{report.unchanged} unchanged in {report.seconds:.1f} s"
    )


def _nothing(library: Library, report: SyncReport) -> str:
    folders = ", ".join(str(root.folder) for root in library.roots)
    seen = [f"{r.document_id}: {r.reason}" for r in report.rejected[:3]] + [
        f"{count} skipped: {reason}" for reason, count in report.skipped.items()
    ]
    return f"{folders} holds no document that can be read ({'; '.join(seen) or 'it is empty'})"
