"""Ranking examples in a folder: `corpus.jsonl` and `queries.jsonl` as in BEIR, and `lists.jsonl`.

A line of `lists.jsonl` is an object: `query`, the id of a question; `passages`, ids, those that answer it
first; `positives`, how many these are; and `scores` of a teacher, one a passage, where there are any. A
passage that several lists name stands in the corpus once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed
from spanwise.types import RankingExample

from .beir import CORPUS, QUERIES
from .json_records import Record, json_lines
from .packed import plain_or_gzipped

FORM = "spanwise (corpus.jsonl, queries.jsonl, lists.jsonl)"
LISTS = "lists.jsonl"


def is_ranking_folder(folder: Path) -> bool:
    """True when the folder has lists, questions and passages under their names."""
    return all(plain_or_gzipped(folder / name) for name in (CORPUS, QUERIES, LISTS))


def write_ranking_folder(folder: Path, examples: Iterable[RankingExample]) -> int:
    """Writes the examples, in their order, and returns how many; what the folder held of them is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    passages: dict[str, str] = {}
    questions: dict[str, str] = {}
    with (folder / f"{LISTS}.part").open("w", encoding="utf-8", newline="\n") as lists:
        written = [lists.write(_line(_list_values(one, questions, passages))) for one in examples]
    (folder / LISTS).unlink(missing_ok=True)  # of other passages: whoever stops here leaves no lists
    _write(folder / CORPUS, ({"_id": name, "title": "", "text": text} for text, name in passages.items()))
    _write(folder / QUERIES, ({"_id": name, "text": text} for text, name in questions.items()))
    (folder / f"{LISTS}.part").replace(folder / LISTS)
    return len(written)


def read_ranking_folder(folder: Path) -> Iterator[RankingExample]:
    """The examples of a folder, in their order; DataMalformed with the place of what is wrong."""
    paths = [plain_or_gzipped(folder / name) or folder / name for name in (CORPUS, QUERIES, LISTS)]
    passages, questions = (_texts(path) for path in paths[:2])
    for record in json_lines(paths[2]):
        yield _example(record, questions, passages)


def ranking_folder_passages(folder: Path) -> Iterator[str]:
    """All passages of a folder, also those of no list."""
    yield from _texts(plain_or_gzipped(folder / CORPUS) or folder / CORPUS).values()


def _example(record: Record, questions: Mapping[str, str], passages: Mapping[str, str]) -> RankingExample:
    positives = record.values.get("positives", 1)
    if type(positives) is not int:
        raise record.error(f"expected 'positives' to be a whole number, found {positives!r:.60}")
    try:
        question = questions[record.name("query")]
        found = tuple(passages[name] for name in record.texts("passages"))
    except KeyError as error:
        raise record.error(f"the id {error} is not in the folder") from error
    try:
        return RankingExample(question, found, positives, record.numbers("scores"))
    except ValueError as error:
        raise record.error(str(error)) from error


def _texts(path: Path) -> dict[str, str]:
    texts: dict[str, str] = {}
    for record in json_lines(path):
        if texts.setdefault(record.name("_id"), record.text("text")) != record.text("text"):
            raise DataMalformed(f"{record.place}: the id {record.name('_id')!r:.80} is given twice")
    return texts


def _list_values(
    example: RankingExample, questions: dict[str, str], passages: dict[str, str]
) -> dict[str, Any]:
    values: dict[str, Any] = {
        "query": questions.setdefault(example.question, f"q{len(questions)}"),
        "passages": [passages.setdefault(text, f"p{len(passages)}") for text in example.passages],
        "positives": example.n_positive,
    }
    return values | ({"scores": [round(score, 4) for score in example.scores]} if example.scores else {})


def _write(path: Path, records: Iterable[dict[str, Any]]) -> None:
    part = path.with_name(f"{path.name}.part")
    with part.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(map(_line, records))
    part.replace(path)


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"
