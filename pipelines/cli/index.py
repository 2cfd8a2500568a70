"""`spanwise index FOLDER…`: create an index, bring it up to date, and watch for changes."""

import shutil
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Thread
from typing import Annotated

from typer import Argument, Option

from spanwise.errors import DocumentRejected, SpanwiseError
from spanwise.types import ClusterOptions, DocumentWarning, SyncReport

from ..folders import FOLDER_NAME
from ..json_records import sync_record
from ..library.library import Library
from ..library.loaded_models import command, sent_to
from ..open import open, open_index
from ..parsing.ocr import PICTURE_SUFFIXES, OcrMode, use_ocr
from ..plain_text import one_line
from . import options as opt
from .show import print_json, progress, say, write

LINES_OF_A_KIND = 10  # of messages about files
AT_ONCE = 64  # passages that are encoded before a question is answered
STOPPED = "some vectors are missing"
QUIET_S = 1.6  # without changes before `--watch` syncs


def index(
    folders: Annotated[
        list[Path] | None,
        Argument(metavar="[FOLDER]...", help="The folders. Default: those of the index."),
    ] = None,
    index: opt.Index = None,
    drop: Annotated[
        list[Path] | None,
        Option(metavar="FOLDER", help="Remove this folder and its documents. Repeatable."),
    ] = None,
    model: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Keep dense vectors, for --retriever hybrid: base, a folder, name@revision or ollama:MODEL.",
        ),
    ] = None,
    colbert: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Keep token vectors, for --retriever colbert: builtin (default), a folder, or "
            "name@revision of a ColBERT model; none drops them.",
        ),
    ] = None,
    ocr: Annotated[
        OcrMode | None,
        Option(help="Recognise text on pages of PDFs without text (default), of pictures too, or on none."),
    ] = None,
    lexical_only: Annotated[bool, Option("--lexical-only", help="Do not encode vectors.")] = False,
    retry: Annotated[bool, Option("--retry", help="Read rejected files again.")] = False,
    accept_deletions: Annotated[
        bool, Option("--accept-deletions", help="Delete documents below an empty or missing folder too.")
    ] = False,
    watch: Annotated[bool, Option("--watch", help="Stay, and sync after every change.")] = False,
    shards: Annotated[
        int | None, Option(min=1, help="Number of parts that the index is kept in; an index is split.")
    ] = None,
    ray: opt.Ray = None,
    json: opt.Json = False,
) -> None:
    """Index folders: add new files, update changed ones, delete removed ones."""
    cluster = ClusterOptions(ray)
    if host := sent_to(model, ""):
        say(f"each passage and question is sent to {host}")
    if folders:
        library = open(folders, index, model, colbert=colbert, shards=shards, cluster=cluster, ocr=ocr)
    else:
        if shards is not None:
            from ..cluster.indexing import split_index

            split_index(opt.index_of(index), shards)
        library = opt.library_of(None, index, cluster)
        library.use_model(model)
        if ocr is not None:
            use_ocr(library.store, ocr)
    with library:
        path = library.store.path
        library.store.on_wait = lambda holder: say(
            f"waiting for process {holder}, which writes {path}; Ctrl-C ends this"
        )
        if drop:
            library.drop(drop)
        if colbert is not None:
            library.use_colbert(colbert)
        for old, new in library.replaced_models:
            say(f"all passages are encoded again by {new}; until then {old} answers")
        if index is None and path.name != FOLDER_NAME:
            say(f"{library.roots[0].folder} is read-only: its index is in {path}")

        def sync(retry: bool = False, accept_deletions: bool = False) -> SyncReport:
            with progress() as bar:
                return library.sync(not lexical_only, bar, retry=retry, accept_deletions=accept_deletions)

        report = sync(retry, accept_deletions)
        if not watch and not (report.deleted or report.unchanged):
            check_documents(library, report)
        _show(library, report, json)
        if watch:
            _watch(library, sync, report, json)


def _show(library: Library, report: SyncReport, json: bool) -> None:
    if json:
        print_json(sync_record(report))
        return
    say_report(library, report)
    with library.reading() as snapshot:
        n_documents = snapshot.n_documents
    write(f"{n_documents} documents, {report.passages} passages in {library.store.path}")


def _watch(library: Library, sync: Callable[[], SyncReport], first: SyncReport, json: bool) -> None:
    """Watch until Ctrl-C, with one line for each sync that changed something."""
    from ..library.watch import Watch

    rejected = first.rejected
    n_kept = first.kept

    def on_sync(report: SyncReport) -> None:
        nonlocal rejected, n_kept
        if report.kept != n_kept:
            _say_kept(library, report)
        n_kept = report.kept
        new = [rejection for rejection in report.rejected if rejection not in rejected]
        rejected = report.rejected
        if not (new or report.added or report.updated or report.deleted):
            return
        _say_some(library, [f"rejected {file.document_id}: {file.reason}" for file in new])
        if json:
            print_json(sync_record(report))
        else:
            write(f"{datetime.now():%H:%M:%S} {changes(report)}")

    watch = Watch(library, sync, on_sync, say)
    say("watching; Ctrl-C ends")
    try:
        watch.run(QUIET_S)
    except KeyboardInterrupt:
        say("watching ended; committed work is kept")


@contextmanager
def synced(
    folder: Path | None,
    index: Path | None,
    verbose: bool = False,
    cluster: ClusterOptions | None = None,
    wait: bool = True,
) -> Iterator[Library]:
    """Opens the library of a folder, whose words are synced first, or of an index.

    A few missing vectors are encoded at once. If `wait`, the others are encoded when the block ends; Ctrl-C
    stops this and keeps those that are done.
    """
    with opt.library_of(folder, index, cluster) as library:
        if folder is not None:
            with progress() as bar:
                report = library.sync(vectors=False, on_progress=bar, ocr=False)
                if library.missing_vectors() <= AT_ONCE:
                    library.encode(bar)
            if report.added or report.updated or report.deleted:
                say_report(library, report)
            else:
                _say_kept(library, report)
                if verbose:
                    say(f"nothing changed in {folder}: {report.unchanged} documents")
            check_documents(library, report)
        yield library
        if folder is not None and wait:
            sys.stdout.flush()
            try:
                with progress() as bar:
                    library.encode(bar)
            except KeyboardInterrupt:
                say(f"{library.left_out() or STOPPED}. Make the others with: {library.sync_command}")


def encode_in_background(library: Library) -> None:
    """Encode missing vectors in a daemon thread, which ends with the program and commits as it goes."""
    path = library.store.path

    def run() -> None:
        try:
            with open_index(path) as own:
                own.encode()
        except (SpanwiseError, OSError) as error:
            say(f"vectors are missing: {error}")

    Thread(target=run, name="spanwise-encode", daemon=True).start()


def say_report(library: Library, report: SyncReport) -> None:
    """Print on stderr the changes of a sync and the files that it could not read."""
    from ..library.status import ocr_record, waiting_scans

    _say_some(library, [f"rejected {file.document_id}: {file.reason}" for file in report.rejected])
    _say_some(library, [f"skipped {count}: {reason}" for reason, count in report.skipped.items()])
    _say_some(library, list(_remarks(library, report.remarks)), "--remarks")
    _say_kept(library, report)
    with library.reading() as snapshot:
        ocr = ocr_record(snapshot, library.store.settings)
    if ocr["mode"] != "all" and any(reason.endswith(PICTURE_SUFFIXES) for reason in report.skipped):
        say(f"pictures are skipped; read their words with: {library.sync_command} --ocr all")
    if waiting := waiting_scans(ocr, library.sync_command):
        say(waiting)
    if report.added or report.updated or report.deleted:
        say(changes(report))


def _say_kept(library: Library, report: SyncReport) -> None:
    if report.kept:
        from ..library.status import kept

        say(kept(report.kept, library.sync_command))


def _remarks(library: Library, remarks: Sequence[DocumentWarning]) -> Iterator[str]:
    """A line for each kind of remark: the remark itself, or the number of documents that have it."""
    lines: dict[str, list[str]] = defaultdict(list)
    for remark in remarks:
        for part in remark.text.split("; "):
            lines[part.partition(":")[0]].append(f"{remark.document_id}: {part}")
    listing = f"list them with: {command('status', library.store.path)} --remarks"
    for kind, of_kind in lines.items():
        yield of_kind[0] if len(of_kind) == 1 else f"{len(of_kind)} documents: {kind}; {listing}"


def changes(report: SyncReport) -> str:
    """The changes of a sync in one line."""
    return (
        f"{len(report.added)} added, {len(report.updated)} updated, {len(report.deleted)} deleted, "
        f"{report.unchanged} unchanged in {report.seconds:.1f} s"
    )


def _say_some(library: Library, lines: Sequence[str], option: str = "--rejected") -> None:
    for line in lines[:LINES_OF_A_KIND]:
        say(one_line(line))
    if len(lines) > LINES_OF_A_KIND:
        list_command = f"{command('status', library.store.path)} {option}"
        say(f"and {len(lines) - LINES_OF_A_KIND} more; list them with: {list_command}")


def check_documents(library: Library, report: SyncReport) -> None:
    """Raise DocumentRejected, which names what is in the folders, if the index has no document.

    A new .spanwise is deleted.
    """
    with library.reading() as snapshot:
        n_documents = snapshot.n_documents
        is_new = snapshot.generation == 0
    if n_documents:
        return
    folders = ", ".join(str(root.folder) for root in library.roots)
    path = library.store.path
    if is_new and path.name == FOLDER_NAME:  # another directory may hold files of the user
        library.close()
        shutil.rmtree(path)
    reasons = [f"{rejection.document_id}: {rejection.reason}" for rejection in report.rejected[:3]]
    reasons += [f"{count} skipped: {reason}" for reason, count in report.skipped.items()]
    content = "; ".join(reasons) or "it is empty"
    raise DocumentRejected(f"no readable documents in {folders} ({content}). Add some and run it again.")
