"""SubjQA: questions on reviews, one row an annotator, CSV plain or gzipped; read as SQuAD 2.0.

Columns that are read: `q_review_id`, `question`, `review`, `human_ans_spans`, `human_ans_indices`. A review
ends in "ANSWERNOTFOUND", which is the span of those who found no answer; here it is cut off. Rows of one
`q_review_id` are one question: it has an answer when any annotator found one.
Source: Bjerva et al., "SubjQA: A Dataset for Subjectivity and Review Comprehension", EMNLP 2020.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from spanwise.errors import DataMalformed

from .squad import Article, GoldAnswer, Paragraph, Question, SquadDataset

COLUMNS = ("q_review_id", "question", "review", "human_ans_spans", "human_ans_indices")
NOT_FOUND = "ANSWERNOTFOUND"
INDICES = re.compile(r"\((\d{1,9}), (\d{1,9})\)")
MAX_BYTES = 200_000_000


def read_subjqa(path: Path) -> SquadDataset:
    """The questions of a file, each with its review as its paragraph, in the order of their first rows.

    A span was written down in words set apart by spaces ("was n't"); it is taken as the review has it.
    `relocated` has the questions with one that stands elsewhere than said, `left_out` those whose spans are
    nowhere in the review. DataMalformed: no CSV of these columns, or rows of one id with two questions or
    reviews.
    """
    rows: dict[str, list[Mapping[str, str]]] = {}
    for row in _rows(path):
        rows.setdefault(row["q_review_id"], []).append(row)
    paragraphs, relocated, left_out = [], list[str](), list[str]()
    for name, same in rows.items():
        if len({(row["question"], row["review"]) for row in same}) > 1:
            raise DataMalformed(f"{path}: rows of {name!r:.60} differ in question or review")
        context = same[0]["review"].removesuffix(NOT_FOUND).rstrip()
        said = [row for row in same if row["human_ans_spans"] != NOT_FOUND]
        located = [(row, answer) for row in said if (answer := _located(path, context, row))]
        if said and not located:
            left_out.append(name)
            continue
        if any(answer.start != _place(path, row)[0] for row, answer in located):
            relocated.append(name)
        answers = tuple(answer for _, answer in located)
        question = Question(name, same[0]["question"], answers, is_impossible=not answers)
        paragraphs.append(Paragraph(context, (question,)))
    return SquadDataset("2.0", (Article(path.name, tuple(paragraphs)),), tuple(relocated), tuple(left_out))


def _rows(path: Path) -> Iterator[Mapping[str, str]]:
    try:
        packed = path.read_bytes()[:2] == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise DataMalformed(f"{path}: more than {MAX_BYTES:,} bytes of CSV, the limit")
        reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
        if missing := [name for name in COLUMNS if name not in (reader.fieldnames or ())]:
            raise DataMalformed(f"{path}: the column {missing[0]!r} is missing")
        for row in reader:
            if any(row[name] is None for name in COLUMNS):
                raise DataMalformed(f"{path}, line {reader.line_num}: a column is missing")
            yield row
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise DataMalformed(f"{path}: cannot be read: {error}") from error


def _place(path: Path, row: Mapping[str, str]) -> tuple[int, int]:
    match = INDICES.fullmatch(row["human_ans_indices"])
    if match is None:
        raise DataMalformed(
            f"{path}: question {row['q_review_id']!r:.60}: human_ans_indices is "
            f"{row['human_ans_indices']!r:.40}; expected (start, end)"
        )
    return int(match[1]), int(match[2])


def _located(path: Path, context: str, row: Mapping[str, str]) -> GoldAnswer | None:
    """The span as the review has it, white space apart, nearest to where it should be; None when nowhere.

    >>> _located(Path(), "it isn't bad", {"human_ans_spans": "is n't", "human_ans_indices": "(0, 5)"})
    GoldAnswer(text="isn't", start=3)
    """
    start, _ = _place(path, row)
    kept = [at for at, character in enumerate(context) if not character.isspace()]
    bare, wanted = "".join(context[at] for at in kept), "".join(row["human_ans_spans"].split())
    places: list[int] = []
    at = bare.find(wanted) if wanted else -1
    while at >= 0:
        places.append(at)
        at = bare.find(wanted, at + 1)
    if not places:
        return None
    nearest = min(places, key=lambda place: abs(kept[place] - start))
    first, last = kept[nearest], kept[nearest + len(wanted) - 1]
    return GoldAnswer(context[first : last + 1], first)
