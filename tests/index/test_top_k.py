"""The best k are those of a full sort, whatever shortcut finds them."""

import numpy as np
from hypothesis import given, strategies as st

from spanwise.index.top_k import best, promising

SCORES = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0]) | st.floats(0, 3), max_size=60)


def places(passage_ids):
    """Later passages stand first."""
    return [("d", -passage_id, 0) for passage_id in passage_ids]


@given(SCORES, st.integers(1, 70))
def test_the_best_k_are_those_of_a_full_sort(scores, k) -> None:
    ids = np.arange(10, 10 + len(scores))
    ranking = best(ids, np.array(scores), k, places)
    expected = sorted(zip(ids.tolist(), scores, strict=True), key=lambda pair: (-pair[1], -pair[0]))[:k]
    assert list(zip(ranking.passage_ids.tolist(), ranking.scores.tolist(), strict=True)) == expected


@given(SCORES, st.integers(1, 70))
def test_promising_rows_include_the_best_k(scores, k) -> None:
    rows = promising(np.array(scores), k).tolist()
    positive = sorted((score for score in scores if score > 0), reverse=True)
    least = positive[k - 1] if len(positive) >= k else 0.0
    must = [row for row, score in enumerate(scores) if score > 0 and score >= least]
    assert set(must) <= set(rows)
    assert all(scores[row] > 0 for row in rows)
    assert rows == sorted(rows)
