from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from spanwise.models.batching import shuffled_batches
from spanwise.retrieval.training.lists import PAD_MULTIPLE, draw_lists, in_rows, label_loss
from spanwise.types import RankingExample

LISTS = [
    RankingExample(f"q{i}", tuple(f"q{i} p{j}" for j in range(6)), 2, tuple(map(float, range(6))))
    for i in range(8)
]


def test_a_list_is_a_positive_passage_and_negatives_with_their_scores():
    for example in draw_lists(LISTS, 3, 2, seed=0):
        places = [int(passage[-1]) for passage in example.passages]
        assert places[0] < 2 <= min(places[1:])
        assert len(set(places)) == 3
        assert example.scores == tuple(map(float, places))
        assert all(passage.startswith(example.question) for passage in example.passages)


def test_a_list_without_negatives_is_left_out():
    lists = [RankingExample("a", ("p", "n")), RankingExample("b", ("p",))]
    assert [example.passages for example in draw_lists(lists, 1, 3, seed=0)] == [("p", "n")]
    with pytest.raises(ValueError, match="none of the 1 lists"):
        draw_lists(lists[1:], 1, 3, seed=0)


@given(st.lists(st.integers(1, 200), min_size=1, max_size=40), st.integers(1, 3), st.integers(0, 5))
def test_each_epoch_learns_from_each_item_once(lengths, epochs, seed):
    batches = shuffled_batches(lengths * epochs, epochs, 512, PAD_MULTIPLE, seed)
    order = np.concatenate(batches)
    for epoch in range(epochs):
        own = order[epoch * len(lengths) : (epoch + 1) * len(lengths)]
        assert sorted(own) == list(range(epoch * len(lengths), (epoch + 1) * len(lengths)))
    for batch in batches:
        longest = max((lengths * epochs)[i] for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= 512 + len(batch) * PAD_MULTIPLE


def test_missing_passages_of_a_row_are_ignored():
    rows = in_rows([torch.tensor([2.0, 1.0, 0.5]), torch.tensor([2.0, 1.0])]).requires_grad_()
    loss = label_loss(rows[1:], torch.tensor([0]))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(0.313262, abs=1e-6)
    assert torch.isfinite(rows.grad).all()
