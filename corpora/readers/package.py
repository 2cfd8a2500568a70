"""Zipped formats as packages of parts, and the one way in which their XML is parsed.

Every member is inflated and counted before the first is parsed (`zip_limits`). XML is refused when it
declares entities, however they are spelled; nothing is fetched, no DTD is loaded, and lxml refuses more
than 256 levels and single texts of more than 10 MB.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from spanwise.errors import DocumentRejected

from .zip_limits import check_zip

Element = Any  # lxml comes without type hints
# As it stands in UTF-8 and its like, and in UTF-16 of both byte orders.
ENTITY = b"<!ENTITY"
ENTITY_IN_UTF_16 = ENTITY.decode().encode("utf-16-le")[:-1]
SAFE = {"resolve_entities": False, "load_dtd": False, "no_network": True, "huge_tree": False}


class Package:
    """The parts of a zip archive by name; `DocumentRejected` for a damaged, encrypted or exploding one."""

    def __init__(self, data: bytes) -> None:
        check_zip(data)
        self._archive = zipfile.ZipFile(BytesIO(data))
        self.names = frozenset(self._archive.namelist())

    def read(self, name: str) -> bytes:
        """The bytes of a part; `DocumentRejected` when the archive does not hold it."""
        if name not in self.names:
            raise DocumentRejected(f"damaged: the archive holds no {name}")
        return self._archive.read(name)

    def xml(self, name: str) -> Element:
        """The root element of a part."""
        return parse_xml(self.read(name), name)

    def closed_elements(self, name: str, *tags: str) -> Iterator[Element]:
        """Each element of a large part with one of the tags, when it has been read; emptied afterwards."""
        from lxml import etree

        data = self.read(name)
        _refuse_entities(data, name)
        try:
            for _, element in etree.iterparse(BytesIO(data), tag=tags, **SAFE):
                yield element
                element.clear()
                while element.getprevious() is not None:  # what was emptied still hangs in the tree
                    del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            raise DocumentRejected(f"damaged {name}: {error}") from error

    def resolve(self, part: str, target: str) -> str:
        """The name of the part that a reference in another part means; above the root there is nothing."""
        return posixpath.normpath(posixpath.join("/", posixpath.dirname(part), target)).lstrip("/")


def parse_xml(data: bytes, name: str) -> Element:
    """The root element of an XML text, which `name` calls in the reason of a refusal."""
    from lxml import etree

    _refuse_entities(data, name)
    try:
        return etree.fromstring(data, etree.XMLParser(**SAFE, remove_comments=True, remove_pis=True))
    except etree.XMLSyntaxError as error:
        raise DocumentRejected(f"damaged {name}: {error}") from error


def _refuse_entities(data: bytes, name: str) -> None:
    if ENTITY in data or ENTITY_IN_UTF_16 in data:
        raise DocumentRejected(f"{name} declares XML entities, which are not expanded")


def local_name(element: Element) -> str:
    """The tag of an element without its namespace; empty for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str, default: str = "") -> str:
    """The attribute of that name in whatever namespace, else the default."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(value)
    return default
