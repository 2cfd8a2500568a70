from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.errors import OutOfMemory
from spanwise.models.batching import padded, run_halving, token_budget_batches


@given(st.lists(st.integers(0, 600), max_size=80), st.integers(1, 2000), st.sampled_from([1, 8, 32]))
def test_every_item_is_in_exactly_one_batch(lengths, budget, multiple):
    batches = token_budget_batches(lengths, budget, multiple)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))


@given(st.lists(st.integers(1, 600), max_size=80), st.integers(1, 2000), st.sampled_from([1, 8, 32]))
def test_a_batch_keeps_the_budget_or_holds_one_item(lengths, budget, multiple):
    for batch in token_budget_batches(lengths, budget, multiple):
        widest = padded(max(lengths[i] for i in batch), multiple)
        assert len(batch) == 1 or len(batch) * widest <= budget


def test_a_budget_of_nothing_is_refused():
    with pytest.raises(ValueError, match="budget is 0"):
        token_budget_batches([1], 0)


@pytest.mark.promise("T16")
@pytest.mark.parametrize("fits", [1, 2, 7, 64])
def test_out_of_memory_halves_and_keeps_the_order(fits):
    calls = []

    def compute(batch):
        calls.append(len(batch))
        if len(batch) > fits:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return batch * 10

    parts = run_halving(np.arange(100), compute, str)
    assert np.concatenate([result for _, result in parts]).tolist() == list(range(0, 1000, 10))
    assert sum(size for size in calls if size <= fits) == 100


@pytest.mark.promise("T16")
def test_one_item_that_does_not_fit_is_named():
    def compute(batch):
        raise MemoryError

    with pytest.raises(OutOfMemory, match="item 0"):
        run_halving(np.arange(2), compute, lambda i: f"item {i}")


@pytest.mark.promise("T16")
def test_other_errors_are_not_tried_again():
    calls = []

    def compute(batch):
        calls.append(batch)
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes"):
        run_halving(np.arange(8), compute, str)
    assert len(calls) == 1
