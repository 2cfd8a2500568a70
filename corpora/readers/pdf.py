"""Reads PDF: the text of each page by pdfium, with the entries of the outline as headings. Draws pages.

An empty line separates pages, or a line end if a page stops in the middle of a sentence. Running headers and
footers are dropped after their first occurrence, lines are put into reading order, and words broken at line
ends are rejoined. The metadata name pages without text: "pages_without_text" by number, "remark" in words.

A page can be drawn, and the boxes of words of its stored text found in it. The stored text differs from that
of pdfium: broken words are whole, running lines are dropped, and lines may have moved. So words are searched
without white space and hyphens, first all together, then line by line, then word by word. Among several
places, the one with the most similar text around it is chosen.

pdfium is not thread safe, and a hostile file may crash the process. So files are opened in child processes.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from ctypes import c_double, c_int
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import groupby, islice, pairwise, takewhile
from math import hypot, sqrt
from typing import TYPE_CHECKING

from spanwise.errors import DocumentRejected
from spanwise.types import Heading

from .builder import TextBuilder, lowered, raised
from .page_layout import (
    NO_TEXT,
    Line,
    Page,
    drop_running_lines,
    in_columns,
    in_reading_order,
    joined,
    mark_notes,
)

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

MEDIA_TYPE = "application/pdf"
MAX_TEXT = 50_000_000  # characters
SENTENCE_ENDS = tuple('.!?:…。！？"”’)]')
NO_MEANING = "with fonts that do not say which characters they show"
DAMAGED = "damaged"
SCANNED = (NO_TEXT, NO_MEANING)
DIGITS = re.compile(r"[-+−–,.(]?[0-9][-0-9+−–,.)]{0,20}")
SMALL = 0.85  # times the size of type, of raised and lowered digits
REACH = 6  # characters between digits and those beside them; most are line ends that pdfium adds
MIN_RISE = 0.12  # times the size of type
MIN_FALL = 0.06
MIN_GAP = 0.8  # times the size of type, between the pieces of a line
WORD_BREAK = "\x02"  # pdfium's code for a hyphen that breaks a word at a line end
UNKNOWN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ue000-\uf8ff\ufffd\ufffe]")
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
MAX_UNKNOWN = 0.3  # share of the characters of a readable page
# If the fonts of a page have no character for most codes, a few control codes show: its letters are wrong.
FEW_UNKNOWN = 0.05
MAX_UNMAPPED = 0.5
MAX_OUTLINE_ENTRIES = 5_000
MAX_HEADING_WORDS = 40
SECTION_NUMBER = r"(?:(?-i:[0-9][0-9A-Z.]{0,11}|[A-Z]\.?|[IVXLC]{1,6}\.?)[ \t]{1,4})?"
WORD = re.compile(r"[^\W\d_][\w-]*")
PAGE_END = "\f"
# Head, hyphen, end of line or page, tail in lower case, other characters after it, and the next space.
BROKEN_WORD = re.compile(rf"([^\W\d_]{{2,40}})-([\n{PAGE_END}])([^\W\d_]{{2,40}})(\S{{0,9}})[ \t]?(\n?)")

MAX_WIDTH = 2_000  # pixels
MAX_PIXELS = 8_000_000
MAX_CHARACTERS = 200_000  # of a page that is searched
MAX_PLACES = 1_000  # of the same words
MAX_BOXES = 500
FINE = 100  # pixels per point; the device coordinates of pdfium are whole numbers
HYPHENS = "-\xad\x02\u2010\u2011\ufffe"
Box = tuple[float, float, float, float]
"""x, y, width and height in points, from the top left corner of the page as it is shown."""

# pypdfium2 warns of damage that it can work around; Python would print these warnings.
logging.getLogger("pypdfium2").addHandler(logging.NullHandler())


def read(data: bytes) -> TextBuilder:
    """The document of a PDF, titled by its metadata, its first line or its first heading."""
    with closing(open_pdf(data)) as pdf:
        pages = _read_pages(pdf)
        builder = TextBuilder()
        for text in rejoin_words(page.text for page in pages):
            builder.page_starts.append(builder.write(text))
            if text:
                builder.end_line(blank=text.endswith(SENTENCE_ENDS))
        remarks = list(filter(None, (_remark(pages), _advice(pages))))
        if not builder.length:
            raise DocumentRejected(f"PDF {'. '.join(remarks) or 'without pages'}")
        builder.headings = find_headings(pdf, builder.text, builder.page_starts)
        title = pdf.get_metadata_value("Title")
    return builder.described(
        MEDIA_TYPE,
        title,
        builder.first_line,
        builder.first_heading,
        pages_without_text=",".join(str(n) for n, page in enumerate(pages, start=1) if not page.text),
        remark="; ".join(remarks),
    )


def open_pdf(data: bytes) -> PdfDocument:
    """The opened file; most encrypted files have an empty user password and can be opened."""
    from pypdfium2 import PdfDocument, PdfiumError, raw

    try:
        return PdfDocument(data)
    except PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            raise DocumentRejected("encrypted PDF: needs a password") from error
        if error.err_code == raw.FPDF_ERR_SECURITY:
            raise DocumentRejected("encrypted PDF: unknown kind of encryption") from error
        raise DocumentRejected(f"damaged PDF: {error}") from error


def load_page(pdf: PdfDocument, index: int) -> PdfPage:
    """The page at an index from 0, with the values of its form fields as text."""
    from pypdfium2 import raw

    page = pdf[index]
    if raw.FPDFPage_GetAnnotCount(page) <= 0:
        return page
    raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
    page.close()
    return pdf[index]


def _read_pages(pdf: PdfDocument) -> list[Page]:
    pages: list[Page] = []
    n_characters = 0
    for index in range(len(pdf)):
        pages.append(_read_page(pdf, index))
        n_characters += len(pages[-1].text)
        if n_characters > MAX_TEXT:
            raise DocumentRejected(
                f"more than {MAX_TEXT:,} characters of text, the limit, by page {index + 1}"
            )
    return [
        replace(page, lines=tuple(in_reading_order(in_columns(page.lines))))
        for page in drop_running_lines(pages)
    ]


def _read_page(pdf: PdfDocument, index: int) -> Page:
    """The page at an index from 0; a page that cannot be read has a remark instead of lines."""
    from pypdfium2 import PdfiumError

    try:
        with closing(load_page(pdf, index)) as page, closing(page.get_textpage()) as characters:
            signs = _signs(characters)
            lines = tuple(_lines(Characters(characters, page.get_rotation()), signs.copy()))
            if not Page(lines).text:
                return Page((), NO_TEXT)
            return Page((), NO_MEANING) if _is_garbled(characters, signs) else mark_notes(Page(lines))
    except PdfiumError:
        return Page((), DAMAGED)


@dataclass(frozen=True, slots=True)
class Characters:
    """The characters of a page that is shown rotated clockwise by `rotation` degrees."""

    page: PdfTextPage
    rotation: int

    def origin(self, i: int) -> tuple[float, float]:
        """The place of a character on the page as it is shown."""
        from pypdfium2 import raw

        x = c_double()
        y = c_double()
        raw.FPDFText_GetCharOrigin(self.page, i, x, y)
        return _turned(x.value, y.value, self.rotation)

    def edges(self, i: int) -> tuple[float, float]:
        """The left and the right edge of a character."""
        from pypdfium2 import raw

        box = raw.FS_RECTF()
        raw.FPDFText_GetLooseCharBox(self.page, i, box)
        x, _ = _turned(box.left, box.bottom, self.rotation)
        to_x, _ = _turned(box.right, box.top, self.rotation)
        return min(x, to_x), max(x, to_x)

    def gap(self, a: int, b: int) -> float:
        """The width of the empty space between two characters."""
        return self.edges(b)[0] - self.edges(a)[1]

    def size(self, i: int) -> float:
        """The size of type of a character in points."""
        from pypdfium2 import raw

        matrix = raw.FS_MATRIX()
        raw.FPDFText_GetMatrix(self.page, i, matrix)
        return round(raw.FPDFText_GetFontSize(self.page, i) * hypot(matrix.c, matrix.d), 1)

    def shift(self, i: int, base: int) -> int:
        """1 for a small character that is raised against another one, -1 for a lowered one, else 0."""
        size = self.size(base)
        rise = self.origin(i)[1] - self.origin(base)[1]
        if self.size(i) > SMALL * size or abs(rise) > size:
            return 0
        return (rise > MIN_RISE * size) - (rise < -MIN_FALL * size)


def _turned(x: float, y: float, rotation: int) -> tuple[float, float]:
    """A place on a page as it is shown, rotated clockwise by `rotation` degrees."""
    return {90: (y, -x), 180: (-x, -y), 270: (-y, x)}.get(rotation, (x, y))


def _signs(page: PdfTextPage) -> list[str]:
    from pypdfium2 import raw

    codes = (raw.FPDFText_GetUnicode(page, i) for i in range(raw.FPDFText_CountChars(page)))
    return [chr(code) if code < 0x110000 else "\ufffe" for code in codes]


def _lines(characters: Characters, signs: list[str]) -> Iterator[Line]:
    """The lines that are not empty, right-stripped, in the order in which they are drawn; changes `signs`."""
    from pypdfium2 import raw

    start = 0
    for i, sign in enumerate([*signs, "\n"]):
        breaks_word = sign == WORD_BREAK and raw.FPDFText_IsHyphen(characters.page, i) == 1
        if breaks_word:
            signs[i] = "-"
        if breaks_word or sign == "\n" and not _goes_on(characters, signs, i):
            end = i + breaks_word
            if _decoded(signs[start:end]):
                _mark_shifted(characters, signs, start, end)
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
    if not is_close or not characters.shift(before + after - base, base):
        return False
    signs[before + 1 : after] = [""] * (after - before - 1)
    return True


def _mark_shifted(characters: Characters, signs: list[str], start: int, end: int) -> None:
    """Write the raised and lowered digits of a line so that they do not join the number before them."""
    shown = "".join(sign or "\r" for sign in signs[start:end])
    for match in DIGITS.finditer(shown):
        run = range(start + match.start(), start + match.end())
        before = (i for i in range(run[0] - 1, max(start, run[0] - REACH) - 1, -1) if signs[i].strip())
        after = (i for i in range(run[-1] + 1, min(end, run[-1] + REACH)) if signs[i].strip())
        sizes = {i: characters.size(i) for i in (*run, *islice(before, 1), *islice(after, 1))}
        base = max(sizes, key=sizes.__getitem__)
        if min(sizes[i] for i in run) > SMALL * sizes[base]:
            continue
        if max(characters.gap(base, run[0]), characters.gap(run[-1], base)) > SMALL * sizes[base]:
            continue
        for shift, group in groupby(run, key=lambda i: characters.shift(i, base)):
            places = list(group)
            if shift:
                text = "".join(signs[i] for i in places)
                signs[places[0]] = raised(text) if shift > 0 else lowered(text)
                signs[places[0] + 1 : places[-1] + 1] = [""] * (len(places) - 1)

def _line(characters: Characters, signs: Sequence[str], start: int, end: int) -> Line:
    """The line of the characters from `start` to `end`, with its pieces if wide gaps part them."""
    seen = [i for i in range(start, end) if signs[i].strip()]
    largest = max(seen[0], seen[-1], key=characters.size)
    size = characters.size(largest)
    _, height = characters.origin(largest)
    splits = [(a, b) for a, b in pairwise(seen) if b - a > 1 and characters.gap(a, b) > MIN_GAP * size]
    starts = [seen[0], *(b for _, b in splits)]
    ends = [*(a for a, _ in splits), seen[-1]]
    pieces = [
        Line(_decoded(signs[a : b + 1]), height, characters.edges(a)[0], characters.edges(b)[1], size)
        for a, b in zip(starts, ends, strict=True)
    ]
    return replace(joined(pieces), text=_decoded(signs[start:end]))


def _decoded(signs: Sequence[str]) -> str:
    """The text of some characters, with surrogate pairs joined and visible soft hyphens replaced."""
    text = "".join(signs).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return UNSEEN.sub("", text).replace("\xad", "-").rstrip()


def _is_garbled(characters: PdfTextPage, signs: Sequence[str]) -> bool:
    """True when the characters of the fonts cannot be those that a person sees."""
    from pypdfium2 import raw

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


def rejoin_words(pages: Iterable[str]) -> list[str]:
    """The pages with each broken word made whole on the line, or page, where it begins.

    A PDF does not tell whether the hyphen at a line end belongs to the word. "co-\\noperate" keeps it if
    "co-operate" occurs elsewhere in the document and "cooperate" does not. Pages must not have form feeds.
    """
    text = PAGE_END.join(pages)
    words = {word.lower() for word in WORD.findall(text)}

    def whole(match: re.Match[str]) -> str:
        head, end, tail, rest, _ = match.groups()
        if not tail.islower():
            return match[0]
        hyphenated = f"{head}-{tail}"
        joined = f"{head}{tail}"
        keep = hyphenated.lower() in words and joined.lower() not in words
        return f"{hyphenated if keep else joined}{rest}{end}"

    return BROKEN_WORD.sub(whole, text).split(PAGE_END)


def find_headings(pdf: PdfDocument, text: str, page_starts: list[int]) -> list[Heading]:
    """The entries of the outline whose words are found on their page, in the order of the text.

    A line must begin with the words, with or without a section number before them. A line without other words
    is preferred.
    """
    bounds = [*page_starts, len(text)]
    headings: dict[int, Heading] = {}
    for entry in islice(pdf.get_toc(), MAX_OUTLINE_ENTRIES):
        words = entry.get_title().split()[:MAX_HEADING_WORDS]
        destination = entry.get_dest()
        page = destination.get_index() if destination else None
        if words and page is not None and 0 <= page < len(page_starts):
            start = _find_line(words, text[bounds[page] : bounds[page + 1]])
            if start is not None:
                offset = bounds[page] + start
                headings.setdefault(offset, Heading(offset, entry.level + 1, " ".join(words)))
    return [headings[offset] for offset in sorted(headings)]


def _find_line(words: list[str], page: str) -> int | None:
    """The offset in a page of a line that begins with the words; white space and case do not matter."""
    start = r"^[ \t]{0,40}" + SECTION_NUMBER + r"\s{1,4}".join(map(re.escape, words))
    for end in (r"[ \t]*$", r"\b", ""):  # the words alone, then whole words, then any
        if match := re.compile(start + end, re.M | re.I).search(page):
            return match.start() + len(match[0]) - len(match[0].lstrip())
    return None


def _advice(pages: Sequence[Page]) -> str:
    return "ocrmypdf adds a text layer" if any(page.remark in SCANNED for page in pages) else ""


def _remark(pages: Sequence[Page]) -> str:
    """The remarks on pages, such as "without text (scanned?): pages 3 and 7 to 9 of 12"; may be empty."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for number, page in enumerate(pages, start=1):
        if page.remark:
            numbers[page.remark].append(number)
    return "; ".join(
        f"{remark}: {_page_names(of_remark, len(pages))}" for remark, of_remark in numbers.items()
    )


def _page_names(numbers: Sequence[int], n_pages: int) -> str:
    if len(numbers) == n_pages:
        return "its only page" if n_pages == 1 else f"all {n_pages} pages"
    *listed, last = _ranges(numbers)
    pages = f"{', '.join(listed)} and {last}" if listed else last
    return f"page{'' if len(numbers) == 1 else 's'} {pages} of {n_pages}"


def _ranges(numbers: Sequence[int]) -> Iterator[str]:
    """The numbers in words, with three or more in a row as a range: "3", "7 to 9"."""
    # In a row of numbers, the difference to their index is the same.
    for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        if len(run) > 2:
            yield f"{run[0]} to {run[-1]}"
        else:
            yield from map(str, run)


# Pages as pictures


def page_png(data: bytes, page: int, width: int) -> bytes:
    """A page, counted from 1, as a PNG of `width` pixels, or of fewer for a very large page."""
    with closing(open_pdf(data)) as pdf, closing(_load(pdf, page)) as loaded:
        points, height = loaded.get_size()
        scale = min(min(max(width, 1), MAX_WIDTH) / points, sqrt(MAX_PIXELS / (points * height)))
        file = BytesIO()
        with closing(loaded.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)) as bitmap:
            bitmap.to_pil().save(file, "PNG", compress_level=3)
        return file.getvalue()


def page_boxes(
    data: bytes, page: int, words: str, before: str = "", after: str = ""
) -> tuple[int, float, float, list[Box]]:
    """The number of pages, the width and height of a page in points, and a box for each line of `words`.

    `before` and `after` are the stored text around the words. `DocumentRejected` for an unreadable page.
    """
    with closing(open_pdf(data)) as pdf, closing(_load(pdf, page)) as loaded:
        return len(pdf), *loaded.get_size(), list(_boxes(loaded, words, before, after))[:MAX_BOXES]


def _load(pdf: PdfDocument, page: int) -> PdfPage:
    from pypdfium2 import PdfiumError

    if not 1 <= page <= len(pdf):
        raise DocumentRejected(f"no page {page}: the file has {len(pdf)} pages")
    try:
        loaded = load_page(pdf, page - 1)
    except PdfiumError as error:
        raise DocumentRejected(f"page {page} is damaged") from error
    if min(loaded.get_size()) < 1.0:
        raise DocumentRejected(f"page {page} is too small to show")
    return loaded


def _boxes(page: PdfPage, words: str, before: str, after: str) -> Iterator[Box]:
    from pypdfium2 import raw

    with closing(page.get_textpage()) as characters:
        n_characters = raw.FPDFText_CountChars(characters)
        if n_characters > MAX_CHARACTERS:
            return
        codes = [chr(min(raw.FPDFText_GetUnicode(characters, i), 0x10FFFF)) for i in range(n_characters)]
        places = [i for i, code in enumerate(codes) if _counts(code)]
        seen = "".join(codes[i] for i in places)
        edges = [c_double() for _ in range(4)]  # left, top, right, bottom
        for start, end in _matches(seen, words, _squeeze(before), _squeeze(after)):
            first = places[start]
            n_characters = places[end - 1] + 1 - first
            for i in range(min(raw.FPDFText_CountRects(characters, first, n_characters), MAX_BOXES)):
                raw.FPDFText_GetRect(characters, i, *edges)
                left, top, right, bottom = (edge.value for edge in edges)
                x, y = _shown(page, left, top)
                to_x, to_y = _shown(page, right, bottom)
                yield min(x, to_x), min(y, to_y), abs(to_x - x), abs(to_y - y)


def _shown(page: PdfPage, x: float, y: float) -> tuple[float, float]:
    """A place on the page as it is shown, which is rotated and cut to its box."""
    from pypdfium2 import raw

    width, height = page.get_size()
    across = c_int()
    down = c_int()
    raw.FPDF_PageToDevice(page, 0, 0, int(width * FINE), int(height * FINE), 0, x, y, across, down)
    return across.value / FINE, down.value / FINE


def _counts(character: str) -> bool:
    return character > " " and character not in HYPHENS and not character.isspace()


def _squeeze(text: str) -> str:
    """The text without white space and hyphens, in UTF-16 code units like that of pdfium."""
    units = text.encode("utf-16-le", "surrogatepass")
    return "".join(filter(_counts, map(chr, memoryview(units).cast("H"))))


def _matches(seen: str, words: str, before: str, after: str) -> Iterator[tuple[int, int]]:
    """The spans of the words in the characters of the page: as a whole, else each line, else each word."""
    target = _squeeze(words)
    length = len(target)
    places = re.finditer(f"(?={re.escape(target)})", seen) if target else iter(())
    starts = [place.start() for place in islice(places, MAX_PLACES)]
    if starts:
        best = max(starts, key=lambda start: _agreement(seen, start, start + length, before, after))
        yield best, best + length
        return
    parts = words.split("\n") if "\n" in words.strip() else words.split()
    for i, part in enumerate(parts if len(parts) > 1 else ()):
        ahead = before + _squeeze("".join(parts[:i]))
        behind = _squeeze("".join(parts[i + 1 :])) + after
        yield from _matches(seen, part, ahead, behind)


def _agreement(seen: str, start: int, end: int, before: str, after: str) -> int:
    """The number of characters next to a place that agree with those next to the words."""
    ahead = zip(reversed(seen[max(0, start - len(before)) : start]), reversed(before), strict=False)
    behind = zip(seen[end : end + len(after)], after, strict=False)
    return sum(1 for pairs in (ahead, behind) for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
