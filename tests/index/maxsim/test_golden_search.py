from __future__ import annotations

import numpy as np
import pytest
from made_maxsim import Vectors, places, stored, trained

from spanwise.errors import VectorRejected
from spanwise.index.maxsim.maxsim_index import MaxSimIndex

AXES = np.array([[1, 0, 0, 0], [0, 1, 0, 0]], np.float32)
HATS = np.array([[0.2, 0.8, -0.3, 0], [0.1, 0.7, -0.2, 0], [-0.5, 0.1, 0.6, 0]])
CAT, DOG, MAT = (HATS / np.linalg.norm(HATS, axis=1, keepdims=True)).astype(np.float32)


def scores(question: Vectors, *passages: Vectors) -> list[float]:
    """The score of each passage, in their order, by the index; int8 is good to half a hundredth here."""
    codebook = trained([passages], 8)
    index = MaxSimIndex.build(stored(codebook, [passages]), codebook, places)
    (ranking,) = index.search([question], len(passages))
    return ranking.scores[np.argsort(ranking.passage_ids)].tolist()


def flat(*rows: tuple[float, float]) -> Vectors:
    return np.array([[*row, 0, 0] for row in rows], np.float32)


def test_l4_sums_the_maxima_of_rows() -> None:
    assert scores(AXES, flat((0.6, 0.8), (1, 0))) == pytest.approx([1.8], abs=5e-3)


def test_l5_takes_the_maximum_over_the_passage() -> None:
    assert scores(AXES, flat((0.8, 0.6))) == pytest.approx([1.4], abs=5e-3)


def test_l6_sums_and_does_not_average() -> None:
    found = scores(np.stack([CAT, MAT]), np.stack([DOG]), np.stack([DOG, MAT]), np.stack([MAT]))
    assert found == pytest.approx([0.819691, 1.992516, 0.710540], abs=1e-2)


def test_l7_the_padding_of_neighbours_takes_no_part() -> None:
    long = np.tile(-CAT, (9, 1))
    found = scores(np.stack([CAT, MAT]), long, np.stack([DOG]), long, np.stack([MAT]), long)
    assert found[1] == pytest.approx(0.819691, abs=1e-2)
    assert found[3] == pytest.approx(0.710540, abs=1e-2)


def test_l8_no_more_than_the_rows_of_the_question() -> None:
    (same,) = scores(AXES, AXES)
    assert same == pytest.approx(len(AXES), abs=5e-3)


def test_l8_a_token_more_never_lowers_the_score() -> None:
    fewer, more = scores(AXES, np.stack([DOG]), np.stack([DOG, MAT]))
    assert more >= fewer


def test_l8_the_order_of_tokens_changes_nothing() -> None:
    rows = np.stack([DOG, MAT, CAT])
    one, other = scores(AXES, rows, rows[::-1])
    assert one == other


def test_l8_padded_rows_of_a_question_are_refused() -> None:
    padded = np.concatenate([AXES, np.zeros((3, 4), np.float32)])
    with pytest.raises(VectorRejected, match="is zero"):
        scores(padded, np.stack([DOG]))
