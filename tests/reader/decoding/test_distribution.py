"""Temperature, top-k, top-p and drawing, by worked examples."""

from __future__ import annotations

import math

import pytest
import torch

from spanwise.reader.decoding.distribution import draw, entropy, in_order, top_k, top_p, with_temperature

LOGITS = torch.tensor([2.0, 1.0, 0.5], dtype=torch.float64)
TYPES = (torch.float32, torch.float64)


def softmax(logits):
    return torch.softmax(logits, dim=-1).tolist()


def kept(logits):
    return [p for p in softmax(logits) if p]


@pytest.mark.parametrize(
    ("temperature", "expected"),
    [
        (0.5, [0.843795, 0.114195, 0.042010]),
        (1, [0.628532, 0.231224, 0.140244]),
        (2, [0.481024, 0.291756, 0.227220]),
    ],
)
def test_temperature_divides_the_scores(temperature, expected):
    assert softmax(with_temperature(LOGITS, temperature)) == pytest.approx(expected, abs=1e-6)


def test_entropy_rises_with_temperature_up_to_that_of_an_even_choice():
    found = [
        entropy(torch.softmax(with_temperature(LOGITS, t), -1)).item() for t in (0.25, 0.5, 1, 2, 10, 1e6)
    ]
    expected = [0.106921, 0.524267, 0.905959, 1.048130, 1.096640, math.log(3)]
    assert found == pytest.approx(expected, abs=1e-6)
    assert entropy(torch.tensor([1.0, 0.0])).item() == 0


@pytest.mark.parametrize("temperature", [0, -1, math.inf, math.nan])
def test_a_temperature_that_divides_by_nothing_is_refused(temperature):
    with pytest.raises(ValueError, match="temperature"):
        with_temperature(LOGITS, temperature)


@pytest.mark.parametrize(
    ("temperature", "expected"),
    [
        (0.5, [0.533333, 0.300000, 0.133333, 0.033333]),
        (2, [0.325401, 0.281805, 0.230093, 0.162700]),
    ],
)
def test_probabilities_are_scores_as_logarithms(temperature, expected):
    logits = torch.tensor([0.4, 0.3, 0.2, 0.1], dtype=torch.float64).log()
    assert softmax(with_temperature(logits, temperature)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("dtype", TYPES)
def test_top_k_keeps_the_best(dtype):
    logits = torch.tensor([0.45, 0.18, 0.15, 0.08, 0.07, 0.04], dtype=dtype).log()
    shuffled = logits[[3, 0, 5, 2, 1, 4]]
    assert sorted(kept(top_k(shuffled, 3)), reverse=True) == pytest.approx(
        [0.576923, 0.230769, 0.192308], abs=1e-6
    )
    assert torch.equal(top_k(logits, 60), logits)
    with pytest.raises(ValueError, match="top-k"):
        top_k(logits, 0)


@pytest.mark.parametrize("dtype", TYPES)
def test_top_p_includes_the_token_that_crosses(dtype):
    p = torch.tensor([0.35, 0.25, 0.15, 0.10, 0.08, 0.04, 0.02, 0.01], dtype=dtype)
    expected = [0.376344, 0.268817, 0.161290, 0.107527, 0.086022]
    assert kept(top_p(p.log(), 0.9)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("dtype", TYPES)
def test_top_p_of_a_sum_that_floats_miss_by_a_hair(dtype):
    logits = torch.tensor([0.4, 0.3, 0.2, 0.1], dtype=dtype).log()
    assert kept(top_p(logits, 0.9)) == pytest.approx([0.444444, 0.333333, 0.222222], abs=1e-6)
    assert len(kept(top_p(logits, 0.3))) == 1
    assert torch.equal(top_p(logits, 1.0), logits)
    for p in (0, 1.1):
        with pytest.raises(ValueError, match="top-p"):
            top_p(logits, p)


def test_temperature_comes_before_top_p():
    right = top_p(with_temperature(LOGITS, 0.5), 0.9)
    assert kept(right) == pytest.approx([0.880797, 0.119203], abs=1e-6)


def test_each_narrows_the_same_distribution():
    logits = torch.tensor([0.92, 0.07, 0.01], dtype=torch.float64).log()
    assert kept(top_k(logits, 2)) == pytest.approx([0.929293, 0.070707], abs=1e-6)
    assert kept(top_p(logits, 0.9)) == [1.0]
    assert softmax(with_temperature(logits, 0.5)) == pytest.approx([0.994127, 0.005755, 0.000117], abs=1e-6)
    assert softmax(with_temperature(logits, 2)) == pytest.approx([0.724587, 0.199869, 0.075543], abs=1e-6)


def test_ties_are_ordered_by_token():
    even = torch.zeros(100)
    assert in_order(even).tolist() == list(range(100))
    assert torch.isfinite(top_k(even, 3)).nonzero().flatten().tolist() == [0, 1, 2]
    assert torch.isfinite(top_p(even, 0.02)).nonzero().flatten().tolist() == [0, 1]


def test_a_draw_takes_the_token_whose_share_holds_the_number():
    logits = torch.tensor([0.2, 0.5, 0.3]).log()
    assert [draw(logits, chance) for chance in (0, 0.49, 0.51, 0.79, 0.81, 0.999999)] == [1, 1, 2, 2, 0, 0]
    narrowed = torch.tensor([-math.inf, 0.0, -math.inf])
    assert {draw(narrowed, chance) for chance in (0, 0.5, 1 - 1e-16)} == {1}


@pytest.mark.gpu
def test_a_draw_is_the_same_on_a_gpu():
    logits = torch.randn(1000, generator=torch.Generator().manual_seed(0))
    for chance in (0.0, 0.3, 0.999):
        assert draw(logits.cuda(), chance) == draw(logits, chance)
