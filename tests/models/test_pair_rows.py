from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.models.cross_encoder import MAX_QUESTION_TOKENS, PairRows
from spanwise.models.load import load_tokenizer
from spanwise.models.locate import find_base

TOKENIZER = load_tokenizer(find_base())
ROWS = PairRows(TOKENIZER, 96)
CLS, SEP, FIRST, LAST = map(TOKENIZER.get_vocab().get, ("[CLS]", "[SEP]", "first", "last"))


def row(question, passage, rows=ROWS):
    tokens = rows.tokens_of([question, passage])
    return rows.row(tokens[question], tokens[passage])


def words(n):
    return " ".join(["mill"] * n)


@pytest.mark.parametrize("passage", ["The mill was built in 1811.", "", "Zürich - 北京"])
def test_a_row_is_the_tokenizers_own_pair(passage):
    found = row("who built it?", passage)
    expected = TOKENIZER("who built it?", passage, return_token_type_ids=True)
    assert found.ids.tolist() == expected["input_ids"]
    assert found.second == expected["token_type_ids"].index(1)


@given(st.integers(0, 200), st.integers(0, 200))
def test_no_row_is_longer_than_was_said(n_question, n_passage):
    found = row(words(n_question), words(n_passage))
    asked = min(n_question, MAX_QUESTION_TOKENS)
    assert len(found) == min(96, 3 + asked + n_passage)
    assert found.second == 2 + asked
    assert [found.ids[0], found.ids[found.second - 1], found.ids[-1]] == [CLS, SEP, SEP]


def test_a_passage_loses_its_end():
    found = row("q", "first " + words(200) + " last")
    assert FIRST in found.ids
    assert LAST not in found.ids


def test_packed_rows_know_their_segments():
    packed = ROWS.packed([row("who?", "Ada did"), row("when was it?", "in 1811")])
    assert packed.lengths.tolist() == [7, 9]
    assert packed.types.tolist() == [0, 0, 0, 0, 1, 1, 1] + [0] * 6 + [1] * 3
    assert packed.ids.dtype == packed.types.dtype == np.int64


def test_a_length_without_room_for_a_passage_is_refused():
    with pytest.raises(ValueError, match="max_length 67 leaves no room"):
        PairRows(TOKENIZER, MAX_QUESTION_TOKENS + 3)
