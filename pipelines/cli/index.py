"""`spanwise index FOLDER…`: makes an index of folders, or brings it up to date and keeps it so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from spanwise.errors import DocumentRejected
from spanwise.types import RejectedFile, SyncReport

from ..folders import FOLDER_NAME
from ..library import Library
from ..models import NONE
from ..open import open
from ..records import sync_record
from .arguments import IndexOption, JsonOption, library_of
from .colbert import ColbertOption, check_colbert, set_colbert
from .terminal import json_line, print_json, progress, say, visible

LINES_OF_A_KIND = 10


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
        str | None,
        typer.Option(
            help="Encoder of the dense vectors: base, dpr, a folder, name@revision, or QUESTION::PASSAGE."
        ),
    ] = None,
    colbert: ColbertOption = None,
    recall: Annotated[
        float | None,
        typer.Option(
            help="Share of the exact top 10 that dense search finds in a large collection, such as 0.98.",
            show_default=False,
        ),
    ] = None,
    lexical_only: Annotated[
        bool, typer.Option("--lexical-only", help="Leave out the vectors, dense and of tokens.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that read files; by default one a core, 4 at most.")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Read again what was refused before.")] = False,
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", help="Forget the answers that were kept.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Stay and sync whenever something changes.")] = False,
    watch_delay: Annotated[float, typer.Option(min=0.05, help="Seconds of quiet before a sync.")] = 1.6,
    json: JsonOption = False,
) -> None:
    """Index folders: add what is new, update what changed, delete what is gone."""
    check_colbert(colbert)
    with _library(folders, index, model, colbert) as library:
        if drop:
            library.drop(drop)
        set_colbert(library, colbert)
        if recall is not None:
            library.recall = recall
        if clear_cache:
            library.clear_cache()
        _say_place(library, index)
        sync = partial(run_sync, library, not lexical_only, workers)
        report = sync(retry=retry)
        if not watch and not report.passages and not (report.deleted or report.unchanged):
            raise DocumentRejected(_nothing(library, report))
        _tell(library, report, json)
        if watch:
            _stay(library, sync, watch_delay, report, json)


def _library(
    folders: list[Path] | None, index: Path | None, model: str | None, colbert: str | None
) -> Library:
    if folders:
        return open(folders, index, model, colbert=NONE if colbert == NONE else None)
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
    with library.reading() as snapshot:
        n_documents = snapshot.n_documents
    print(f"{n_documents} documents, {report.passages} passages in {visible(str(library.store.path))}")


def _stay(
    library: Library, sync: Callable[[], SyncReport], delay_s: float, first: SyncReport, json: bool
) -> None:
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

    watch = Watch(library, sync, tell, lambda text: say(visible(text)))
    say("watching; Ctrl-C ends it")
    try:
        watch.run(delay_s)
    except KeyboardInterrupt:
        say("no longer watching; what was committed is kept")


def run_sync(
    library: Library,
    vectors: bool = True,
    workers: int | None = None,
    retry: bool = False,
) -> SyncReport:
    """Syncs with a progress bar."""
    with progress() as report:
        return library.sync(vectors, report, workers, retry)


def say_report(report: SyncReport) -> None:
    """Tells on stderr what a sync changed and what it could not read, a few lines of each kind."""
    say_rejected(report.rejected)
    _say_some([f"skipped {count}: {reason}" for reason, count in report.skipped.items()])
    _say_some([f"{r.document_id}: {r.text}" for r in report.remarks])
    if report.deleted and not report.found:
        say("the folder is empty now: every document was deleted from the index, no file was touched")
    if report.added or report.updated or report.deleted:
        say(changes(report))
    if report.encoded_tokens:
        say(f"token vectors made: {report.encoded_tokens} passages")


def say_rejected(rejected: Sequence[RejectedFile]) -> None:
    """Tells on stderr which files could not be read, and why."""
    _say_some([f"rejected {r.document_id}: {r.reason}" for r in rejected])


def changes(report: SyncReport) -> str:
    """What a sync changed, in one line."""
    return (
        f"{len(report.added)} added, {len(report.updated)} updated, {len(report.deleted)} deleted, "
        f"{report.unchanged} unchanged in {report.seconds:.1f} s"
    )


def _say_some(lines: Sequence[str]) -> None:
    for line in lines[:LINES_OF_A_KIND]:
        say(visible(line))
    if len(lines) > LINES_OF_A_KIND:
        say(f"and {len(lines) - LINES_OF_A_KIND} more; see: spanwise status --rejected")


def _nothing(library: Library, report: SyncReport) -> str:
    folders = ", ".join(str(root.folder) for root in library.roots)
    seen = [f"{r.document_id}: {r.reason}" for r in report.rejected[:3]] + [
        f"{count} skipped: {reason}" for reason, count in report.skipped.items()
    ]
    return f"{folders} holds no document that can be read ({'; '.join(seen) or 'it is empty'})"
