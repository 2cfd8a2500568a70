"""RTF becomes paragraphs, lists, tables and notes; what is deleted, hidden or no text stays out."""

from __future__ import annotations

from contextlib import suppress

import pytest

from spanwise.corpora.readers.rtf import read
from spanwise.errors import DocumentRejected
from spanwise.types import Document


def made(body: str | bytes) -> Document:
    data = body if isinstance(body, bytes) else body.encode("ascii")
    return read(rb"{\rtf1\ansi\ansicpg1252 " + data + b"}", "a.rtf")


STYLES = (
    r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 My Head;}{\s2\sbasedon0 heading 2;}{\s3 Title;}{\*\cs9 x;}}"
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"one\par two", "one\n\ntwo"),
        (r"one\line two\tab three", "one\ntwo\tthree"),
        ("broken\nline \\{x\\}\\\\", "brokenline {x}\\"),
        (r"M\'fchle\~\emdash\ldblquote x\rdblquote", "Mühle\xa0—“x”"),
        (r"\u8364?5 \uc0\u8364 6", "€5 €6"),
        (r"\uc2\u26085 \'93\'fa!", "日!"),
        (r"\u-10179?\u-8704?", "\U0001f600"),
        (r"\u-10179? alone", "\ufffd alone"),
        (r"{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}}{\f1\'cc\'e8\'f0} M\'fc", "Мир Mü"),
        (r"{\fonttbl{\f3\fcharset128 M;}}\f3\'93\'8c\'8b\'9e", "東京"),
        (r"a{\v hidden}b{\deleted gone}c{\revised new}", "abcnew"),
        (r"a{\*\unknown x{y}}{\pict\pngblip 89504e}{\header top}b", "ab"),
        (r'{\field{\*\fldinst HYPERLINK "http://x"}{\fldrslt link}}', "link"),
        (r"{\info{\author Ada}}{\*\generator x;}words", "words"),
        (r"{\upr{ansi}{\*\ud{unicode}}}words", "words"),
        (r"{\shp{\*\shpinst{\sp{\sn a}{\sv b}}{\shptxt box}}}", "box"),
        (r"}} after", ""),
    ],
)
def test_what_counts_as_text(body: str, expected: str) -> None:
    assert made(body).text == expected


def test_binary_data_is_jumped_over() -> None:
    assert made(rb"a{\pict\bin5 }}{{\}b\bin-3 c").text == "abc"


def test_list_items_stand_together_with_dashes() -> None:
    item = r"{\listtext\'b7\tab}\ls1 "
    assert made(rf"\pard Owners:\par\pard {item}Hale\par\pard {item}Low\par\pard End.").text == (
        "Owners:\n\n- Hale\n- Low\n\nEnd."
    )


def test_tables_are_lines_of_cells() -> None:
    row = r"\trowd\pard\intbl {}\cell {}\cell\row"
    assert made(r"Before\par" + row.format("a", r"b\par c") + row.format("1", "") + r"\pard After").text == (
        "Before\n\na | b c\n1\n\nAfter"
    )


def test_headings_come_by_outline_level_and_by_name() -> None:
    document = made(STYLES + r"\pard\s3 The mill\par\pard\s1 Owners\par\pard\s2 Hale\par\pard\s0 Words.")
    assert [(h.level, h.text) for h in document.headings] == [(1, "The mill"), (1, "Owners"), (2, "Hale")]
    assert document.text.endswith("Hale\n\nWords.")


def test_a_numbered_heading_is_no_list_item() -> None:
    document = made(STYLES + r"\pard\s1{\listtext 1.\tab}Owners\par")
    assert [heading.text for heading in document.headings] == ["Owners"]


def test_footnotes_follow_the_body() -> None:
    assert made(r"Hale{\super\chftn}{\footnote\pard {\super\chftn} A miller.} wrote.\par End.").text == (
        "Hale[1] wrote.\n\nEnd.\n\n[1] A miller."
    )


def test_the_title_of_the_properties_comes_first() -> None:
    assert made(r"{\info{\title The \'dcbung}{\author Ada}}words").title == "The Übung"


def test_a_truncated_file_is_read_with_a_remark() -> None:
    document = read(rb"{\rtf1 some {\b words", "a.rtf")
    assert document.text == "some words"
    assert document.metadata["remark"] == "truncated: it ends inside a group"


def test_groups_without_end_are_refused() -> None:
    with pytest.raises(DocumentRejected, match="more than 1,000 groups"):
        read(rb"{\rtf1 " + b"{" * 5000, "a.rtf")


@pytest.mark.parametrize(
    "piece", [rb"\'aa", rb"\u8364?", b"{}", rb"\par ", rb"\cell ", rb"\*", b"\\", rb"{\f0", rb"\uc9\u1 "]
)
def test_any_repetition_is_read_or_refused_in_linear_steps(piece: bytes) -> None:
    """A quadratic reader would take minutes over these."""
    with suppress(DocumentRejected):
        read(b"{\\rtf1 " + piece * 100_000, "a.rtf")
