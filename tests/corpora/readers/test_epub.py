"""Books become their chapters in reading order, with the titles of the table of contents."""

import pytest
from helpers.document_checks import documents_of
from helpers.office_files import book, without

from spanwise.corpora.readers import epub
from spanwise.errors import DocumentRejected
from spanwise.types import Document

read = documents_of(epub.read)

NCX = (
    '<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "ncx-2005-1.dtd">'
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>'
    '<navPoint><navLabel><text>Part One</text></navLabel><content src="a.xhtml"/>'
    '<navPoint><navLabel><text>The Mill</text></navLabel><content src="b%20c.xhtml#top"/></navPoint>'
    "</navPoint></navMap></ncx>"
)
NCX_ITEM = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
ENCRYPTION = (
    '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
    '<e:EncryptionMethod Algorithm="{}"/><e:CipherData><e:CipherReference URI="{}"/></e:CipherData>'
    "</e:EncryptedData></encryption>"
)


def made(chapters: dict[str, str], metadata: str = "", manifest: str = "", **members: str) -> Document:
    return read(book(chapters, metadata, manifest, **members), "shelf/book.epub")


def test_metadata_comes_from_the_package_document() -> None:
    metadata = "<dc:title>A  Book</dc:title><dc:creator>Ada</dc:creator><dc:creator>Bo</dc:creator>"
    document = made({"a.xhtml": "<p>words</p>"}, metadata + "<dc:language>en-GB</dc:language>")
    assert document.title == "A Book"
    assert document.metadata == {"creator": "Ada; Bo", "language": "en-GB"}


def test_ncx_titles_label_chapters_and_head_those_without_heading() -> None:
    chapters = {"a.xhtml": "<h1>One</h1><p>words</p>", "b c.xhtml": "<p>Wheels.</p>"}
    document = made(chapters, manifest=NCX_ITEM, **{"OEBPS/toc.ncx": NCX})
    assert [(h.text, h.level) for h in document.headings] == [("One", 1), ("The Mill", 2)]
    assert [(label.text, document.text[label.start :][:6]) for label in document.labels] == [
        ("chapter Part One", "One\n\nw"),
        ("chapter The Mill", "Wheels"),
    ]


def test_a_missing_chapter_is_named_and_the_rest_is_read() -> None:
    data = book({"a.xhtml": "<p>words</p>", "lost.xhtml": "<p>gone</p>"})
    document = read(without(data, "OEBPS/lost.xhtml"), "a.epub")
    assert document.text == "words"
    assert document.metadata["remark"] == "chapters missing from the archive: OEBPS/lost.xhtml"


def test_an_encrypted_chapter_refuses_the_book() -> None:
    rights = ENCRYPTION.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/a.xhtml")
    with pytest.raises(DocumentRejected, match="encrypted EPUB"):
        made({"a.xhtml": "<p>words</p>"}, **{"META-INF/encryption.xml": rights})
