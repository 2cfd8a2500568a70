"""How loops are compiled: by numba, on first use, kept in a cache on the disk where one can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function in machine code. Intrinsics that it calls must stand in its own file: the cache is renewed
    when that file changes, whatever becomes of others.
    """
    try:
        return _compiled(function, cache=True)
    except RuntimeError:  # numba found no folder that it can write: compile in every process
        return _compiled(function, cache=False)


def _compiled(function: Function, cache: bool) -> Function:
    made: Function = numba.njit(cache=cache, nogil=True)(function)
    return made
