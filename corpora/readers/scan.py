"""Pictures of pages, the engines that recognise their words, and these words as lines of a page.

Tesseract is taken where it is on the PATH, with the language data that it finds; else the Python package
rapidocr, whose models are part of it. Nothing is downloaded. A picture is turned until its lines are level,
so that words beside each other are on one line; by quarters where the engine is not sure of what it reads.
Pieces of lines that stand in rows and columns are a table; all other lines keep the order of the engine,
which knows columns of prose.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from cmath import rect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from io import BytesIO
from itertools import chain, groupby
from math import radians
from pathlib import Path
from statistics import median
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from spanwise.errors import DocumentRejected

from .page_layout import Line, joined, runs, table_rows

if TYPE_CHECKING:
    from PIL.Image import Image

TESSERACT = "tesseract"
NO_BARS = "tessedit_char_blacklist=|"  # it reads "I" as "|", which parts the cells of tables here
RAPIDOCR = "rapidocr"
MISSING = "install tesseract, or: pip install 'spanwise[ocr]'. Then "
PICTURES = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"II*\0": "image/tiff",
    b"MM\0*": "image/tiff",
}
LANGUAGES = ("eng", "deu", "fra", "spa")  # before others
MAX_LANGUAGES = 4
FAULT = "could not be recognised"  # in remarks, before the reason
PAGE_WIDTH = 8.27  # inches of a picture that does not say how large it is
MIN_DPI = 72
TURNS = sorted((quarter / 4 for quarter in range(-12, 13)), key=abs)  # degrees
LEVEL = 0.9  # of the differences at another turn suffice for a page that is not turned
COARSE = 2  # pixels that are one when the turn is measured
SURE = 0.6  # the certainty of a page without a remark
MAX_TURNED_S = 25.0  # after which no other turn is tried
UPRIGHT = 0.8  # the certainty of a page that is not turned by quarters
MIN_CERTAINTY = 0.3  # of a line
MIN_GAP = 0.8  # times the size of type, between the pieces of a line
SAME_ROW = 0.5  # times the size of type, between the middles of words of a line
SIDE = 1_280  # pixels of the picture in which rapidocr looks for lines

Word = tuple[str, float, float, float, float]
"""A word, and its left, upper, right and lower edge in points on the level page."""
ReadWord = tuple[str, float, float, float, float, float]
"""A word, its certainty from 0 to 1, and these edges in pixels."""
Box = tuple[float, float, float, float]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Engine:
    """A program that recognises words.

    name: "tesseract" or "rapidocr".
    program: its path; empty for a package.
    languages: of its data, as its option has them.
    version: of the program and its data.
    """

    name: str
    program: str
    languages: str
    version: str

    def __str__(self) -> str:
        """The name with the languages."""
        return f"{self.name} ({self.languages})"


@dataclass(frozen=True, slots=True)
class RecognisedPage:
    """The words that an engine recognised on a page.

    width, height: of the level page in points.
    degrees: how far the page is turned clockwise.
    certainty: of the engine, 0 to 1, as the mean over all characters; 0 without words.
    lines: the words of each line in reading order.
    key: the digest of the picture and of the engine.
    fault: the reason why it could not be read, or empty.
    """

    width: float = 0.0
    height: float = 0.0
    degrees: float = 0.0
    certainty: float = 0.0
    lines: Sequence[Sequence[Word]] = ()
    key: str = ""
    fault: str = ""

    def layout(self) -> list[Line]:
        """The lines of the page, those of tables as rows with pieces."""
        size = median([max(word[4] - word[2] for word in line) for line in self.lines] or [0.0])
        lines = [list(_pieces(line, size)) for line in self.lines]
        rows = _rows(chain.from_iterable(lines), lambda piece: -piece.height, SAME_ROW * size)
        tables = table_rows([joined(sorted(row, key=lambda piece: piece.left)) for row in rows])
        table_of = {piece: table for table in tables for row in table for piece in row.pieces}
        ordered: dict[Line, None] = {}
        for line in lines:
            ordered |= dict.fromkeys(row for piece in line for row in table_of.get(piece, ()))
            others = [piece for piece in line if piece not in table_of]
            ordered |= {joined(others): None} if others else {}
        return list(ordered)

    def characters(self) -> Iterator[tuple[str, int, Box]]:
        """Each character, the number of its line, and its edges on the level page."""
        for number, line in enumerate(self.lines):
            for text, left, top, right, bottom in line:
                step = (right - left) / max(len(text), 1)
                for i, character in enumerate(text):
                    yield character, number, (left + i * step, top, left + (i + 1) * step, bottom)

    def turned_box(self, boxes: Iterable[Box], width: float, height: float) -> Box:
        """Left, top, width and height of what holds these level boxes, on a page as it is shown."""
        turn = rect(1.0, radians(self.degrees))
        shift = complex(width, height) / 2 - turn * complex(self.width, self.height) / 2
        corners = [
            turn * complex(x, y) + shift
            for left, top, right, bottom in boxes
            for x in (left, right)
            for y in (top, bottom)
        ]
        across = [corner.real for corner in corners]
        down = [corner.imag for corner in corners]
        return min(across), min(down), max(across) - min(across), max(down) - min(down)


def _pieces(line: Sequence[Word], size: float) -> Iterator[Line]:
    for words in runs(line, lambda a, b: b[1] - a[3] > MIN_GAP * size or b[1] < a[1]):
        middle = (min(word[2] for word in words) + max(word[4] for word in words)) / 2
        yield Line(" ".join(word[0] for word in words), -middle, words[0][1], words[-1][3], size)


def _rows(items: Iterable[Item], middle: Callable[[Item], float], near: float) -> list[list[Item]]:
    """The items whose middles are near that of the first, row by row."""
    rows: list[list[Item]] = []
    for item in sorted(items, key=middle):
        if rows and middle(item) - middle(rows[-1][0]) <= near:
            rows[-1].append(item)
        else:
            rows.append([item])
    return rows


# Pictures


def picture_type(data: bytes) -> str:
    """The media type of a PNG, JPEG or TIFF; empty for other bytes."""
    return next((name for start, name in PICTURES.items() if data.startswith(start)), "")


def pdf_of_picture(data: bytes) -> bytes:
    """A PDF with a page for each picture in a file; `DocumentRejected` for a damaged or too large one."""
    from PIL import Image, ImageOps, ImageSequence

    try:
        with Image.open(BytesIO(data)) as file:
            dpi = float(file.info.get("dpi", [0])[0])
            frames = ImageSequence.Iterator(file)
            first, *others = [ImageOps.exif_transpose(frame).convert("L") for frame in frames]
        resolution = dpi if dpi > MIN_DPI else first.width / PAGE_WIDTH
        pdf = BytesIO()
        first.save(pdf, "PDF", save_all=True, append_images=others, resolution=resolution, quality=95)
        return pdf.getvalue()
    except (Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise DocumentRejected(f"damaged picture: {error}") from error


def turn_of(picture: Image) -> float:
    """How many degrees lines of text are turned clockwise; 0 for a picture without them.

    At the right turn, neighbouring rows of pixels differ most (Postl 1986).
    """
    from PIL.ImageOps import invert

    coarse = invert(picture.reduce(COARSE))

    def sharpness(degrees: float) -> float:
        rows = np.asarray(coarse.rotate(degrees)).mean(axis=1)
        return float(np.square(np.diff(rows)).sum())

    return max(TURNS, key=lambda degrees: sharpness(degrees) / (1.0 if degrees else LEVEL))


# Engines


def find_engine() -> Engine | None:
    """The engine of this machine; None without one."""
    program = shutil.which(TESSERACT)
    engine = _tesseract(program) if program else None
    if engine is None and find_spec(RAPIDOCR) and find_spec("onnxruntime"):
        engine = Engine(RAPIDOCR, "", "English", f"{version(RAPIDOCR)} {version('onnxruntime')}")
    return engine


def _tesseract(program: str) -> Engine | None:
    """Tesseract with its data; None without data."""
    try:
        number, listed = (
            subprocess.run([program, option], capture_output=True, text=True, timeout=10, check=True).stdout
            for option in ("--version", "--list-langs")
        )
    except (OSError, subprocess.SubprocessError):
        return None
    head, *rest = listed.split("\n")
    names = set(rest) - {"", "osd"}
    ordered = [name for name in LANGUAGES if name in names] + sorted(names.difference(LANGUAGES))
    chosen = ordered[:MAX_LANGUAGES]
    folder = Path(head.partition('"')[2].rpartition('"')[0])
    files = [folder / f"{name}.traineddata" for name in chosen]
    digests = [sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()]
    return Engine(TESSERACT, program, "+".join(chosen), " ".join([number, *digests])) if names else None


def recognise(engine: Engine, data: bytes) -> RecognisedPage:
    """What the engine reads on the picture of a page in the bytes of a file, without a key.

    If it is not sure of words that are wider than high, the page may lie on its side or stand on its head: it
    gets the turn at which most of them are read. A page that takes long is not turned.
    """
    from PIL import Image

    best = RecognisedPage()
    most = -1.0
    began = monotonic()
    with Image.open(BytesIO(data)) as file:
        picture = file.convert("L")
    for degrees in (0, 180, 90, 270):
        page = _recognised(engine, picture.rotate(degrees, expand=True), degrees)
        words = [word for line in page.lines for word in line]
        n_level = sum(len(word[0]) for word in words if word[3] - word[1] > word[4] - word[2])
        if page.certainty * n_level > most:
            best = page
            most = page.certainty * n_level
        is_upright = most > UPRIGHT * sum(len(word[0]) for word in words)
        if is_upright or monotonic() - began > MAX_TURNED_S:
            break
    return best


def _recognised(engine: Engine, picture: Image, degrees: float) -> RecognisedPage:
    """What is read on a picture that was turned by quarters already."""
    from PIL.Image import Resampling

    turn = turn_of(picture)
    level = picture.rotate(turn, Resampling.BILINEAR, fillcolor=255)
    read = _by_tesseract if engine.name == TESSERACT else _by_rapidocr
    points = 72 / picture.info["dpi"][0]
    lines = list(read(engine, level))
    words: list[list[Word]] = [
        [
            (text, left * points, top * points, right * points, bottom * points)
            for text, _, left, top, right, bottom in line
        ]
        for line in lines
        if _certainty(line) > MIN_CERTAINTY
    ]
    certainty = round(_certainty([*chain.from_iterable(lines)]), 3)
    return RecognisedPage(level.width * points, level.height * points, degrees + turn, certainty, words)


def _certainty(words: Sequence[ReadWord]) -> float:
    """The mean over the characters of some words."""
    return sum(len(word[0]) * word[1] for word in words) / max(sum(len(word[0]) for word in words), 1)


def _by_tesseract(engine: Engine, picture: Image) -> Iterator[list[ReadWord]]:
    pixels = BytesIO()
    picture.save(pixels, "PPM")
    dpi = str(round(picture.info["dpi"][0]))
    result = subprocess.run(
        [engine.program, "stdin", "stdout", "-l", engine.languages, "--dpi", dpi, "-c", NO_BARS, "tsv"],
        input=pixels.getvalue(),
        capture_output=True,
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
    )
    if result.returncode:
        last = result.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise DocumentRejected(": ".join([f"{TESSERACT} failed ({result.returncode})", *last]))
    rows = [row.split("\t") for row in result.stdout.decode("utf-8", "replace").split("\n")]
    words = [row for row in rows if row[0] == "5" and row[-1].strip()]
    for _, line in groupby(words, key=lambda row: row[1:5]):
        yield [_tsv_word(row) for row in line]


def _tsv_word(row: Sequence[str]) -> ReadWord:
    left, top, width, height, certainty = map(float, row[6:11])
    return row[11].strip(), certainty / 100, left, top, left + width, top + height


def _by_rapidocr(_: Engine, picture: Image) -> Iterator[list[ReadWord]]:
    result = _rapidocr()(np.asarray(picture.convert("RGB")))
    if result.boxes is None:
        return
    pieces = [
        (text.strip(), float(score), *box.min(axis=0).tolist(), *box.max(axis=0).tolist())
        for text, score, box in zip(result.txts, result.scores, result.boxes, strict=True)
        if text.strip()
    ]
    height = median([piece[5] - piece[3] for piece in pieces] or [0.0])
    for row in _rows(pieces, lambda piece: (piece[3] + piece[5]) / 2, SAME_ROW * height):
        yield sorted(row, key=lambda piece: piece[2])


@cache
def _rapidocr() -> Any:
    """The engine of rapidocr. The paths of its models are named, because it downloads others."""
    import rapidocr

    models = Path(rapidocr.__file__).parent / "models"
    settings = {
        "Global.max_side_len": 20_000,
        "Global.log_level": "critical",
        "Global.use_cls": False,
        "Det.limit_type": "max",
        "Det.limit_side_len": SIDE,
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    }
    for part in ("Det", "Rec", "Cls"):
        settings[f"{part}.model_path"] = str(min(models.glob(f"*_{part.lower()}_*.onnx")))
    return rapidocr.RapidOCR(params=settings)
