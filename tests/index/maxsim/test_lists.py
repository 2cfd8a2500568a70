from __future__ import annotations

import numpy as np
import pytest
from made_maxsim import asked, clustered, stored, trained

from spanwise.index.maxsim import lists
from spanwise.index.maxsim.int8_tokens import Int8Form
from spanwise.index.maxsim.interaction import Interaction
from spanwise.index.maxsim.lists import InvertedLists
from spanwise.index.maxsim.question import Question


@pytest.mark.parametrize("block", [7, 65_536])
def test_lists_hold_the_passages_with_a_token_there(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "_BLOCK", block)
    passages = clustered(0, 40)
    codebook = trained([passages], 4)
    tokens = stored(codebook, [passages[:15], passages[15:]], deleted=[3, 20])
    (rows,) = asked(1, passages, 1, n_rows=1)
    table = Interaction(tokens, codebook.centroids).table(Question(rows, codebook, Int8Form.of(codebook)))
    nearest = int(table.levels[:, 0].argmax())
    expected = [row for row in range(len(tokens)) if nearest in tokens.read(np.array([row])).centroids]
    assert InvertedLists.build(tokens)._near(table, 1).tolist() == expected


def test_everything_is_found_when_everything_is_wanted() -> None:
    passages = clustered(0, 40)
    codebook = trained([passages], 4)
    tokens = stored(codebook, [passages])
    (rows,) = asked(1, passages, 1)
    table = Interaction(tokens, codebook.centroids).table(Question(rows, codebook, Int8Form.of(codebook)))
    assert InvertedLists.build(tokens).rows(table, 40).tolist() == list(range(40))
