"""Plain text is stored as it is."""

from __future__ import annotations

from hashlib import sha256

import pytest

from spanwise.corpora.readers.markup import read_text


@pytest.mark.parametrize(
    "text", ["a\r\nb\rc\n", "a\u2028b\x85c", "nul\0and\x07bell", "e\u0301\u200b\u202e", "  x  \n\n"]
)
def test_every_code_point_is_kept(text: str) -> None:
    assert read_text(text.encode(), "a.txt").text == text


def test_the_byte_order_mark_is_dropped() -> None:
    assert read_text("\ufeffwords".encode(), "a.txt").text == "words"


def test_the_digest_is_that_of_the_bytes() -> None:
    assert read_text(b"words", "a.txt").sha256 == sha256(b"words").hexdigest()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("\n\n  The  mill \nwords", "The mill"),
        ("", "notes"),
        ("\n \n", "notes"),
        ("word " * 99, "word " * 22 + "word"),
    ],
)
def test_the_title_is_the_first_line_or_the_name(text: str, title: str) -> None:
    assert read_text(text.encode(), "sub/notes.txt").title == title
