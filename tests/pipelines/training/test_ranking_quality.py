from __future__ import annotations

import numpy as np
import pytest

from spanwise.pipelines.training.ranking_quality import first_ranks
from spanwise.types import RankingExample


def ranks(*scores, n_positive=1):
    lists = [RankingExample("q", tuple("abcd"[: len(row)]), n_positive) for row in scores]
    return first_ranks(lambda questions, passages: [np.array(row, np.float32) for row in scores], lists)


@pytest.mark.parametrize(
    ("scores", "rank"),
    [
        ([3, 2, 1], 1),
        ([2, 3, 1], 2),
        ([1, 3, 2], 3),
        ([2, 2, 1], 2),
        ([0, 0, 0], 3),
        ([np.nan, 1, 2], 3),
        ([1, np.nan, 0], 2),
        ([np.nan, np.nan, np.nan], 3),
        ([1], 1),
    ],
)
def test_the_rank_of_the_positive_passage(scores, rank):
    assert ranks(scores) == {"mrr": pytest.approx(1 / rank), "first": float(rank == 1)}


def test_the_best_positive_passage_counts():
    assert ranks([0, 5, 4, 1], n_positive=2) == {"mrr": 1, "first": 1}
    assert ranks([3, 2, 4, 1], n_positive=2) == {"mrr": 0.5, "first": 0}


def test_figures_are_means_over_lists():
    assert ranks([2, 1], [1, 2], [1, 2], [2, 1]) == {"mrr": 0.75, "first": 0.5}


def test_no_list_is_refused():
    with pytest.raises(ValueError, match="no held-back lists"):
        ranks()
