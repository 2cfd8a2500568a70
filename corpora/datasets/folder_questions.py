"""Reads questions about folders with the passages they were written for; see corpora/questions/README.md.

The files in a checkout have offsets in place of texts. `join` puts in the texts from your copy of the
documents; `read_folder_items` reads the result.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed, DocumentRejected
from spanwise.types import Document

from ..folder import read_regular
from ..json_lines import JsonObject, json_lines, json_object
from ..passages import passages_at
from ..reading import SkippedFile, parse

TYPES = ("factoid", "how", "why", "consequence", "definition", "list", "yes-no", "none")
PLACES = ("answer", "short", "near")
WORDINGS = Path(__file__).parents[1] / "questions" / "everyday" / "wordings.jsonl"  # only in a checkout
_NAME = re.compile(r"\A(.+)\.jsonl(?:\.gz)?")
Wordings = dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class FolderItem:
    """A question with its passage.

    id: unique in its file.
    question: the question.
    type: one of `TYPES`.
    document: the id of the document.
    heading: the headings above the passage, joined by " > ".
    passage: the text of the passage.
    start, end: the answer is `passage[start:end]`; both are None for the type `none`.
    short: the shortest part of the answer that still answers, or "".
    verdict: "yes" or "no" for a yes-no question, else "".
    """

    id: str
    question: str
    type: str
    document: str
    heading: str
    passage: str
    start: int | None
    end: int | None
    short: str
    verdict: str


@dataclass(frozen=True, slots=True)
class JoinedQuestions:
    """The questions of a file with their texts.

    repositories: "owner/name@commit" by folder inside the domain's folder; "" is the domain's folder.
    rows: a JSON object for each question.
    left_out: the reason for each document that was left out with its questions.
    """

    repositories: dict[str, str]
    rows: list[dict[str, Any]]
    left_out: dict[str, str]


def domains_of(folders: Path) -> dict[str, Path]:
    """The files of questions in a folder, by the name of their domain; `DataMalformed` if there is none."""
    named = [(path, _NAME.fullmatch(path.name)) for path in sorted(folders.glob("*"))]
    domains = {match[1]: path for path, match in named if match}
    if not domains:
        raise DataMalformed(f"{folders} has no DOMAIN.jsonl with questions about the folder {folders}/DOMAIN")
    return domains


def read_folder_items(path: Path) -> list[FolderItem]:
    """The questions of a joined file, plain or gzipped; `DataMalformed` names the line that is wrong."""
    return list(map(folder_item, json_lines(path)))


def read_wordings(*paths: Path) -> Wordings:
    """The everyday wordings in some files, by `wording_key`; a missing file has none."""
    wordings: Wordings = {}
    for path in filter(Path.is_file, paths):
        for line in json_lines(path):
            key = line.text("of")
            wordings[key] = (*wordings.get(key, ()), line.name("wording"))
    return wordings


def everyday_wordings() -> Wordings:
    """The everyday wordings of the project's questions, by `wording_key`; none outside a checkout."""
    return read_wordings(*sorted(WORDINGS.parent.glob("*.jsonl")))


def wording_key(question: str) -> str:
    """The key of a question in the file of wordings: the first 16 digits of its SHA-256."""
    return hashlib.sha256(question.encode()).hexdigest()[:16]


def folder_item(line: JsonObject) -> FolderItem:
    """The question of a line; `DataMalformed` if its type is unknown or its answer is not at its place."""
    full = json_object(line.place, {"short": "", "heading": "", **line.values})
    kind = full.text("type")
    passage = full.text("passage")
    answer = full.text("answer")
    short = full.text("short")
    start = full.value("answer_start", int)
    if kind not in TYPES:
        raise line.error(f"type is {kind!r}; expected one of {', '.join(TYPES)}")
    if bool(answer) != (kind != "none"):
        raise line.error(f"the answer is {answer!r:.60}, but type is {kind!r}")
    if answer and (start < 0 or not passage.startswith(answer, start)):
        raise line.error(f"the answer {answer!r:.60} is not at {start} of its passage")
    is_yes_no = kind == "yes-no"
    if short not in (("yes", "no") if is_yes_no else answer):
        raise line.error(f"short is {short!r:.60}; expected a part of the answer, or yes or no")
    return FolderItem(
        id=full.text("id"),
        question=full.text("question"),
        type=kind,
        document=full.text("document"),
        heading=full.text("heading"),
        passage=passage,
        start=start if answer else None,
        end=start + len(answer) if answer else None,
        short="" if is_yes_no else short,
        verdict=short if is_yes_no else "",
    )


def join(path: Path, folder: Path) -> JoinedQuestions:
    """The questions of a file with the texts of a copy of its documents.

    A document that is missing, cannot be read or has another text is left out with its questions.
    `DataMalformed` names a wrong line, such as a question whose places do not fit its document.
    """
    lines = json_lines(path)
    head = next(lines, json_object(f"{path}, line 1", {}))
    declared = head.values.get("repositories") or {"": head.text("repository")}
    repositories = json_object(f"{head.place}, repositories", declared)
    digests = json_object(f"{head.place}, documents", head.values.get("documents"))
    joined = JoinedQuestions({below: repositories.text(below) for below in repositories.values}, [], {})
    documents: dict[str, Document] = {}
    for name in digests.values:
        try:
            document = parse(read_regular(folder, name), name)
        except (DocumentRejected, ValueError) as error:
            joined.left_out[name] = str(error)
            continue
        if isinstance(document, SkippedFile):
            joined.left_out[name] = document.reason
        elif hashlib.sha256(document.text.encode()).hexdigest() != digests.text(name):
            joined.left_out[name] = "its text is not the one that the questions were written for"
        else:
            documents[name] = document
    for line in lines:
        name = line.text("document")
        if name in documents:
            joined.rows.append(_row(line, documents[name]))
        elif name not in joined.left_out:
            raise line.error(f"the first line does not name the document {name!r}")
    return joined


def _row(line: JsonObject, document: Document) -> dict[str, Any]:
    """The JSON object of a question with its texts, checked."""
    text = document.text
    start, end = _bounds(line, "passage", 0, len(text))
    [passage] = passages_at(document, [(start, end)])
    row: dict[str, Any] = {key: line.text(key) for key in ("id", "document", "question", "type")}
    row |= {"heading": " > ".join(passage.heading), "passage": passage.text}
    row |= {"answer": "", "answer_start": -1}
    places = {key: _bounds(line, key, start, end) for key in PLACES if key in line.values}
    row |= {key: text[left:right] for key, (left, right) in places.items()}
    if "answer" in places:
        row["answer_start"] = places["answer"][0] - start
    if "verdict" in line.values:
        row["short"] = line.text("verdict")
    folder_item(json_object(line.place, row))
    return row


def _bounds(line: JsonObject, key: str, first: int, last: int) -> tuple[int, int]:
    """The start and end at a key, in code points of the document; `DataMalformed` if they lie outside."""
    match line.values.get(key):
        case [int(start), int(end)] if first <= start < end <= last:
            return start, end
    raise line.error(f"{key} is {line.values.get(key)!r:.60}; expected a start and an end in {first}..{last}")
