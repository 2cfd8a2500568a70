"""T11: hundreds of malformed files of every format beside good ones: each is indexed or refused with a
reason, nothing crashes or hangs, and the good ones are what they are without them.
"""

import os
import random
import time
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path, PurePosixPath

import pytest
from helpers.files import MAKERS, pdf_of
from helpers.office_files import archive, rezipped

import spanwise
from spanwise.pipelines.library.library import Library
from spanwise.types import ProgressCallback, SyncReport, no_progress

HANG_S = 60 + 15  # the limit by the clock, and the slack of a busy machine
NEIGHBOURS = ["Vellan", "Corrow", "Tressick", "Ombrel"]
TEXT = "The ferry of Ansel Quarry\n\nIt crossed the lake in 1874 with forty people and a goat.\n\n" * 20
OF_EACH_FORMAT = 230  # shared out among the formats
DEPTH = 200_000
DOCUMENT_XML = "word/document.xml"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def malformed_files(seed: int = 7) -> Iterator[tuple[str, bytes]]:
    """Names and bytes, about 280 of them."""
    chance = random.Random(seed)
    good = {PurePosixPath(name).suffix: make(TEXT) for name, make in MAKERS.items()}
    for suffix, data in good.items():
        for number in range(OF_EACH_FORMAT // len(good)):
            yield f"damaged-{number:02}{suffix}", _damaged(data, number, chance)
    suffixes = list(good)
    for suffix, data in good.items():
        for wrong in chance.sample(suffixes, 4):
            yield f"truly{suffix[1:]}-{wrong[1:]}{wrong}", data
        yield f"empty{suffix}", b""
        yield f"blank{suffix}", b" \n\t" * 50
        yield f"nothing{suffix}", bytes(5_000)
    yield from _depths()
    yield from _bombs()
    yield from _loops()
    yield from _oddities(chance)


def make_folder(root: Path, seed: int = 7, step: int = 1) -> int:
    """Write them, or every `step`-th, with a pipe and a sparse file of 1 GB; returns their number."""
    files = list(malformed_files(seed))[::step]
    for name, data in files:
        (root / name).write_bytes(data)
    os.mkfifo(root / "pipe.txt")
    with (root / "sparse.txt").open("wb") as sparse:
        sparse.truncate(2**30)
    return len(files) + 2


def _damaged(data: bytes, number: int, chance: random.Random) -> bytes:
    """The file cut off, with bits flipped, with a hole of zeros, or with a piece of itself in its middle."""
    offset = chance.randrange(len(data))
    match number % 4:
        case 0:
            return data[:offset]
        case 1:
            flipped = bytearray(data)
            for _ in range(1 + number):
                flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            return bytes(flipped)
        case 2:
            return data[:offset] + bytes(min(64, len(data) - offset)) + data[offset + 64 :]
        case _:
            return data[:offset] + data[chance.randrange(len(data)) :]


def _depths() -> Iterator[tuple[str, bytes]]:
    """Brackets within brackets."""
    yield "deep.json", b"[" * DEPTH + b"]" * DEPTH
    yield "deep.html", b"<html><body>" + b"<div>" * DEPTH + b"down here" + b"</div>" * DEPTH
    yield "deep-tables.html", b"<html><body>" + b"<table><tr><td>" * 20_000 + b"down here"
    yield "deep-lists.html", b"<html><body>" + b"<ul><li>" * 20_000 + b"down here"
    yield "deep.xml", b"<?xml version='1.0'?>" + b"<a>" * DEPTH + b"x" + b"</a>" * DEPTH
    yield "deep-quotes.md", b">" * DEPTH + b" down here\n"
    yield "deep-links.md", b"[" * DEPTH + b"x" + b"](y)" * DEPTH
    yield "deep-lists.md", b"".join(b" " * i + b"- item\n" for i in range(3_000))
    yield "deep.txt", b"(" * DEPTH + b")" * DEPTH
    yield "deep.tex", b"{" * DEPTH + b"}" * DEPTH
    yield "deep.rtf", b"{\\rtf1 " + b"{" * DEPTH + b"x" + b"}" * DEPTH + b"}"
    yield "deep.docx", _docx(b"<w:p>" * 50_000 + b"</w:p>" * 50_000)
    yield "deep-array.pdf", _pdf(b"[" * DEPTH + b"]" * DEPTH)


def _bombs() -> Iterator[tuple[str, bytes]]:
    """Small files that grow."""
    entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    laughs = f'<!DOCTYPE a [<!ENTITY l0 "lol">{entities}]><a>&l11;</a>'.encode()
    quadratic = f'<!DOCTYPE a [<!ENTITY l "{"x" * 100_000}">]><a>{"&l;" * 20_000}</a>'.encode()
    yield "laughs.xml", b'<?xml version="1.0"?>' + laughs
    yield "quadratic.xml", b'<?xml version="1.0"?>' + quadratic
    yield "outside.xml", b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>'
    yield "laughs.docx", archive({DOCUMENT_XML: b'<?xml version="1.0"?>' + laughs})
    yield "spaces.docx", _docx(b" " * 60_000_000)
    yield "zeros.docx", archive({DOCUMENT_XML: bytes(60_000_000)})
    for suffix in (".epub", ".pptx", ".xlsx", ".odt"):
        yield f"zeros{suffix}", archive({"mimetype": b"application/zip", "content.xml": bytes(60_000_000)})
    yield "deflate.pdf", _pdf(_stream(zlib.compress(bytes(100_000_000))))
    content = zlib.compress(b"(abc) Tj " * 4_000_000)
    yield "words.pdf", _pdf(_stream(content))
    twice = zlib.compress(zlib.compress(bytes(100_000_000)))
    yield "twice.pdf", _pdf(_stream(twice, b"[/FlateDecode /FlateDecode]"))
    yield "line.txt", b"a" * 5_000_000
    yield "line.html", b"<p>" + b"x&amp;" * 500_000
    yield "attributes.html", b"<html><p " + b" ".join(b'a%d="b"' % i for i in range(200_000)) + b">x"
    yield "line.csv", b'"' + b"a,\n" * 300_000
    yield "columns.csv", b"," * 2_000_000 + b"\n1\n"
    yield "number.json", b'{"n": ' + b"9" * 1_000_000 + b"}"


def _loops() -> Iterator[tuple[str, bytes]]:
    """Files that refer to themselves."""
    yield "pages-loop.pdf", _pdf(b"<< /Type /Pages /Count 1 /Kids [2 0 R] /Parent 2 0 R >>")
    outlined = pdf_of([["One"], ["Two"]], outline={"One": 1, "Two": 1})
    yield "outline-loop.pdf", outlined.replace(b"/Next", b"/Prev")
    yield "xref-loop.pdf", b"%PDF-1.5\ntrailer << /Root 1 0 R /Prev 9 >>\nstartxref\n9\n%%EOF"
    yield "length-loop.pdf", _pdf(b"<< /Length 3 0 R >> stream\nx\nendstream")


def _oddities(chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """Encodings, names and contents that do not fit."""
    yield "nul.txt", b"text\0with\0nuls " * 1_000
    yield "utf16.txt", b"\xff\xfe" + "text".encode("utf-16-le") * 500 + b"\x00"
    yield "utf16-half.md", b"\xfe\xff\xd8\x00" * 500
    yield "latin.txt", b"caf\xe9 \xa4 \x81\x8d " * 500
    yield "surrogates.json", b'{"a": "\\ud800", "b": "\\udfff"}'
    yield "noise.bin", chance.randbytes(50_000)
    for suffix in (*sorted({PurePosixPath(name).suffix for name in MAKERS}), ".doc", ".xls", ".zip"):
        yield f"noise{suffix}", chance.randbytes(20_000)
    yield "ole.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4_000)
    yield "only-a-header.pdf", b"%PDF-1.7"
    yield "only-a-header.docx", b"PK\x03\x04"
    yield "escape.txt", b"\x1b]0;title\x07\x1b[2J" * 300
    yield "directions.txt", "\u202e\u2066\u200b\ufeff\U000e0041".encode() * 300
    yield "marks.txt", b"a" + "\u0301".encode() * 100_000


def _docx(body: bytes) -> bytes:
    """A Word document of other parts that are sound, with this body."""
    head = f'<?xml version="1.0"?><w:document xmlns:w="{WORD}"><w:body>'.encode()
    return rezipped(MAKERS["a.docx"]("sound"), {DOCUMENT_XML: head + body + b"</w:body></w:document>"})


def _stream(data: bytes, chain: bytes = b"/FlateDecode") -> bytes:
    return b"<< /Length %d /Filter %s >>\nstream\n%s\nendstream" % (len(data), chain, data)


def _pdf(third: bytes) -> bytes:
    """A PDF of one page whose content, object 3, is what is given."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
        third,
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 3 0 R /Resources << >> >>",
    ]
    body = b"%PDF-1.4\n"
    places = []
    for number, words in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, words)
    table = b"xref\n0 5\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    return body + table + b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(body)


def neighbours(library: Library) -> dict[str, object]:
    """All that is stored of the good files, and the best passage for a question about each."""
    stored: dict[str, object] = {}
    every = list(library.passages())
    for name in (name for name in library.snapshot.files() if name.partition("/")[0] in NEIGHBOURS):
        passages = [(p.start, p.end, p.text, p.heading) for p in every if p.document_id == name]
        place, file = name.split("/")
        (hit,) = library.search(f"bridge of {place}{file[2:]}", k=1, retriever="bm25")
        place_of_hit = (hit.passage.document_id, hit.passage.start, hit.passage.end, hit.passage.text)
        stored[name] = (library.document(name), passages, place_of_hit)
    return stored


def synced(
    root: Path, index: Path, on_progress: ProgressCallback = no_progress
) -> tuple[SyncReport, dict[str, object]]:
    with spanwise.open(root, index) as library:
        return library.sync(vectors=False, on_progress=on_progress, workers=2), neighbours(library)


@pytest.mark.times(10, 300, 3000)
def test_malformed_files_cost_themselves_alone(tmp_path, record, times) -> None:
    root = tmp_path / "folder"
    for place in NEIGHBOURS[: 1 if times == 10 else None]:
        (root / place).mkdir(parents=True)
        for name, make in MAKERS.items():
            text = f"About {place}\n\nThe bridge of {place}{name[2:]} was opened by Ada Rook.\n"
            (root / place / name).write_bytes(make(text))
    _, alone = synced(root, tmp_path / "alone")
    n_bad = 0
    for seed in range(max(1, times // 300)):
        (root / f"bad{seed}").mkdir()
        n_bad += make_folder(root / f"bad{seed}", seed, step=60 if times == 10 else 1)
    clock = [time.monotonic()]
    report, among_bad = synced(root, tmp_path / "among", lambda *_: clock.append(time.monotonic()))

    n_skipped = sum(report.skipped.values())
    assert report.found == len(report.added) + len(report.rejected) + n_skipped == n_bad + len(alone)
    assert all(rejection.reason.strip() for rejection in report.rejected)
    assert among_bad == alone
    longest = max(after - before for before, after in pairwise(clock))
    assert longest < HANG_S
    n_indexed = len(report.added) - len(alone)
    n_rejected = len(report.rejected)
    figures = f"{n_indexed} + {n_rejected} + {n_skipped} = {n_bad}"
    record("T11", "malformed files: indexed + rejected with a reason + skipped", figures)
    record("T11", "good neighbours changed", f"0 of {len(alone)}")
    record("T11", "longest wait for one file", f"{longest:.0f} s")
