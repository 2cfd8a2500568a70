"""Reads the characters of a page of a PDF: as lines with their places, with raised digits and form fields.

pdfium ends a line before and after some raised characters; these line ends are left out. The values of form
fields are read from the fields, because pdfium draws them after all other text, and some not at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from ctypes import c_double, c_ushort
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise
from math import hypot

from pypdfium2 import PdfDocument, PdfFormEnv, PdfTextPage, raw

from .builder import lowered, one_line, raised
from .page_layout import Line, joined

WORD_BREAK = "\x02"  # pdfium's code for a hyphen that breaks a word at a line end
UNKNOWN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ue000-\uf8ff\ufffd\ufffe]")
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
MAX_UNKNOWN = 0.3  # share of the characters of a readable page
# If the fonts of a page have no character for most codes, a few control codes show: its letters are wrong.
FEW_UNKNOWN = 0.05
MAX_UNMAPPED = 0.5
# Digits with signs, and the characters next to them.
DIGITS = re.compile(r"[^\s0-9]?\r{0,4}([-+−–,.(]?[0-9][-0-9+−–,.)\r]{0,20})\S?")
SMALL = 0.85  # times the size of type, of raised and lowered digits
MIN_RISE = 0.12  # times the size of type
MIN_FALL = 0.06
MIN_GAP = 0.8  # times the size of type, between the pieces of a line
MAX_FIELDS = 1_000  # of a page
FIELD_SIZE = 12.0  # points
TALL = 16.0  # points from the top of a field to the middle of its first line, at most
UNSEEN_FIELD = 2 | 32  # the flags of hidden annotations
PASSWORD = 1 << 13  # a flag of text fields


@dataclass(frozen=True, slots=True)
class Characters:
    """The characters of a page that is shown rotated clockwise by `rotation` degrees."""

    page: PdfTextPage
    rotation: int

    def origin(self, i: int) -> tuple[float, float]:
        """The place of a character on the page as it is shown."""
        x = c_double()
        y = c_double()
        raw.FPDFText_GetCharOrigin(self.page, i, x, y)
        return _turned(x.value, y.value, self.rotation)

    def edges(self, i: int) -> tuple[float, float]:
        """The left and the right edge of a character."""
        box = raw.FS_RECTF()
        raw.FPDFText_GetLooseCharBox(self.page, i, box)
        left, _, right, _ = _turned_box(box, self.rotation)
        return left, right

    def gap(self, a: int, b: int) -> float:
        """The width of the empty space between two characters."""
        return self.edges(b)[0] - self.edges(a)[1]

    def size(self, i: int) -> float:
        """The size of type of a character in points."""
        matrix = raw.FS_MATRIX()
        raw.FPDFText_GetMatrix(self.page, i, matrix)
        return float(round(raw.FPDFText_GetFontSize(self.page, i) * hypot(matrix.c, matrix.d), 1))

    def shift(self, base: int, i: int) -> int:
        """1 for a small character that is raised against another one, -1 for a lowered one, else 0."""
        size = self.size(base)
        rise = self.origin(i)[1] - self.origin(base)[1]
        if self.size(i) > SMALL * size or abs(rise) > size:
            return 0
        return (rise > MIN_RISE * size) - (rise < -MIN_FALL * size)


def _turned(x: float, y: float, rotation: int) -> tuple[float, float]:
    """A place on a page as it is shown, rotated clockwise by `rotation` degrees."""
    return {90: (y, -x), 180: (-x, -y), 270: (-y, x)}.get(rotation, (x, y))


def _turned_box(box: raw.FS_RECTF, rotation: int) -> tuple[float, float, float, float]:
    """The left, lower, right and upper edge of a box on a page as it is shown."""
    x, y = _turned(box.left, box.bottom, rotation)
    to_x, to_y = _turned(box.right, box.top, rotation)
    return min(x, to_x), min(y, to_y), max(x, to_x), max(y, to_y)


def signs_of(page: PdfTextPage) -> list[str]:
    """The characters of a page, each in UTF-16; those that pdfium does not know have no meaning."""
    codes = (raw.FPDFText_GetUnicode(page, i) for i in range(raw.FPDFText_CountChars(page)))
    return [chr(code) if code < 0x110000 else "\ufffe" for code in codes]


def lines_of(characters: Characters, signs: list[str]) -> Iterator[Line]:
    """The lines that are not empty, right-stripped, in the order in which they are drawn; changes `signs`."""
    start = 0
    for i, sign in enumerate([*signs, "\n"]):
        breaks_word = sign == WORD_BREAK and raw.FPDFText_IsHyphen(characters.page, i) == 1
        if breaks_word:
            signs[i] = "-"
        if breaks_word or (sign == "\n" and not _goes_on(characters, signs, i)):
            end = i + breaks_word
            if _decoded(signs[start:end]):
                yield _line(characters, signs, start, end)
            start = i + 1


def _goes_on(characters: Characters, signs: list[str], i: int) -> bool:
    """True when pdfium ends a line only because of raised or lowered characters; clears this line end."""
    before = i - 1 - (signs[i - 1 : i] == ["\r"])
    after = i + 1
    if before < 0 or after >= len(signs):
        return False
    base = max(before, after, key=characters.size)
    is_close = abs(characters.gap(before, after)) < SMALL * characters.size(base)
    if not is_close or not characters.shift(base, before + after - base):
        return False
    signs[before + 1 : after] = [""] * (after - before - 1)
    return True


def _line(characters: Characters, signs: list[str], start: int, end: int) -> Line:
    """The line of the characters from `start` to `end`, with its pieces if wide gaps part them."""
    seen = [i for i in range(start, end) if signs[i].strip()]
    largest = max(seen[0], seen[-1], key=characters.size)
    size = characters.size(largest)
    _, height = characters.origin(largest)
    pieces: list[Line] = []
    first = 0
    for n, (a, b) in enumerate(pairwise([*seen, end]), start=1):
        if b == end or (b - a > 1 and characters.gap(a, b) > MIN_GAP * size):
            _mark_shifted(characters, signs, seen[first], a + 1)
            left, _ = characters.edges(seen[first])
            _, right = characters.edges(a)
            pieces.append(Line(_decoded(signs[seen[first] : a + 1]), height, left, right, size))
            first = n
    return replace(joined(pieces), text=_decoded(signs[start:end]))


def _mark_shifted(characters: Characters, signs: list[str], start: int, end: int) -> None:
    """Write raised and lowered digits so that they do not join the number before them."""
    shown = "".join(sign or "\r" for sign in signs[start:end])
    for match in DIGITS.finditer(shown):
        digits = [start + i for i in range(*match.span(1)) if shown[i] != "\r"]
        beside = [start + i for i in range(*match.span()) if shown[i] != "\r"]
        base = max(beside, key=characters.size)
        for shift, group in groupby(digits, key=partial(characters.shift, base)):
            first, *others = group
            text = "".join(signs[i] for i in (first, *others))
            if shift:
                signs[first] = raised(text) if shift > 0 else lowered(text)
                for i in others:
                    signs[i] = ""


def _decoded(signs: Sequence[str]) -> str:
    """The text of some characters, with surrogate pairs joined and visible soft hyphens replaced."""
    text = "".join(signs).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return UNSEEN.sub("", text).replace("\xad", "-").rstrip()


def is_garbled(characters: PdfTextPage, signs: Sequence[str]) -> bool:
    """True when the characters of the fonts cannot be those that a person sees."""
    suspects = {i for i, sign in enumerate(signs) if UNKNOWN.match(sign)}
    if len(suspects) <= FEW_UNKNOWN * sum(sign > " " for sign in signs):
        return False  # without a look at each character
    shown = [
        i
        for i in range(len(signs))
        if raw.FPDFText_IsGenerated(characters, i) != 1 and raw.FPDFText_IsHyphen(characters, i) != 1
    ]
    n_unknown = sum(i in suspects for i in shown)
    if n_unknown <= FEW_UNKNOWN * len(shown):
        return False
    n_unmapped = sum(raw.FPDFText_HasUnicodeMapError(characters, i) == 1 for i in shown)
    return bool(n_unknown > MAX_UNKNOWN * len(shown) or n_unmapped > MAX_UNMAPPED * len(shown))


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
                left, bottom, right, top = _turned_box(box, rotation)
                height = max((bottom + top) / 2, top - TALL) - FIELD_SIZE / 3
                yield Line(value, height, left, right, FIELD_SIZE), name
            raw.FPDFPage_CloseAnnot(field)


def _value(form: PdfFormEnv, field: raw.FPDF_ANNOTATION) -> tuple[str, str]:
    """The text, the chosen option, or the sign of a box and its name; empty for others and for passwords."""

    def words(call: Callable[..., int], *arguments: int) -> str:
        n_bytes = call(form, field, *arguments, None, 0)
        buffer = (c_ushort * (n_bytes // 2 + 1))()
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
