"""Reads EPUB 2 and 3: the chapters in reading order, each as a browser shows it.

A chapter without a heading gets its title from the table of contents, the `nav` of EPUB 3 or the NCX of EPUB
2. The contents page itself is left out. The metadata name missing chapters. A book with encrypted chapters is
rejected; obfuscated fonts do not matter.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from spanwise.errors import DocumentRejected
from spanwise.types import Heading

from ..archive import Archive, Element, attribute, local_name
from ..decoding import decode
from . import html
from .builder import TextBuilder, join_remarks, one_line

MEDIA_TYPE = "application/epub+zip"
OPENING = 200  # characters at the start of a chapter in which its heading is expected
CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
NCX = "application/x-dtbncx+xml"
OBFUSCATION = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
CHAPTERS = ("application/xhtml+xml", "text/html", "text/x-oeb1-document", "")


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the table of contents.

    level: its depth, from 1.
    title: its words.
    part: the member of the archive that it refers to.
    """

    level: int
    title: str
    part: str


def read(data: bytes) -> TextBuilder:
    """The document of an EPUB, with title, creators and language from its package document."""
    book = Book(Archive(data))
    builder = TextBuilder()
    missing = [part for part in book.spine if not _write_chapter(builder, book, part)]
    return builder.described(
        MEDIA_TYPE,
        next(iter(book.metadata("title")), ""),
        creator="; ".join(book.metadata("creator")),
        language=next(iter(book.metadata("language")), ""),
        remark=join_remarks({"chapters missing from the archive": missing}),
    )


def _write_chapter(builder: TextBuilder, book: Book, part: str) -> bool:
    """Write a chapter with its label; False if the archive does not have it."""
    if part not in book.archive.names:
        return False
    chapter = html.read(book.archive.read(part))
    if not chapter.text:
        return True
    entry = book.contents.get(part)
    builder.end_line(blank=True)
    n_headings = len(builder.headings)
    start = builder.include(chapter)
    if entry and entry.title:
        label = entry.title if entry.title.lower().startswith("chapter") else f"chapter {entry.title}"
        builder.add_label(start, label)
        if not any(heading.start < OPENING for heading in chapter.headings):
            builder.headings.insert(n_headings, Heading(start, entry.level, entry.title))
    else:
        builder.add_label(start, part.rpartition("/")[2])
    return True


class Book:
    """A book: its chapters in reading order, and the first entry of each in the table of contents."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        root = archive.xml(CONTAINER).find(".//{*}rootfile")
        self._opf_name = "" if root is None else attribute(root, "full-path")
        if not self._opf_name:
            raise DocumentRejected(f"damaged EPUB: {CONTAINER} names no package document")
        self._opf = archive.xml(self._opf_name)
        items = {attribute(item, "id"): item for item in self._opf.iter("{*}item")}
        order = [items.get(attribute(ref, "idref")) for ref in self._opf.iter("{*}itemref")]
        # Pictures may be part of the order too; they have no text.
        chapters = [item for item in order if item is not None and attribute(item, "media-type") in CHAPTERS]
        self.spine = tuple(self._part(self._opf_name, attribute(item, "href")) for item in chapters)
        if not self.spine:
            raise DocumentRejected(f"damaged EPUB: {self._opf_name} gives no reading order")
        self._refuse_encrypted()
        self.contents: dict[str, Entry] = {}
        for entry in self._entries(list(items.values())):
            self.contents.setdefault(entry.part, entry)

    def metadata(self, name: str) -> list[str]:
        """The values of a Dublin Core element, without empty ones."""
        elements = self._opf.iter(f"{{http://purl.org/dc/elements/1.1/}}{name}")
        return list(filter(None, map(_words, elements)))

    def _refuse_encrypted(self) -> None:
        if ENCRYPTION not in self.archive.names:
            return
        for data in self.archive.xml(ENCRYPTION).iter("{*}EncryptedData"):
            methods = {attribute(method, "Algorithm") for method in data.iter("{*}EncryptionMethod")}
            parts = {unquote(attribute(cipher, "URI")) for cipher in data.iter("{*}CipherReference")}
            if parts.intersection(self.spine) and not methods.intersection(OBFUSCATION):
                raise DocumentRejected("encrypted EPUB: its chapters are under digital rights management")

    def _entries(self, items: list[Element]) -> Iterator[Entry]:
        """The entries of the first table of contents that has any."""
        tables = [
            (item, self._nav_entries) for item in items if "nav" in attribute(item, "properties").split()
        ]
        tables += [(item, self._ncx_entries) for item in items if attribute(item, "media-type") == NCX]
        for item, read_entries in tables:
            name = self._part(self._opf_name, attribute(item, "href"))
            entries = list(read_entries(name)) if name in self.archive.names else []
            if entries:
                yield from entries
                return

    def _ncx_entries(self, name: str) -> Iterator[Entry]:
        for point in self.archive.xml(name).iter("{*}navPoint"):
            level = 1 + sum(local_name(above) == "navPoint" for above in point.iterancestors())
            label = point.find("{*}navLabel")
            content = point.find("{*}content")
            if label is not None and content is not None:
                yield Entry(level, _words(label), self._part(name, attribute(content, "src")))

    def _nav_entries(self, name: str) -> Iterator[Entry]:
        page = html.parse_html(decode(self.archive.read(name))[0])
        nav = page.find("nav", attrs={"epub:type": "toc"}) or page.find("nav")
        for link in nav.find_all("a", href=True) if nav else ():
            level = len(link.find_parents("ol"))
            yield Entry(level, one_line(link.get_text()), self._part(name, str(link["href"])))

    def _part(self, source: str, reference: str) -> str:
        """The member of the archive that a reference points to."""
        name = unquote(reference.partition("#")[0])
        return posixpath.normpath(posixpath.join("/", posixpath.dirname(source), name)).lstrip("/")


def _words(element: Element) -> str:
    return one_line(*element.itertext())
