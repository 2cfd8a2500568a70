"""Passages of one generation that were found lately, so that they are not read and compared again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

from spanwise.types import Passage

MOST = 4096  # passages, which take some 8 MB

Read = Callable[[Sequence[int]], list[Passage]]
"""From ids to as many passages; ValueError for an id that there is not."""


class PassageMemory:
    """Remembers the MOST passages that were asked for last. Threads may share it.

    What it gives was compared with its digest when it was read; damage to the disk since then cannot reach
    it.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self._lock = Lock()
        self._known: dict[int, Passage] = {}  # the one asked for last at the end

    def of(self, passage_ids: Sequence[int]) -> list[Passage]:
        """Passages with their text, in the order asked."""
        with self._lock:
            found = {number: self._known.pop(number, None) for number in dict.fromkeys(passage_ids)}
            self._known |= (known := {number: one for number, one in found.items() if one is not None})
        lacking = [number for number in found if number not in known]
        if lacking:
            known |= (read := dict(zip(lacking, self._read(lacking), strict=True)))
            self._keep(read)
        return [known[number] for number in passage_ids]

    def _keep(self, read: dict[int, Passage]) -> None:
        with self._lock:
            self._known |= read
            too_many = len(self._known) - MOST
            for number in list(self._known)[: max(0, too_many)]:
                del self._known[number]
