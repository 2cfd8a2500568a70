"""Content and name choose the reader of a file; each file is read, skipped, or refused with a reason."""

import pytest
from helpers.files import MAKERS, as_pdf
from helpers.office_files import archive, as_eml

from spanwise.corpora.readers.builder import TextBuilder
from spanwise.corpora.reading import BY_SUFFIX, parse
from spanwise.errors import DocumentRejected
from spanwise.types import Document

NOTEBOOK = b'{"nbformat": 4, "cells": [{"cell_type": "raw", "source": "words"}]}'
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(99)


def by_name(value: object) -> str:
    """The id of a parameter; the bytes of zip archives differ from run to run."""
    return value if isinstance(value, str) else "data"


def media_type(data: bytes, name: str) -> str:
    document = parse(data, name)
    return document.media_type if isinstance(document, Document) else document.reason


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"words", "a.txt", "text/plain"),
        (b"words", "README", "text/plain"),
        (b"# words", "a.MD", "text/markdown"),
        (b"\n<!DOCTYPE html><p>words", "a.txt", "text/html"),
        (b"<?xml version='1.0'?>\n<html><p>words", "page", "text/html"),
        (b"<html> is a tag", "a.md", "text/markdown"),
        (as_pdf("words"), "a.txt", "application/pdf"),
        ("words".encode("utf-16"), "a.dat", "text/plain"),
        (PNG, "a.png", "unsupported format .png"),
        (b"\xd0\xcf\x11\xe0 words", "a.doc", "unsupported format .doc: save it as .docx"),
        (b"\xd0\xcf\x11\xe0 words", "a.msg", "unsupported format .msg: save it as .eml"),
        (archive({"a": "1"}), "a.zip", "unsupported format .zip"),
        (b"body { }", "a.css", "unsupported format .css"),
        (bytes(range(256)), "a.bin", "unsupported format .bin"),
        (b"a,b\n1,2", "a.csv", "text/csv"),
        (b"a\tb\n1\t2", "a.csv", "text/tab-separated-values"),
        (b"<?xml version='1.0'?><a>words</a>", "a.txt", "application/xml"),
        (b"<html xmlns='x'><p>words</p></html>", "a.xml", "text/html"),
        (b"<?xml version='1.0'?><!-- x --><svg><text>x</text></svg>", "a.xml", "unsupported format .xml"),
        (b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n", "a.asc", "unsupported format .asc"),
        (NOTEBOOK, "a.json", "application/x-ipynb+json"),
        (as_eml("words"), "a.eml", "message/rfc822"),
        (b"From a@x.org Thu Jan 1\nSubject: x\n\nwords", "a.eml", "message/rfc822"),
        (b"Received: from x\nSubject: x\n\nwords", "1700.M1P2.host:2,S", "message/rfc822"),
        (b"From a@x.org Thu Jan 1 09:30:00 2019\nSubject: x\n\nwords", "Inbox", "message/rfc822"),
        (b"Received: from x\nSubject: x\n\nwords", "a.txt", "text/plain"),
        (b"just words", "a.eml", "text/plain"),
    ],
    ids=by_name,
)
def test_content_and_name_give_the_format(data: bytes, name: str, expected: str) -> None:
    assert media_type(data, name) == expected


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "a.txt", "empty file"),
        (b" \n\t", "a.md", "no text in it"),
        (PNG, "a.txt", "not text"),
        (b"words", "a.pdf", "not a PDF"),
        (b"words", "a.docx", "not a Word document: it is not a zip"),
        (archive({"a": "1"}), "a.docx", "has no word/document.xml"),
        (b"\xd0\xcf\x11\xe0 encrypted", "a.docx", "encrypted Word document"),
        (as_pdf("words")[:200], "a.pdf", "damaged PDF"),
    ],
    ids=by_name,
)
def test_files_that_cannot_be_read_say_why(data: bytes, name: str, reason: str) -> None:
    with pytest.raises(DocumentRejected, match=reason):
        parse(data, name)


def test_the_error_of_a_reader_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(data: bytes) -> TextBuilder:
        raise RecursionError("too deep")

    monkeypatch.setitem(BY_SUFFIX, ".html", fail)
    with pytest.raises(DocumentRejected, match="its parser failed: RecursionError: too deep"):
        parse(b"<p>words", "a.html")


def test_a_huge_text_is_read_to_the_last_line_within_the_limit() -> None:
    document = parse(b"# One\n\nwords\n\n# Two <!-- x -->\n", "a.md", max_text=16)
    assert isinstance(document, Document)
    assert document.text == "# One\n\nwords\n\n"
    assert [heading.text for heading in document.headings] == ["One"]
    assert document.left_out == ()
    assert document.metadata["remark"] == "only the first 14 of 31 characters are read"


def test_a_huge_line_is_cut_at_the_limit() -> None:
    document = parse(b"words", "a.txt", max_text=4)
    assert isinstance(document, Document)
    assert document.text == "word"


ZIPPED = ["a.epub", "a.docx", "a.pptx", "a.xlsx", "a.odt", "a.ods", "a.odp"]


def ole(*streams: str) -> bytes:
    """The first bytes of an OLE file with these streams in its directory."""
    entries = b"".join(name.encode("utf-16-le").ljust(128, b"\0") for name in streams)
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\0") + entries


@pytest.mark.parametrize("name", ZIPPED)
def test_the_content_of_an_archive_decides(name: str) -> None:
    data = MAKERS[name]("words")
    others = {media_type(data, other) for other in ("a.zip", "a.docx", "a", "a.pdf")}
    assert others == {media_type(data, name)}
    with pytest.raises(DocumentRejected, match="damaged or truncated"):
        parse(data[:-40], name)


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a", "a.doc"])
def test_an_encrypted_office_file_is_refused(name: str) -> None:
    with pytest.raises(DocumentRejected, match="encrypted Office document"):
        parse(ole("Root Entry", "EncryptionInfo", "EncryptedPackage"), name)
