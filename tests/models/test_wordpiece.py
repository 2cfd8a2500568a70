"""The base's tokenizer: golden pieces, ids and offsets."""

from __future__ import annotations

import pytest

from spanwise.models.load import load_tokenizer
from spanwise.models.locate import find_base


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(find_base())


@pytest.mark.parametrize(
    ("text", "pieces", "ids"),
    [
        ("playing", "playing", [2652]),
        ("unhappiness", "un ##ha ##pp ##iness", [4895, 3270, 9397, 9961]),
        ("COVID", "co ##vid", [2522, 17258]),
        ("Chatbots", "chat ##bots", [11834, 27014]),
        ("Washington", "washington", [2899]),
        (
            "acetylcholinesterase",
            "ace ##ty ##lch ##olin ##ester ##ase",
            [9078, 3723, 29358, 18861, 20367, 11022],
        ),
        ("\U0001f642", "[UNK]", [100]),
    ],
)
def test_c21_to_c27_pieces_and_ids(tokenizer, text, pieces, ids):
    encoded = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert encoded == ids
    assert tokenizer.convert_ids_to_tokens(encoded) == pieces.split()


def test_c20_specials_around_a_masked_sentence(tokenizer):
    ids = tokenizer("The [MASK] sat on the mat")["input_ids"]
    assert ids == [101, 1996, 103, 2938, 2006, 1996, 13523, 102]


def test_c22_offsets_of_pieces(tokenizer):
    encoded = tokenizer("unhappiness", add_special_tokens=False, return_offsets_mapping=True)
    assert [tuple(pair) for pair in encoded["offset_mapping"]] == [(0, 2), (2, 4), (4, 6), (6, 11)]


def test_c26_unknown_words_become_pieces_and_not_unk(tokenizer):
    ids = tokenizer("Quiero jugar outside", add_special_tokens=False)["input_ids"]
    assert tokenizer.convert_ids_to_tokens(ids) == ["qui", "##ero", "jug", "##ar", "outside"]


@pytest.mark.parametrize("text", ["caf\u00e9", "cafe\u0301"])
def test_c28_accents_are_stripped_and_offsets_stop_before_a_combining_mark(tokenizer, text):
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    assert encoded["input_ids"] == [7668]
    assert [tuple(pair) for pair in encoded["offset_mapping"]] == [(0, 4)]


def test_c29_segments_split_after_the_first_separator(tokenizer):
    encoded = tokenizer("Question", "Passage", return_token_type_ids=True)
    first_separator = encoded["input_ids"].index(102)
    types = encoded["token_type_ids"]
    assert set(types[: first_separator + 1]) == {0}
    assert set(types[first_separator + 1 :]) == {1}
