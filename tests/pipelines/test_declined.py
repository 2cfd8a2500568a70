"""What a declined answer says of the search, of what came near, and of words that stand nowhere."""

from __future__ import annotations

import json
import math

import pytest
from scripted_reader import asker, by_margin, confined

from spanwise.pipelines.declined import reasons
from spanwise.pipelines.records import answer_record, search_record
from spanwise.types import Answer, Filter

QUESTION = "Who sold the zeppelin mlil?"


def declined(library, *script, calibration=None, question=QUESTION) -> Answer:
    (answer,) = asker(library, *script, calibration=calibration, threshold=None).answer([question])
    assert answer.no_answer
    return answer


def why(answer: Answer) -> list[list[str]]:
    return [reasons(rejected, answer.question) for rejected in answer.rejected]


def test_it_says_how_much_was_searched_and_read(library):
    answer = declined(library, ("Ada Rook", 1.0, 5.0), question="Who sold the mill?")
    assert (answer.documents_searched, answer.passages_searched) == (3, library.snapshot.n_passages)
    assert 0 < answer.passages_read < answer.passages_searched


def test_a_filter_counts_what_it_left(library):
    (answer,) = confined(library, Filter(paths=("mill.md",)), ("Ada Rook", 1.0, 5.0)).answer(
        ["Who sold the mill?"]
    )
    assert answer.documents_searched == 1


def test_without_a_calibration_the_null_answer_is_the_reason(library):
    answer = declined(library, ("Ada Rook", 1.0, 5.0), question="Who sold the mill?")
    assert why(answer) == [['"no answer" scores 4.00 higher in its passage', 'its passage lacks "sold"']]


def test_below_the_threshold_both_numbers_are_told(library):
    answer = declined(
        library, ("Ada Rook", 0.1, 0.0), calibration=by_margin(0.6), question="Who built the mill?"
    )
    assert why(answer) == [["confidence 52% is below the threshold 60%"]]
    assert (answer.rejected[0].threshold, answer.rejected[0].margin) == (0.6, pytest.approx(0.1))


def test_numbers_that_would_look_equal_are_told_in_more_digits(library):
    answer = declined(
        library, ("Ada Rook", 0.0, 0.0), calibration=by_margin(0.501), question="Who built the mill?"
    )
    assert why(answer) == [["confidence 50% is below the threshold 50.100%"]]


def test_a_reader_without_a_null_answer_has_no_margin(library):
    script = ("Ada Rook", -3.0, math.nan)
    answer = declined(library, script, calibration=by_margin(0.6), question="Who built the mill?")
    assert answer.rejected[0].margin is None


def test_rejected_spans_are_three_at_most_and_differ(library):
    words = ("Ada Rook", "ten minutes", "1903", "1920", "stones", "six")
    script = [(word, -float(at), 5.0) for at, word in enumerate(words)]
    answer = declined(library, *script, question="Who opened, built or raised mill, tram, weir and rules?")
    assert [each.answer.text for each in answer.rejected] == ["Ada Rook", "ten minutes", "1903"]
    assert answer.best_rejected == answer.rejected[0].answer


def test_an_answer_that_is_shown_has_nothing_rejected(library):
    (answer,) = asker(library, ("Ada Rook", 9.0, 0.0)).answer(["Who built the zeppelin mill?"])
    assert (answer.rejected, answer.missing_terms) == ((), ())


def test_unknown_words_are_told_with_what_they_may_mean(library):
    answer = declined(library, ("Ada Rook", 1.0, 5.0))
    told = {each.term.of(QUESTION): each.nearest and each.nearest.text for each in answer.missing_terms}
    assert told == {"sold": None, "zeppelin": None, "mlil": "mill"}


def test_the_record_is_json_with_reasons(library):
    record = json.loads(
        json.dumps(answer_record(declined(library, ("Ada Rook", 1.0, 5.0), question="mill, sold?")))
    )
    searched = record["searched"]
    assert list(searched) == [
        "documents",
        "passages",
        "passages_read",
        "passages_unread",
        "best_rejected",
        "rejected",
        "unknown_words",
    ]
    assert searched["rejected"][0]["lacks"] == [{"text": "sold", "start": 6, "end": 10}]
    assert searched["unknown_words"] == [{"text": "sold", "start": 6, "end": 10, "nearest": None}]


def test_the_record_has_the_passages_to_look_at_as_a_search_has_them(library):
    answer = declined(library, ("Ada Rook", 1.0, 5.0), question="Who sold the mill?")
    nearest = json.loads(json.dumps(answer_record(answer)))["nearest"]
    assert nearest == search_record("", "bm25", answer.nearest)["hits"]
    assert [hit["document"] for hit in nearest] == ["mill.md"]
    for hit in nearest:
        assert library.document(hit["document"]).text[hit["start"] : hit["end"]] == hit["text"]


def test_the_record_of_an_answer_sends_nobody_elsewhere(library):
    [answer] = asker(library, ("Ada Rook", 9.0, 0.0)).answer(["Who built the mill?"])
    assert answer.nearest
    assert answer_record(answer)["nearest"] == []
