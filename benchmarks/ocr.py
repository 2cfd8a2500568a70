"""How well scans are read: 40 pages that are made from known text, read by each engine that is installed.

A page is English or German prose in one or two columns, or a table; in serif or sans; at 300 or 150 dpi;
straight or turned by 1 degree. All have noise and are stored as JPEG of quality 60. The text is compared as
it would be stored, with one space for any white space and without the bars of tables.
"""

import argparse
import os
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from spanwise.corpora.readers import pdf
from spanwise.corpora.readers.scan import find_engine, recognise

GERMAN = Path(__file__).with_name("ocr-german.txt")
FONTS = "/usr/share/fonts/truetype/liberation/Liberation{}-Regular.ttf"
INCH = 8.27, 11.69  # of an A4 page
MARGIN = 0.9  # inches
LEADING = 1.3  # times the size of type
GUTTER = 0.35  # inches
LINES = 46  # of a column
NOISE = 12.0  # standard deviation of grey values, of 255
QUALITY = 60
TURN = 1.0  # degrees
LAYOUTS = {"one column": 1, "two columns": 2, "table": 0}


@dataclass(frozen=True, slots=True)
class ScannedPage:
    """A page with its text.

    language, layout, dpi, degrees: how it was made.
    text: its words in the order in which they are read.
    pdf: the bytes of a PDF that holds its picture.
    """

    language: str
    layout: str
    dpi: int
    degrees: float
    text: str
    pdf: bytes


def texts(docs: Path) -> dict[str, list[str]]:
    """The paragraphs of each language."""
    files = sorted((docs / "heritage").rglob("*.txt")) or sorted(docs.rglob("*.txt"))
    english = "\n\n".join(file.read_text() for file in files)
    by_language = {"English": english, "German": GERMAN.read_text()}
    return {
        language: [" ".join(part.split()) for part in text.split("\n\n") if len(part) > 150]
        for language, text in by_language.items()
    }


def scanned_pages(docs: Path) -> Iterator[ScannedPage]:
    """The 40 pages, the same ones at each call."""
    styles = [*product(("one column", "two columns"), ("Serif", "Sans")), ("table", "Sans")]
    for language, paragraphs in texts(docs).items():
        for number, (layout, font) in enumerate(styles):
            order = random.Random(number).sample(paragraphs, len(paragraphs))
            for dpi, degrees in product((300, 150), (0.0, TURN)):
                text, pdf = scan(order, layout, font, dpi, degrees)
                yield ScannedPage(language, layout, dpi, degrees, text, pdf)


def scan(paragraphs: list[str], layout: str, font: str, dpi: int, degrees: float) -> tuple[str, bytes]:
    """The words of a page, and the PDF that holds its picture."""
    page = Image.new("L", (round(INCH[0] * dpi), round(INCH[1] * dpi)), 250)
    letters = ImageFont.truetype(FONTS.format(font), round(10.5 / 72 * dpi))
    text = " ".join(draw(ImageDraw.Draw(page), paragraphs, LAYOUTS[layout], letters, dpi))
    turned = page.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=250)
    noise = np.random.default_rng(dpi).normal(0, NOISE, (turned.height, turned.width))
    pixels = np.clip(np.asarray(turned) + noise, 0, 255).astype(np.uint8)
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PDF", resolution=dpi, quality=QUALITY)
    return text, file.getvalue()


def draw(
    page: ImageDraw.ImageDraw, paragraphs: list[str], n_columns: int, font: ImageFont.FreeTypeFont, dpi: int
) -> Iterator[str]:
    """Draws columns of prose, or a table for none; the words in the order in which they are read."""
    step = LEADING * font.size
    width = INCH[0] - 2 * MARGIN
    if not n_columns:
        for row, cells in enumerate(table(paragraphs)):
            for column, cell in enumerate(cells):
                left = (MARGIN + column * width / 4) * dpi
                page.text((left, MARGIN * dpi + row * 1.4 * step), cell, 20, font)
                yield cell
        return
    width = (width - GUTTER * (n_columns - 1)) / n_columns
    lines = [line for each in paragraphs * 2 for line in [*wrapped(each, font, width * dpi), ""]]
    for column in range(n_columns):
        left = (MARGIN + column * (width + GUTTER)) * dpi
        for row, line in enumerate(lines[column * LINES : (column + 1) * LINES]):
            page.text((left, MARGIN * dpi + row * step), line, 20, font)
            yield from [line] if line else []


def wrapped(text: str, font: ImageFont.FreeTypeFont, width: float) -> Iterator[str]:
    """The lines of a paragraph, each within a width in pixels."""
    line = ""
    for word in text.split():
        if line and font.getlength(f"{line} {word}") > width:
            yield line
            line = word
        else:
            line = f"{line} {word}".lstrip()
    yield line


def table(paragraphs: list[str]) -> Iterator[list[str]]:
    """The rows of a table with two columns of words and two of numbers."""
    words = [word.strip(",.;:»«()") for part in paragraphs for word in part.split()]
    names = list(
        dict.fromkeys(word for word in words if word[0].isupper() and word.isalpha() and len(word) > 4)
    )
    numbers = random.Random(len(names))
    yield ["Name", "Place", "Number", "Price"]
    for first, second in zip(names[:24], reversed(names[-24:]), strict=True):
        yield [first, second, str(numbers.randrange(100, 9999)), f"{numbers.uniform(1, 99):.2f}"]


def distance(a: str, b: str) -> int:
    """The number of characters to insert, delete or replace.

    >>> distance("mill", "mile")
    2
    """
    codes = np.array([ord(c) for c in b])
    steps = np.arange(len(b) + 1)
    row = steps
    for i, character in enumerate(a, 1):
        replaced = row[:-1] + (codes != ord(character))
        row = np.concatenate(([i], np.minimum(replaced, row[1:] + 1)))
        row = np.minimum.accumulate(row - steps) + steps  # insertions
    return int(row[-1])


def error_and_seconds(page: ScannedPage) -> tuple[float, float]:
    """The share of characters that are wrong, and the seconds of CPU time for drawing and recognising."""
    engine = find_engine()
    if engine is None:
        raise SystemExit("no engine is installed")
    began = sum(os.times()[:4])
    recognised = recognise(engine, pdf.page_picture(page.pdf, 1))
    seconds = sum(os.times()[:4]) - began
    text = pdf.read(page.pdf, {1: recognised}).text.replace("|", " ")
    return distance(page.text, " ".join(text.split())) / len(page.text), seconds


def main() -> None:
    """Print a Markdown table for the engine that is found, or for rapidocr."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=Path, default=Path("corpora/sample/docs"), help="English text")
    parser.add_argument("--rapidocr", action="store_true", help="do not look for tesseract")
    options = parser.parse_args()
    figures: dict[tuple[str, str, int], list[tuple[float, float]]] = defaultdict(list)
    with patch.dict(os.environ, {"PATH": ""} if options.rapidocr else {}):
        for page in scanned_pages(options.docs):
            figures[page.language, page.layout, page.dpi].append(error_and_seconds(page))
    print("| language | layout | dpi | pages | wrong characters | seconds of a core |")
    print("|---|---|---|---|---|---|")
    for (language, layout, dpi), pages in figures.items():
        errors, seconds = zip(*pages, strict=True)
        mean = f"{sum(errors) / len(pages):.2%} | {sum(seconds) / len(pages):.1f}"
        print(f"| {language} | {layout} | {dpi} | {len(pages)} | {mean} |")


if __name__ == "__main__":
    main()
