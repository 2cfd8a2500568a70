from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from spanwise.index.maxsim import products


@pytest.fixture(autouse=True)
def _probed_anew() -> Iterator[None]:
    yield
    products.has_int8.cache_clear()


def matrix(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-127, 128, shape).astype(np.int8)


@pytest.mark.parametrize("name", ["int8", "bfloat16", "float32"])
@pytest.mark.parametrize("width", [4, 20, 128])
def test_every_means_gives_the_products(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if name != "int8":
        monkeypatch.setattr(products, "has_int8", lambda: False)
        monkeypatch.setattr(products, "has_bfloat16", lambda: name == "bfloat16")
    values, rows = matrix(0, 50, width), matrix(1, 7, width)
    found = products.Int8Rows(rows).products(values)
    exact = values.astype(int) @ rows.T.astype(int)
    lengths = np.linalg.norm(values.astype(float), axis=1)[:, None] * np.linalg.norm(
        rows.astype(float), axis=1
    )
    assert (np.abs(found[:, :7] - exact) <= products.rounding() * lengths).all()
    if name != "bfloat16":
        assert (found[:, :7] == exact).all()
    assert not found[:, 7:].any()


@pytest.mark.parametrize("error", [AttributeError, RuntimeError])
def test_a_product_that_fails_is_not_used(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: torch.Tensor) -> torch.Tensor:
        raise error

    products.has_int8.cache_clear()
    monkeypatch.setattr(torch, "_int_mm", refuse)
    assert not products.has_int8()


def test_a_product_that_is_wrong_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    products.has_int8.cache_clear()
    monkeypatch.setattr(torch, "_int_mm", lambda one, other: one.int() @ other.int() + 1)
    assert not products.has_int8()


def test_mapped_values_are_not_copied() -> None:
    values = matrix(0, 4, 4)
    values.flags.writeable = False
    assert products.tensor(values).data_ptr() == values.ctypes.data
