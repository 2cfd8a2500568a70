"""Declined questions: rejected spans with reasons, and missing terms with suggestions."""

from __future__ import annotations

import json

import pytest
from scripted_reader import asker, by_margin

import spanwise
from spanwise.index.analysis import Analyzer
from spanwise.pipelines.declined import missing_terms, question_words, reasons, unknown_words
from spanwise.pipelines.records import answer_record
from spanwise.types import Answer, Passage

QUESTION = "Who sold the zeppelin mlil?"


def declined(library, *script, calibration=None, question=QUESTION) -> Answer:
    (answer,) = asker(library, *script, calibration=calibration, threshold=None).answer([question])
    assert answer.no_answer
    return answer


def why(answer: Answer) -> list[list[str]]:
    return [reasons(rejected, answer.question) for rejected in answer.rejected]


def test_without_a_calibration_the_null_answer_is_the_reason(library):
    answer = declined(library, ("Ada Rook", 1.0, 5.0), question="Who sold the mill?")
    assert why(answer) == [['"no answer" scores 4.00 higher in its passage', 'its passage lacks "sold"']]


@pytest.mark.parametrize(
    ("score", "threshold", "expected"),
    [(0.1, 0.6, "52% is below the threshold 60%"), (0.0, 0.501, "50% is below the threshold 50.100%")],
)
def test_below_the_threshold_both_are_told_with_digits_that_differ(library, score, threshold, expected):
    script, calibration = ("Ada Rook", score, 0.0), by_margin(threshold)
    answer = declined(library, script, calibration=calibration, question="Who built the mill?")
    assert why(answer) == [[f"confidence {expected}"]]
    assert (answer.rejected[0].threshold, answer.rejected[0].margin) == (threshold, pytest.approx(score))


def test_rejected_spans_are_three_at_most_and_differ(library):
    words = ("Ada Rook", "ten minutes", "1903", "1920", "stones", "six")
    script = [(word, -float(at), 5.0) for at, word in enumerate(words)]
    answer = declined(library, *script, question="Who opened, built or raised mill, tram, weir and rules?")
    assert [each.answer.text for each in answer.rejected] == ["Ada Rook", "ten minutes", "1903"]
    assert answer.best_rejected == answer.rejected[0].answer


def test_an_answer_that_is_shown_has_nothing_rejected(library):
    (answer,) = asker(library, ("Ada Rook", 9.0, 0.0)).answer(["Who built the zeppelin mill?"])
    assert (answer.rejected, answer.missing_terms) == ((), ())


def test_the_record_is_json_with_reasons(library):
    answer = declined(library, ("Ada Rook", 1.0, 5.0), question="mill, sold?")
    searched = json.loads(json.dumps(answer_record(answer)))["searched"]
    assert searched["rejected"][0]["lacks"] == [{"text": "sold", "start": 6, "end": 10}]
    assert searched["unknown_words"] == [{"text": "sold", "start": 6, "end": 10, "nearest": None}]


def words_of(question: str) -> list[str]:
    return [word.of(question) for word in question_words(question, Analyzer()).values()]


@pytest.fixture
def spelled(folder, encoder_folder):
    (folder / "mills.txt").write_text(
        "Mills were built here. Millet grew behind the Rookery, and Rookery it is.\n"
    )
    with spanwise.open(folder, model=encoder_folder) as opened:
        opened.sync(vectors=False)
        yield opened


def unknown(spelled, question: str) -> dict[str, str | None]:
    snapshot = spelled.snapshot
    words = question_words(question, spelled.analyzer)
    found = unknown_words(words, snapshot.postings(), snapshot, spelled.analyzer)
    return {each.term.of(question): each.nearest.text if each.nearest else None for each in found}


def test_stop_words_are_none_unless_there_is_nothing_else():
    assert words_of("Who built the mill?") == ["built", "mill"]
    assert words_of("To be or not to be?") == ["To", "be", "or", "not"]


def test_words_are_places_in_the_question_as_it_was_asked():
    question = "  Wer baute die  MÜHLE des \ufb01shers?"
    assert words_of(question) == question.strip("? ").split()


def test_a_heading_holds_a_word_too():
    passage = Passage(1, "a.md", 0, 9, "built 1811", heading=("The mill",))
    question = "who sold or built the mill?"
    missing = missing_terms(question_words(question, Analyzer()), [passage], Analyzer())
    assert [word.of(question) for word in missing] == ["sold"]


def test_a_word_that_stands_nowhere_is_told_with_the_most_common_one_like_it(spelled):
    assert unknown(spelled, "Who built the zeppelin mlil?") == {"zeppelin": None, "mlil": "mill"}


def test_short_words_and_figures_are_not_guessed_at(spelled):
    assert unknown(spelled, "tra 1821") == {"tra": None, "1821": None}
