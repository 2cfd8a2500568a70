"""Encodings are tried in the documented order, and only the byte order mark is dropped."""

from __future__ import annotations

import codecs
import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from spanwise.corpora.decoding import decode
from spanwise.corpora.reading import SkippedFile, parse
from spanwise.types import Document

POLISH = "Zażółć gęślą jaźń. Nie wiem, co to jest."


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_decides_and_is_dropped(encoding: str) -> None:
    assert decode(POLISH.encode(encoding))[0] == POLISH


@given(st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: text[:1] != "\ufeff"))
def test_utf8_is_kept_code_point_for_code_point(text: str) -> None:
    encoded = text.encode()
    if not encoded.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        assert decode(encoded) == (text, "utf-8")


def test_a_declared_encoding_comes_before_the_guess() -> None:
    assert decode("naïve".encode("iso8859-15"), "ISO-8859-15") == ("naïve", "iso8859-15")


@pytest.mark.parametrize("declared", ["punycode", "unicode_escape", "rot13", "no such thing"])
def test_codecs_that_are_no_character_sets_are_ignored(declared: str) -> None:
    assert decode("Über den Fluß".encode("cp1252"), declared)[1] == "cp1252"


TEXTS = {
    "cp1250": POLISH,
    "cp949": "이것은 한국어로 쓴 짧은 글입니다.",
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
    assert document.text == TEXTS[encoding]
    assert document.metadata["encoding"] == encoding


@pytest.mark.parametrize(
    "data",
    [
        NOISE,
        Path(sys.executable).read_bytes()[:1_000_000],
        b"\xff\xfe" + NOISE,
        b"\xff\xd8\xff\xe0\0\x10JFIF\0" + NOISE,
        bytes(1000),
    ],
)
def test_binary_files_are_skipped(data: bytes) -> None:
    assert isinstance(parse(data, "data.xyz"), SkippedFile)
