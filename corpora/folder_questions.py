"""Stub of the reading items, for work on the training recipe alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .records import json_lines


@dataclass(frozen=True, slots=True)
class FolderItem:
    """A question on a passage of a folder."""

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


def read_folder_items(path: Path) -> list[FolderItem]:
    """The questions of a file."""
    items = []
    for line in json_lines(path):
        given, is_none = line.values, line.text("type") == "none"
        short = given.get("short", "")
        start = None if is_none else line.value("answer_start", int)
        end = None if start is None else start + len(line.text("answer"))
        verdict = short if line.text("type") == "yes-no" else ""
        place = line.text("document"), line.text("heading"), line.text("passage")
        named = line.name("id"), line.text("question"), line.text("type")
        items.append(FolderItem(*named, *place, start, end, "" if verdict else short, verdict))
    return items
