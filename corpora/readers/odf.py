"""OpenDocument packages (odt, odp, ods): how they are opened, what they call themselves, and their words.

Deleted text, annotations and the second text of ruby are left out. An encrypted document is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from spanwise.errors import DocumentRejected

from .package import Element, Package, attribute, local_name

CONTENT, META, MANIFEST = "content.xml", "meta.xml", "META-INF/manifest.xml"
# What is not shown, or not text of its own place.
LEFT_OUT = frozenset(
    "tracked-changes annotation annotation-end ruby-text note desc title event-listeners".split()
)
SPACES = re.compile("[ \t\r\n]+")  # what the format collapses; a no-break space stays
MAX_SPACES = 100  # that one element may stand for


def open_package(data: bytes) -> Package:
    """The opened package; `DocumentRejected` for one that needs a password."""
    package = Package(data)
    if MANIFEST in package.names and package.xml(MANIFEST).find(".//{*}encryption-data") is not None:
        raise DocumentRejected("encrypted OpenDocument file: needs a password")
    return package


def body(package: Package, kind: str) -> tuple[Element, Element]:
    """The root of the content and the element that holds the text, the slides or the sheets."""
    root = package.xml(CONTENT)
    found = root.find(f"{{*}}body/{{*}}{kind}")
    if found is None:
        raise DocumentRejected(f"damaged: {CONTENT} holds no {kind}")
    return root, found


def meta_title(package: Package) -> str:
    """The title among the properties, or the empty string."""
    if META not in package.names:
        return ""
    return package.xml(META).findtext(".//{*}title") or ""


def children(element: Element, *names: str) -> Iterator[Element]:
    """The nearest elements below of these names, looked for through all that only wraps them."""
    for child in element:
        name = local_name(child)
        if name in names:
            yield child
        elif name not in LEFT_OUT:
            yield from children(child, *names)


def words(element: Element) -> str:
    """The text below an element on one line."""
    return " ".join("".join(pieces(element)).split())


def pieces(element: Element) -> Iterator[str]:
    """The pieces of text below an element, without its text boxes; elements for white space count."""
    yield _collapsed(element.text)
    for child in element:
        match local_name(child):
            case "s":
                yield " " * min(count(child, "c"), MAX_SPACES)
            case "tab":
                yield "\t"
            case "line-break":
                yield "\n"
            case "note":
                yield f"[{note_mark(child)}]"
            case "p" | "h":
                yield from pieces(child)
                yield "\n"
            case name if name not in LEFT_OUT and name != "frame":
                yield from pieces(child)
        yield _collapsed(child.tail)


def count(element: Element, name: str) -> int:
    """The number that an attribute gives, 1 when it gives none."""
    said = attribute(element, name, "1")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 10 else 1


def note_mark(note: Element) -> str:
    """What stands in the text where a footnote or endnote belongs."""
    mark = note.find("{*}note-citation")
    return "" if mark is None else "".join(mark.itertext()).strip()


def _collapsed(text: str | None) -> str:
    return SPACES.sub(" ", text or "")
