"""Builds documents: text that is written piece by piece, with headings, labels and a title."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from io import StringIO
from pathlib import PurePosixPath
from typing import Self

from spanwise.types import Bounds, Document, Heading, Label

from ..archive import Element, local_name, setting
from ..front_matter import stored_front_matter

# UTF-8 cannot store these code points; the font tables of some PDFs give them.
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
ZERO_WIDTH_SPACE = "\u200b"  # some site generators end headings with it
MAX_TITLE = 120  # characters
RAISED = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
# Marks in text before `settle`, in Unicode no characters: raised, lowered, back on the line, before a note.
UP = "\ufdd0"
DOWN = "\ufdd1"
LEVEL = "\ufdd2"
NOTE = "\ufdd3"
SHIFTS = {"superscript": UP, "subscript": DOWN}
NO_MARKS = dict.fromkeys(map(ord, (UP, DOWN, LEVEL, NOTE, "\u2064")))
SHIFTED = re.compile(f"([{UP}{DOWN}])[^{UP}-{NOTE}|\\n]*(?:{LEVEL}\\1[^{UP}-{NOTE}|\\n]*)*")
NOTE_AFTER_WORDS = re.compile(rf"(?<=\S){NOTE}|(?<=[0-9])\u2064")  # and a fraction after a number
# The forms of elements of formulas, with their parts in order: in a group (g), raised (^) or lowered (_).
FORMULAS = {
    "f mfrac": "\u2064{0:g}/{1:g}",
    "rad": "{0:^}√{1:g}",
    "msqrt": "√{0:g}",
    "mroot": "{1:^}√{0:g}",
    "sSup msup": "{0:g}{1:^}",
    "sSub msub": "{0:g}{1:_}",
    "sSubSup msubsup munderover": "{0:g}{1:_}{2:^}",
    "nary": "{sign}{0:_}{1:^} {2:g}",
    "d": "{before}{0}{after}",
}
FORMULA_OF = {name: form for names, form in FORMULAS.items() for name in names.split()}
SEPARATORS = {"mr": ", ", "mtr": ", ", "m": "; ", "mtable": "; "}
ATOM = re.compile(r"\s*(?:[\w.,′%°]*|.|[(\[|][^()\[\]|]*[)\]|])\s*")
NO_PARTS = re.compile(r"|\w+Pr|del|moveFrom|annotation.*|mphantom")
INVISIBLE = "\u2061\u2062\u2063\t\r\n"  # operators of MathML, and line ends
BAR = " | "
HIDDEN = " (hidden)"  # at the end of the label of a cell that a program does not show
MAX_SPAN = 1_000  # rows and columns of a cell, as in browsers
MAX_REPEATED = 200  # characters; a longer cell that spans others is written once
MAX_ADDED = 50_000  # cells of a table that repeat others
MAX_WIDTH = 100  # cells to which the rows of a table are filled
WHOLE = re.compile("[0-9]{1,9}")
FORMS = {"a": "lower-alpha", "A": "upper-alpha", "i": "lower-roman", "I": "upper-roman"}
MAX_SIGNS = 780  # the last number that is written as letters
ROMANS = [term.split(":") for term in "d:500 cd:400 c:100 xc:90 l:50 xl:40 x:10 ix:9 v:5 iv:4 i:1".split()]
# File names and templates that programs store as a title.
PLACEHOLDER = re.compile(r"untitled|document\d*|.*\.(?:docx?|dvi|tex|pdf|indd|rtf|txt|qxd)", re.I)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    text: its words; None repeats the cell above.
    rows, columns: how many it spans.
    """

    text: str | None
    rows: int = 1
    columns: int = 1

    @classmethod
    def spanning(cls, text: str | None, rows: object, columns: object) -> Self:
        """A cell whose spans are the values of attributes; 0 means all that follow."""
        n_rows = min(whole(rows, 1) or MAX_SPAN, MAX_SPAN)
        n_columns = min(whole(columns, 1) or MAX_SPAN, MAX_SPAN)
        return cls(text, n_rows, n_columns)


class TextBuilder:
    """The text, headings, labels and page starts of a document. Text is only appended.

    headings, labels: in the order of the text.
    page_starts: the offset of each page.
    left_out: ascending ranges of the text that are never quoted.
    media_type, titles, metadata: those of the document, see `described`.
    """

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self.labels: list[Label] = []
        self.page_starts: list[int] = []
        self.left_out: list[Bounds] = []
        self.media_type = ""
        self.titles: tuple[str, ...] = ()
        self.metadata: dict[str, str] = {}
        self._text = StringIO()
        self._line_ends = 0

    @property
    def text(self) -> str:
        """The text written so far, without pending line ends."""
        return self._text.getvalue()

    @property
    def length(self) -> int:
        """The number of characters written so far."""
        return self._text.tell()

    @property
    def first_heading(self) -> str:
        """The first heading, or the empty string."""
        return self.headings[0].text if self.headings else ""

    @property
    def first_line(self) -> str:
        """The first line that is not blank, or the empty string."""
        return first_line(self.text)

    @property
    def at_line_start(self) -> bool:
        """True when the next write starts a line."""
        return self._line_ends > 0 or self.length == 0

    def write(self, text: str) -> int:
        """Write the pending line ends and `text`; returns its offset. Writes nothing for empty text."""
        if not text:
            return self.length
        if self.length:
            self._text.write("\n" * self._line_ends)
        self._line_ends = 0
        start = self.length
        self._text.write(LONE_SURROGATE.sub("\ufffd", text))
        return start

    def write_paragraph(self, text: str, blank: bool = True) -> int:
        """Write `text` on separate lines, by default between empty lines; returns its offset."""
        self.end_line(blank)
        start = self.write(text)
        self.end_line(blank)
        return start

    def write_heading(self, text: str, level: int) -> int:
        """Write `text` as a heading between empty lines; returns its offset."""
        start = self.write_paragraph(text)
        self.add_heading(start, level)
        return start

    def write_table(self, rows: Iterable[Iterable[Cell]]) -> None:
        """Write a line for each row of a table, see `grid`."""
        for row in grid(rows):
            self.write_paragraph(BAR.join(row), blank=False)

    def described(self, media_type: str, *titles: str, **metadata: str) -> Self:
        """The builder itself, with the type, possible titles (best first) and metadata of its document."""
        self.media_type = media_type
        self.titles = titles
        self.metadata = metadata
        return self

    def include(self, part: TextBuilder) -> int:
        """Write the text of `part` with its headings, labels and ranges left out; returns its offset."""
        start = self.write(part.text)
        self.headings += [replace(heading, start=start + heading.start) for heading in part.headings]
        self.labels += [replace(label, start=start + label.start) for label in part.labels]
        self.left_out += [(start + first, start + end) for first, end in part.left_out]
        return start

    def add_page(self, page: TextBuilder) -> None:
        """Start a page with the text of `page`, which may be empty."""
        self.end_line(blank=True)
        self.page_starts.append(self.include(page))

    def end_line(self, blank: bool = False) -> None:
        """End the line before the next write; with `blank`, also leave an empty line."""
        self._line_ends = max(self._line_ends, 2 if blank else 1)

    def add_heading(self, start: int, level: int) -> None:
        """Make the text since `start` a heading, unless it is blank."""
        words = one_line(self.text_since(start).replace(ZERO_WIDTH_SPACE, ""))
        if words:
            self.headings.append(Heading(start, level, words))

    def add_label(self, start: int, text: str) -> None:
        """Label the text from `start` to the next label: with a slide, a row or a cell, for example."""
        self.labels.append(Label(start, text))

    def text_since(self, start: int) -> str:
        """The text from the offset `start` on; the time is linear in its length."""
        self._text.seek(start)
        return self._text.read()

    def finish_slide(self, number: int, notes: str) -> None:
        """Label the text as a slide, and write its speaker notes with another label."""
        if self.length:
            self.add_label(0, f"slide {number}")
        if notes:
            start = self.write_paragraph(f"Notes: {notes}")
            self.add_label(start, f"slide {number}, notes")


def build_document(builder: TextBuilder, data: bytes, document_id: str) -> Document:
    """The document of the file `data`; see `choose_title` for its title. Empty metadata is dropped.

    Front matter in the stored text gives the title and metadata, and has no headings.
    """
    document = Document(
        id=document_id,
        media_type=builder.media_type,
        sha256=sha256(data).hexdigest(),
        title="",
        text=builder.text,
        page_starts=tuple(builder.page_starts),
        labels=tuple(builder.labels),
        left_out=tuple(builder.left_out),
    )
    start, values = stored_front_matter(document)
    encoding, _, damage = builder.metadata.get("encoding", "").partition(", ")
    remarks = filter(None, (damage, builder.metadata.get("remark")))
    metadata = {**builder.metadata, "encoding": encoding, "remark": "; ".join(remarks)}
    return replace(
        document,
        title=choose_title(values.pop("title", ""), *builder.titles, document_id=document_id),
        headings=tuple(heading for heading in builder.headings if heading.start >= start),
        metadata={**values, **{key: value for key, value in metadata.items() if value}},
    )


def source_builder(
    media_type: str,
    decoded: tuple[str, str],
    *titles: str,
    headings: Iterable[Heading] = (),
    labels: Iterable[Label] = (),
    left_out: Iterable[Bounds] = (),
    **metadata: str,
) -> TextBuilder:
    """The builder of a file whose text is stored unchanged; `decoded` is its text and its encoding."""
    text, metadata["encoding"] = decoded
    builder = TextBuilder()
    builder.write(text)
    builder.headings += headings
    builder.labels += labels
    builder.left_out += left_out
    return builder.described(media_type, *titles, **metadata)


def join_remarks(remarks: Mapping[str, Sequence[str]]) -> str:
    """All remarks with their items on one line; remarks without items are dropped.

    >>> join_remarks({"hidden slides": ["2", "5"], "slides without text": []})
    'hidden slides: 2, 5'
    """
    return "; ".join(f"{remark}: {', '.join(items)}" for remark, items in remarks.items() if items)


def raised(text: str) -> str:
    """Raised text whose digits do not join a number before it; without digits it stays as it is.

    >>> raised("6"), raised("6.5"), raised("th")
    ('⁶', '^(6.5)', 'th')
    """
    return _shifted(text, RAISED, "^")


def lowered(text: str) -> str:
    """Lowered text whose digits do not join a number before it; without digits it stays as it is.

    >>> lowered("2"), lowered("2,1"), lowered("max")
    ('₂', '_(2,1)', 'max')
    """
    return _shifted(text, LOWERED, "_")


def _shifted(text: str, signs: Mapping[int, int], mark: str) -> str:
    words = text.strip()
    if not any(character.isdecimal() for character in words):
        return text
    is_known = all(ord(character) in signs for character in words)
    shifted = words.translate(signs) if is_known else f"{mark}({words})"
    return text.replace(words, shifted)


def shifted(text: str, mark: str) -> str:
    """Text that stands above or below the line, to be written by `settle`."""
    return f"{mark}{text}{LEVEL}" if mark else text


def settle(text: str) -> str:
    """Text in which raised and lowered digits and references to notes do not join a number before them.

    >>> settle("10" + shifted("1", UP) + shifted("2", UP) + " t" + NOTE + "[3]")
    '10¹² t [3]'
    """
    text = SHIFTED.sub(lambda run: (raised if run[1] == UP else lowered)(run[0].translate(NO_MARKS)), text)
    return NOTE_AFTER_WORDS.sub(" ", text).translate(NO_MARKS)


class Part(str):
    """The text of a part of a formula."""

    def __format__(self, form: str) -> str:
        """The part in a form of `FORMULAS`."""
        shifted = {"^": raised, "_": lowered}.get(form, str)(self)
        if not form or shifted != self or not self.strip("′″∘*"):
            return shifted
        return form.strip("g") + (self if ATOM.fullmatch(self) else f"({self})")


def formula(element: Element) -> str:
    """The text of an element of OMML or MathML on one line, for `settle`.

    Parentheses group what a fraction, a root or a power holds, where it is more than a number or a name, as
    in "√(a+b)/2". Accents are left out.
    """
    name = local_name(element)
    if not len(element):
        return (element.text or "").strip(INVISIBLE)
    parts = [Part(formula(child)) for child in element if not NO_PARTS.fullmatch(local_name(child))]
    form = FORMULA_OF.get(name, "{}")
    if "{1" not in form:  # a row
        parts = [Part(SEPARATORS.get(name, "").join(parts))]
    return form.format(
        *parts,
        *[Part()] * 3,
        sign=setting(element, "naryPr/chr", "", "∫"),
        before=setting(element, "dPr/begChr", "", "("),
        after=setting(element, "dPr/endChr", "", ")"),
    )


def grid(rows: Iterable[Iterable[Cell]]) -> list[list[str]]:
    """The texts of a table by row and column; each cell that spans others is repeated in them.

    Rows are filled to equal numbers of cells. A row of one cell is a title, which is not repeated. Rows
    without words are left out.

    >>> grid([[Cell("Town"), Cell("Mill")], [Cell("Eskery", rows=2), Cell("Low")], [Cell("High")]])
    [['Town', 'Mill'], ['Eskery', 'Low'], ['Eskery', 'High']]
    """
    spare = MAX_ADDED
    lines: list[dict[int, str]] = []  # by column
    spans: dict[int, int] = {}  # the number of rows to which the cell of a column still reaches
    above: dict[int, str] = {}
    for row in rows:
        line = {column: _again(above[column]) for column in spans}
        n_spanned = len(line)
        spare -= n_spanned
        spans = {column: left - 1 for column, left in spans.items() if left > 1 and spare > 0}
        has_words = False
        column = 0
        for cell in row:
            while column in line:
                column += 1
            text = _again(above.get(column, "")) if cell.text is None else cell.text
            n_columns = cell.columns if spare > 0 else 1
            spare -= n_columns - 1
            line[column] = text
            for covered in range(column, column + n_columns):
                line.setdefault(covered, _again(text))
                if cell.rows > 1:
                    spans[covered] = cell.rows - 1
            has_words = has_words or bool(cell.text)
        above = line
        if has_words:
            lines.append(line if column or n_spanned else {0: line[0]})
    width = min(max((max(line) + 1 for line in lines), default=0), MAX_WIDTH)
    return [[line.get(column, "") for column in range(max(width, max(line) + 1))] for line in lines]


def _again(text: str) -> str:
    """The text of a cell in the next cell that it spans; a small file must not repeat a long text."""
    return text if len(text) <= MAX_REPEATED else ""


def in_form(value: int, form: str) -> str:
    """A number in a form that Word, CSS, HTML or OpenDocument names, else in digits.

    >>> in_form(28, "lowerLetter"), in_form(14, "upperRoman"), in_form(7, "decimal")
    ('bb', 'XIV', '7')
    """
    letters = ""
    form = FORMS.get(form, form)
    if form == "none":
        return ""
    if form == "decimalZero":
        return f"{value:02}"
    if form.endswith(("Letter", "alpha", "latin")) and 0 < value <= MAX_SIGNS:
        letters = chr(ord("a") + (value - 1) % 26) * ((value + 25) // 26)
    elif form.endswith(("Roman", "roman")) and value <= MAX_SIGNS:
        for sign, worth in ROMANS:
            letters += sign * (value // int(worth))
            value %= int(worth)
    return (letters.upper() if form.startswith("upper") else letters) or str(value)


def whole(value: object, default: int = 0) -> int:
    """The number in an attribute, else the default."""
    text = str(value or "")
    return int(text) if WHOLE.fullmatch(text) else default


def choose_title(*candidates: str, document_id: str) -> str:
    """The first candidate that is a title, shortened; else the stem of the file name."""
    for candidate in candidates:
        words = shorten(candidate)
        if words and not PLACEHOLDER.fullmatch(words):
            return words
    return PurePosixPath(document_id).stem


def shorten(title: str) -> str:
    """The title on one line, cut at a word to `MAX_TITLE` characters."""
    words = one_line(title[: 20 * MAX_TITLE]).removeprefix("Microsoft Word - ")
    if len(words) <= MAX_TITLE:
        return words
    cut = words[: MAX_TITLE - 1]
    return cut.rpartition(" ")[0] or cut


def one_line(*pieces: str) -> str:
    """The words of some adjacent pieces of text, with single spaces between them.

    >>> one_line(" The\\n", "mi", "ll")
    'The mill'
    """
    return " ".join("".join(pieces).split())


def first_line(text: str) -> str:
    """The first line of the text that is not blank, or the empty string."""
    start = len(text) - len(text.lstrip())
    return text[start : start + 10 * MAX_TITLE].partition("\n")[0]
