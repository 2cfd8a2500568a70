"""Lists of passages to train rankers on: `lists.jsonl`, one JSON object a line.

`question`; `passages`, those that answer it first; `n_positive`, how many of them do; and `scores` by a
teacher, one for each passage, where there are any.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from spanwise.errors import DataMalformed
from spanwise.types import RankingExample

from .beir import json_lines, plain_or_gzipped

LISTS = "lists.jsonl"
SCORE_DIGITS = 4


def write_ranking_examples(folder: Path, examples: Iterable[RankingExample]) -> int:
    """Writes `lists.jsonl` in the folder, in place of an older one; returns the number of examples."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{LISTS}.part"
    with part.open("w", encoding="utf-8", newline="\n") as file:
        n_written = sum(1 for example in examples if file.write(json_line(example)))
    part.replace(folder / LISTS)
    return n_written


def read_ranking_examples(path: Path) -> Iterator[RankingExample]:
    """The examples of a `lists.jsonl`, or of a folder with one, in order; equal passages share memory.

    `DataMalformed` names the file and line that is wrong.
    """
    found = plain_or_gzipped(path / LISTS if path.is_dir() else path)
    if found is None:
        raise DataMalformed(
            f"{path}: no {LISTS} there. Write one object with question, passages and n_positive a line"
        )
    shared: dict[str, str] = {}
    for record in json_lines(found):
        n_positive = record.values.get("n_positive", 1)
        if type(n_positive) is not int:
            raise record.error(f"expected 'n_positive' to be a whole number, found {n_positive!r:.60}")
        passages = tuple(shared.setdefault(text, text) for text in record.texts("passages"))
        try:
            yield RankingExample(record.text("question"), passages, n_positive, record.numbers("scores"))
        except ValueError as error:
            raise record.error(str(error)) from error


def json_line(example: RankingExample) -> str:
    """The example as a line of `lists.jsonl`."""
    record = {
        "question": example.question,
        "passages": example.passages,
        "n_positive": example.n_positive,
        "scores": [round(score, SCORE_DIGITS) for score in example.scores],
    }
    if not example.scores:
        del record["scores"]
    return json.dumps(record, ensure_ascii=False) + "\n"
