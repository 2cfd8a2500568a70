"""Makes office files, books and mails from texts, with other libraries than those that read them."""

import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from email.message import EmailMessage
from io import BytesIO
from xml.sax.saxutils import escape

import pptx
import xlsxwriter
from pptx.util import Inches

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ODF_NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in "office text table presentation style".split()
)
DRAW = 'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
ODF_TYPE = "application/vnd.oasis.opendocument."
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)


def archive(members: Mapping[str, str | bytes]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in members.items():
            target.writestr(name, data)
    return file.getvalue()


def rezipped(data: bytes, members: Mapping[str, str | bytes]) -> bytes:
    """An archive with members replaced or added."""
    with zipfile.ZipFile(BytesIO(data)) as old:
        return archive({name: old.read(name) for name in old.namelist()} | dict(members))


def without(data: bytes, name: str) -> bytes:
    """An archive without one of its members."""
    with zipfile.ZipFile(BytesIO(data)) as old:
        return archive({member: old.read(member) for member in old.namelist() if member != name})


def in_xml(text: str) -> str:
    return escape(NOT_IN_XML.sub("", text))


def as_pptx(text: str) -> bytes:
    """One slide per part between form feeds, with a title and a text box for the rest."""
    show = pptx.Presentation()
    for part in text.split("\f"):
        slide = show.slides.add_slide(show.slide_layouts[5])
        title, *rest = NOT_IN_XML.sub("", part).split("\n\n")
        slide.shapes.title.text = title
        box = slide.shapes.add_textbox(0, 0, Inches(5), Inches(5))
        box.text_frame.text = "\n".join(rest)
    file = BytesIO()
    show.save(file)
    return file.getvalue()


def as_xlsx(text: str) -> bytes:
    """One row per line; tabs separate cells."""
    return workbook({"Sheet1": [line.split("\t") for line in NOT_IN_XML.sub("", text).split("\n")]})


def workbook(sheets: Mapping[str, Sequence[Sequence[str | float | None]]]) -> bytes:
    file = BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                for column, value in enumerate(row):
                    write = sheet.write_string if isinstance(value, str) else sheet.write
                    write(number, column, value)
    return file.getvalue()


def as_odt(text: str) -> bytes:
    return odf("text", "".join(f"<text:p>{in_xml(part)}</text:p>" for part in text.split("\n\n")))


def as_ods(text: str) -> bytes:
    lines = (line.split("\t") for line in text.split("\n"))
    rows = (
        "".join(f"<table:table-cell><text:p>{in_xml(cell)}</text:p></table:table-cell>" for cell in line)
        for line in lines
    )
    body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    return odf("spreadsheet", f'<table:table table:name="Sheet1">{body}</table:table>')


def as_odp(text: str) -> bytes:
    slides = (
        "".join(
            f"<draw:frame><draw:text-box><text:p>{in_xml(part)}</text:p></draw:text-box></draw:frame>"
            for part in slide.split("\n\n")
        )
        for slide in text.split("\f")
    )
    return odf("presentation", "".join(f"<draw:page>{slide}</draw:page>" for slide in slides))


def odf(kind: str, body: str, styles: str = "", **members: str) -> bytes:
    content = (
        f"<office:document-content {ODF_NAMESPACES} {DRAW}>"
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    return archive({"mimetype": ODF_TYPE + kind, "content.xml": content, **members})


def as_epub(text: str) -> bytes:
    """One chapter per part between form feeds."""
    chapters = (
        "".join(f"<p>{in_xml(part)}</p>\n" for part in page.split("\n\n")) for page in text.split("\f")
    )
    return book({f"c{number}.xhtml": chapter for number, chapter in enumerate(chapters)})


def book(chapters: Mapping[str, str], metadata: str = "", manifest: str = "", **members: str) -> bytes:
    """An EPUB with the bodies of its chapters by name."""
    items = "".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters
    )
    order = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata>{metadata}</metadata><manifest>{items}{manifest}</manifest><spine>{order}</spine></package>"
    )
    page = '<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><body>{}</body></html>'
    pages = {f"OEBPS/{name}": page.replace("{}", body) for name, body in chapters.items()}
    package = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, "OEBPS/book.opf": opf}
    return archive({**package, **pages, **members})


def as_eml(text: str) -> bytes:
    message = EmailMessage()
    message["From"] = "Ada <ada@example.org>"
    message["Subject"] = " ".join(NOT_IN_XML.sub("", text[:60]).split())
    message.set_content(text)
    return message.as_bytes()


def as_rtf(text: str) -> bytes:
    """The text with an escape for each code unit that is no ASCII letter or digit."""
    units = memoryview(text.encode("utf-16-le")).cast("H")
    return b"{\\rtf1\\ansi\\uc1 " + b"".join(map(_rtf_unit, units)) + b"}"


def _rtf_unit(unit: int) -> bytes:
    if unit == ord("\n"):
        return b"\\par\n"
    plain = chr(unit).isascii() and chr(unit).isalnum()
    return chr(unit).encode() if plain else b"\\u%d?" % (unit - 0x10000 if unit > 0x7FFF else unit)


OFFICE_MAKERS: dict[str, Callable[[str], bytes]] = {
    "a.epub": as_epub,
    "a.pptx": as_pptx,
    "a.xlsx": as_xlsx,
    "a.odt": as_odt,
    "a.ods": as_ods,
    "a.odp": as_odp,
    "a.eml": as_eml,
    "a.rtf": as_rtf,
}
