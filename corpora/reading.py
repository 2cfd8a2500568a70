"""Reads files into documents with the reader that fits their content first, their name second.

Text in a known encoding is read as plain text, whatever its name. A file of an unknown format is skipped. A
file of a known format that cannot be read is rejected with a reason.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from spanwise.errors import DocumentRejected
from spanwise.types import Document, within

from .archive import DAMAGE, zip_content
from .decoding import is_text
from .front_matter import TEMPLATES, inner_suffix
from .readers import contacts, csv, docx, eml, epub, html, ipynb, json, markup, odf, pdf, pptx, rtf, xlsx, xml
from .readers.builder import TextBuilder, build_document
from .readers.scan import RecognisedPage, picture_type

FormatReader = Callable[[bytes], TextBuilder]

SUFFIXES: dict[FormatReader, str] = {
    markup.read_text: ".txt .text .log",
    markup.read_markdown: ".md .markdown .mdown .mkd .mdx",
    html.read: ".html .htm .xhtml",
    csv.read: ".csv .tsv .tab .psv",
    json.read: ".json .jsonl .ndjson .geojson",
    xml.read: ".xml .rss .atom .dbk .docbook .opml .fb2 .tei",
    markup.read_rst: ".rst .rest",
    markup.read_asciidoc: ".adoc .asciidoc .asc .ad",
    markup.read_tex: ".tex .latex .ltx",
    ipynb.read: ".ipynb",
    contacts.read: ".vcf .vcard .ics .ical",
    pdf.read: ".pdf",
}
BY_SUFFIX = {suffix: reader for reader, suffixes in SUFFIXES.items() for suffix in suffixes.split()}


@dataclass(frozen=True, slots=True)
class ZipFormat:
    """A format that is a zip archive.

    name: for messages.
    suffixes: of its files.
    part: the member that it needs.
    read: its reader.
    media_type: the text that its member `mimetype` needs, or the empty string.
    """

    name: str
    suffixes: str
    part: str
    read: FormatReader
    media_type: str = ""


ZIP_FORMATS = (
    ZipFormat("Word document", ".docx .docm .dotx .dotm", "word/document.xml", docx.read),
    ZipFormat("PowerPoint presentation", ".pptx .pptm .ppsx .potx", "ppt/presentation.xml", pptx.read),
    ZipFormat("Excel workbook", ".xlsx .xlsm .xltx .xltm", "xl/workbook.xml", xlsx.read),
    ZipFormat("EPUB", ".epub", epub.CONTAINER, epub.read),
    ZipFormat("OpenDocument text", ".odt .ott", odf.CONTENT, odf.read_text, odf.TEXT),
    ZipFormat("OpenDocument spreadsheet", ".ods .ots", odf.CONTENT, odf.read_spreadsheet, odf.SPREADSHEET),
    ZipFormat("OpenDocument presentation", ".odp .otp", odf.CONTENT, odf.read_presentation, odf.PRESENTATION),
)
BY_ZIP_SUFFIX = {suffix: zip_format for zip_format in ZIP_FORMATS for suffix in zip_format.suffixes.split()}
MAIL = ".eml .mht .mhtml .mbox .mbx".split()
# Formats that are not read, with the one to save a file in.
OLD_OFFICE = {".doc": ".docx", ".xls": ".xlsx", ".ppt": ".pptx", ".msg": ".eml"}
DOCUMENT_SUFFIXES = {*BY_SUFFIX, *BY_ZIP_SUFFIX, *MAIL, *OLD_OFFICE, ".rtf", ""}
# Text files that answer no question.
NOT_PROSE = ".css .js .mjs .map .svg".split()
READERS = "13"  # the version of the readers; raise it when one accepts other files or gives another text
MAX_TEXT = 50_000_000  # characters
HEAD = 1024  # bytes in which a format is recognised
HTML_START = re.compile(rb"(?:<\?xml[^>]{0,200}>)?\s{0,100}<(?:!doctype\s{1,20}html|html)[\s>]", re.I)
XML_START = re.compile(rb"<\?xml\s")
SVG_START = re.compile(rb"(?:<(?:\?|!)[^>]{0,300}>\s{0,100}){0,9}<svg[\s>]")
PGP_START = re.compile(rb"-----BEGIN PGP (?!SIGNED)")  # keys and signatures; a signed message is text
NOTEBOOK = re.compile(rb'"nbformat"\s{0,100}:')
MAIL_HEADER = re.compile(rb"(?:From [^\n]{1,200}\n)?[!-9;-~]{1,76}:[ \t\r\n]")
# A file that starts with one of these is a message, whatever its name.
FIRST_HEADER = re.compile(
    rb"(?:From \S{1,100} [^\n]{1,99}\d{4}\r?\n[!-9;-~]{1,76}: |"
    rb"(?:Return-Path|Received|Delivered-To|Message-ID|MIME-Version): )",
    re.I,
)
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # in the directory of an OLE file
ZIP = b"PK\x03\x04"
OLE = b"\xd0\xcf\x11\xe0"
TYPE_NAMES = {
    "application/epub+zip": "epub",
    "application/json": "json",
    "application/pdf": "pdf",
    "application/rtf": "rtf",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/x-ipynb+json": "ipynb",
    "application/x-ndjson": "jsonl ndjson",
    "application/xml": "xml",
    "image/jpeg": "jpg jpeg",
    "image/png": "png",
    "image/tiff": "tif tiff",
    "message/rfc822": "eml",
    "text/asciidoc": "adoc asciidoc",
    "text/csv": "csv",
    "text/html": "html htm",
    "text/markdown": "md markdown",
    "text/plain": "txt text",
    "text/tab-separated-values": "tsv",
    "text/x-rst": "rst",
    "text/x-tex": "tex latex",
}


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file of an unknown format.

    document_id: its name.
    reason: the reason under which it is counted.
    """

    document_id: str
    reason: str


def parse(
    data: bytes,
    document_id: str,
    max_text: int = MAX_TEXT,
    recognised: Mapping[int, RecognisedPage] | None = None,
) -> Document | SkippedFile:
    """The document in the bytes of a file, of at most `max_text` characters; its text is never blank.

    Pictures are read only with `recognised` pages, see `pdf.read`. `DocumentRejected` if the reader fails, or
    if the text is blank.
    """
    if not data:
        raise DocumentRejected("empty file")
    try:
        builder = read(data, document_id, recognised)
        if builder is None:
            suffix = inner_suffix(document_id)
            remedy = f": save it as {OLD_OFFICE[suffix]}" if suffix in OLD_OFFICE else ""
            return SkippedFile(document_id, f"unsupported format {suffix or '(no suffix)'}{remedy}")
        document = build_document(builder, data, document_id)
    except (DocumentRejected, MemoryError):
        raise
    except Exception as error:  # one bad file must not stop a folder
        raise DocumentRejected(f"its parser failed: {type(error).__name__}: {error}") from error
    if not document.text or document.text.isspace():
        raise DocumentRejected("no text in it")
    return document if len(document.text) <= max_text else _beginning(document, max_text)


def read(
    data: bytes, name: str, recognised: Mapping[int, RecognisedPage] | None = None
) -> TextBuilder | None:
    """What the reader of a file writes; None for an unknown format. It raises what its libraries raise.

    `recognised` are the pages of a PDF or a picture that an engine read, by number.
    """
    reader = choose_reader(data, inner_suffix(name))
    if reader is pdf.read or (recognised and picture_type(data)):
        return pdf.read(data, recognised)
    if reader is eml.read:
        return eml.read(data, _read_attached)
    if reader is html.read and name.lower().endswith(TEMPLATES):
        return html.read(data, is_template=True)
    return reader(data) if reader else None


def _read_attached(data: bytes, name: str) -> TextBuilder | None:
    """What the reader of an attached file writes, unless that is another mail."""
    return None if choose_reader(data, inner_suffix(name)) is eml.read else read(data, name)


def _beginning(document: Document, max_text: int) -> Document:
    """The document up to the last line end within the limit, with a remark."""
    length = len(document.text)
    end = document.text.rfind("\n", 0, max_text) + 1 or max_text
    remarks = [document.metadata.get("remark"), f"only the first {end:,} of {length:,} characters are read"]
    return replace(
        document,
        text=document.text[:end],
        page_starts=tuple(start for start in document.page_starts if start < end),
        headings=tuple(heading for heading in document.headings if heading.start < end),
        labels=tuple(label for label in document.labels if label.start < end),
        left_out=within(document.left_out, 0, end),
        metadata={**document.metadata, "remark": "; ".join(filter(None, remarks))},
    )


def choose_reader(data: bytes, suffix: str) -> FormatReader | None:
    """The reader for a content and a suffix, or None; `DocumentRejected` if the two contradict each other."""
    head = data[:HEAD].lstrip(b"\xef\xbb\xbf \t\r\n\f\0")
    if head.startswith(b"%PDF-"):
        return pdf.read
    if head.startswith(ZIP):
        return _zip_reader(data, suffix)
    if head.startswith(OLE):
        _refuse_ole(data, suffix)
        return None
    if head.startswith(b"{\\rtf"):
        return rtf.read
    if suffix in BY_ZIP_SUFFIX:
        raise DocumentRejected(f"not a {BY_ZIP_SUFFIX[suffix].name}: it is not a zip archive")
    known = BY_SUFFIX.get(suffix)
    if known is None and (MAIL_HEADER if suffix in MAIL else FIRST_HEADER).match(head):
        return eml.read
    if known is pdf.read and b"%PDF-" not in data[:HEAD]:
        raise DocumentRejected("not a PDF: it does not start with %PDF-")
    if suffix in NOT_PROSE or PGP_START.match(head) or SVG_START.match(head):
        return None
    if known is None and not is_text(data):
        return None
    if HTML_START.match(head) and known is not markup.read_markdown:
        return html.read
    if known is xml.read or XML_START.match(head):
        return xml.read
    if known is json.read and NOTEBOOK.search(data):
        return ipynb.read
    return known or markup.read_text


def _zip_reader(data: bytes, suffix: str) -> FormatReader | None:
    """The reader for a zip archive; its main member and its `mimetype` count before its suffix."""
    promised = BY_ZIP_SUFFIX.get(suffix)
    try:
        names, mimetype = zip_content(data)
    except DAMAGE as error:
        if promised:
            raise DocumentRejected(f"damaged or truncated {promised.name}: {error}") from error
        return None
    for zip_format in ZIP_FORMATS:
        if zip_format.part in names and zip_format.media_type in ("", mimetype.removesuffix("-template")):
            return zip_format.read
    if promised is None:
        return None
    if promised.part not in names:
        raise DocumentRejected(f"not a {promised.name}: the archive has no {promised.part}")
    return promised.read


def _refuse_ole(data: bytes, suffix: str) -> None:
    """Raise `DocumentRejected` for an encrypted Office file, and for one with the suffix of a zip format."""
    if ENCRYPTED in data:
        raise DocumentRejected("encrypted Office document: needs a password")
    if suffix in BY_ZIP_SUFFIX:
        raise DocumentRejected(
            f"encrypted {BY_ZIP_SUFFIX[suffix].name}, or in the format before 2007: save it as {suffix}"
        )


def names_of(media_type: str) -> tuple[str, ...]:
    """The names of a media type, the most common first and the media type itself last.

    >>> names_of("text/markdown")
    ('md', 'markdown', 'text/markdown')
    """
    return (*TYPE_NAMES.get(media_type, "").split(), media_type)


def type_name(name: str) -> str:
    """The name of a type as a person types it, in the form of `names_of`.

    >>> type_name(" .PDF")
    'pdf'
    """
    return name.strip().lower().removeprefix(".")
