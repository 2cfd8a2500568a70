"""SubjQA's tables as SQuAD 2.0: golds as the review has them, and what is left out by name."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest

from spanwise.corpora.gold_paragraphs import read_gold_paragraphs
from spanwise.corpora.squad import GoldAnswer
from spanwise.corpora.subjqa import COLUMNS, read_subjqa
from spanwise.errors import DataMalformed

REVIEW = "It isn't bad; the coffee\nis strong. ANSWERNOTFOUND"


def table(folder: Path, *rows: tuple[str, str, str], review: str = REVIEW) -> Path:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows((qid, "How is it?", review, span, place) for qid, span, place in rows)
    path = folder / "dev.csv.gz"
    path.write_bytes(gzip.compress(text.getvalue().encode()))
    return path


def test_spans_are_quoted_as_the_review_has_them(tmp_path: Path) -> None:
    rows = [("q1", "is n't bad", "(3, 12)"), ("q1", "coffee is strong", "(18, 34)")]
    dataset = read_subjqa(table(tmp_path, *rows))
    [paragraph] = dataset.articles[0].paragraphs
    [question] = paragraph.questions
    assert (dataset.version, dataset.relocated, dataset.left_out) == ("2.0", (), ())
    assert question.answers == (GoldAnswer("isn't bad", 3), GoldAnswer("coffee\nis strong", 18))
    assert paragraph.context == "It isn't bad; the coffee\nis strong."


def test_nobody_found_an_answer(tmp_path: Path) -> None:
    path = table(tmp_path, ("q1", "ANSWERNOTFOUND", "(36, 50)"), ("q2", "strong", "(28, 34)"))
    first, second = read_gold_paragraphs(path).articles[0].paragraphs
    assert (first.questions[0].is_impossible, second.questions[0].is_impossible) == (True, False)


def test_a_span_elsewhere_is_moved_and_one_that_is_nowhere_is_left_out(tmp_path: Path) -> None:
    dataset = read_subjqa(
        table(tmp_path, ("q1", "strong", "(0, 6)"), ("q2", "coffee was strong", "(18, 30)"))
    )
    assert (dataset.relocated, dataset.left_out) == (("q1",), ("q2",))
    assert len(dataset.articles[0].paragraphs) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "column 'q_review_id' is missing"),
        (b"\xff", "cannot be read"),
        (b"\x1f\x8b\x00", "cannot be read"),
        (",".join(COLUMNS).encode() + b"\na,b,c\n", "line 2: a column is missing"),
        (",".join(COLUMNS).encode() + b'\na,b,c,d,"(1)"\n', "expected \\(start, end\\)"),
    ],
)
def test_what_is_no_such_table_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "dev.csv"
    path.write_bytes(content)
    with pytest.raises(DataMalformed, match=words):
        read_gold_paragraphs(path)


def test_the_public_tables_are_read(data: Path) -> None:
    dataset = read_gold_paragraphs(data / "subjqa" / "electronics" / "dev.csv.gz")
    questions = [q for paragraph in dataset.articles[0].paragraphs for q in paragraph.questions]
    assert (len(questions) + len(dataset.left_out), len(dataset.left_out)) == (255, 5)
    for paragraph in dataset.articles[0].paragraphs:
        for answer in paragraph.questions[0].answers:
            assert paragraph.context[answer.start : answer.start + len(answer.text)] == answer.text
