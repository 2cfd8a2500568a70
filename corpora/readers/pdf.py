"""Reads PDF: the text of each page by pdfium, with the entries of the outline as headings. Draws pages.

An empty line separates pages, or a line end if a page stops in the middle of a sentence. Running headers and
footers are dropped after their first occurrence, lines are put into reading order, and words broken at line
ends are rejoined. The metadata name pages without text: "pages_without_text" by number, "remark" in words.
Text that was recognised on a picture of a page is laid out in the same way. A picture file is read as a PDF.

A page can be drawn, and the boxes of words of its stored text found in it. The stored text differs from that
of pdfium: broken words are whole, running lines are dropped, and lines may have moved. So words are searched
without white space and hyphens, first all together, then line by line, then word by word. Among several
places, the one with the most equal text around it is chosen.

pdfium is not thread safe, and a hostile file may crash the process. So files are opened in child processes.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from io import BytesIO
from itertools import groupby, islice, pairwise
from math import sqrt
from statistics import correlation
from typing import TYPE_CHECKING

from spanwise.errors import DocumentRejected
from spanwise.types import Heading

from .builder import TextBuilder, one_line
from .page_layout import (
    SENTENCE_ENDS,
    Page,
    drop_running_lines,
    in_columns,
    in_reading_order,
    mark_notes,
    place_values,
    runs,
    with_bars,
)
from .scan import FAULT, SURE, RecognisedPage, pdf_of_picture, picture_type

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

MEDIA_TYPE = "application/pdf"
NO_MEANING = "with fonts that do not say which characters they show"
DAMAGED = "damaged"
NOT_READ = "without words that an engine recognises"
UNSURE = "read from a picture with little certainty"
WAITING = "wait for OCR"
LITTLE = 200  # characters of a page that is a picture
LONGER = 2  # times that text, before the words of the picture replace it
MIN_PICTURE = 0.5  # share of such a page
# Letters per thousand of English text. Other languages in Latin letters are alike.
SHARES = (127, 91, 82, 75, 70, 67, 63, 61, 60, 43, 40, 28, 28, 24, 24, 22, 20, 20, 19, 15, 10, 8, 2, 2, 1, 1)
LETTERS = dict(zip("etaoinshrdlcumwfgypbvkjxqz", SHARES, strict=True))
MIN_LETTERS = 100  # of a page whose letters are counted
# Of these counts. 1 of 363 pages of public PDFs has less, and 97 % of shuffled alphabets.
MIN_CORRELATION = 0.4
MAX_ATTACHED = 5  # files that are named
MAX_OUTLINE_ENTRIES = 5_000
MAX_HEADING_WORDS = 40
SECTION_NUMBER = r"(?:(?-i:[0-9][0-9A-Z.]{0,11}|[A-Z]\.?|[IVXLC]{1,6}\.?)[ \t]{1,4})?"
WORD = re.compile(r"[^\W\d_][\w-]*")
# Programs that cannot show XFA forms show this page.
PLACEHOLDER = re.compile(r"Please wait\.{3}\s.{0,200}your PDF\s{1,4}viewer may not be able", re.S)
PAGE_END = "\f"
# Head, hyphen, end of line or page, tail, other characters after it, and the next space.
BROKEN_WORD = re.compile(rf"(\w{{1,40}})-([\n{PAGE_END}])(\w{{2,40}})(\S{{0,9}})[ \t]?(\n?)")
# A number that ends in a thousands separator, and its other digits, but no list of numbers.
BROKEN_NUMBER = re.compile(
    r"(?<![\d,])(?<!\d, )(\d{1,3}(?:,\d{3}){0,3},)\n(\d{3}(?:,\d{3}|\.\d+)*)"
    r"(?![\w,]*\d)(?!,? (?:and |or |to )?\d)[ \t]?\n?"
)
# An address that a line ends at a slash, and its next part.
BROKEN_ADDRESS = re.compile(r"(\bhttps?://\S{1,200}/)\n(?=[^\s/]{1,60}/)")
ADDRESS = ("@", ".", "/", ":")  # characters before the head
ADDRESS_REST = re.compile(r"[.@/:]\w")
# In "in- and output" and "Vor- und Nachname" the hyphen stands for a word.
LOOSE = {"and", "or", "to", "und", "oder", "bis"}

MAX_WIDTH = 2_000  # pixels of a picture
MAX_PIXELS = 16_000_000
DPI = 250  # of a page that is recognised; 300 take a tenth more time
MAX_CHARACTERS = 200_000  # of a page that is searched
MAX_BOXES = 500
CONTEXTS = (400, 100, 25, 5)  # characters around words that must agree, the first that occur
COMPARED = re.compile(r"[^\s\x00-\x1f\xad\u2010\u2011\ufffe\ud800-\udfff\U00010000-\U0010ffff-]+")
Box = tuple[float, float, float, float]
"""x, y, width and height in points, from the top left corner of the page as it is shown."""

# pypdfium2 warns of damage that it can work around; Python would print these warnings.
logging.getLogger("pypdfium2").addHandler(logging.NullHandler())


def read(data: bytes, recognised: Mapping[int, RecognisedPage] | None = None) -> TextBuilder:
    """The document of a PDF or a picture file, titled by its metadata or its first line.

    `recognised` pages, by number, have this text where it is much longer than that of the file.
    """
    with closing(open_pdf(data)) as pdf:
        pages = _read_pages(pdf, recognised or {})
        builder = TextBuilder()
        for page, text in zip(pages, rejoin_words(map(mark_notes, pages)), strict=True):
            _write_page(builder, text, page)
        remarks = _remarks(pages)
        if not builder.length:
            kind = "picture" if picture_type(data) else "PDF"
            raise DocumentRejected(f"{kind} {'. '.join(remarks) or 'without pages'}")
        if PLACEHOLDER.match(builder.text):
            raise DocumentRejected("PDF form that only Adobe Reader shows (XFA). Print it to a PDF there")
        builder.headings = find_headings(pdf, builder.text, builder.page_starts)
        title = pdf.get_metadata_value("Title")
        if attached := _attached(pdf):
            remarks.append(f"attached files are not read: {', '.join(attached)}")
    return builder.described(
        picture_type(data) or MEDIA_TYPE,
        title,
        builder.first_line,
        pages_without_text=",".join(str(n) for n, page in enumerate(pages, start=1) if not page.text),
        remark="; ".join(remarks),
        ocr=", ".join(
            f"{n} {page.certainty or 0:.2f} {page.key}" for n, page in enumerate(pages, start=1) if page.key
        ),
    )


def _attached(pdf: PdfDocument) -> list[str]:
    """The names of the first attached files."""
    from pypdfium2 import PdfiumError

    try:
        numbers = range(min(pdf.count_attachments(), MAX_ATTACHED))
        return [one_line(pdf.get_attachment(number).get_name()) for number in numbers]
    except PdfiumError:
        return ["damaged"]


def _write_page(builder: TextBuilder, text: str, page: Page) -> None:
    start = builder.write(text)
    builder.page_starts.append(start)
    number = len(builder.page_starts)
    if text and (builder.labels or page.certainty is not None):
        builder.add_label(start, "" if page.certainty is None else f"page {number}, read from a picture")
    if text:
        builder.end_line(blank=text.endswith(SENTENCE_ENDS))


def waiting_pages(data: bytes) -> list[int]:
    """The numbers of the pages whose pictures may have more text."""
    with closing(open_pdf(data)) as pdf:
        return [number for number, page in enumerate(_read_pages(pdf, {}), start=1) if page.waits]


def open_pdf(data: bytes) -> PdfDocument:
    """The opened file; most encrypted files have an empty user password and can be opened."""
    from pypdfium2 import PdfDocument, PdfiumError, raw

    try:
        return PdfDocument(pdf_of_picture(data) if picture_type(data) else data)
    except PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            raise DocumentRejected("encrypted PDF: needs a password") from error
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


def _read_pages(pdf: PdfDocument, recognised: Mapping[int, RecognisedPage]) -> list[Page]:
    pdf.init_forms()
    own = [_read_page(pdf, index) for index in range(len(pdf))]
    longest = [_longer(page, recognised.get(number)) for number, page in enumerate(own, start=1)]
    pages = drop_running_lines(longest)
    return [replace(page, lines=tuple(with_bars(in_columns(page.lines)))) for page in pages]


def _read_page(pdf: PdfDocument, index: int) -> Page:
    """The page at an index from 0; a page that cannot be read has a remark instead of lines."""
    from pypdfium2 import PdfiumError

    from .pdf_lines import Characters, hide_unseen, is_garbled, lines_of, signs_of, take_values

    try:
        values = list(take_values(pdf, index)) if pdf.formenv else []
        with closing(load_page(pdf, index)) as page, closing(page.get_textpage()) as characters:
            signs = signs_of(characters)
            if is_garbled(characters, signs):
                return Page((), NO_MEANING, waits=True)
            hide_unseen(page, characters, signs)
            drawn = lines_of(Characters(characters, page.get_rotation()), signs)
            read = Page(tuple(in_reading_order(place_values(drawn, values))))
            n_characters = sum(len(line.text) for line in read.lines)
            return replace(read, waits=has_other_letters(read.text) or _is_picture(page, n_characters))
    except PdfiumError:
        return Page((), DAMAGED)


def _is_picture(page: PdfPage, n_characters: int) -> bool:
    """True for a page that shows something and has no text, or little text and a large picture."""
    from pypdfium2 import PdfiumError, raw

    if not n_characters:
        return bool(raw.FPDFPage_CountObjects(page))
    if n_characters > LITTLE:
        return False
    width, height = page.get_size()
    largest = 0.0
    for picture in page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        with suppress(PdfiumError):  # for one without a place, which is not shown
            left, bottom, right, top = picture.get_bounds()
            largest = max(largest, (right - left) * (top - bottom))
    return bool(largest >= MIN_PICTURE * width * height)


def has_other_letters(text: str) -> bool:
    """True where Latin letters are as frequent as in no language, because a font names others than it shows.

    >>> has_other_letters("Uif mjcsbsz dbse fyqjsft bu uif foe pg uif zfbs. " * 3)
    True
    >>> has_other_letters("The library card expires at the end of the year. " * 3)
    False
    """
    letters = text.lower()
    counts = [letters.count(letter) for letter in LETTERS]
    if sum(counts) < MIN_LETTERS or len({*counts}) == 1:
        return False
    return correlation(counts, list(LETTERS.values())) < MIN_CORRELATION


def _longer(page: Page, recognised: RecognisedPage | None) -> Page:
    """The page, or the one that was recognised on its picture if this has much more text, or sure letters."""
    if recognised is None:
        return page
    remark = f"{FAULT} ({recognised.fault})" if recognised.fault else NOT_READ
    read = Page(tuple(recognised.layout()), remark, False, recognised.certainty, recognised.key)
    is_longer = len(_squeeze(read.text)) > LONGER * len(_squeeze(page.text))
    is_sure = recognised.certainty >= SURE and not has_other_letters(read.text)
    if is_longer or not page.text or (is_sure and has_other_letters(page.text)):
        return read
    return replace(page, waits=False, remark=remark, key=recognised.key)


def rejoin_words(pages: Iterable[str]) -> list[str]:
    """The pages with each broken word, number or address made whole on the line, or page, where it begins.

    A PDF does not tell whether the hyphen at a line end belongs to the word. It does beside numbers, capitals
    and single letters, and in addresses. "co-\\noperate" keeps it if the document holds "co-operate", or
    "operate" and "co" alone and in another compound; but not if "cooperate" occurs. Pages must not have form
    feeds.
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
        is_apart = head.islower() and head not in words and not tail.islower()  # such as a footer
        if tail.isupper() or tail in LOOSE or is_apart:
            return match[0]
        before = text[max(0, match.start() - 1) : match.start()]
        if before in ADDRESS or ADDRESS_REST.match(rest):
            return f"{hyphenated}{rest}{end}"
        is_plain = joined.isalpha() and len(head) > 1 and not head.isupper() and tail.islower()
        is_compound = head.lower() in heads and tail in words
        keep = not is_plain or is_compound or hyphenated.lower() in words
        return f"{hyphenated if keep else joined}{rest}{end}"

    text = BROKEN_ADDRESS.sub(r"\1", BROKEN_WORD.sub(whole, text))
    return BROKEN_NUMBER.sub(r"\1\2\n", text).split(PAGE_END)


def find_headings(pdf: PdfDocument, text: str, page_starts: list[int]) -> list[Heading]:
    """The entries of the outline whose words are found on their page, in the order of the text.

    A line must begin with the words, with or without a section number before them; white space and case do
    not matter. The line with the fewest other characters is taken.
    """
    bounds = list(pairwise([*page_starts, len(text)]))
    headings: dict[int, Heading] = {}
    for entry in islice(pdf.get_toc(), MAX_OUTLINE_ENTRIES):
        words = entry.get_title().split()[:MAX_HEADING_WORDS]
        destination = entry.get_dest()
        page = destination.get_index() if destination else None
        if words and page is not None and page < len(bounds):
            start, end = bounds[page]
            line = rf"^[ \t]{{0,40}}({SECTION_NUMBER}" + r"\s{1,4}".join(map(re.escape, words)) + ")(.*)"
            matches = re.finditer(line, text[start:end], re.M | re.I)
            best = min(matches, key=lambda match: len(match[2]), default=None)
            if best:
                start += best.start(1)
                headings.setdefault(start, Heading(start, entry.level + 1, " ".join(words)))
    return [headings[start] for start in sorted(headings)]


def _remarks(pages: Sequence[Page]) -> list[str]:
    """The remarks on pages, such as "without text (scanned?): pages 3 and 7 to 9 of 12"."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for number, page in enumerate(pages, start=1):
        if not page.text or page.remark.startswith(FAULT):
            numbers[page.remark].append(number)
        elif page.certainty is not None and page.certainty < SURE:
            numbers[UNSURE].append(number)
    remarks = [f"{remark}: {_page_names(of_remark, len(pages))}" for remark, of_remark in numbers.items()]
    n_waiting = sum(page.waits for page in pages)
    return remarks + ([f"{WAITING}: {n_waiting} page{'s' * (n_waiting != 1)}"] if n_waiting else [])


def _page_names(numbers: Sequence[int], n_pages: int) -> str:
    if len(numbers) == n_pages:
        return "its only page" if n_pages == 1 else f"all {n_pages} pages"
    rows = runs(numbers, lambda a, b: b - a > 1)
    *listed, last = (f"{row[0]} to {row[-1]}" if len(row) > 1 else f"{row[0]}" for row in rows)
    pages = f"{', '.join(listed)} and {last}" if listed else last
    return f"page{'' if len(numbers) == 1 else 's'} {pages} of {n_pages}"


# Pages as pictures


def page_picture(data: bytes, page: int, width: int | None = None) -> bytes:
    """A page, counted from 1, as a PNG of `width` pixels, or of fewer for a very large page.

    Without a width it is a grey BMP, which costs no time to write, for an engine that recognises its words.
    """
    with closing(open_pdf(data)) as pdf, closing(_load(pdf, page)) as loaded:
        points, height = loaded.get_size()
        scale = min(width / points if width else DPI / 72, sqrt(MAX_PIXELS / (points * height)))
        picture = loaded.render(scale=scale, grayscale=width is None).to_pil()
        file = BytesIO()
        picture.save(file, "PNG" if width else "BMP", compress_level=3, dpi=(72 * scale, 72 * scale))
        return file.getvalue()


def page_boxes(
    data: bytes,
    page: int,
    words: str,
    before: str = "",
    after: str = "",
    recognised: RecognisedPage | None = None,
) -> tuple[int, float, float, list[Box]]:
    """The number of pages, the width and height of a page in points, and a box for each line of `words`.

    `before` and `after` are the stored text around the words, which were `recognised` on its picture or are
    those of the file. `DocumentRejected` for an unreadable page.
    """
    with closing(open_pdf(data)) as pdf, closing(_load(pdf, page)) as loaded:
        size = loaded.get_size()
        boxes = list(_recognised_boxes(recognised, size, words, before, after)) if recognised else []
        return len(pdf), *size, list(islice(boxes or _boxes(loaded, words, before, after), MAX_BOXES))


def _recognised_boxes(
    page: RecognisedPage, size: tuple[float, float], words: str, before: str, after: str
) -> Iterator[Box]:
    characters = [each for each in page.characters() if COMPARED.match(each[0])][:MAX_CHARACTERS]
    seen = "".join(character for character, _, _ in characters)
    for start, end in _matches(seen, words, _squeeze(before), _squeeze(after)):
        for _, line in groupby(characters[start:end], key=lambda each: each[1]):
            yield page.turned_box([box for _, _, box in line], *size)


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
    from .pdf_lines import signs_of, turned

    rotation = page.get_rotation()
    page_left, _, _, page_top = turned(page.get_bbox(), rotation)
    with closing(page.get_textpage()) as characters:
        signs = signs_of(characters)[:MAX_CHARACTERS]
        places = [i for i, sign in enumerate(signs) if COMPARED.match(sign)]
        seen = "".join(signs[i] for i in places)
        for start, end in _matches(seen, words, _squeeze(before), _squeeze(after)):
            first = places[start]
            for i in range(characters.count_rects(first, places[end - 1] + 1 - first)):
                left, bottom, right, top = turned(characters.get_rect(i), rotation)
                yield left - page_left, page_top - top, right - left, top - bottom


def _squeeze(text: str) -> str:
    """The characters of the text that are compared."""
    return "".join(COMPARED.findall(text))


def _matches(seen: str, words: str, before: str, after: str) -> Iterator[tuple[int, int]]:
    """The spans of the words in the characters of a page: as a whole, else each line, else each word."""
    target = _squeeze(words)
    start = _place(seen, target, before, after)
    if target and start >= 0:
        yield start, start + len(target)
        return
    parts = words.split("\n") if "\n" in words.strip() else words.split()
    for i, part in enumerate(parts if len(parts) > 1 else ()):
        ahead = before + _squeeze("".join(parts[:i]))
        behind = _squeeze("".join(parts[i + 1 :])) + after
        yield from _matches(seen, part, ahead, behind)


def _place(seen: str, target: str, before: str, after: str) -> int:
    """The index at which most text around the target agrees; -1 if it does not occur."""
    for n in CONTEXTS:
        for ahead, behind in ((before[-n:], ""), ("", after[:n])):
            start = seen.find(ahead + target + behind)
            if start >= 0:
                return start + len(ahead)
    return seen.find(target)
