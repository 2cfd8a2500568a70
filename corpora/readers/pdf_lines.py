"""Reads the characters of a page of a PDF: as lines with their places, with raised digits and form fields.

pdfium ends a line before and after some raised characters; these line ends are left out. The values of form
fields are read from the fields, because pdfium draws them after all other text, and some not at all.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from ctypes import addressof, c_double, c_int, c_ulong, c_ushort
from dataclasses import dataclass, replace
from math import hypot

from pypdfium2 import PdfDocument, PdfFormEnv, PdfPage, PdfTextPage, raw

from .builder import DOWN, UP, one_line, settle, shifted
from .page_layout import Line, joined, runs

HYPHEN = 2  # pdfium's code for a hyphen that breaks a word at a line end
BREAK = "-\n"  # such a hyphen
UNKNOWN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ue000-\uf8ff\ufffd\ufffe]")
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
MAX_UNKNOWN = 0.3  # share of the characters of a readable page
# If the fonts of a page have no character for most codes, a few control codes show: its letters are wrong.
FEW_UNKNOWN = 0.05
MAX_UNMAPPED = 0.5
DIGITS = re.compile(r"[\S\r]{0,20}[0-9][\S\r]{0,20}")  # with the characters next to them
# A word in capitals whose letters are spaced out, such as "T O T A L", but no row of letters.
SPACED = re.compile(r"(?<!\S)(?!A B C)(?:[A-ZÀ-ÖØ-Þ] ){3,}[A-ZÀ-ÖØ-Þ](?!\w)")
SMALL = 0.85  # times the size of type, of raised and lowered digits
MIN_RISE = 0.12  # times the size of type
MIN_FALL = 0.06
MIN_GAP = 0.8  # times the size of type, between the pieces of a line
SAME_LINE = 0.1  # times the size of type, between the heights of two parts of a line
MAX_FIELDS = 1_000  # of a page
FIELD_SIZE = 12.0  # points
TALL = 16.0  # points from the top of a field to the middle of its first line, at most
UNSEEN_FIELD = 2 | 32  # the flags of hidden annotations
MAX_DEPTH = 3  # of forms in which drawn objects are looked for
MAX_SIDE = 2_000  # pixels of a page that is drawn to see what shows
PASSWORD = 1 << 13  # a flag of text fields
Box = tuple[float, float, float, float]
"""The left, lower, right and upper edge in points."""


@dataclass(frozen=True, slots=True)
class Characters:
    """The characters of a page that is shown rotated clockwise by `rotation` degrees."""

    page: PdfTextPage
    rotation: int

    def height(self, i: int) -> float:
        """The height of the baseline of a character."""
        x = c_double()
        y = c_double()
        raw.FPDFText_GetCharOrigin(self.page, i, x, y)
        return turned((x.value, y.value, x.value, y.value), self.rotation)[1]

    def edges(self, i: int) -> tuple[float, float]:
        """The left and the right edge of a character."""
        left, _, right, _ = turned(self.page.get_charbox(i, loose=True), self.rotation)
        return left, right

    def gap(self, a: int, b: int) -> float:
        """The width of the empty space between two characters."""
        return self.edges(b)[0] - self.edges(a)[1]

    def size(self, i: int) -> float:
        """The size of type of a character in points."""
        matrix = raw.FS_MATRIX()
        raw.FPDFText_GetMatrix(self.page, i, matrix)
        return float(round(raw.FPDFText_GetFontSize(self.page, i) * hypot(matrix.c, matrix.d), 1))

    def shift(self, base: int, i: int) -> str:
        """`UP` for a small character that is raised against another one, `DOWN` for a lowered one."""
        size = self.size(base)
        if self.size(i) > SMALL * size:
            return ""
        rise = (self.height(i) - self.height(base)) / size
        return UP if MIN_RISE < rise < 1 else DOWN if -1 < rise < -MIN_FALL else ""


def turned(box: Box, rotation: int) -> Box:
    """A box of a page as it is shown, rotated clockwise by `rotation` degrees."""
    for _ in range(rotation // 90):
        left, bottom, right, top = box
        box = bottom, -right, top, -left
    return box


def signs_of(page: PdfTextPage) -> list[str]:
    """The characters of a page in UTF-16, and a line end; those that pdfium does not know have no meaning."""

    def sign(i: int) -> str:
        code = raw.FPDFText_GetUnicode(page, i)
        if code == HYPHEN and raw.FPDFText_IsHyphen(page, i) == 1:
            return BREAK
        return chr(code) if code < 0x110000 else "\ufffe"

    return [*map(sign, range(page.count_chars())), "\n"]


def hide_unseen(page: PdfPage, characters: PdfTextPage, signs: list[str]) -> None:
    """Clears the characters outside of the crop box, and those of layers that are switched off."""
    if unseen := _unseen_texts(page):
        for i in range(characters.count_chars()):
            if _address(raw.FPDFText_GetTextObject(characters, i)) in unseen:
                signs[i] = ""
    left, bottom, right, top = crop = page.get_cropbox()
    if crop != page.get_mediabox():
        for i in range(characters.count_chars()):
            x = c_double()
            y = c_double()
            raw.FPDFText_GetCharOrigin(characters, i, x, y)
            if signs[i].strip() and not (left <= x.value <= right and bottom <= y.value <= top):
                signs[i] = ""


def _unseen_texts(page: PdfPage) -> set[int]:
    """The addresses of the text objects of layers that do not show: the page looks the same without them."""
    layered = [each for each in page.get_objects(max_depth=MAX_DEPTH) if _is_in_layer(each.raw)]
    if not layered:
        return set()
    scale = min(1.0, MAX_SIDE / max(page.get_size()))
    shown = page.render(scale=scale).to_numpy()
    for each in layered:
        raw.FPDFPageObj_SetIsActive(each.raw, False)
    differs = (shown != page.render(scale=scale).to_numpy()).any(axis=-1)
    unseen = set()
    for each in layered:
        raw.FPDFPageObj_SetIsActive(each.raw, True)
        left, bottom, right, top = each.get_bounds()
        corners = _pixels(page, differs.shape, (left, bottom), (right, top))
        (x, x_end), (y, y_end) = (sorted(edges) for edges in zip(*corners, strict=True))
        area = differs[max(0, y) : max(0, y_end) + 1, max(0, x) : max(0, x_end) + 1]
        if each.type == raw.FPDF_PAGEOBJ_TEXT and not area.any() and not _is_invisible(each.raw):
            unseen.add(_address(each.raw))
    return unseen


def _is_invisible(text: raw.FPDF_PAGEOBJECT) -> bool:
    """True for text that is never drawn, such as the words that a program recognised on a scan."""
    return bool(raw.FPDFTextObj_GetTextRenderMode(text) == raw.FPDF_TEXTRENDERMODE_INVISIBLE)


def _pixels(page: PdfPage, shape: tuple[int, int], *points: tuple[float, float]) -> list[tuple[int, int]]:
    """The pixels, as x and y, of points of a page that is drawn in a picture of `shape`."""
    pixels = []
    for point in points:
        x = c_int()
        y = c_int()
        raw.FPDF_PageToDevice(page, 0, 0, shape[1], shape[0], 0, *point, x, y)
        pixels.append((x.value, y.value))
    return pixels


def _is_in_layer(drawn: raw.FPDF_PAGEOBJECT) -> bool:
    """True for an object that is drawn as optional content."""
    for number in range(raw.FPDFPageObj_CountMarks(drawn)):
        name = (c_ushort * 8)()
        raw.FPDFPageObjMark_GetName(raw.FPDFPageObj_GetMark(drawn, number), name, 16, c_ulong())
        if bytes(name).decode("utf-16-le").rstrip("\0") == "OC":
            return True
    return False


def _address(drawn: raw.FPDF_PAGEOBJECT) -> int:
    return addressof(drawn.contents) if drawn else 0


def lines_of(characters: Characters, signs: list[str]) -> list[Line]:
    """The lines that are not empty, right-stripped, in the order in which they are drawn; changes `signs`.

    On a page that is shown rotated, pdfium ends a line at a wide gap. Such lines are one.
    """
    lines: list[Line] = []
    for line in _drawn_lines(characters, signs):
        last = lines[-1] if lines and characters.rotation else None
        if last and abs(last.height - line.height) < SAME_LINE * line.size and line.left > last.right:
            lines[-1] = joined([*last.pieces, *line.pieces])
        else:
            lines.append(line)
    return lines


def _drawn_lines(characters: Characters, signs: list[str]) -> Iterator[Line]:
    start = 0
    for i, sign in enumerate(signs):
        if sign == BREAK or (sign == "\n" and not _goes_on(characters, signs, i)):
            if _decoded(signs[start : i + 1]):
                yield _line(characters, signs, start, i + 1)
            start = i + 1


def _goes_on(characters: Characters, signs: list[str], i: int) -> bool:
    """True when pdfium ends a line only because of raised or lowered characters; clears this line end."""
    before = i - 2  # pdfium writes "\r\n"
    after = i + 1
    if before < 0 or after == len(signs):
        return False
    base = max(before, after, key=characters.size)
    is_close = abs(characters.gap(before, after)) < SMALL * characters.size(base)
    if not is_close or not characters.shift(base, before + after - base):
        return False
    signs[i] = "\r"
    return True


def _line(characters: Characters, signs: list[str], start: int, end: int) -> Line:
    """The line of the characters from `start` to `end`, with its pieces if wide gaps part them."""
    seen = [i for i in range(start, end) if signs[i].strip()]
    largest = max(seen[0], seen[-1], key=characters.size)
    size = characters.size(largest)
    height = characters.height(largest)
    for match in DIGITS.finditer("".join(signs[start:end])):
        digits = [start + i for i in range(*match.span()) if match.string[i] != "\r"]
        base = max(digits, key=characters.size)
        for i in digits:
            signs[i] = shifted(signs[i], characters.shift(base, i))

    pieces = []
    for piece in runs(seen, lambda a, b: b - a > 1 and characters.gap(a, b) > MIN_GAP * size):
        text = SPACED.sub(lambda word: word[0].replace(" ", ""), _decoded(signs[piece[0] : piece[-1] + 1]))
        left, _ = characters.edges(piece[0])
        _, right = characters.edges(piece[-1])
        pieces.append(Line(text, height, left, right, size))
    text = _decoded(signs[start:end])
    return joined(pieces) if SPACED.search(text) else replace(joined(pieces), text=text)


def _decoded(signs: Sequence[str]) -> str:
    """The text of some characters, with surrogate pairs joined and visible soft hyphens replaced."""
    text = "".join(signs).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return settle(UNSEEN.sub("", text)).replace("\xad", "-").rstrip()


def is_garbled(page: PdfTextPage, signs: Sequence[str]) -> bool:
    """True when the characters of the fonts cannot be those that a person sees."""
    text = "".join(signs)
    n_shown = len("".join(text.split()))
    n_unknown = len(UNKNOWN.findall(text))
    if n_unknown <= FEW_UNKNOWN * n_shown:
        return False  # without a look at each character
    n_unmapped = sum(raw.FPDFText_HasUnicodeMapError(page, i) for i in range(page.count_chars()))
    return n_unknown > MAX_UNKNOWN * n_shown or bool(n_unmapped > MAX_UNMAPPED * n_shown)


def take_values(pdf: PdfDocument, index: int) -> Iterator[tuple[Line, str]]:
    """The values in the form fields of a page, with the names of boxes; hides these fields on the page."""
    with closing(pdf[index]) as page:
        rotation = page.get_rotation()
        for i in range(min(raw.FPDFPage_GetAnnotCount(page), MAX_FIELDS)):
            field = raw.FPDFPage_GetAnnot(page, i)
            flags = raw.FPDFAnnot_GetFlags(field)
            value, name = _value(pdf.formenv, field)
            if value and not flags & UNSEEN_FIELD:
                raw.FPDFAnnot_SetFlags(field, flags | raw.FPDF_ANNOT_FLAG_HIDDEN)
                box = raw.FS_RECTF()
                raw.FPDFAnnot_GetRect(field, box)
                edges = turned((box.left, box.bottom, box.right, box.top), rotation)
                left, bottom, right, top = edges
                height = max((bottom + top) / 2, top - TALL) - FIELD_SIZE / 3
                yield Line(value, height, left, right, FIELD_SIZE), name
            raw.FPDFPage_CloseAnnot(field)


def _value(form: PdfFormEnv, field: raw.FPDF_ANNOTATION) -> tuple[str, str]:
    """The text, the chosen option, or the sign of a box and its name; empty for others and for passwords."""

    def words(call: Callable[..., int], *arguments: int) -> str:
        n_bytes = call(form, field, *arguments, None, 0)
        buffer = (c_ushort * n_bytes)()
        call(form, field, *arguments, buffer, n_bytes)
        return one_line(UNSEEN.sub(" ", bytes(buffer).decode("utf-16-le", "replace")))

    kind = raw.FPDFAnnot_GetFormFieldType(form, field)
    if kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
        name = words(raw.FPDFAnnot_GetFormFieldAlternateName) or words(raw.FPDFAnnot_GetFormFieldName)
        return "☒" if raw.FPDFAnnot_IsChecked(form, field) else "☐", name
    if kind in (raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
        options = range(min(raw.FPDFAnnot_GetOptionCount(form, field), MAX_FIELDS))
        chosen = [i for i in options if raw.FPDFAnnot_IsOptionSelected(form, field, i)]
        if chosen:
            return ", ".join(words(raw.FPDFAnnot_GetOptionLabel, i) for i in chosen), ""
    elif kind != raw.FPDF_FORMFIELD_TEXTFIELD or raw.FPDFAnnot_GetFormFieldFlags(form, field) & PASSWORD:
        return "", ""
    return words(raw.FPDFAnnot_GetFormFieldValue), ""
