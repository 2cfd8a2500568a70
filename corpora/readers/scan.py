"""Pictures of pages, the engines that recognise their words, and these words as lines of a page.

Tesseract is taken where it is on the PATH, with the language data that it finds; else the Python package
rapidocr, whose models are part of it. Nothing is downloaded. A picture is turned until its lines are level,
so that words beside each other are on one line. Pieces of lines that stand in rows and columns are a table;
all other lines keep the order of the engine, which knows columns of prose.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from io import BytesIO
from itertools import groupby
from math import cos, radians, sin, sqrt
from pathlib import Path
from statistics import median
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
LANGUAGES = ("eng", "deu", "fra", "spa")  # where more than these are installed
TIMEOUT_S = 60.0  # of a page
FAULT = "could not be recognised"  # in remarks, before the reason
MAX_DECODED = 120_000_000  # pixels of a picture file
MAX_PIXELS = 16_000_000  # of a page
MAX_SIDE = 12_000  # pixels of a page
MAX_FRAMES = 500  # of a picture file
DPI = 300
PAGE_WIDTH = 8.27  # inches of a picture that does not say how large it is
MIN_DPI = 72
MAX_TURN = 3.0  # degrees
MIN_TURN = 0.15
STEPS = (0.25, 0.05)  # degrees
COARSE = 2  # pixels that are one when the turn is measured
MAX_DARK = 0.3  # share of the pixels of a page of text
MIN_CERTAINTY = 0.3  # of a line
MIN_GAP = 0.8  # times the size of type, between the pieces of a line
SAME_ROW = 0.5  # times the size of type, between the middles of words of a line
SIDE = 1_280  # pixels of the picture in which rapidocr looks for lines

Word = tuple[str, float, float, float, float]
"""A word, and its left, upper, right and lower edge in points on the level page."""
Box = tuple[float, float, float, float]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Picture:
    """A grey picture of a page, whose lines are level.

    width, height: in pixels.
    dpi: pixels per inch of the page.
    degrees: how far the page was turned clockwise.
    pixels: a byte for each, row by row from the top.
    """

    width: int
    height: int
    dpi: float
    degrees: float
    pixels: bytes


@dataclass(frozen=True, slots=True)
class Engine:
    """A program that recognises words.

    name: "tesseract" or "rapidocr".
    program: its path; empty for a package.
    languages: of its data, as its option has them.
    digest: of its version and its data.
    """

    name: str
    program: str
    languages: str
    digest: str

    def __str__(self) -> str:
        """The name with the languages."""
        return f"{self.name} ({self.languages})"


@dataclass(frozen=True, slots=True)
class RecognisedPage:
    """The words that an engine recognised on a page.

    width, height: of the page in points.
    degrees: how far it was turned clockwise.
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
        heights = [max(word[4] - word[2] for word in line) for line in self.lines]
        size = median(heights) if heights else 0.0
        lines = [list(self._pieces(line, size)) for line in self.lines]
        pieces = [piece for line in lines for piece in line]
        rows = _rows(pieces, lambda piece: -piece.height, SAME_ROW * size)
        tables = table_rows([joined(sorted(row, key=lambda piece: piece.left)) for row in rows])
        table_of = {piece: rows for rows in tables for row in rows for piece in row.pieces}
        ordered: dict[Line, None] = {}
        for line in lines:
            ordered |= dict.fromkeys(row for piece in line for row in table_of.get(piece, ()))
            others = [piece for piece in line if piece not in table_of]
            ordered |= {joined(others): None} if others else {}
        return list(ordered)

    def _pieces(self, line: Sequence[Word], size: float) -> Iterator[Line]:
        for words in runs(line, lambda a, b: b[1] - a[3] > MIN_GAP * size or b[1] < a[1]):
            middle = (min(word[2] for word in words) + max(word[4] for word in words)) / 2
            text = " ".join(word[0] for word in words)
            yield Line(text, self.height - middle, words[0][1], words[-1][3], size)

    def characters(self) -> Iterator[tuple[str, int, Box]]:
        """Each character, the number of its line, and its edges on the level page."""
        for number, line in enumerate(self.lines):
            for text, left, top, right, bottom in line:
                step = (right - left) / max(len(text), 1)
                for i, character in enumerate(text):
                    yield character, number, (left + i * step, top, left + (i + 1) * step, bottom)

    def turned_box(self, boxes: Sequence[Box]) -> Box:
        """Left, top, width and height, on the page as it is shown, of what holds these level boxes."""
        left = min(box[0] for box in boxes) - self.width / 2
        top = min(box[1] for box in boxes) - self.height / 2
        right = max(box[2] for box in boxes) - self.width / 2
        bottom = max(box[3] for box in boxes) - self.height / 2
        c = cos(radians(self.degrees))
        s = sin(radians(self.degrees))
        corners = [(x, y) for x in (left, right) for y in (top, bottom)]
        across = [x * c - y * s + self.width / 2 for x, y in corners]
        down = [x * s + y * c + self.height / 2 for x, y in corners]
        return min(across), min(down), max(across) - min(across), max(down) - min(down)


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
    from PIL import Image, ImageSequence

    try:
        with Image.open(BytesIO(data)) as file:
            pages = [_grey(frame, i) for i, frame in enumerate(ImageSequence.Iterator(file))]
            dpi = float(file.info.get("dpi", (0, 0))[0])
        first, *others = pages
        dpi *= first.width / file.width
        size = {"resolution": dpi if dpi > MIN_DPI else first.width / PAGE_WIDTH, "quality": 95}
        pdf = BytesIO()
        first.save(pdf, "PDF", save_all=True, append_images=others, **size)
        return pdf.getvalue()
    except (Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise DocumentRejected(f"damaged picture: {error}") from error


def _grey(frame: Image, number: int) -> Image:
    from PIL.ImageOps import exif_transpose

    if frame.width * frame.height > MAX_DECODED or number == MAX_FRAMES:
        limits = f"{MAX_DECODED // 10**6} megapixels or {MAX_FRAMES} pages"
        raise DocumentRejected(f"picture of more than {limits}")
    grey = exif_transpose(frame).convert("L")
    scale = min(1.0, sqrt(MAX_PIXELS / (grey.width * grey.height)), MAX_SIDE / max(grey.size))
    grey.thumbnail((max(1, int(grey.width * scale)), max(1, int(grey.height * scale))))
    return grey


def level(image: Image, dpi: float) -> Picture:
    """The picture with its lines level."""
    from PIL.Image import Resampling

    degrees = turn_of(np.asarray(image.reduce(COARSE)))
    if abs(degrees) >= MIN_TURN:
        image = image.rotate(degrees, Resampling.BILINEAR, fillcolor=255)
    else:
        degrees = 0.0
    return Picture(image.width, image.height, dpi, degrees, image.tobytes())


def turn_of(grey: np.ndarray[Any, Any]) -> float:
    """How many degrees lines of text are turned clockwise; 0 for a picture without them.

    grey: (height, width) uint8. At the right turn the dark pixels fall into the fewest rows.
    """
    down, across = np.nonzero(grey < grey.mean() - grey.std())
    if not 0 < len(down) < MAX_DARK * grey.size:
        return 0.0

    def sharpness(degrees: float) -> float:
        rows = np.rint(down * cos(radians(degrees)) - across * sin(radians(degrees))).astype(np.int64)
        return float((np.bincount(rows - rows.min()).astype(np.float64) ** 2).sum())

    best = 0.0
    reach = MAX_TURN
    for step in STEPS:
        angles = best + np.arange(-reach, reach + step / 2, step)
        best = max(angles.tolist(), key=lambda degrees: (sharpness(degrees), -abs(degrees)))
        reach = step
    return round(best, 3)


# Engines


def find_engine() -> Engine | None:
    """The engine of this machine; None without one."""
    return _engine_on(os.environ.get("PATH", os.defpath))


@cache
def _engine_on(path: str) -> Engine | None:
    program = shutil.which(TESSERACT, path=path)
    engine = _tesseract(program) if program else None
    if engine is None and find_spec(RAPIDOCR) and find_spec("onnxruntime"):
        versions = [f"{name} {version(name)}" for name in (RAPIDOCR, "onnxruntime")]
        engine = Engine(RAPIDOCR, "", "English", _digest(versions))
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
    head, *names = listed.split("\n")
    others = sorted({name.strip() for name in names} - {"", "osd", *LANGUAGES})
    languages = [name for name in LANGUAGES if name in names]
    if not languages or len(languages + others) <= len(LANGUAGES):
        languages += others[: len(LANGUAGES)]
    folder = Path(head.partition('"')[2].rpartition('"')[0])
    files = [folder / f"{name}.traineddata" for name in languages]
    data = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()]
    chosen = "+".join(languages)
    return Engine(TESSERACT, program, chosen, _digest([number, chosen, *data])) if languages else None


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def recognise(engine: Engine, picture: Picture) -> RecognisedPage:
    """What the engine reads on a picture, without a key."""
    read = _by_tesseract if engine.name == TESSERACT else _by_rapidocr
    points = 72 / picture.dpi
    is_blank = picture.pixels.count(picture.pixels[:1]) == len(picture.pixels)
    lines = [] if is_blank else list(read(engine, picture))
    sure = [line for line in lines if _certainty(line) > MIN_CERTAINTY]
    words = [
        [(text, a * points, b * points, c * points, d * points) for text, _, (a, b, c, d) in line]
        for line in sure
    ]
    certainty = round(_certainty([word for line in lines for word in line]), 3)
    return RecognisedPage(picture.width * points, picture.height * points, picture.degrees, certainty, words)


def _certainty(words: Sequence[ReadWord]) -> float:
    """The mean over the characters of some words."""
    n_characters = sum(len(text) for text, _, _ in words)
    return sum(len(text) * certainty for text, certainty, _ in words) / max(n_characters, 1)


ReadWord = tuple[str, float, Box]
"""A word, its certainty from 0 to 1, and its edges in pixels."""


def _by_tesseract(engine: Engine, picture: Picture) -> Iterator[list[ReadWord]]:
    header = f"P5 {picture.width} {picture.height} 255\n".encode()
    dpi = str(round(picture.dpi))
    command = [engine.program, "stdin", "stdout", "-l", engine.languages, "--dpi", dpi, "-c", NO_BARS, "tsv"]
    try:
        result = subprocess.run(
            command,
            input=header + picture.pixels,
            capture_output=True,
            timeout=TIMEOUT_S,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise DocumentRejected(f"{TESSERACT} took more than {TIMEOUT_S:g} s") from error
    if result.returncode:
        last = result.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise DocumentRejected(": ".join([f"{TESSERACT} failed ({result.returncode})", *last]))
    rows = [row.split("\t") for row in result.stdout.decode("utf-8", "replace").splitlines()[1:]]
    words = [row for row in rows if len(row) == 12 and row[0] == "5" and row[11].strip()]
    for _, line in groupby(words, key=lambda row: row[1:5]):
        yield [_tsv_word(row) for row in line]


def _tsv_word(row: Sequence[str]) -> ReadWord:
    left, top, width, height = map(float, row[6:10])
    return row[11].strip(), float(row[10]) / 100, (left, top, left + width, top + height)


def _by_rapidocr(_: Engine, picture: Picture) -> Iterator[list[ReadWord]]:
    grey = np.frombuffer(picture.pixels, np.uint8).reshape(picture.height, picture.width)
    result = _rapidocr()(np.repeat(grey[:, :, None], 3, axis=2))
    boxes = np.zeros((0, 4, 2)) if result.boxes is None else np.asarray(result.boxes, np.float64)
    pieces = [
        (text.strip(), float(score), (*box.min(axis=0).tolist(), *box.max(axis=0).tolist()))
        for text, score, box in zip(result.txts or (), result.scores or (), boxes, strict=True)
        if text.strip()
    ]
    height = median(box[3] - box[1] for _, _, box in pieces) if pieces else 0.0
    for row in _rows(pieces, lambda piece: (piece[2][1] + piece[2][3]) / 2, SAME_ROW * height):
        yield sorted(row, key=lambda piece: piece[2][0])


@cache
def _rapidocr() -> Any:
    """The engine of rapidocr. The paths of its models are named, because it downloads others."""
    import rapidocr

    models = Path(rapidocr.__file__).parent / "models"

    def model(part: str) -> str:
        return str(next(iter(sorted(models.glob(f"*_{part}_*.onnx")))))

    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    paths = {f"{part.title()}.model_path": model(part) for part in ("det", "rec", "cls")}
    settings = {"limit_type": "max", "limit_side_len": SIDE}
    return rapidocr.RapidOCR(
        params={
            "Global.max_side_len": 20_000,
            "Global.log_level": "critical",
            "Global.use_cls": False,
            **{f"Det.{name}": value for name, value in settings.items()},
            **threads,
            **paths,
        }
    )
