"""Which reader a zip archive or an OLE file belongs to, told by its content, and what begins like mail.

A zipped document is told by its main part or by what it says of itself, wherever its name points; a name
that promises what the content is not gives the reason of a refusal. An archive that is no document has no
reader.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO

from spanwise.errors import DocumentRejected
from spanwise.types import Document

from .readers import docx, epub, odp, ods, odt, pptx, xlsx
from .readers.zip_limits import DAMAGE

Reader = Callable[[bytes, str], Document]


@dataclass(frozen=True, slots=True)
class Zipped:
    """A zipped format: its name for a person, the part that it cannot do without, and its reader."""

    name: str
    part: str
    read: Reader


WORD = Zipped("Word document", "word/document.xml", docx.read)
SLIDES = Zipped("PowerPoint presentation", "ppt/presentation.xml", pptx.read)
SHEETS = Zipped("Excel workbook", "xl/workbook.xml", xlsx.read)
BOOK = Zipped("EPUB", "META-INF/container.xml", epub.read)
ODT = Zipped("OpenDocument text", "content.xml", odt.read)
ODS = Zipped("OpenDocument spreadsheet", "content.xml", ods.read)
ODP = Zipped("OpenDocument presentation", "content.xml", odp.read)
ZIPPED = {
    **dict.fromkeys((".docx", ".docm", ".dotx", ".dotm"), WORD),
    **dict.fromkeys((".pptx", ".pptm", ".ppsx", ".potx"), SLIDES),
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx", ".xltm"), SHEETS),
    **{".epub": BOOK, ".odt": ODT, ".ott": ODT, ".ods": ODS, ".ots": ODS, ".odp": ODP, ".otp": ODP},
}
# What the member `mimetype` says, where there is one; a template says so behind it.
SAID = {epub.MEDIA_TYPE: BOOK, odt.MEDIA_TYPE: ODT, ods.MEDIA_TYPE: ODS, odp.MEDIA_TYPE: ODP}
MAX_SAID = 100  # bytes

MAIL = (".eml", ".mht", ".mhtml")
HEADER = re.compile(rb"(?:From [^\n]{1,200}\n)?[!-9;-~]{1,76}:[ \t\r\n]")
# With one of these in front, a file is a message whatever its name.
FIRST_HEADER = re.compile(rb"(?:Return-Path|Received|Delivered-To|Message-ID|MIME-Version): ", re.I)
DIRECTORY_ENTRY = 128  # bytes, to which those of an OLE file are aligned


def zip_reader(data: bytes, suffix: str) -> Reader | None:
    """The reader for a zip archive; `DocumentRejected` when its name promises what it does not hold."""
    promised = ZIPPED.get(suffix)
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            found = _told_by_content(archive)
            parts = frozenset(archive.namelist())
    except (*DAMAGE, RuntimeError) as error:  # the last is zipfile's word for an encrypted member
        if promised:
            raise DocumentRejected(f"damaged or truncated {promised.name}: {error}") from error
        return None
    if found is None and promised and promised.part not in parts:
        raise DocumentRejected(f"not a {promised.name}: the archive holds no {promised.part}")
    found = found or promised
    return found.read if found else None


def _told_by_content(archive: zipfile.ZipFile) -> Zipped | None:
    parts = frozenset(archive.namelist())
    for known in (WORD, SLIDES, SHEETS, BOOK):
        if known.part in parts:
            return known
    if "mimetype" not in parts:
        return None
    with archive.open("mimetype") as stream:
        said = stream.read(MAX_SAID).decode("ascii", "replace").strip()
    return SAID.get(said.removesuffix("-template"))


def refuse_promise(suffix: str) -> None:
    """Raise `DocumentRejected` for a name of a zipped format, when the content is no archive."""
    if suffix in ZIPPED:
        raise DocumentRejected(f"not a {ZIPPED[suffix].name}: it is no zip archive")


def refuse_ole(data: bytes, suffix: str) -> None:
    """Raise `DocumentRejected` for an encrypted Office file, or one with the name of a zipped format."""
    if _holds_stream(data, "EncryptedPackage"):
        raise DocumentRejected("encrypted Office document: needs a password")
    if suffix in ZIPPED:
        name = ZIPPED[suffix].name
        raise DocumentRejected(f"encrypted {name}, or one of the old form of before 2007")


def _holds_stream(data: bytes, stream: str) -> bool:
    """True when an entry of the directory, wherever that lies, has this name."""
    name = stream.encode("utf-16-le") + b"\0\0"
    at = data.find(name)
    while at >= 0 and at % DIRECTORY_ENTRY:
        at = data.find(name, at + 1)
    return at >= 0


def is_mail(head: bytes, suffix: str) -> bool:
    """True for a file that begins like a message; without the name of one, only some headers make it so."""
    return (HEADER if suffix in MAIL else FIRST_HEADER).match(head) is not None
