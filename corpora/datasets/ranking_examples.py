"""Reads lists of passages to train rankers on, `lists.jsonl`: one JSON object per line.

question: the question.
passages: the passages; those that answer the question come first.
n_positive: the number of passages that answer it, 1 by default.
scores: the score of each passage by a teacher; optional.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from spanwise.errors import DataMalformed
from spanwise.types import RankingExample

from ..json_lines import json_lines, plain_or_gzipped

LISTS = "lists.jsonl"
SCORE_DIGITS = 4


def read_ranking_examples(path: Path) -> Iterator[RankingExample]:
    """The examples of a `lists.jsonl`, or of a folder with one, in order.

    Equal passages share memory. `DataMalformed` names the file and line that is wrong.
    """
    file = plain_or_gzipped(path / LISTS if path.is_dir() else path)
    if file is None:
        raise DataMalformed(
            f"{path}: no {LISTS} there. Write an object with question, passages and n_positive per line"
        )
    shared: dict[str, str] = {}
    for record in json_lines(file):
        n_positive = record.value("n_positive", int) if "n_positive" in record.values else 1
        passages = tuple(shared.setdefault(text, text) for text in record.texts("passages"))
        try:
            yield RankingExample(record.text("question"), passages, n_positive, record.numbers("scores"))
        except ValueError as error:
            raise record.error(str(error)) from error


def json_line(example: RankingExample) -> str:
    """The example as a line of `lists.jsonl`."""
    record: dict[str, object] = {
        "question": example.question,
        "passages": example.passages,
        "n_positive": example.n_positive,
    }
    if example.scores:
        record["scores"] = [round(score, SCORE_DIGITS) for score in example.scores]
    return json.dumps(record, ensure_ascii=False) + "\n"
