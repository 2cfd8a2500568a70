"""Rich text becomes paragraphs and rows."""

import pytest
from helpers.document_checks import documents_of

from spanwise.corpora.readers import rtf
from spanwise.errors import DocumentRejected

read = documents_of(rtf.read)

SOURCE = (
    rb"{\rtf1\ansi\ansicpg1252{\info{\title No}}\pard The M\'fchle\par\par It is old.\par"
    rb"\trowd\intbl Town\cell People\cell\row\intbl Eskery\cell 812\cell\row}"
)


def test_paragraphs_and_rows_are_read() -> None:
    document = read(SOURCE, "a.rtf")
    assert document.text == "The Mühle\n\nIt is old.\n\nTown | People\nEskery | 812"
    assert document.title == "The Mühle"


def test_a_damaged_file_is_refused() -> None:
    with pytest.raises(DocumentRejected, match="damaged RTF"):
        read(rb"{\rtf1\uc x}", "a.rtf")


def test_a_large_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.corpora.readers.rtf.MAX_BYTES", 5)
    with pytest.raises(DocumentRejected, match="the limit is 5"):
        read(SOURCE, "a.rtf")


def text_of(body: bytes) -> str:
    return read(rb"{\rtf1\ansi\ansicpg1252 " + body + rb"\par}", "a.rtf").text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (rb"shown {\v hid\'fcen}\v\u8217?x\v0 too", "shown too"),
        (rb"{\strike 300 }\striked1 400 \striked0 450{\deleted 500}", "450"),
        (rb"\v first\par second\par\plain third", "third"),
        (rb"{\stylesheet{\s1\strike old;}}seen{\*\unknown\v }", "seen"),
        (rb"{\pntext 3.\tab}Open it.\par", "3.\tOpen it."),
        (rb"{\shp{\*\shpinst{\sp{\sn no}}{\shptxt 14 m.}}{\shprslt no}}", "14 m."),
        (rb"10{\super 1}{\super 2} m\up6 2\up0 .", "10¹² m²."),
        (rb"SO{\sub 4}{\super 2-}, H\sub 2\nosupersub O", "SO₄²⁻, H₂O"),
        (rb"4\super th\nosupersub  day", "4th day"),
        (rb"\trowd\intbl\cell Town\super 1\cell\cell\row", " | Town¹ | "),
    ],
)
def test_the_text_is_what_is_printed(body: bytes, expected: str) -> None:
    assert text_of(body) == expected
