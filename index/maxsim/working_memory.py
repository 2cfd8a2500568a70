"""Work in steps that fit into a device's memory: as many items at once as a number of bytes allows."""

from __future__ import annotations

from collections.abc import Callable

from spanwise.errors import OutOfMemory


class WorkingMemory:
    """`n_bytes` for the items of a step together; when the device runs out, half of what it failed with, for
    this and all later steps.
    """

    def __init__(self, n_bytes: int) -> None:
        self.n_bytes = n_bytes

    def in_steps(self, n: int, bytes_each: int, step: Callable[[int, int], None]) -> None:
        """Call `step(first, end)` for all of n items, one after another.

        `OutOfMemory` when one item alone does not fit; other errors pass through.
        """
        first = 0
        while first < n:
            end = min(n, first + max(1, self.n_bytes // bytes_each))
            try:
                step(first, end)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                if end - first == 1:
                    raise OutOfMemory(
                        f"{bytes_each} bytes for one passage do not fit into the device's memory"
                    ) from error
                self.n_bytes = (end - first) // 2 * bytes_each
            else:
                first = end


def is_out_of_memory(error: BaseException) -> bool:
    """Whether this is how torch, or Python, says that memory has ended."""
    message = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in message or "can't allocate memory" in message
