import numpy as np
import pytest
from hypothesis import given, strategies as st

from spanwise.errors import OutOfMemory
from spanwise.models.batching import Batcher, padded, prefetch, token_budget_batches

OUT_OF_MEMORY = "CUDA out of memory. Tried to allocate 2.00 GiB"


@given(st.lists(st.integers(1, 600), max_size=80), st.integers(1, 2000), st.sampled_from([1, 8, 32]))
def test_each_item_is_in_one_batch_within_the_budget_or_alone(lengths, budget, multiple):
    batches = token_budget_batches(lengths, budget, multiple)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        widest = padded(max(lengths[i] for i in batch), multiple)
        assert len(batch) == 1 or len(batch) * widest <= budget


def out_of_memory_above(fits, calls):
    """A `compute` that records the size of each batch and has memory for `fits` items."""

    def compute(batch):
        calls.append(len(batch))
        if len(batch) > fits:
            raise RuntimeError(OUT_OF_MEMORY)
        return batch * 10

    return compute


@pytest.mark.promise("T16")
@pytest.mark.parametrize("fits", [1, 2, 7, 64])
@given(st.lists(st.integers(1, 300), min_size=1, max_size=300))
def test_each_item_is_computed_once_when_memory_runs_out(fits, lengths):
    calls = []
    parts = list(Batcher(4096).run(lengths, out_of_memory_above(fits, calls), str))
    assert all((result == batch * 10).all() for batch, result in parts)
    order = np.argsort(-np.array(lengths), kind="stable")
    assert np.concatenate([batch for batch, _ in parts]).tolist() == order.tolist()


@pytest.mark.promise("T16")
@pytest.mark.parametrize("fits", [1, 2, 7, 64])
@pytest.mark.parametrize("items", [2, 100, 512, 3000])
def test_few_batches_run_out_of_memory_and_none_in_the_next_call(fits, items):
    calls = []
    batcher = Batcher(4096)
    lengths = [8] * items
    compute = out_of_memory_above(fits, calls)
    list(batcher.run(lengths, compute, str))
    assert sum(size > fits for size in calls) <= np.log2(max(calls)) + 1
    first_that_fits = next(size for size in calls if size <= fits)
    calls.clear()
    list(batcher.run(lengths, compute, str))
    assert calls[0] == first_that_fits
    assert max(calls) == first_that_fits


def test_prefetched_items_come_in_order_with_their_errors():
    results = prefetch([1, 2, 0, 4], lambda n: 8 // n)
    assert next(results) == 8
    assert next(results) == 4
    with pytest.raises(ZeroDivisionError):
        next(results)


@pytest.mark.promise("T16")
def test_an_item_too_large_for_the_memory_is_named_with_its_length():
    compute = out_of_memory_above(0, [])
    with pytest.raises(OutOfMemory, match="item 1: 31 tokens"):
        list(Batcher(4096).run([7, 31], compute, lambda i: f"item {i}"))


@pytest.mark.promise("T16")
@pytest.mark.parametrize("error", [RuntimeError("shapes do not match"), ValueError("out of memory")])
def test_other_errors_are_not_retried(error):
    calls = []

    def compute(batch):
        calls.append(batch)
        raise error

    with pytest.raises(type(error), match=str(error)):
        list(Batcher(4096).run([8] * 8, compute, str))
    assert len(calls) == 1
