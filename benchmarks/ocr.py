"""How well scans are read: 24 pages that are made from known text, read by an engine.

A page is English or German prose in one or two columns, or a table; at 300 or 150 dpi; straight or turned by
1 degree. All have noise and are stored as JPEG of quality 60. What is read is compared with what is read of
the page before it becomes a picture, with one space for any white space and without the bars of tables.
"""

import argparse
import os
import random
from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from html import escape
from io import BytesIO
from itertools import product
from pathlib import Path
from unittest.mock import patch

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
TABLE = "table"
FONTS = {"one column": "Times-Roman", "two columns": "Helvetica", TABLE: "Helvetica"}
SIZE = 10.5  # points
MARGIN = 65.0
GUTTER = 25.0
N_ROWS = 25
NOISE = 12.0  # standard deviation of grey values, of 255
QUALITY = 60
TURN = 1.0  # degrees


def paragraphs_of(language: str) -> list[str]:
    """The long paragraphs of a language."""
    parts = [part for file in FILES[language] for part in file.read_text().split("\n\n")]
    return [part for part in parts if len(part) > 150]


def typeset(paragraphs: Sequence[str], layout: str, font: str) -> bytes:
    """A PDF of the paragraphs, or of a table of their words."""
    style = ParagraphStyle("prose", fontName=font, fontSize=SIZE, leading=1.3 * SIZE, spaceAfter=SIZE)
    story: list[Flowable] = [Paragraph(escape(paragraph), style) for paragraph in paragraphs]
    n_columns = 2 if layout == "two columns" else 1
    width = (A4[0] - 2 * MARGIN) / n_columns
    if layout == TABLE:
        words = iter(
            sorted(
                {word for part in paragraphs for word in part.split() if word.istitle() and word.isalpha()}
            )
        )
        amounts = random.Random(N_ROWS)
        rows = [
            [next(words), next(words), str(amounts.randrange(9_999)), f"{amounts.uniform(1, 99):.2f}"]
            for _ in range(N_ROWS)
        ]
        story = [Table([["Name", "Place", "Number", "Price"], *rows], width / 4, 1.8 * SIZE)]
    frames = [
        Frame(MARGIN + column * width, MARGIN, width, A4[1] - 2 * MARGIN, 0, 0, GUTTER, 0)
        for column in range(n_columns)
    ]
    file = BytesIO()
    BaseDocTemplate(file, pagesize=A4, pageTemplates=PageTemplate(frames=frames)).build(story)
    return file.getvalue()


def scan(data: bytes, dpi: int, degrees: float) -> bytes:
    """A PDF that holds a picture of the first page of another one."""
    page = PdfDocument(data)[0].render(scale=dpi / 72).to_pil().convert("L")
    turned = page.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=255)
    noise = np.random.default_rng(dpi).normal(0, NOISE, (turned.height, turned.width))
    pixels = np.clip(np.asarray(turned) + noise, 0, 255).astype(np.uint8)
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PDF", resolution=dpi, quality=QUALITY)
    return file.getvalue()


def error_and_seconds(typeset_page: bytes, scanned: bytes) -> tuple[float, float]:
    """The share of characters that are wrong, and the seconds of CPU time for drawing and recognising."""
    engine = find_engine()
    if engine is None:
        raise SystemExit("no engine is installed")
    began = sum(os.times()[:4])
    recognised = recognise(engine, pdf.page_png(scanned, 1))
    seconds = sum(os.times()[:4]) - began
    document = pdf.read(typeset_page)
    first_page = document.text[: [*document.page_starts, None][1]]
    texts = [first_page, pdf.read(scanned, {1: recognised}).text]
    expected, read = (" ".join(text.replace("|", " ").split()) for text in texts)
    matches = SequenceMatcher(None, expected, read, autojunk=False).get_matching_blocks()
    n_characters = max(len(expected), len(read))
    return 1 - sum(match.size for match in matches) / n_characters, seconds


def main() -> None:
    """Print a Markdown table for the engine that is found, or for rapidocr."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rapidocr", action="store_true", help="do not look for tesseract")
    options = parser.parse_args()
    figures: dict[tuple[str, str, int], list[tuple[float, float]]] = defaultdict(list)
    with patch.dict(os.environ, {"PATH": ""} if options.rapidocr else {}):
        for language, (number, (layout, font)) in product(FILES, enumerate(FONTS.items())):
            paragraphs = paragraphs_of(language)
            random.Random(number).shuffle(paragraphs)
            page = typeset(paragraphs, layout, font)
            for dpi, degrees in product((300, 150), (0.0, TURN)):
                figures[language, layout, dpi].append(error_and_seconds(page, scan(page, dpi, degrees)))
    print("| language | layout | dpi | pages | wrong characters | seconds of a core |")
    print("|---|---|---|---|---|---|")
    for (language, layout, dpi), pages in figures.items():
        errors, seconds = zip(*pages, strict=True)
        mean = f"{sum(errors) / len(pages):.2%} | {sum(seconds) / len(pages):.1f}"
        print(f"| {language} | {layout} | {dpi} | {len(pages)} | {mean} |")


if __name__ == "__main__":
    main()
