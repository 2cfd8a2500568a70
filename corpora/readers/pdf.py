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
from dataclasses import replace
from io import BytesIO
from itertools import groupby, islice, takewhile
from math import sqrt
from typing import TYPE_CHECKING

from spanwise.errors import DocumentRejected
from spanwise.types import Heading

from .builder import TextBuilder
from .page_layout import (
    NO_TEXT,
    Page,
    drop_running_lines,
    in_columns,
    in_reading_order,
    mark_notes,
    place_values,
)

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

MEDIA_TYPE = "application/pdf"
MAX_TEXT = 50_000_000  # characters
SENTENCE_ENDS = tuple('.!?:…。！？"”’)]')
NO_MEANING = "with fonts that do not say which characters they show"
DAMAGED = "damaged"
SCANNED = (NO_TEXT, NO_MEANING)
MAX_OUTLINE_ENTRIES = 5_000
MAX_HEADING_WORDS = 40
SECTION_NUMBER = r"(?:(?-i:[0-9][0-9A-Z.]{0,11}|[A-Z]\.?|[IVXLC]{1,6}\.?)[ \t]{1,4})?"
WORD = re.compile(r"[^\W\d_][\w-]*")
# Programs that cannot show XFA forms show this page.
PLACEHOLDER = re.compile(r"Please wait\.{3}\s.{0,200}your PDF\s{1,4}viewer may not be able", re.S)
MAX_PLACEHOLDER = 3_000  # characters
PAGE_END = "\f"
# Head, hyphen, end of line or page, tail, other characters after it, and the next space.
BROKEN_WORD = re.compile(rf"(\w{{1,40}})-([\n{PAGE_END}])(\w{{2,40}})(\S{{0,9}})[ \t]?(\n?)")
# In "in- and output" and "Vor- und Nachname" the hyphen stands for a word.
LOOSE = {"and", "or", "to", "und", "oder", "bis"}

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
        if builder.length < MAX_PLACEHOLDER and PLACEHOLDER.search(builder.text):
            raise DocumentRejected("PDF form that only Adobe Reader shows (XFA). Print it to a PDF there")
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
    pdf.init_forms()
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

    from .pdf_lines import Characters, is_garbled, lines_of, signs_of, take_values

    try:
        values = list(take_values(pdf, index)) if pdf.formenv else []
        with closing(load_page(pdf, index)) as page, closing(page.get_textpage()) as characters:
            signs = signs_of(characters)
            drawn = list(lines_of(Characters(characters, page.get_rotation()), signs.copy()))
            lines = tuple(place_values(drawn, values))
            if not Page(lines).text:
                return Page((), NO_TEXT)
            return Page((), NO_MEANING) if is_garbled(characters, signs) else mark_notes(Page(lines))
    except PdfiumError:
        return Page((), DAMAGED)


def rejoin_words(pages: Iterable[str]) -> list[str]:
    """The pages with each broken word made whole on the line, or page, where it begins.

    A PDF does not tell whether the hyphen at a line end belongs to the word. It does beside numbers, capitals
    and single letters. "co-\\noperate" keeps it if the document holds "co-operate", or "operate"
    and "co" alone and in another compound; but not if "cooperate" occurs. Pages must not have form feeds.
    """
    text = PAGE_END.join(pages)
    words = {word.lower() for word in WORD.findall(BROKEN_WORD.sub(" ", text))}
    heads = {word.partition("-")[0] for word in words if "-" in word} & words

    def whole(match: re.Match[str]) -> str:
        head, end, tail, rest, _ = match.groups()
        hyphenated = f"{head}-{tail}"
        joined = f"{head}{tail}"
        if joined.lower() in words:
            return f"{joined}{rest}{end}"
        if tail.isupper() or tail in LOOSE:
            return match[0]
        is_plain = joined.isalpha() and len(head) > 1 and not head.isupper() and tail.islower()
        is_compound = head.lower() in heads and tail in words
        keep = not is_plain or is_compound or hyphenated.lower() in words
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
