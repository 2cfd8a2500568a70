r"""Rich Text Format: read in one pass, in time linear in the file.

A reader of its own, because striprtf keeps no headings, notes or deletions apart and takes quadratic time
on hostile files. Deleted and hidden text, pictures, headers and footers are left out; of fields the result
is shown. Bytes are decoded by the character set of their font, else the code page of the file. A file that
ends inside a group is read as far as it goes, with a remark. Tables inside cells become part of their cell.
"""

from __future__ import annotations

import codecs
import re
from copy import copy
from dataclasses import dataclass

from spanwise.errors import DocumentRejected
from spanwise.types import Document

from .building import build_document
from .rtf_writer import Paragraph, RtfWriter, whole
from .titles import first_line

MEDIA_TYPE = "application/rtf"
MAX_DEPTH = 1000  # groups; Word writes about ten
TOKEN = re.compile(
    r"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?[0-9]{1,10})? ?|\\'(?P<hex>[0-9a-fA-F]{2})|\\(?P<symbol>.)"
    r"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n]+|\\",
    re.S,
)
# Groups that are no text of the body, beside all that are marked with \* and not in `TEXT_AFTER_ALL`.
LEFT_OUT = frozenset(
    """colortbl pict header headerl headerr headerf footer footerl footerr footerf objdata nonshppict sp
    shprslt annotation atnid atnauthor listtext pntext pntxta pntxtb xe tc rxe txe fldinst filetbl revtbl upr
    listtable listoverridetable rsidtbl author operator creatim revtim printim doccomm keywords subject
    category""".split()
)
TEXT_AFTER_ALL = frozenset(("shpinst", "shptxt"))
CHARACTERS = {
    **{"tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "emspace": "\u2003", "enspace": "\u2002"},
    **{"qmspace": "\u2005", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”"},
    **{"zwj": "\u200d", "zwnj": "\u200c", "zwbo": "\u200b", "ltrmark": "\u200e", "rtlmark": "\u200f"},
}
SYMBOLS = {"\\": "\\", "{": "{", "}": "}", "~": "\xa0", "_": "\u2011", "\t": "\t"}
# Character sets of fonts; those that are missing here are in the code page of the file.
CHARSETS = {
    **{77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950", 161: "cp1253"},
    **{162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251"},
    **{222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850"},
}
CODE_PAGES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}


@dataclass(slots=True)
class Group:
    """What holds up to the closing brace: where text goes, its font, and what is not shown."""

    sink: str = "body"  # or note, title, stylesheet, fonttbl; empty for text that is left out
    uc: int = 1  # bytes that stand for a \u where that is not known
    font: int = 0
    hidden: bool = False
    deleted: bool = False


def read(data: bytes, document_id: str) -> Document:
    """The document of an .rtf file; title from its properties, else the first heading, line or file name."""
    reader = RtfReader()
    reader.feed(data.decode("latin-1"))
    builder = reader.writer.finish()
    heading = builder.headings[0].text if builder.headings else ""
    return build_document(
        builder,
        data,
        document_id,
        MEDIA_TYPE,
        whole("".join(reader.title)),
        heading,
        first_line(builder.text),
        remark="truncated: it ends inside a group" if reader.depth else "",
    )


class RtfReader:
    """Follows groups and control words, and hands words to `writer`."""

    def __init__(self) -> None:
        self.writer = RtfWriter()
        self.title: list[str] = []
        self._group = Group()
        self._outer: list[Group] = []
        self._fonts: dict[int, str] = {}
        self._encoding = "cp1252"
        self._bytes = bytearray()  # not yet decoded: a character may take two
        self._to_skip = 0  # bytes that stand for the last \u
        self._starred = False
        self._style, self._style_level, self._style_name = 0, 0, ""

    @property
    def depth(self) -> int:
        """How many groups are open."""
        return len(self._outer)

    def feed(self, source: str) -> None:
        """Read a file whose bytes are given as code points, up to the end of its outer group."""
        position = 0
        while found := TOKEN.match(source, position):
            position = found.end()
            match found.lastgroup:
                case "text":
                    self._take(found["text"].encode("latin-1"))
                case "hex":
                    self._take(bytes.fromhex(found["hex"]))
                case "brace":
                    self._flush()
                    self._to_skip = 0
                    if found["brace"] == "{":
                        self._open()
                    elif self._close():
                        return
                case "symbol":
                    self._flush()
                    self._symbol(found["symbol"])
                case "word" | "number":
                    self._flush()
                    number = int(found["number"]) if found["number"] else None
                    if found["word"] == "bin":  # raw bytes follow
                        position += max(number or 0, 0)
                    else:
                        self._word(found["word"], number)
        self._flush()

    def _open(self) -> None:
        if self.depth >= MAX_DEPTH:
            raise DocumentRejected(f"more than {MAX_DEPTH:,} groups inside one another")
        self._outer.append(self._group)
        self._group = copy(self._group)
        self._starred = False

    def _close(self) -> bool:
        """True when the outer group is closed; braces that close nothing count for nothing."""
        if self._outer:
            self._group = self._outer.pop()
        return not self._outer

    def _take(self, data: bytes) -> None:
        """Keep bytes of text, without those that stand for a \\u that was understood."""
        skipped = min(self._to_skip, len(data))
        self._to_skip -= skipped
        if self._group.sink:
            self._bytes += data[skipped:]

    def _flush(self) -> None:
        if self._bytes:
            encoding = self._fonts.get(self._group.font, self._encoding)
            self._write(self._bytes.decode(encoding, "replace"))
            self._bytes.clear()

    def _write(self, text: str) -> None:
        group = self._group
        if group.hidden or group.deleted:
            return
        match group.sink:
            case "body":
                self.writer.write(text)
            case "note":
                self.writer.write_note(text)
            case "title":
                self.title.append(text)
            case "stylesheet":
                self._style_text(text)

    def _style_text(self, text: str) -> None:
        """Collect the name of a style, which ends with a semicolon."""
        self._style_name = (self._style_name + text)[:100]
        if ";" in text:
            self.writer.name_style(self._style, self._style_name.partition(";")[0].strip(), self._style_level)
            self._style, self._style_level, self._style_name = 0, 0, ""

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            self._starred = True
        elif self._to_skip:
            self._to_skip -= 1
        elif symbol in "\r\n":
            self._word("par", None)
        elif symbol in SYMBOLS:
            self._write(SYMBOLS[symbol])

    def _word(self, word: str, number: int | None) -> None:
        starred, self._starred = self._starred, False
        group = self._group
        if word in LEFT_OUT or (starred and word not in TEXT_AFTER_ALL):
            if word in ("listtext", "pntext") and group.sink == "body":
                self.writer.paragraph.is_item = True
            group.sink = ""
        elif not group.sink:
            return
        elif word == "u" and number is not None:
            self._write(chr(number % 0x10000))
            self._to_skip = group.uc
        elif word in CHARACTERS:
            self._write(CHARACTERS[word])
        elif group.sink == "body":
            self._body_word(word, number)
        if word in ("par", "cell", "sect") and group.sink == "note":
            self._write(" ")
        self._set(word, number)

    def _body_word(self, word: str, number: int | None) -> None:
        """Act on a word that shapes paragraphs and tables."""
        writer = self.writer
        match word:
            case "par" | "sect" | "page" | "column":
                writer.end_paragraph()
            case "cell":
                writer.end_cell()
            case "row":
                writer.end_row()
            case "nestcell" | "nestrow":
                writer.write(" ")
            case "pard":
                writer.paragraph = Paragraph()
            case "intbl":
                writer.paragraph.in_table = True
            case "s":
                writer.paragraph.style = number or 0
            case "outlinelevel":
                writer.paragraph.level = _level(number)
            case "ls" | "pnlvlblt" | "pnlvlbody":
                writer.paragraph.is_item = True
            case "footnote":
                writer.open_note()
                self._group.sink = "note"
            case "fonttbl" | "stylesheet" | "info":
                self._group.sink = word

    def _set(self, word: str, number: int | None) -> None:
        """Remember what a word says of the text behind it."""
        group = self._group
        match word:
            case "uc":
                group.uc = min(max(number or 0, 0), 100)
            case "f" | "deff":
                group.font = number or 0
            case "v":
                group.hidden = number != 0
            case "deleted":
                group.deleted = number != 0
            case "plain":
                group.hidden = group.deleted = False
            case "ansicpg":
                self._encoding = _code_page(number or 0, self._encoding)
            case "mac" | "pc" | "pca":
                self._encoding = CODE_PAGES[word]
            case "fcharset" if group.sink == "fonttbl" and number in CHARSETS:
                self._fonts[group.font] = CHARSETS[number]
            case "title" if group.sink == "info":
                group.sink = "title"
            case "s" if group.sink == "stylesheet":
                self._style = number or 0
            case "outlinelevel" if group.sink == "stylesheet":
                self._style_level = _level(number)


def _level(number: int | None) -> int:
    """The heading level of an outline level, which counts from 0; 9 is text."""
    return number + 1 if number is not None and 0 <= number < 9 else 0


def _code_page(number: int, default: str) -> str:
    """The codec of a code page that RTF names, else the default."""
    name = "utf-8" if number == 65001 else f"cp{number}"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return default
