"""Answers from tables: the cell with its place, or a value computed from cells."""

import json
import math
from dataclasses import replace
from functools import partial

import pytest
from helpers.scripted_reader import asker, by_margin

from spanwise.eval.questions import FolderQuestion, Verdict, judge_computed
from spanwise.pipelines.answering.explain import explained
from spanwise.pipelines.cli.show import show_answer, show_explanation
from spanwise.pipelines.json_records import answer_record, explanation_record
from spanwise.pipelines.server.app import chat_text
from spanwise.pipelines.understanding.question import Question
from spanwise.reader.evidence import VerdictRule
from spanwise.types import ScoredSpan

PLANS = """# Plans

What a plan costs:

| Plan | Price per year | Users | Phone support |
|------|----------------|-------|---------------|
| Basic | 45 EUR | 1 | no |
| Pro | 450 EUR | 50 | yes |
| Campus | 900 EUR | 400 | yes |
"""
RACES = "Year,Winner,Country\n2001,Ada Rook,Norway\n2002,Milo Brandt,Sweden\n2003,Jo Falk,Norway\n"


@pytest.fixture
def library(tmp_path, indexed):
    (tmp_path / "plans.md").write_text(PLANS)
    (tmp_path / "races.csv").write_text(RACES)
    (tmp_path / "words.md").write_text("The Pro plan is for firms. Its price was set by Ada Rook.\n")
    with indexed(tmp_path) as opened:
        yield opened


def answer_to(library, question, *script, threshold=0.3):
    [answer] = asker(library, *script, calibration=by_margin(threshold)).answer([question])
    return answer


def test_a_cell_answers_with_its_place_and_its_row(library):
    answer = answer_to(library, "What is the price of the Pro plan per year?", ("450 EUR", 5.0, 0.0))
    assert answer.text == "450 EUR"
    assert answer.best.context.text == "Pro | 450 EUR | 50 | yes"
    assert answer.best.line == 8
    assert answer.best.heading == ("Plans",)
    assert library.document("plans.md").text[answer.span.start : answer.span.end] == "450 EUR"


def test_a_cell_is_shown_among_its_neighbours(library, capsys):
    answer = answer_to(library, "What is the price of the Pro plan per year?", ("450 EUR", 5.0, 0.0))
    assert answer_record(answer)["table"]["columns"][1] == "Price per year"
    assert answer.table.rows[answer.table.row][answer.table.column] == "450 EUR"
    show_answer(answer)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[3:5] == [["Pro", "450", "EUR", "50", "yes"], ["Campus", "900", "EUR", "400", "yes"]]


def test_a_cell_of_yes_or_no_gives_the_verdict(library):
    answer = answer_to(library, "Does the Basic plan include phone support?", ("Basic", 1.0, 5.0))
    assert (answer.verdict, answer.text) == ("no", "no")


def test_several_rows_are_several_values(library):
    answer = answer_to(library, "Which plans include phone support?", ("Campus", 1.0, 5.0))
    assert answer.values == ("Pro", "Campus")


def test_a_count_is_computed_from_the_cells_of_its_rows(library):
    answer = answer_to(library, "How many winners were from Norway?", ("Ada Rook,Norway", 5.0, 0.0))
    assert answer.outcome == "computed"
    assert answer.best is None
    assert answer.values == ("2",)
    assert [cell.text for cell in answer.computed.cells] == ["Ada Rook", "Jo Falk"]
    assert answer.computed.first.line == 2
    assert answer.computed.cell_names == ("2001, Winner", "2003, Winner")


def test_a_computed_value_is_shown_with_its_cells(library, capsys):
    answer = answer_to(library, "How many winners were from Norway?", ("Ada Rook,Norway", 5.0, 0.0))
    show_answer(answer)
    shown = capsys.readouterr().out
    assert shown.startswith("2\n  count of Ada Rook, Jo Falk: races.csv, row 2")
    record = json.loads(json.dumps(answer_record(answer)))
    assert (record["answer"], record["values"], record["computed"]["operation"]) == (None, ["2"], "count")
    text, [mark] = chat_text(answer)
    assert text == "2 (count of Ada Rook, Jo Falk) [1]"
    assert mark["url_citation"]["title"] == "races.csv"


def test_a_certain_span_outside_the_table_stays_the_answer(library):
    answer = answer_to(library, "Who set the price of the Pro plan?", ("Ada Rook", 9.0, 0.0))
    assert answer.text == "Ada Rook"


def test_a_question_about_something_else_is_declined(library):
    assert answer_to(library, "What colour is the logo of the Pro plan?").no_answer


@pytest.mark.parametrize(
    ("answers", "verdict"), [(("2",), Verdict.RIGHT), (("3",), Verdict.WRONG), ((), Verdict.FALSE_ANSWER)]
)
def test_a_computed_value_is_judged_by_the_answers(answers, verdict):
    question = FolderQuestion("1", "How many?", "factoid", answers, (), bool(answers))
    assert judge_computed(question, "2") is verdict


def test_the_name_of_a_column_is_no_answer(library):
    assert answer_to(
        library, "What is the Pro plan about?", ("Price per year", 9.0, 0.0), threshold=0
    ).no_answer


@pytest.mark.parametrize(
    ("read", "cell"),
    [("50 | yes |\n| Campus | 900", "50"), ("Pro | 450 EUR | 50", "450 EUR")],
)
def test_a_span_of_the_reader_is_cut_to_one_cell(library, read, cell):
    answer = answer_to(library, "What is the Pro plan about?", (read, 9.0, 0.0), threshold=0)
    assert answer.text == cell


def test_the_reader_and_the_table_support_or_contradict_each_other(library):
    question = "What is the price of the Pro plan per year?"
    alone, agreed, apart = (
        asker(library, *script, calibration=by_margin(0.5)).trace([question])[0].ranked
        for script in ((), [("450 EUR", 5.0, 0.0)], [("400", 5.0, 0.0)])
    )
    confidences = {each.candidate.scored.span.text: each.confidence for each in apart}
    assert agreed[0].candidate.scored.span.text == "450 EUR"
    assert agreed[0].confidence > confidences["450 EUR"] > alone[0].confidence
    assert confidences["400"] < 0.4


def test_the_evidence_of_a_cell_is_explained_by_its_own_weights(library):
    question = "What is the price of the Pro plan per year?"
    answerer = asker(library, ("450 EUR", 5.0, 0.0), calibration=by_margin(0.3))
    explanation = explained(answerer, Question.of(question, library.snapshot, library.analyzer), [])
    best = explanation.best
    assert best.evidence == pytest.approx(sum(each.contribution for each in best.contributions))
    logit = explanation.formula.slope * best.evidence + explanation.formula.offset
    assert explanation.answer.best.confidence == pytest.approx(1 / (1 + math.exp(-logit)))


def test_a_computed_value_is_explained_as_the_answer(library, capsys):
    answerer = asker(library, ("Ada Rook,Norway", 5.0, 0.0), calibration=by_margin(0.3))
    question = Question.of("How many winners were from Norway?", library.snapshot, library.analyzer)
    explanation = explained(answerer, question, [], "races.csv")
    assert explanation_record(explanation)["explanation"]["of"] == "answer"
    assert explanation.document.stage == "answer"
    show_explanation(explanation, verbose=False, listing="")
    assert "evidence for the answer" in capsys.readouterr().out


def test_a_cell_that_says_yes_has_no_confidence_of_the_readers_no(library, monkeypatch):
    monkeypatch.setattr("helpers.scripted_reader.ScoredSpan", partial(ScoredSpan, yes=-3.5))
    calibration = replace(by_margin(0.3), verdicts=VerdictRule(1.0, 0.0, 0.5))
    question = "Does the Pro plan include phone support?"
    [answer] = asker(library, ("yes", 5.0, 0.0), calibration=calibration).answer([question])
    assert (answer.text, answer.verdict, answer.best.verdict_confidence) == ("yes", "yes", None)


def test_only_the_cell_with_these_words_stands_in_other_passages_too(library):
    answer = answer_to(library, "Which plans include phone support?", ("Pro", 1.0, 5.0))
    assert [[each.span.document_id for each in part.also_in] for part in answer.parts] == [["words.md"], []]
