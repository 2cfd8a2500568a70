"""Keeps an index current: a sync after changes and a quiet period, until it is interrupted.

File events can be lost, and some network drives send none. So there is also a sync at the start and every ten
minutes. A sync that fails is reported once and tried again. Watching waits for missing folders.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from spanwise.errors import SpanwiseError
from spanwise.types import SyncReport

from ...corpora.folder import SKIPPED_FOLDERS
from ...corpora.ignore import IGNORE_FILE as IGNORE_FILE
from .library import Library

FULL_SYNC_S = 600.0
RETRY_S = 5.0
TICK_S = 1.0  # between two checks for a missing folder
MAX_WAIT_S = 60.0  # until a sync while changes go on


class Watch:
    """Syncs a library when its folders change; `on_sync` gets each report, `on_error` each new message."""

    def __init__(
        self,
        library: Library,
        sync: Callable[[], SyncReport],
        on_sync: Callable[[SyncReport], None],
        on_error: Callable[[str], None],
    ) -> None:
        self.library = library
        self.sync = sync
        self.on_sync = on_sync
        self.on_error = on_error
        self._folders = [root.folder for root in library.roots]
        self._next_sync = 0.0
        self._message = ""

    def run(self, delay_s: float) -> None:
        """Runs until it is interrupted; a quiet period is `delay_s` without a change."""
        while True:
            watched = self._states()
            there = [folder for folder, state in watched.items() if state]
            if not there:
                self._attempt()
                self._next_sync = 0.0
                time.sleep(TICK_S)
                continue
            for changed in _quiet_periods(there, self.library.store.path.resolve(), delay_s):
                due = changed or time.monotonic() >= self._next_sync
                if due and not self._attempt():
                    break  # a folder that was deleted and created again sends no events
                if self._states() != watched:
                    self._next_sync = 0.0
                    break

    def _attempt(self) -> bool:
        """Syncs once and returns whether that succeeded."""
        try:
            report = self.sync()
        except (SpanwiseError, OSError) as error:
            self._next_sync = time.monotonic() + RETRY_S
            if str(error) != self._message:
                self._message = str(error)
                self.on_error(self._message)
            return False
        self._next_sync = time.monotonic() + FULL_SYNC_S
        self._message = ""
        self.on_sync(report)
        return True

    def _states(self) -> dict[Path, tuple[int, int] | None]:
        """Device and inode of each folder, which show that it was replaced; None for a missing folder."""
        with suppress(SpanwiseError):  # the index may be missing with its folder; then the last folders count
            self._folders = [root.folder for root in self.library.roots]
        return {folder: _state(folder) for folder in self._folders}


def _state(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _quiet_periods(folders: list[Path], index: Path, delay_s: float) -> Iterator[bool]:
    """True after changes and the quiet that follows them, False after each tick without any."""
    from watchfiles import watch

    for changes in watch(
        *folders,
        watch_filter=lambda _, path: is_relevant(Path(path), folders, index),
        step=round(delay_s * 1000),
        debounce=round(MAX_WAIT_S * 1000),
        rust_timeout=round(TICK_S * 1000),
        yield_on_timeout=True,
        ignore_permission_denied=True,
    ):
        yield bool(changes)


def is_relevant(path: Path, folders: list[Path], index: Path) -> bool:
    """True for a path that a sync reads: outside of the index and of ignored files."""
    if path.is_relative_to(index):
        return False
    below = [path.relative_to(folder).parts for folder in folders if path.is_relative_to(folder)]
    return not any(
        name in SKIPPED_FOLDERS or (name.startswith(".") and name != IGNORE_FILE)
        for parts in below
        for name in parts
    )
