"""Addresses and markup that no source holds are taken out of a written text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.reader.support.markup import REMOVED, without_foreign_markup


@pytest.mark.parametrize(
    "markup",
    [
        "https://a.example/x?q=1",
        "www.a.example",
        "javascript:alert",
        "![words](https://a.example/x)",
        "[more](relative/path)",
        '<img src="https://a.example/x">',
        "<script>",
        "<|im_end|>",
    ],
)
def test_markup_of_no_source_is_removed(markup):
    assert without_foreign_markup(f"It burned {markup} in May", ["It burned in May."]) == (
        f"It burned {REMOVED} in May",
        1,
    )
    assert without_foreign_markup(f"It burned {markup} in May", [f"See {markup} there."])[1] == 0


@pytest.mark.parametrize("text", ["a < b and c > d", "see [1] and (2)", "at 10:30", "www stands for web"])
def test_plain_text_stays(text):
    assert without_foreign_markup(text, []) == (text, 0)


@given(st.text(max_size=80))
def test_a_source_may_be_quoted_whole(text):
    assert without_foreign_markup(text, [text]) == (text, 0)
