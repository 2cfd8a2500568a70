"""The same processors and threads for every engine."""

from __future__ import annotations

import os
from collections.abc import Sequence

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


def pinned_environment(threads: int) -> dict[str, str]:
    """The variables by which numeric libraries are told how many threads to use."""
    return {
        **dict.fromkeys(THREAD_VARIABLES, str(threads)),
        "TOKENIZERS_PARALLELISM": str(threads > 1).lower(),
    }


def processors(threads: int) -> list[int] | None:
    """The processors that all engines share, the last of those usable; None where the system pins none.

    `ValueError` for fewer than one thread, and for more than there are processors.
    """
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    most = len(usable) if usable is not None else os.cpu_count() or 1
    if not 1 <= threads <= most:
        raise ValueError(f"threads is {threads}, expected 1 to {most}, the processors of this machine")
    return usable[-threads:] if usable is not None else None


def pin(numbers: Sequence[int] | None) -> None:
    """Keep this process on these processors."""
    if numbers is not None:
        os.sched_setaffinity(0, numbers)
