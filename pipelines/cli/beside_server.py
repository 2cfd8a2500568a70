"""`spanwise index --watch` as the child of `spanwise serve --watch`: how it is started, and behaves then."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from spanwise.errors import IndexReadOnly, SpanwiseError
from spanwise.types import SyncReport

from ..child_pipes import interrupt_with_parent, own_pipes
from ..library import Library
from ..folders import existing_folder, is_writable

NICENESS = 10  # added to the server's own: answers go first
GRACE_S = 10.0  # to end in, when the server has ended
FLAG = "--beside-server"
PATH = "PYTHONPATH"
SECRETS = ("SPANWISE_SERVE_TOKEN", "SPANWISE_API_KEY")  # of those who ask, and of a generator

Sync = Callable[..., SyncReport]
Tell = Callable[[str], None]


def watch_command(library: Library) -> list[str]:
    """The command that keeps the index of a library current, with all its folders.

    FolderNotFound when one of them is missing now, IndexReadOnly when the index cannot be written to.
    """
    for root in library.roots:
        existing_folder(root.folder)
    path = library.store.path.absolute()
    if not is_writable(path):
        raise IndexReadOnly(f"{path} cannot be written to, nor kept current: serve it without --watch")
    command = [sys.executable, "-P", "-m", "spanwise", "index", "--index", str(path)]
    return [*command, "--watch", FLAG]


def watch_environment() -> Mapping[str, str]:
    """The environment of that command: it imports what this process would, and is told no secrets."""
    kept = {name: value for name, value in os.environ.items() if name not in SECRETS}
    return kept | {PATH: os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)}


def attend_server() -> Tell:
    """Makes this process give way to the server that started it, and end with it.

    What comes back tells the server how a sync went: the name of an error, or nothing.
    """
    ended, syncs = own_pipes()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # it goes where the talk goes now
    os.nice(NICENESS)
    interrupt_with_parent(ended, GRACE_S)

    def tell(name: str) -> None:
        syncs.write(name.encode("ascii") + b"\n")
        syncs.flush()

    return tell


def told(sync: Sync, tell: Tell) -> Sync:
    """The same sync, and `tell` hears how each one went."""

    def run(*arguments: object, **options: object) -> SyncReport:
        try:
            report = sync(*arguments, **options)
        except (SpanwiseError, OSError) as error:
            tell(type(error).__name__)
            raise
        tell("")
        return report

    return run
