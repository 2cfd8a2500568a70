"""Encodings are tried in the documented order, and only the byte order mark is dropped."""

import codecs
import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from spanwise.corpora.decoding import decode
from spanwise.corpora.reading import SkippedFile, parse
from spanwise.errors import DocumentRejected
from spanwise.types import Document

POLISH = "Zażółć gęślą jaźń. Nie wiem, co to jest."


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_decides_and_is_dropped(encoding: str) -> None:
    assert decode(POLISH.encode(encoding))[0] == POLISH


@given(st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: text[:1] != "\ufeff"))
def test_utf8_is_kept_code_point_for_code_point(text: str) -> None:
    encoded = text.translate({ord("\b"): None, ord("\x1b"): None}).encode()
    if not encoded.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        assert decode(encoded) == (encoded.decode(), "utf-8")


def test_a_declared_encoding_comes_before_the_guess() -> None:
    assert decode("naïve".encode("iso8859-15"), "ISO-8859-15") == ("naïve", "iso8859-15")


def test_a_declared_encoding_whose_bytes_look_like_ascii_comes_first() -> None:
    assert decode("東京".encode("iso-2022-jp"), "ISO-2022-JP")[0] == "東京"


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


@pytest.mark.parametrize(("n_wrong", "remark"), [(1, "1 damaged byte"), (2, "2 damaged bytes")])
def test_a_few_damaged_bytes_are_replaced_with_a_remark(n_wrong: int, remark: str) -> None:
    data = (POLISH * 50).encode() + b"Caf\xe9 " * n_wrong
    document = parse(data, "a.txt")
    assert isinstance(document, Document)
    assert document.text == POLISH * 50 + "Caf\ufffd " * n_wrong
    assert document.metadata == {"encoding": "utf-8", "remark": f"{remark} replaced"}


def test_many_damaged_bytes_are_another_encoding_or_none() -> None:
    assert decode(b"Caf\xe9 am Stra\xdfenrand, sch\xf6n gelegen")[1] == "cp1252"
    with pytest.raises(DocumentRejected, match="nor another known encoding"):
        decode(POLISH.encode() + b"\x81\x8d\xff " * 9)


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("\x1b[31mERROR\x1b[0m disk \x1b[1;36msda7\x1b[m failed", "ERROR disk sda7 failed"),
        ("\x1b]0;title\x07$ ls\x1b[K\n", "$ ls\n"),
        ("N\bNA\bAM\bME\bE\n  _\bf_\bi_\bl_\be\n", "NAME\n  file\n"),
    ],
)
def test_colours_and_overstrikes_of_a_terminal_are_no_text(printed: str, text: str) -> None:
    assert decode(printed.encode()) == (text, "utf-8")


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
