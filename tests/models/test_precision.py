"""Products in 8 bits are close to float32 in each row, and the precision suits the processor."""

import numpy as np
import pytest
import torch
from helpers.tiny_models import of_family, tokens_of
from torch.nn.functional import gelu, linear

from spanwise.models import precision
from spanwise.models.packed_forward import Backbone, PackedBert, PackedTokens
from spanwise.models.precision import PRECISION, Int8Linear, compute_dtype, has_bf16, has_int8, largest_weight

CPU = torch.device("cpu")

pytestmark = pytest.mark.skipif(largest_weight() is None, reason="torch has no products in 8 bits here")


def example(n_rows, n_in=96, n_out=64):
    generator = torch.Generator().manual_seed(0)
    x, residual, weight, bias = (
        torch.randn(shape, generator=generator)
        for shape in ((n_rows, n_in), (n_rows, n_out), (n_out, n_in), (n_out,))
    )
    x[:, 3] *= 20  # the states of real texts have such outliers
    return x, residual, weight / n_in**0.5, bias


def test_each_product_is_within_three_percent_of_float32():
    x, residual, weight, bias = example(40)
    eight = Int8Linear(weight, bias)
    back = Int8Linear(weight.T.contiguous(), torch.zeros(96))
    exact = linear(x, weight, bias)
    for product, expected in (
        (eight(x), exact),
        (eight.onto(x, residual), exact + residual),
        (back.onto(eight.gelu(x), x), linear(gelu(exact), weight.T) + x),
    ):
        assert (product - expected).norm() < 0.03 * expected.norm()


def test_sums_are_exact_at_the_largest_bytes():
    top = largest_weight()
    signs = torch.tensor([1.0, -1.0]).repeat(192)
    eight = Int8Linear(top * signs.repeat(32, 1), torch.zeros(32))
    assert torch.equal(eight(signs.repeat(16, 1)), torch.full((16, 32), 384.0 * top))


def test_a_row_does_not_depend_on_the_rows_beside_it():
    x, residual, weight, bias = example(40)
    eight = Int8Linear(weight, bias)
    beside_large_rows = torch.cat([x, 1000 * x])
    assert torch.equal(eight(beside_large_rows)[:40], eight(x))
    assert torch.equal(
        eight.onto(beside_large_rows, residual.repeat(2, 1))[7:8], eight.onto(x[7:8], residual[7:8])
    )


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_zeros_give_the_bias_and_values_that_are_not_finite_stay_so(value):
    _, _, weight, bias = example(1)
    product = Int8Linear(weight, bias)(torch.full((2, 96), value))
    if value == 0:
        assert torch.equal(product, bias.repeat(2, 1))
    else:
        assert not product.isfinite().any()


def test_a_sequence_has_the_same_states_in_any_batch():
    model = PackedBert(of_family("Bert"), torch.float32, int8=True)
    lengths = [512, 80, 33, 80, 7, 300, 1]
    tokens = tokens_of(lengths)
    rows = [row.tolist() for row in np.split(tokens.ids, np.cumsum(lengths)[:-1])]
    alone = torch.cat([model.states(PackedTokens.of([row])) for row in rows])
    assert torch.allclose(model.states(tokens), alone, atol=1e-6)


def test_states_have_the_direction_of_those_in_float32(monkeypatch):
    bert = of_family("Bert")
    tokens = tokens_of([1, 9, 80, 300])
    monkeypatch.setenv(PRECISION, "int8")
    states = Backbone(bert).states(tokens)
    expected = PackedBert(bert, torch.float32).states(tokens)
    assert 0.99 < float(torch.cosine_similarity(states, expected).min()) < 0.999999


@pytest.mark.parametrize(
    ("capability", "bf16", "kernels", "int8"),
    [
        ("AVX512", True, 127, False),
        ("AVX512", False, 127, True),
        ("AVX2", False, 64, True),
        ("AVX2", False, None, False),
        ("DEFAULT", False, 64, False),
    ],
)
def test_without_bf16_products_are_in_8_bits(monkeypatch, capability, bf16, kernels, int8):
    monkeypatch.delenv(PRECISION, raising=False)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    monkeypatch.setattr(precision, "_multiplies_bf16", lambda device: bf16)
    monkeypatch.setattr(precision, "largest_weight", lambda: kernels)
    assert has_bf16(CPU) == bf16
    assert has_int8(CPU) == int8


def test_a_torch_without_the_kernels_has_no_products_in_8_bits(monkeypatch):
    monkeypatch.setattr(torch.ops, "onednn", object())
    assert largest_weight.__wrapped__() is None


@pytest.mark.parametrize("forced", ["int8", "float32", "bf16"])
def test_the_variable_forces_a_precision(monkeypatch, forced):
    monkeypatch.setenv(PRECISION, forced)
    assert has_int8(CPU) == (forced == "int8")
    assert has_bf16(CPU) == (forced == "bf16")
    assert compute_dtype(CPU) == (torch.bfloat16 if forced == "bf16" else torch.float32)


def test_another_value_is_an_error(monkeypatch):
    monkeypatch.setenv(PRECISION, "fp8")
    with pytest.raises(ValueError, match="SPANWISE_PRECISION is 'fp8', expected int8, float32, bf16"):
        Backbone(of_family("Bert")).states(tokens_of([3]))
