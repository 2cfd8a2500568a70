"""Text is told from what programs write for programs, in any encoding and by bytes alone."""

from __future__ import annotations

import gzip
import random
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_files import as_docx, as_pdf

from spanwise.corpora.binary import is_binary, unmarked_utf16
from spanwise.corpora.reading import Skipped, parse
from spanwise.types import Document

TEXTS = {
    "cp1252": "Le café de l’été était très bon, mais où est l’élève ?\n" * 3,
    "cp1251": "Привет, мир. Мельница стоит у реки, и она очень старая.\n" * 3,
    "cp932": "これは日本語のテキストです。水車小屋は川のそばにあります。\n" * 3,
    "gb18030": "这是一个简单的中文文本。磨坊在河边，已经很老了。\n" * 3,
    "big5": "這是一個簡單的中文文本。磨坊在河邊，已經很老了。\n" * 3,
    "utf-16-le": "The mill stands by the river. Мельница. 磨坊在河邊。\n" * 3,
    "utf-16-be": "The mill stands by the river. Мельница. 磨坊在河邊。\n" * 3,
}
NOISE = random.Random(0).randbytes(5000)


@pytest.mark.parametrize("encoding", TEXTS)
def test_a_text_of_unknown_suffix_is_read_in_its_encoding(encoding: str) -> None:
    document = parse(TEXTS[encoding].encode(encoding), "notes.xyz")
    assert isinstance(document, Document)
    assert (document.text, document.metadata["encoding"]) == (TEXTS[encoding], encoding)


@pytest.mark.parametrize(
    "data",
    [
        NOISE,
        gzip.compress(NOISE, mtime=0),
        Path(sys.executable).read_bytes()[:1_000_000],
        b"\xff\xfe" + NOISE,
        b"\xff\xd8\xff\xe0\0\x10JFIF\0" + NOISE,
        b"RIFF\x24\x08\0\0WAVEfmt " + bytes(range(0, 200, 2)) * 9,
        bytes(1000),
        b"SQLite format 3\0" + bytes(99),
    ],
)
def test_binary_files_are_passed_over(data: bytes) -> None:
    assert isinstance(parse(data, "data.xyz"), Skipped)


@pytest.mark.parametrize("data", [as_docx("words"), as_pdf("words"), NOISE])
def test_binary_content_is_binary(data: bytes) -> None:
    assert is_binary(data) or data.startswith(b"%PDF")


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=16).map(" ".join))
def test_text_in_utf16_is_found_without_a_mark(text: str) -> None:
    for order in ("utf-16-le", "utf-16-be"):
        assert unmarked_utf16(text.encode(order)) == order


@given(st.binary(min_size=32))
def test_no_bytes_fail(data: bytes) -> None:
    assert is_binary(data) in (True, False)
