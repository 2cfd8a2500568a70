"""The targets of the fuzzer: each reader returns something valid for any bytes, or refuses them."""

import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile

from helpers.document_checks import check
from helpers.files import MAKERS
from helpers.office_files import rezipped

from spanwise.corpora.datasets.squad import read_squad
from spanwise.corpora.decoding import TERMINAL, decode
from spanwise.corpora.reading import SkippedFile, parse
from spanwise.errors import DataMalformed, DocumentRejected

TEXTS = (
    "# One\n\nA word. Dr. No said so! \n\n- item\n- item two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "e\u0301 日本語。ไทย ﷺ \U0001f468\u200d\U0001f469\n```\ncode\n```\n> quoted &amp; <b>bold</b>\n",
    "title: x\r\n\r\nSteps:\r\n1. one\r\n2. two\u2028three\ffour\ttab \0 end",
)
# Of an archive, only the part that our code reads is fuzzed: other changes would only test the checksum.
# The first part with this end of its name is replaced.
PARTS = {
    ".docx": "word/document.xml",
    ".odt": "content.xml",
    ".ods": "content.xml",
    ".odp": "content.xml",
    ".epub": ".xhtml",
    ".pptx": "slides/slide1.xml",
    ".xlsx": "worksheets/sheet1.xml",
}
LIBRARIES = frozenset((".pdf", ".rtf", ".eml"))  # read by libraries, which raise any error


@dataclass(frozen=True, slots=True)
class Target:
    """A reader.

    run: raises for an error in our code.
    seeds: inputs that the reader accepts.
    """

    run: Callable[[bytes], None]
    seeds: tuple[bytes, ...]


def targets() -> Mapping[str, Target]:
    """All targets by name: one per format of `helpers.files`, and the readers of other files."""
    squad = json.dumps(SQUAD).encode()
    return {
        **{name.rpartition(".")[2]: _reader(name) for name in MAKERS},
        "decoding": Target(_decode, tuple(t.encode(e) for t in TEXTS for e in ("utf-8", "utf-16"))),
        "squad": Target(_squad, (squad,)),
    }


def _reader(name: str) -> Target:
    files = [MAKERS[name](text) for text in TEXTS]
    suffix = Path(name).suffix
    if suffix not in PARTS:
        return Target(lambda data: _parse(data, name, suffix in LIBRARIES), tuple(files))
    parts = [_part(archive, PARTS[suffix]) for archive in files]
    part = parts[0][0]
    return Target(
        lambda data: _parse(rezipped(files[0], {part: data}), name, True),
        tuple(data for _, data in parts),
    )


def _parse(data: bytes, name: str, by_library: bool) -> None:
    """Read and check a file; without a library, any error that `parse` catches is one in our code."""
    try:
        document = parse(data, name)
    except DocumentRejected as error:
        by_library = by_library or data.lstrip().startswith(b"%PDF-")  # read as PDF, whatever its name
        if not by_library and not isinstance(error.__cause__, DocumentRejected | ValueError | None):
            raise error.__cause__ from error
        return
    if not isinstance(document, SkippedFile):
        check(document)


def _decode(data: bytes) -> None:
    try:
        text, encoding = decode(data)
    except DocumentRejected:
        return
    if encoding == "utf-8":
        assert text == TERMINAL.sub("", data.decode("utf-8-sig"))
    text.encode()


def _squad(data: bytes) -> None:
    with NamedTemporaryFile(suffix=".json") as file:
        Path(file.name).write_bytes(data)
        try:
            dataset = read_squad(Path(file.name))
        except DataMalformed:
            return
    for paragraph in (p for article in dataset.articles for p in article.paragraphs):
        for answer in (a for question in paragraph.questions for a in question.answers):
            assert paragraph.context[answer.start : answer.start + len(answer.text)] == answer.text


def _part(archive: bytes, ending: str) -> tuple[str, bytes]:
    """The name and the bytes of the first member of an archive with this end of its name."""
    with zipfile.ZipFile(BytesIO(archive)) as file:
        name = next(name for name in sorted(file.namelist()) if name.endswith(ending))
        return name, file.read(name)


QUESTION = {"id": "1", "question": "Where?", "answers": [{"text": "by the river", "answer_start": 16}]}
PARAGRAPH = {"context": "The mill stands by the river.", "qas": [QUESTION]}
SQUAD = {"version": "1.1", "data": [{"title": "Mill", "paragraphs": [PARAGRAPH]}]}
