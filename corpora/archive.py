"""Zip archives, opened with limits so that a small file cannot fill the memory.

All members are inflated and counted before the first is parsed, because declared sizes are not trusted. An
XML member that declares entities is refused, and no parser here expands them. Nothing is fetched, and no DTD
is loaded.
"""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from spanwise.errors import DocumentRejected

MAX_MEMBERS = 10_000
MAX_INFLATED = 200_000_000  # bytes, all members together
MAX_RATIO = 100  # inflated to stored bytes, above FREE_INFLATED
FREE_INFLATED = 4_000_000  # bytes
# What zipfile raises on a damaged archive, and RuntimeError on an encrypted member.
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError, RuntimeError)
# The bytes in UTF-8 and other supersets of ASCII, and those in UTF-16 of both byte orders.
ENTITY = b"<!ENTITY"
ENTITY_IN_UTF_16 = ENTITY.decode().encode("utf-16-le")[:-1]
XML_SUFFIXES = (".xml", ".rels", ".opf", ".ncx")
MIMETYPE = "mimetype"
MAX_MIMETYPE = 100  # bytes

MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"

Element = Any  # lxml comes without type hints


class Archive:
    """The members of a zip archive by name.

    `DocumentRejected` for a damaged or encrypted archive, and for a zip bomb.
    """

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
            self.names = frozenset(self._zip.namelist())
            self._inflate_all(len(data))
        except DAMAGE as error:
            kind = "encrypted" if isinstance(error, RuntimeError) else "damaged"
            raise DocumentRejected(f"{kind} zip archive: {error}") from error

    def read(self, name: str) -> bytes:
        """The bytes of a member; `DocumentRejected` if the archive has no such member."""
        if name not in self.names:
            raise DocumentRejected(f"damaged: the archive has no {name}")
        return self._zip.read(name)

    def xml(self, name: str) -> Element:
        """The root element of a member."""
        from lxml import etree

        try:
            return etree.fromstring(self.read(name), safe_parser())
        except etree.XMLSyntaxError as error:
            raise DocumentRejected(f"damaged {name}: {error}") from error

    def _inflate_all(self, stored: int) -> None:
        members = self._zip.infolist()
        if len(members) > MAX_MEMBERS:
            raise DocumentRejected(f"zip archive of {len(members):,} members; the limit is {MAX_MEMBERS:,}")
        allowed = min(MAX_INFLATED, max(FREE_INFLATED, MAX_RATIO * stored))
        left = allowed
        for member in members:
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise DocumentRejected("zip archive with another compression than deflate")
            with self._zip.open(member) as stream:
                content = stream.read(left + 1)
            left -= len(content)
            if left < 0:
                raise DocumentRejected(
                    f"zip bomb: {stored:,} bytes inflate to more than {allowed:,}, "
                    f"the limit for a file of this size"
                )
            is_xml = member.filename.endswith(XML_SUFFIXES)
            if is_xml and (ENTITY in content or ENTITY_IN_UTF_16 in content):
                raise DocumentRejected(f"{member.filename} declares XML entities, which are not expanded")


def zip_content(data: bytes) -> tuple[frozenset[str], str]:
    """The member names of a zip archive, and the text of its member `mimetype`; raises one of `DAMAGE`."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        names = frozenset(archive.namelist())
        mimetype = archive.open(MIMETYPE).read(MAX_MIMETYPE) if MIMETYPE in names else b""
    return names, mimetype.decode("ascii", "replace").strip()


@contextmanager
def office_file(data: bytes, name: str) -> Iterator[BytesIO]:
    """The file as a stream for another library, within the limits; its errors become `DocumentRejected`."""
    Archive(data)
    try:
        yield BytesIO(data)
    except DocumentRejected:
        raise
    except Exception as error:  # these libraries raise many kinds on a damaged file
        raise DocumentRejected(f"damaged {name}: {type(error).__name__}: {error}") from error


def safe_parser(encoding: str | None = None) -> Any:
    """An XML parser that fetches nothing; lxml loads no DTD, and refuses 256 levels and texts over 10 MB."""
    from lxml.etree import XMLParser

    return XMLParser(encoding=encoding, resolve_entities=False, remove_comments=True, remove_pis=True)


def local_name(element: Element) -> str:
    """The tag of an element without its namespace; empty for comments and entities."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str, default: str = "") -> str:
    """The value of an attribute, whatever its namespace, else the default."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(value)
    return default


def setting(element: Element, path: str, default: str = "", missing: str = "") -> str:
    """The value of the setting at a path; `default` if it has no value, `missing` without it."""
    child = element.find("{*}" + path.replace("/", "/{*}"))
    return missing if child is None else attribute(child, "val", default)


def choose_alternatives(root: Element) -> None:
    """Replace each `mc:AlternateContent` by its first alternative with text, in place."""
    for element in reversed(list(root.iter(f"{MC}AlternateContent"))):
        for alternative in element:
            if any(text.strip() for text in alternative.itertext()):
                for child in list(alternative):
                    element.addprevious(child)
                break
        element.getparent().remove(element)
