"""How well scans are read: 40 pages that are made from known text, read by an engine.

A page is full of English or German prose in one or two columns, or a table; at 300 or 150 dpi; straight or
turned by 1 degree. Each has other text. All have noise and are stored as JPEG of quality 60. What is read is
compared with what is read of the page before it becomes a picture, with one space for any white space and
without the bars of tables.
"""

import os
import random
from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from html import escape
from io import BytesIO
from itertools import product
from pathlib import Path

import numpy as np
from PIL import Image
from pypdfium2 import PdfDocument
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate, Paragraph, Table

from spanwise.corpora.readers import pdf
from spanwise.corpora.readers.scan import find_engine, recognise

FILES = {
    "English": sorted(Path("corpora/sample/docs").rglob("*.txt")),
    "German": [Path(__file__).with_name("ocr-german.txt")],
}
TABLES = "tables"
LAYOUTS = [
    ("prose", 1, "Times-Roman"),
    ("prose", 1, "Helvetica"),
    ("prose", 2, "Times-Roman"),
    ("prose", 2, "Helvetica"),
    (TABLES, 1, "Helvetica"),
]
"""The kind of a page, its columns of text, and its font."""
SIZE = 10.5  # points
MARGIN = 65.0
GUTTER = 25.0
N_ROWS = 25
NOISE = 12.0  # standard deviation of grey values, of 255
QUALITY = 60
DPI = (300, 150)
TURNS = (0.0, 1.0)  # degrees


def paragraphs_of(language: str) -> list[str]:
    """The long paragraphs of a language."""
    parts = [part for file in FILES[language] for part in file.read_text().split("\n\n")]
    return [part for part in parts if len(part) > 150]


def table_of(paragraphs: Sequence[str], random_numbers: random.Random) -> Table:
    """A table of names from the paragraphs and of numbers."""
    words = [word for part in paragraphs for word in part.split()]
    names = sorted({word for word in words if word.istitle() and word.isalpha()})
    rows = [
        [
            *random_numbers.sample(names, 2),
            str(random_numbers.randrange(9_999)),
            f"{random_numbers.uniform(1, 99):.2f}",
        ]
        for _ in range(N_ROWS)
    ]
    return Table([["Name", "Place", "Number", "Price"], *rows], (A4[0] - 2 * MARGIN) / 4, 1.8 * SIZE)


def typeset(story: list[Flowable], n_columns: int) -> bytes:
    """A PDF of paragraphs or a table in some columns."""
    width = (A4[0] - 2 * MARGIN) / n_columns
    frames = [
        Frame(MARGIN + column * width, MARGIN, width, A4[1] - 2 * MARGIN, 0, 0, GUTTER, 0)
        for column in range(n_columns)
    ]
    file = BytesIO()
    BaseDocTemplate(file, pagesize=A4, pageTemplates=PageTemplate(frames=frames)).build(story)
    return file.getvalue()


def scan(data: bytes, dpi: int, degrees: float, seed: int) -> bytes:
    """A PDF that holds a picture of the first page of another one."""
    page = PdfDocument(data)[0].render(scale=dpi / 72).to_pil().convert("L")
    turned = page.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=255)
    noise = np.random.default_rng(seed).normal(0, NOISE, (turned.height, turned.width))
    pixels = np.clip(np.asarray(turned) + noise, 0, 255).astype(np.uint8)
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PDF", resolution=dpi, quality=QUALITY)
    return file.getvalue()


def error_and_seconds(typeset_page: bytes, scanned: bytes) -> tuple[float, float]:
    """The share of characters that are wrong, and the seconds of CPU time from the PDF to its text."""
    engine = find_engine()
    if engine is None:
        raise SystemExit("no engine is installed")
    began = sum(os.times()[:4])
    recognised = recognise(engine, pdf.page_picture(scanned, 1))
    text = pdf.read(scanned, {1: recognised}).text
    seconds = sum(os.times()[:4]) - began
    document = pdf.read(typeset_page)
    first_page = document.text[: [*document.page_starts, None][1]]
    expected, read = (" ".join(each.replace("|", " ").split()) for each in (first_page, text))
    matches = SequenceMatcher(None, expected, read, autojunk=False).get_matching_blocks()
    n_characters = max(len(expected), len(read))
    return 1 - sum(match.size for match in matches) / n_characters, seconds


def main() -> None:
    """Print a Markdown table for the engine that is found; for rapidocr, run it with an empty PATH."""
    figures: dict[tuple[str, str, int], list[tuple[float, float]]] = defaultdict(list)
    cases = product(FILES, LAYOUTS, DPI, TURNS)
    for seed, (language, (kind, n_columns, font), dpi, degrees) in enumerate(cases):
        paragraphs = paragraphs_of(language)
        random_numbers = random.Random(seed)
        random_numbers.shuffle(paragraphs)
        style = ParagraphStyle(kind, fontName=font, fontSize=SIZE, leading=1.3 * SIZE, spaceAfter=SIZE)
        story: list[Flowable] = [Paragraph(escape(paragraph), style) for paragraph in paragraphs]
        if kind == TABLES:
            story = [table_of(paragraphs, random_numbers)]
        page = typeset(story, n_columns)
        figures[language, kind, dpi].append(error_and_seconds(page, scan(page, dpi, degrees, seed)))
    print("| language | kind | dpi | pages | wrong characters | on the worst page | seconds | at most |")
    print("|---|---|---|---|---|---|---|---|")
    for (language, kind, dpi), pages in figures.items():
        errors, seconds = zip(*pages, strict=True)
        mean = f"{sum(errors) / len(pages):.2%} | {max(errors):.2%} | {sum(seconds) / len(pages):.1f}"
        print(f"| {language} | {kind} | {dpi} | {len(pages)} | {mean} | {max(seconds):.1f} |")


if __name__ == "__main__":
    main()
