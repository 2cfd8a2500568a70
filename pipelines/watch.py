"""Keeps an index current: a sync after each quiet period that follows changes, until it is interrupted.

The system's notices are a hint, not the truth: they can be lost, and on some network drives there are none.
So there is a sync when the watch has been set, and one every ten minutes whatever was heard. A sync that
fails is told once and tried again; a folder that went away is waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from spanwise.errors import SpanwiseError
from spanwise.types import SyncReport

from ..corpora.folder import SKIPPED_FOLDERS
from ..corpora.ignore import IGNORE_FILE as IGNORE_FILE
from .library import Library

FULL_SYNC_S = 600.0
RETRY_S = 5.0
TICK_S = 1.0  # how soon a folder is missed or found again
MOST_WAIT_S = 60.0  # after so long there is a sync although the changes go on


class Watch:
    """Syncs a library when its folders change; `heard` gets each report, `failed` each new message."""

    def __init__(
        self,
        library: Library,
        sync: Callable[[], SyncReport],
        heard: Callable[[SyncReport], None],
        failed: Callable[[str], None],
    ) -> None:
        self.library, self.sync, self.heard, self.failed = library, sync, heard, failed
        self._folders = [root.folder for root in library.roots]
        self._next_sync = 0.0
        self._message = ""

    def run(self, delay_s: float) -> None:
        """Goes on until it is interrupted; a quiet period is `delay_s` without a change."""
        while True:
            watched = self._states()
            if None in watched.values():
                self._attempt()
                time.sleep(TICK_S)
                continue
            self._next_sync = 0.0
            for changed in _quiet_periods(list(watched), self.library.store.path.resolve(), delay_s):
                if changed or time.monotonic() >= self._next_sync:
                    self._attempt()
                if self._states() != watched:
                    break

    def _attempt(self) -> None:
        try:
            report = self.sync()
        except (SpanwiseError, OSError) as error:
            self._next_sync = time.monotonic() + RETRY_S
            if str(error) != self._message:
                self._message = str(error)
                self.failed(self._message)
        else:
            self._next_sync = time.monotonic() + FULL_SYNC_S
            self._message = ""
            self.heard(report)

    def _states(self) -> dict[Path, tuple[int, int] | None]:
        """What the system holds each folder for, None when it is missing: one made anew must be watched anew.

        An index that went away with its folder cannot name its folders; those named last are waited for.
        """
        with suppress(SpanwiseError):
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
        watch_filter=lambda _, path: matters(Path(path), folders, index),
        step=round(delay_s * 1000),
        debounce=round(MOST_WAIT_S * 1000),
        rust_timeout=round(TICK_S * 1000),
        yield_on_timeout=True,
        ignore_permission_denied=True,
    ):
        yield bool(changes)


def matters(path: Path, folders: list[Path], index: Path) -> bool:
    """True for a change that a sync could see: not in the index itself, nor in what is passed over."""
    if path.is_relative_to(index):
        return False
    below = [path.relative_to(folder).parts for folder in folders if path.is_relative_to(folder)]
    return not any(
        name in SKIPPED_FOLDERS or (name.startswith(".") and name != IGNORE_FILE)
        for parts in below
        for name in parts
    )
