"""Questions with a document and summaries that people wrote, from the files of three public data sets.

- `qmsum`, `qmsum-train`: meetings, a question about a part of one (QMSum, `qmsum/val.jsonl.gz` and `train`);
- `squality`: science fiction stories of the 1950s, five questions and four summaries each (SQuALITY,
  `squality/train.jsonl.gz`);
- `pubmedqa`, `pubmedqa-train`: abstracts without their conclusion, which is the summary; two halves, drawn
  by a fixed seed (PubMedQA, `pubmedqa-train/pqal_train.json.gz`).
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from spanwise.types import Document

_MARKER = re.compile(r"\{\w+\}")  # {vocalsound}, {disfmarker}: QMSum's notes on sounds
_FRONT = re.compile(r".{0,1500}?was renewed\.?\s*\]", re.DOTALL)  # what was put in front of a story


@dataclass(frozen=True, slots=True)
class Case:
    """A question, the document that it is about, and summaries that answer it."""

    id: str
    question: str
    document: Document
    references: tuple[str, ...]


def qmsum(part: str, data: Path) -> Iterator[Case]:
    """The specific questions of QMSum; a turn of a speaker is a paragraph that begins with the name."""
    for number, meeting in enumerate(_lines(data / "qmsum" / f"{part}.jsonl.gz")):
        turns = (f"{turn['speaker']}: {_spoken(turn['content'])}" for turn in meeting["meeting_transcripts"])
        document = _document(f"meeting-{number:03}", "\n\n".join(turns))
        for at, query in enumerate(meeting["specific_query_list"]):
            yield Case(f"{document.id}-{at:02}", query["query"], document, (query["answer"],))


def squality(data: Path) -> Iterator[Case]:
    """All questions of SQuALITY, "What is the plot?" too; stories without the note in front of them."""
    for story in _lines(data / "squality" / "train.jsonl.gz"):
        document = _document(
            story["metadata"]["passage_id"], _FRONT.sub("", story["document"], count=1).strip()
        )
        for question in story["questions"]:
            references = tuple(one["response_text"] for one in question["responses"])
            id = f"{document.id}-{question['question_number']}"
            yield Case(id, question["question_text"], document, references)


def pubmedqa(part: slice, data: Path) -> Iterator[Case]:
    """Questions of PubMedQA's expert-labelled part; a section of an abstract is a paragraph."""
    with gzip.open(data / "pubmedqa-train" / "pqal_train.json.gz", "rt", encoding="utf-8") as file:
        questions = list(json.load(file).items())
    random.Random(0).shuffle(questions)
    for id, one in questions[part]:
        yield Case(id, one["QUESTION"], _document(id, "\n\n".join(one["CONTEXTS"])), (one["LONG_ANSWER"],))


SETS: dict[str, Callable[[Path], Iterator[Case]]] = {
    "qmsum": partial(qmsum, "val"),
    "qmsum-train": partial(qmsum, "train"),
    "squality": squality,
    "pubmedqa": partial(pubmedqa, slice(250, None)),
    "pubmedqa-train": partial(pubmedqa, slice(250)),
}


def _lines(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _spoken(content: str) -> str:
    return " ".join(_MARKER.sub(" ", content).split())


def _document(id: str, text: str) -> Document:
    return Document(id, "text/plain", "", id, text)
