from __future__ import annotations

import numpy as np
import pytest
from made_maxsim import asked, clustered, stored, trained

from spanwise.index.maxsim.decoding import decoded
from spanwise.index.maxsim.int8_tokens import Int8Form
from spanwise.index.maxsim.interaction import Interaction
from spanwise.index.maxsim.question import Question


@pytest.mark.parametrize("n_rows", [1, 16, 33])
def test_scores_are_those_of_centroids_up_to_a_constant(n_rows: int) -> None:
    passages = clustered(0, 30)
    codebook = trained([passages], 4)
    tokens = stored(codebook, [passages[:10], passages[10:]], deleted=[4])
    (rows,) = asked(1, passages, 1, n_rows)
    interaction = Interaction(tokens, codebook.centroids)
    chosen = np.array([0, 5, 9, 20])
    found = interaction.scores(interaction.table(Question(rows, codebook, Int8Form.of(codebook))), chosen)
    near = [codebook.centroids[tokens.read(np.array([row])).centroids] @ rows.T for row in chosen]
    difference = found - np.array([similarities.max(axis=0).sum() for similarities in near])
    assert np.ptp(difference) < 0.02 * n_rows


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_decoding_gives_the_bits_of_the_codebook(bits: int) -> None:
    passages = clustered(0, 30)
    codebook = trained([passages], bits)
    codes = codebook.encode(np.concatenate(passages))
    assert decoded(codebook, codes).tobytes() == codebook.decode(codes).tobytes()
