"""Why an answer: probabilities of tokens, evidence and ranks, in a value, on a terminal, as a page."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from scripted_reader import by_margin, read_by

from spanwise.pipelines.cli.explanation import shaded
from spanwise.pipelines.explain import Formula
from spanwise.pipelines.explaining.explanation import TokenProbability, said_of
from spanwise.pipelines.explaining.page import explanation_page
from spanwise.pipelines.explain import explanation_record

MILL = "Who built the mill?"


@pytest.fixture
def explain(library, monkeypatch):
    def explained(*script, question=MILL, calibration=None, **given):
        read_by(library, monkeypatch, *script, calibration=calibration)
        return library.explain(question, retriever="bm25", **given)

    return explained


def test_the_answer_is_that_of_asking(explain, library):
    explained = explain(("Ada Rook", 9.0, 2.0))
    asked = library.ask(MILL, retriever="bm25")
    assert (explained.answer.best, explained.answer.rejected) == (asked.best, asked.rejected)


def test_tokens_are_places_of_the_document_and_probabilities_add_up(explain, library):
    explained = explain(("Ada Rook", 9.0, 2.0))
    text = library.document("mill.md").text
    words = [text[one.start : one.end] for one in explained.tokens]
    assert words == explained.passage.text.split()
    assert sum(one.p_start for one in explained.tokens) + explained.null_start == pytest.approx(1)


def test_a_declined_question_explains_the_best_rejected_span(explain):
    explained = explain(("Ada Rook", 1.0, 5.0))
    record = json.loads(json.dumps(explanation_record(explained)))
    assert (record["of"], record["evidence"]["text"]) == ("rejected", "Ada Rook")
    assert record["evidence"]["features"]["margin"] == {"value": -4.0, "weight": 1.0, "contribution": -4.0}
    assert list(map(len, record["tokens"])) == [4] * len(explained.tokens)


def test_ranks_are_those_of_its_passage(explain):
    explained = explain(("Ada Rook", 9.0, 2.0))
    (rank,) = explained.ranks
    assert (explained.rank, rank.stage, rank.rank) == (1, "bm25", 1)
    assert dict(explained.scores) == {"bm25": rank.score}


def test_the_formula_is_told_in_words(explain):
    explained = explain(("Ada Rook", 9.0, 2.0), calibration=by_margin(0.6))
    assert explained.formula == Formula(1.0, 0.0, 0.6)
    assert said_of(explained.formula).endswith("a question is declined below 60%")


def test_nothing_read_is_nothing_explained(explain):
    explained = explain(question="zebra?")
    assert (explanation_record(explained), explained.tokens) == (None, ())
    assert "nothing to explain" in explanation_page(explained)


def test_marks_stand_where_an_answer_may_begin_and_end():
    tokens = (
        TokenProbability(14, 17, 0.9, 0.01),
        TokenProbability(18, 22, 0.02, 0.5),
        TokenProbability(23, 25, 0, 0),
    )
    parts = [
        "".join(part if isinstance(part, str) else part[0] for part in shaded("by Ada Rook it", 11, tokens))
    ]
    assert parts == ["by [90% Ada Rook 50%] it"]


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


def test_the_page_needs_nothing_else_and_holds_no_foreign_markup(library, folder, monkeypatch):
    (folder / "evil.txt").write_text(
        "The <script>alert(1)</script> zebra \x1b \u202e was built by <b>Ada</b>.\n"
    )
    library.sync(vectors=False)
    read_by(library, monkeypatch, ("Ada", 9.0, 2.0))
    page = explanation_page(library.explain("Who built the <img src=x> zebra?", retriever="bm25"))
    found = Tags(page)
    assert not {"script", "img", "b", "link", "iframe"} & set(found.tags)
    assert not any(name in ("src", "href") or name.startswith("on") for name, _ in found.attributes)
    assert not {"\x1b", "\u202e"} & set(page)
    assert "prefers-color-scheme: dark" in page


def test_the_command_line_shows_it_and_writes_the_page(run, folder, encoder_folder, reader_folder, tmp_path):
    run("index", folder, "--model", encoder_folder)
    given = ("--index", folder, "--reader", reader_folder, "--retriever", "bm25")
    code, out, err = run("ask", MILL, *given, "--explain", "--explain-html", tmp_path / "why.html")
    assert (code, "evidence" in out, "wrote" in err) == (0, True, True)
    assert (tmp_path / "why.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    record = json.loads(run("ask", MILL, *given, "--explain", "--json")[1])
    passage = record["explanation"]["tokens"]
    assert list(record)[-1] == "explanation"
    assert all(start < end for start, end, _, _ in passage)


def test_a_page_takes_one_question(run, folder):
    run("index", folder, "--lexical-only")
    code, _, err = run("ask", "--index", folder, "--explain-html", "x.html")
    assert (code, "one question" in err) == (2, True)
