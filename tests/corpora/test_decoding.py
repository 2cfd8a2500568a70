"""Bytes become text in one documented order, and nothing but the byte order mark is lost."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.corpora.decoding import decode
from spanwise.errors import DocumentRejected

POLISH = "Zażółć gęślą jaźń. Nie wiem, co to jest."


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_decides_and_is_dropped(encoding: str) -> None:
    assert decode(POLISH.encode(encoding))[0] == POLISH


@given(st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: text[:1] != "\ufeff"))
def test_utf8_is_kept_code_point_for_code_point(text: str) -> None:
    encoded = text.encode()
    if not encoded.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        assert decode(encoded) == (text, "utf-8")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Le café résumé était très bon à l’été", "cp1252"),
        ("Über den Fluß", "cp1252"),
        (POLISH, "cp1250"),
        ("Привет, мир, как дела", "cp1251"),
        ("これは日本語のテキストです。短い文です。", "cp932"),
        ("これはテキストです。", "cp932"),
        ("이것은 한국어로 쓴 짧은 글입니다.", "cp949"),
        ("这是一个简单的中文文本。", "gb18030"),
    ],
)
def test_old_encodings_are_guessed(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == (text, encoding)


def test_a_declared_encoding_comes_before_the_guess() -> None:
    assert decode("naïve".encode("iso8859-15"), "ISO-8859-15") == ("naïve", "iso8859-15")


def test_utf8_comes_before_a_declared_encoding() -> None:
    assert decode("é".encode(), "iso-8859-1") == ("é", "utf-8")


@pytest.mark.parametrize(
    "declared", ["punycode", "unicode_escape", "rot13", "no such thing", "idna", "utf-7"]
)
def test_codecs_that_are_no_character_sets_are_not_used(declared: str) -> None:
    assert decode("Über den Fluß".encode("cp1252"), declared)[1] == "cp1252"


def test_a_mark_that_lies_is_refused() -> None:
    with pytest.raises(DocumentRejected, match="byte order mark says utf-16-le"):
        decode(codecs.BOM_UTF16_LE + b"\x00\xd8\x41")


def test_noise_is_refused() -> None:
    with pytest.raises(DocumentRejected, match="not text"):
        decode(bytes(range(128, 256)) * 9 + bytes(range(32)))


def test_a_nul_does_not_make_utf16_of_utf8() -> None:
    text = "\n\0" + "x" * 101 + "\n"
    assert decode(text.encode()) == (text, "utf-8")
