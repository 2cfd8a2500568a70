"""The tokenizers of the built-in models agree with those of transformers."""

import pytest
from helpers.tiny_models import change, copy_tokenizer
from hypothesis import given, strategies as st

from spanwise.models.model_files import builtin_folder, find_base
from spanwise.models.tokenizer import FastTokenizer, load_tokenizer, text_ids

WORDS = st.sampled_from(["[MASK]", "[SEP]", "Weir's", "caf\u00e9", "\u6c34", "\u0130", "\u200b", " "])
TEXT = st.lists(WORDS | st.text(st.characters(exclude_categories=["Cs"]))).map("".join)


@pytest.fixture(scope="module", params=["base", "second"])
def folder(request):
    return find_base() if request.param == "base" else builtin_folder("reader").with_name("second")


@pytest.fixture(scope="module")
def fast(folder):
    return FastTokenizer.open(folder)


@pytest.fixture(scope="module")
def expected(folder):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(folder), use_fast=True, local_files_only=True)


@given(texts=st.lists(TEXT, min_size=1, max_size=3), special=st.booleans())
def test_ids_and_offsets_are_those_of_transformers(fast, expected, texts, special):
    options = {"add_special_tokens": special, "return_offsets_mapping": True}
    ours = fast(texts, **options)
    theirs = expected(texts, **options, verbose=False)
    assert ours["input_ids"] == theirs["input_ids"]
    for our_row, their_row in zip(ours["offset_mapping"], theirs["offset_mapping"], strict=True):
        assert list(map(tuple, our_row)) == list(map(tuple, their_row))


def test_a_pair_has_the_segments_of_transformers(fast, expected):
    ours = fast("When?", "In 1811.", return_token_type_ids=True)
    theirs = expected("When?", "In 1811.", return_token_type_ids=True)
    assert {name: ours[name] for name in theirs} == dict(theirs)
    assert ours.sequence_ids(0) == theirs.sequence_ids(0)
    assert fast.cls_token_id == expected.cls_token_id
    assert fast.pad_token_id == expected.pad_token_id


def test_a_long_text_is_cut_in_front_of_its_end_token(fast):
    text = "mill " * 3000
    whole = fast(text)["input_ids"]
    assert text_ids(fast, [text], 10) == [[*whole[:9], whole[-1]]]
    assert text_ids(fast, [], 10) == []


@pytest.mark.parametrize(
    "setting", [{"do_lower_case": False}, {"tokenizer_class": "RobertaTokenizer"}, {"cls_token": None}]
)
def test_settings_that_contradict_the_rules_are_left_to_transformers(tmp_path, setting):
    copy_tokenizer(tmp_path)
    assert isinstance(load_tokenizer(tmp_path), FastTokenizer)
    change(tmp_path / "tokenizer_config.json", **setting)
    assert FastTokenizer.open(tmp_path) is None
