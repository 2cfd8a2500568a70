"""DPR's tables and JSON: as Python's csv reads them, and written ones are read again."""

from __future__ import annotations

import ast
import csv
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_collections import write

from spanwise.corpora.collections import CollectionDocument
from spanwise.corpora.collections.dpr_json import (
    DprContext,
    DprResult,
    read_results,
    read_training,
    write_results,
)
from spanwise.corpora.collections.dpr_tables import DprQuestion, read_passages, read_questions
from spanwise.errors import DataMalformed

LINE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])).map(str.strip)
MILL = CollectionDocument("7", "The mill", "It was built in 1811.")
RESULT = DprResult(
    DprQuestion("when?", ("1811",)),
    (DprContext(MILL, 2.5, True), DprContext(CollectionDocument("8", "", "Water."), -1.0, None)),
)


def test_passages_are_read_with_or_without_quotes(tmp_path: Path) -> None:
    write(tmp_path / "p.tsv", "id\ttext\ttitle", '1\t"Aaron ""the"" man"\tAaron', '2\tthe "mill"\t"M"')
    assert list(read_passages(tmp_path / "p.tsv")) == [
        CollectionDocument("1", "Aaron", 'Aaron "the" man'),
        CollectionDocument("2", "M", 'the "mill"'),
    ]


@pytest.mark.parametrize(("line", "message"), [("1\ttext", "found 2 columns"), ("7\ta\tb", "given twice")])
def test_a_wrong_passage_is_named(tmp_path: Path, line: str, message: str) -> None:
    write(tmp_path / "p.tsv", "id\ttext\ttitle", "7\ta\tb", line)
    with pytest.raises(DataMalformed, match=f"p.tsv, line 3: .*{message}"):
        list(read_passages(tmp_path / "p.tsv"))


def test_questions_are_read_from_tables_and_json_lines(tmp_path: Path) -> None:
    write(tmp_path / "a.tsv", "who?\t['Ada', \"O'Brien\"]")
    write(tmp_path / "b.jsonl", '{"question": "who?", "answer": ["Ada", "O\'Brien"]}')
    assert list(read_questions(tmp_path / "a.tsv")) == list(read_questions(tmp_path / "b.jsonl"))


@settings(max_examples=50)
@given(st.lists(st.tuples(LINE.filter(lambda text: text and text[0] != "{"), st.lists(LINE)), min_size=1))
def test_questions_are_those_that_the_csv_module_wrote(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, list[str]]]
) -> None:
    path = tmp_path_factory.mktemp("dpr") / "q.tsv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows((q, repr(a)) for q, a in rows)
    assert [(each.text, list(each.answers)) for each in read_questions(path)] == rows


@pytest.mark.parametrize("answers", ["1811", "[1811]", "['a'", "print()", "[" * 5000, "{'a'}", "[b'a']"])
def test_answers_that_are_no_list_of_strings_are_refused(tmp_path: Path, answers: str) -> None:
    write(tmp_path / "q.tsv", "who?\t['Ada']", f"when?\t{answers}")
    with pytest.raises(DataMalformed, match=r"q\.tsv, line 2: expected answers such as"):
        list(read_questions(tmp_path / "q.tsv"))


def test_training_examples_are_read(tmp_path: Path) -> None:
    passage = {"title": "The mill", "text": "It was built in 1811.", "score": 9, "passage_id": "7"}
    example = {"question": "when?", "answers": ["1811"], "positive_ctxs": [passage], "negative_ctxs": []}
    (tmp_path / "train.json").write_text(json.dumps([example]))
    [found] = read_training(tmp_path / "train.json")
    assert (found.question.answers, found.positives) == (("1811",), (MILL,))
    assert (found.negatives, found.hard_negatives) == ((), ())


def test_results_come_back_as_they_were_written(tmp_path: Path) -> None:
    for results in ([], [RESULT], [RESULT, RESULT]):
        write_results(tmp_path / "results.json", results)
        assert list(read_results(tmp_path / "results.json")) == results


def test_scores_may_be_strings_as_dpr_writes_them(tmp_path: Path) -> None:
    context = {"id": "wiki:1", "title": "", "text": "Water.", "score": "78.25", "has_answer": False}
    (tmp_path / "r.json").write_text(json.dumps([{"question": "q", "answers": [], "ctxs": [context]}]))
    [found] = read_results(tmp_path / "r.json")
    assert (found.contexts[0].score, found.contexts[0].has_answer) == (78.25, False)


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"id": "1", "text": "a", "score": "NaN"}, "expected 'score' to be a finite number"),
        (
            {"id": "1", "text": "a", "score": 1, "has_answer": "no"},
            "expected 'has_answer' to be true",
        ),
        ({"id": "1", "score": 1}, "expected 'text' to be a string"),
        ([], "expected an object"),
    ],
)
def test_a_wrong_result_is_named(tmp_path: Path, context: object, message: str) -> None:
    (tmp_path / "r.json").write_text(json.dumps([{"question": "q", "answers": [], "ctxs": [context]}]))
    with pytest.raises(DataMalformed, match=rf"r\.json, item 0, ctxs 0: {message}"):
        list(read_results(tmp_path / "r.json"))


def test_a_score_that_is_not_finite_is_not_written(tmp_path: Path) -> None:
    result = DprResult(RESULT.question, (DprContext(MILL, float("inf"), True),))
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_results(tmp_path / "r.json", [result])
    assert not (tmp_path / "r.json").exists()


@pytest.mark.parametrize(
    ("name", "count"),
    [("nq.dev", 8757), ("nq.test", 3610), ("trivia.dev", 8837), ("trivia.test", 11313), ("wq.test", 2032)],
)
def test_published_questions_are_all_read(data: Path, name: str, count: int) -> None:
    path = data / f"openqa/dpr/topics.dpr.{name}.txt.gz"
    if not path.exists():
        pytest.skip(f"SPANWISE_DATA does not hold {path.name}")
    assert len(list(read_questions(path))) == count


def test_published_questions_are_those_of_the_csv_module(data: Path) -> None:
    path = data / "openqa/dpr/topics.dpr.trivia.dev.txt.gz"
    if not path.exists():
        pytest.skip(f"SPANWISE_DATA does not hold {path.name}")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        wanted = [(q, tuple(ast.literal_eval(a))) for q, a in csv.reader(lines, delimiter="\t")]
    assert [(each.text, each.answers) for each in read_questions(path)] == wanted
