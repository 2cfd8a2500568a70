"""Zip archives, OLE files and mails are told by what is in them, whatever their name says."""

from __future__ import annotations

import pytest
from made_files import as_docx
from made_office import OFFICE_MAKERS, archive, as_eml, as_odt, rezipped, without

from spanwise.corpora.reading import Skipped, parse
from spanwise.errors import DocumentRejected
from spanwise.types import Document

ZIPPED = ["a.epub", "a.pptx", "a.xlsx", "a.odt", "a.ods", "a.odp"]


def media_type(data: bytes, name: str) -> str:
    document = parse(data, name)
    return document.media_type if isinstance(document, Document) else document.reason


def ole(*streams: str) -> bytes:
    """The first bytes of an OLE file with these streams in its directory."""
    entries = b"".join(name.encode("utf-16-le").ljust(128, b"\0") for name in streams)
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\0") + entries


@pytest.mark.parametrize("other", ["a.zip", "a.docx", "a.txt", "a", "a.pdf"])
@pytest.mark.parametrize("name", [*ZIPPED, "a.rtf"])
def test_content_counts_more_than_the_name(name: str, other: str) -> None:
    data = OFFICE_MAKERS[name]("words")
    assert media_type(data, other) == media_type(data, name)


@pytest.mark.parametrize("name", ZIPPED)
def test_a_truncated_archive_is_refused_by_the_name_of_its_format(name: str) -> None:
    with pytest.raises(DocumentRejected, match="damaged or truncated"):
        parse(OFFICE_MAKERS[name]("words")[:-40], name)


@pytest.mark.parametrize("name", ZIPPED)
def test_an_archive_of_something_else_is_refused_by_the_part_it_lacks(name: str) -> None:
    with pytest.raises(DocumentRejected, match="the archive holds no"):
        parse(archive({"a": "1"}), name)


@pytest.mark.parametrize("name", ZIPPED)
def test_a_file_that_is_no_archive_is_refused(name: str) -> None:
    with pytest.raises(DocumentRejected, match="it is no zip archive"):
        parse(b"words", name)


def test_an_opendocument_without_its_media_type_is_told_by_its_name() -> None:
    assert media_type(without(as_odt("words"), "mimetype"), "a.odt").endswith("opendocument.text")


def test_a_template_is_read_like_a_document() -> None:
    data = rezipped(as_odt("words"), {"mimetype": "application/vnd.oasis.opendocument.text-template"})
    assert media_type(data, "a").endswith("opendocument.text")


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a", "a.doc"])
def test_a_password_is_named(name: str) -> None:
    with pytest.raises(DocumentRejected, match="encrypted Office document"):
        parse(ole("Root Entry", "EncryptionInfo", "EncryptedPackage"), name)


def test_words_about_encryption_are_no_encryption() -> None:
    told = "EncryptedPackage".encode("utf-16-le") + b"\0\0"
    assert media_type(ole("WordDocument") + b"about " + told, "a.doc") == "unsupported format .doc"


@pytest.mark.parametrize("suffix", [".doc", ".msg", ".ppt"])
def test_other_old_formats_are_passed_over(suffix: str) -> None:
    assert parse(ole("WordDocument"), f"a{suffix}") == Skipped(f"a{suffix}", f"unsupported format {suffix}")


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (as_eml("words"), "a.eml", "message/rfc822"),
        (b"From a@x.org Thu Jan 1\nSubject: x\n\nwords", "a.eml", "message/rfc822"),
        (b"Received: from x\nSubject: x\n\nwords", "1700.M1P2.host:2,S", "message/rfc822"),
        (b"Received: from x\nSubject: x\n\nwords", "a.txt", "text/plain"),
        (b"Recipe: soup\n\nwords", "a", "text/plain"),
        (b"just words", "a.eml", "text/plain"),
    ],
)
def test_mails_are_told_by_their_headers(data: bytes, name: str, expected: str) -> None:
    assert media_type(data, name) == expected


def test_a_word_document_keeps_its_reader() -> None:
    assert media_type(as_docx("words"), "a.docm").endswith("wordprocessingml.document")
