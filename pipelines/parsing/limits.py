"""How much of the machine one file may cost, and what is said of a process that went over.

A child limits itself by the system's `setrlimit`, so that nothing a parser does can lift the limits of memory
and files; its parent watches the clock on the wall. Where the system has no such limits (Windows has none,
macOS none on memory) the clock alone holds.
"""

from __future__ import annotations

import math
import signal
import sys
import time
from dataclasses import asdict, dataclass, replace

if sys.platform != "win32":
    import resource


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use: address space in all, seconds for one file, the size of a file that it writes.

    A file gets `s_per_mb` more seconds, of CPU and twice as many by the clock, for each million of its bytes:
    40 MB of honest text take half a minute.
    """

    memory_bytes: int = 2**30
    cpu_s: int = 30
    wall_s: float = 60.0
    s_per_mb: float = 1.0
    written_bytes: int = 100_000_000

    def as_json(self) -> dict[str, float]:
        """The fields by name."""
        return asdict(self)

    def confine(self) -> None:
        """Hold this process to its memory, let it write no large file, and no core when it crashes."""
        if sys.platform == "win32":
            return
        _lower(resource.RLIMIT_CORE, 0)
        _lower(resource.RLIMIT_FSIZE, self.written_bytes)
        if sys.platform != "darwin":  # which refuses the limit
            _lower(resource.RLIMIT_AS, self.memory_bytes)

    def for_file(self, n_bytes: int) -> Limits:
        """These limits with the seconds that a file of this size has."""
        more = self.s_per_mb * n_bytes / 1e6
        return replace(self, cpu_s=self.cpu_s + int(more), wall_s=self.wall_s + 2 * int(more), s_per_mb=0.0)

    def allow_next_file(self) -> None:
        """Give this process its CPU seconds anew; when they are used up the system ends it by SIGXCPU."""
        if sys.platform != "win32":
            _, hard = resource.getrlimit(resource.RLIMIT_CPU)
            allowed = math.ceil(time.process_time()) + self.cpu_s
            soft = allowed if hard == resource.RLIM_INFINITY else min(allowed, hard)
            resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))

    def over_memory(self) -> str:
        """The reason to reject a file that needs too much memory."""
        return f"its parser needed more than {self.memory_bytes / 2**30:g} GB of memory"

    def over_wall(self) -> str:
        """The reason to reject a file that took too long by the clock."""
        return f"its parser took more than {self.wall_s:g} s"

    def cause_of_death(self, status: int, last_words: str) -> str:
        """The reason to reject a file whose child ended with this exit status (negative: by a signal)."""
        said = f": {last_words}" if last_words else ""
        if status >= 0:
            return f"its parser ended its process (exit status {status}){said}"
        if sys.platform != "win32":
            if -status == signal.SIGXCPU:
                return f"its parser took more than {self.cpu_s} s of CPU time"
            if -status == signal.SIGKILL:
                return "its parser was killed, perhaps because the machine ran out of memory"
        return f"its parser crashed (signal {-status}){said}"


def _lower(which: int, most: int) -> None:
    """Lower a limit for good; one that is lower already stays."""
    soft, hard = resource.getrlimit(which)
    kept = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    limit = min([most, *kept])
    resource.setrlimit(which, (limit, limit))
