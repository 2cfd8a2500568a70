"""Questions of folders with the passages they were written for, see corpora/questions/README.md.

The checkout has the questions alone, with places instead of texts. `join` puts the texts of your copy of the
documents into them; `read_folder_items` reads the result.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed, DocumentRejected
from spanwise.types import Document

from ..folder import read_regular
from ..json_lines import Record, json_lines, record_of
from ..passages import passages_at
from ..reading import Skipped, parse

TYPES = ("factoid", "how", "why", "consequence", "definition", "list", "yes-no", "none")
PLACES = ("answer", "short", "near")
WORDINGS = Path(__file__).parent / "questions" / "everyday" / "wordings.jsonl"  # in a checkout alone
_NAME = re.compile(r"\A(.+)\.jsonl(?:\.gz)?")


@dataclass(frozen=True, slots=True)
class FolderItem:
    """A question with its passage; the answer is `passage[start:end]`, None and None for the type `none`.

    `heading` has the headings above, joined by " > ". `short` is the shortest part of the answer that still
    tells, `verdict` is "yes" or "no" for a yes-no question; both may be "".
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
class Joined:
    """The rows with texts, and the reasons for which documents were left out with their questions.

    `repositories` are "owner/name@commit" by the folder below the domain's that holds each, "" for all of it.
    """

    repositories: dict[str, str]
    rows: list[dict[str, Any]]
    left_out: dict[str, str]


def domains_of(folders: Path) -> dict[str, Path]:
    """The files of questions in a folder by the name of what they are about; DataMalformed without any."""
    named = [(path, _NAME.fullmatch(path.name)) for path in sorted(folders.glob("*"))]
    domains = {match[1]: path for path, match in named if match}
    if not domains:
        raise DataMalformed(f"{folders} has no DOMAIN.jsonl with questions about the folder {folders}/DOMAIN")
    return domains


def read_folder_items(path: Path) -> list[FolderItem]:
    """The questions of a joined file, plain or gzipped; `DataMalformed` names the line that is wrong."""
    return [folder_item(record) for record in json_lines(path)]


def read_wordings(path: Path) -> dict[str, tuple[str, ...]]:
    """The everyday wordings of questions, by `wording_key`; none without the file."""
    found: dict[str, tuple[str, ...]] = {}
    for record in json_lines(path) if path.is_file() else ():
        key = record.text("of")
        found[key] = (*found.get(key, ()), record.name("wording"))
    return found


def everyday_wordings(folder: Path = WORDINGS.parent) -> dict[str, tuple[str, ...]]:
    """The everyday wordings of all files of a folder, by `wording_key`; none where there is no checkout."""
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for key, wordings in read_wordings(path).items():
            found[key] = (*found.get(key, ()), *wordings)
    return found


def wording_key(question: str) -> str:
    """What names a question in the file of wordings: the first 16 digits of its SHA-256."""
    return hashlib.sha256(question.encode()).hexdigest()[:16]


def folder_item(record: Record) -> FolderItem:
    """The question of one line; `DataMalformed` when its type is unknown or its answer not at its place."""
    full = record_of(record.place, {"short": "", "heading": "", **record.values})
    keys = ("id", "question", "type", "document", "heading", "passage", "answer", "short")
    name, question, kind, document, heading, passage, answer, short = map(full.text, keys)
    start = record.value("answer_start", int)
    if kind not in TYPES:
        raise record.error(f"type is {kind!r}; expected one of {', '.join(TYPES)}")
    if bool(answer) != (kind != "none"):
        raise record.error(f"the answer is {answer!r:.60}, but type is {kind!r}")
    if answer and (start < 0 or not passage.startswith(answer, start)):
        raise record.error(f"the answer {answer!r:.60} is not at {start} of its passage")
    verdict, short = (short, "") if kind == "yes-no" else ("", short)
    if short not in answer or (kind == "yes-no" and verdict not in ("yes", "no")):
        raise record.error(f"short is {short or verdict!r:.60}; expected a part of the answer, or yes or no")
    first, last = (start, start + len(answer)) if answer else (None, None)
    return FolderItem(name, question, kind, document, heading, passage, first, last, short, verdict)


def join(path: Path, folder: Path) -> Joined:
    """The questions of a file with the texts of a copy of its documents.

    A document that is missing, cannot be read or has another text is left out with its questions.
    `DataMalformed` names a wrong line, such as a question whose places do not fit its document.
    """
    records = json_lines(path)
    head = next(records, record_of(f"{path}, line 1", {}))
    given = head.values.get("repositories") or {"": head.text("repository")}
    repositories = record_of(f"{head.place}, repositories", given)
    digests = record_of(f"{head.place}, documents", head.values.get("documents"))
    joined = Joined({below: repositories.text(below) for below in repositories.values}, [], {})
    documents: dict[str, Document] = {}
    for name in digests.values:
        try:
            document = parse(read_regular(folder, name), name)
        except (DocumentRejected, ValueError) as error:
            joined.left_out[name] = str(error)
            continue
        if isinstance(document, Skipped):
            joined.left_out[name] = document.reason
        elif hashlib.sha256(document.text.encode()).hexdigest() != digests.text(name):
            joined.left_out[name] = "its text is not the one that the questions were written for"
        else:
            documents[name] = document
    for record in records:
        name = record.text("document")
        if name in documents:
            joined.rows.append(_row(record, documents[name]))
        elif name not in joined.left_out:
            raise record.error(f"the first line does not name the document {name!r}")
    return joined


def _row(record: Record, document: Document) -> dict[str, Any]:
    """The joined row of a question, checked."""
    text = document.text
    start, end = _span(record, "passage", 0, len(text))
    [passage] = passages_at(document, [(start, end)])
    row: dict[str, Any] = {key: record.text(key) for key in ("id", "document", "question", "type")}
    row |= {"heading": " > ".join(passage.heading), "passage": passage.text}
    row |= {"answer": "", "answer_start": -1}
    places = {key: _span(record, key, start, end) for key in PLACES if key in record.values}
    row |= {key: text[left:right] for key, (left, right) in places.items()}
    if "answer" in places:
        row["answer_start"] = places["answer"][0] - start
    if "verdict" in record.values:
        row["short"] = record.text("verdict")
    folder_item(record_of(record.place, row))
    return row


def _span(record: Record, key: str, first: int, last: int) -> tuple[int, int]:
    """The start and end at a key, in code points of the document; `DataMalformed` unless they lie within."""
    match record.values.get(key):
        case [int(start), int(end)] if first <= start < end <= last:
            return start, end
    raise record.error(
        f"{key} is {record.values.get(key)!r:.60}; expected a start and an end in {first}..{last}"
    )
