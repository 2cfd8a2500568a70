from __future__ import annotations

from types import SimpleNamespace

import numba
import pytest

from spanwise.index.maxsim import compiled


def test_without_a_folder_for_the_cache_it_still_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    njit = numba.njit

    def no_folder(cache: bool, **options: bool) -> object:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(cache=cache, **options)

    monkeypatch.setattr(compiled, "numba", SimpleNamespace(njit=no_folder))
    assert compiled.compiled(lambda number: number + 1)(2) == 3
