"""Rich text becomes paragraphs and rows."""

from __future__ import annotations

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
