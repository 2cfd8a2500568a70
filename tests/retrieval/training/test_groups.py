from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.retrieval.training.groups import PAD_MULTIPLE, drawn_groups, plan_groups
from spanwise.types import RankingExample

LISTS = [
    RankingExample(f"q{i}", tuple(f"q{i} p{j}" for j in range(6)), 2, tuple(map(float, range(6))))
    for i in range(8)
]


def test_a_group_is_a_positive_passage_and_negatives_with_their_scores():
    for group in drawn_groups(LISTS, 3, 2, seed=0):
        places = [int(passage[-1]) for passage in group.passages]
        assert places[0] < 2 <= min(places[1:])
        assert len(set(places)) == 3
        assert group.scores == tuple(map(float, places))
        assert all(passage.startswith(group.question) for passage in group.passages)


def test_epochs_draw_anew_by_the_seed():
    groups = drawn_groups(LISTS, 2, 2, seed=0)
    assert groups[:8] != groups[8:]
    assert groups == drawn_groups(LISTS, 2, 2, seed=0)
    assert groups != drawn_groups(LISTS, 2, 2, seed=1)


def test_there_are_fewer_negatives_where_there_are_no_more():
    lists = [RankingExample("a", ("p", "n")), RankingExample("b", ("p",))]
    assert [group.passages for group in drawn_groups(lists, 1, 3, seed=0)] == [("p", "n")]


def test_lists_without_a_negative_are_refused():
    with pytest.raises(ValueError, match="none of 1 lists"):
        drawn_groups([RankingExample("b", ("p",))], 1, 3, seed=0)


@given(st.lists(st.integers(1, 200), min_size=1, max_size=40), st.integers(1, 3), st.integers(0, 5))
def test_each_epoch_learns_from_each_group_once(lengths, epochs, seed):
    groups = drawn_groups([RankingExample("q", ("p", "n"))] * len(lengths), epochs, 1, seed)
    batches = plan_groups(groups, lengths * epochs, epochs, 512, seed)
    order = np.concatenate(batches)
    for epoch in range(epochs):
        own = order[epoch * len(lengths) : (epoch + 1) * len(lengths)]
        assert sorted(own) == list(range(epoch * len(lengths), (epoch + 1) * len(lengths)))
    for batch in batches:
        longest = max((lengths * epochs)[i] for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= 512 + len(batch) * PAD_MULTIPLE
