"""What an EPUB says about itself: title, creators, language, its reading order and its table of contents.

EPUB 2 has its contents in an NCX, EPUB 3 in a page with a `nav`; a book may have both, and the page is
taken. Font obfuscation is no encryption of text; a chapter that is listed as encrypted refuses the whole
book.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from spanwise.errors import DocumentRejected

from ..decoding import decode
from .package import Element, Package, attribute, local_name

CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
NCX = "application/x-dtbncx+xml"
OBFUSCATION = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
CHAPTERS = ("application/xhtml+xml", "text/html", "text/x-oeb1-document", "")


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the table of contents: depth from 1, title, and the part that it points into."""

    level: int
    title: str
    part: str


@dataclass(frozen=True, slots=True)
class Book:
    """The parts of a book in reading order, and what is said about it. `contents` maps parts to entries."""

    title: str
    creator: str
    language: str
    spine: tuple[str, ...]
    contents: dict[str, Entry]


def read_book(package: Package) -> Book:
    """What the package document says; `DocumentRejected` for a book that is encrypted or has no order."""
    opf_name = _package_document(package)
    opf = package.xml(opf_name)
    items = {attribute(item, "id"): item for item in opf.iter("{*}item")}
    order = [items.get(attribute(ref, "idref")) for ref in opf.iter("{*}itemref")]
    # Pictures may stand in the order too; they have no text.
    chapters = [item for item in order if item is not None and attribute(item, "media-type") in CHAPTERS]
    spine = tuple(_part(package, opf_name, attribute(item, "href")) for item in chapters)
    if not spine:
        raise DocumentRejected(f"damaged EPUB: {opf_name} gives no reading order")
    _refuse_encrypted(package, spine)
    contents: dict[str, Entry] = {}
    for entry in _contents(package, opf_name, list(items.values())):
        contents.setdefault(entry.part, entry)
    said = {name: _said(opf, name) for name in ("title", "creator", "language")}
    return Book(
        next(iter(said["title"]), ""),
        "; ".join(said["creator"]),
        next(iter(said["language"]), ""),
        spine,
        contents,
    )


def _package_document(package: Package) -> str:
    for rootfile in package.xml(CONTAINER).iter("{*}rootfile"):
        return attribute(rootfile, "full-path")
    raise DocumentRejected(f"damaged EPUB: {CONTAINER} names no package document")


def _said(opf: Element, name: str) -> list[str]:
    """What the elements of the metadata with that name hold."""
    found = opf.iter(f"{{http://purl.org/dc/elements/1.1/}}{name}")
    return [words for element in found if (words := " ".join("".join(element.itertext()).split()))]


def _refuse_encrypted(package: Package, spine: tuple[str, ...]) -> None:
    if ENCRYPTION not in package.names:
        return
    for data in package.xml(ENCRYPTION).iter("{*}EncryptedData"):
        methods = {attribute(method, "Algorithm") for method in data.iter("{*}EncryptionMethod")}
        parts = {unquote(attribute(cipher, "URI")) for cipher in data.iter("{*}CipherReference")}
        if parts.intersection(spine) and not methods.intersection(OBFUSCATION):
            raise DocumentRejected("encrypted EPUB: its chapters are under digital rights management")


def _contents(package: Package, opf_name: str, items: list[Element]) -> Iterator[Entry]:
    """The table of contents, of the first kind that has any lines."""
    navs = [item for item in items if "nav" in attribute(item, "properties").split()]
    ncxs = [item for item in items if attribute(item, "media-type") == NCX]
    for found, read in ((navs, _nav_entries), (ncxs, _ncx_entries)):
        for item in found:
            name = _part(package, opf_name, attribute(item, "href"))
            entries = list(read(package, name)) if name in package.names else []
            if entries:
                yield from entries
                return


def _ncx_entries(package: Package, name: str) -> Iterator[Entry]:
    for point in package.xml(name).iter("{*}navPoint"):
        level = 1 + sum(local_name(above) == "navPoint" for above in point.iterancestors())
        label, content = point.find("{*}navLabel"), point.find("{*}content")
        if label is not None and content is not None:
            title = " ".join("".join(label.itertext()).split())
            yield Entry(level, title, _part(package, name, attribute(content, "src")))


def _nav_entries(package: Package, name: str) -> Iterator[Entry]:
    from bs4 import BeautifulSoup

    source, _ = decode(package.read(name))
    page = BeautifulSoup("<!DOCTYPE html>" + source, "lxml")
    nav = page.find("nav", attrs={"epub:type": "toc"}) or page.find("nav")
    for link in nav.find_all("a", href=True) if nav else ():
        level = len(link.find_parents("ol"))
        yield Entry(level, " ".join(link.get_text().split()), _part(package, name, str(link["href"])))


def _part(package: Package, source: str, reference: str) -> str:
    """The part that a reference means; what stands behind "#" is a place inside it."""
    return package.resolve(source, unquote(reference.partition("#")[0]))
