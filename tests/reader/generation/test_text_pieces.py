"""Text that comes in pieces, none of which is taken back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from made_generators import tokenizer_of

from spanwise.reader.generation.text_pieces import TextPieces

BYTES, UNIGRAMS = tokenizer_of("GPT2"), tokenizer_of("T5")


def pieces_of(tokenizer, ids):
    pieces = TextPieces(tokenizer)
    return [*(pieces.add(token) for token in ids), pieces.rest()]


@given(st.text(max_size=20))
def test_pieces_are_the_text(text):
    ids = BYTES(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    found = pieces_of(BYTES, ids)
    assert "".join(found) == text.rstrip("\ufffd")


@given(st.text(alphabet="mill é€😀", max_size=12))
def test_no_piece_holds_half_a_character(text):
    found = pieces_of(BYTES, BYTES(text, add_special_tokens=False)["input_ids"])
    assert not any("\ufffd" in piece for piece in found)


def test_a_character_comes_with_its_last_byte():
    assert pieces_of(BYTES, BYTES("a😀", add_special_tokens=False)["input_ids"]) == [
        "a",
        "",
        "",
        "",
        "😀",
        "",
    ]


def test_a_character_that_is_cut_off_is_dropped():
    ids = BYTES("a😀", add_special_tokens=False)["input_ids"][:-1]
    assert "".join(pieces_of(BYTES, ids)) == "a"


def test_words_keep_the_spaces_between_them():
    ids = UNIGRAMS("the mill was built", add_special_tokens=False)["input_ids"]
    assert pieces_of(UNIGRAMS, ids) == ["the", " mill", " was", " built", ""]


def test_special_tokens_are_no_text():
    mill = UNIGRAMS("mill", add_special_tokens=False)["input_ids"]
    assert "".join(pieces_of(UNIGRAMS, [0, *mill, 1, *mill, 0])) == "mill mill"


@given(st.lists(st.integers(0, 300), max_size=30))
def test_any_tokens_make_some_text(ids):
    for tokenizer in (BYTES, UNIGRAMS):
        assert isinstance("".join(pieces_of(tokenizer, ids)), str)
