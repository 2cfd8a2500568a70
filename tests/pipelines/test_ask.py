"""Asking with a scripted reader: what is answered, what is declined, what is shown."""

from __future__ import annotations

import math

import pytest
from scripted_reader import asker, by_margin, confined

from spanwise.reader.evidence import Calibration
from spanwise.types import Filter


def test_the_best_margin_wins_and_is_quoted_with_its_place(library):
    script = (("Ada Rook", 9.0, 2.0), ("stones", 8.0, 2.0))
    (answer,) = asker(library, *script).answer(["Who built the mill with stones?"])
    assert (answer.text, answer.best.context.text) == ("Ada Rook", "The mill was built in 1811 by Ada Rook.")
    assert library.document("mill.md").text[answer.span.start : answer.span.end] == "Ada Rook"
    assert (answer.best.line, answer.best.page) == (3, None)
    assert [other.text for other in answer.alternatives] == ["stones"]
    assert answer.confidence is None


def test_r13_raw_scores_rank_passages_against_each_other(library):
    (answer,) = asker(library, ("Ada Rook", 6.0, 0.0), ("Ute Falk", 2.0, 0.0)).answer(
        ["Who opened or built mill and tram?"]
    )
    assert answer.text == "Ada Rook"


def test_r15_a_winning_null_score_declines_and_shows_what_was_searched(library):
    (answer,) = asker(library, ("Ada Rook", 1.0, 5.0)).answer(["Who sold the mill?"])
    assert answer.no_answer
    assert answer.best_rejected.text == "Ada Rook"
    assert answer.nearest[0].passage.document_id == "mill.md"
    assert answer.passages_searched == library.snapshot.n_passages


def test_a_threshold_of_nothing_always_answers(library):
    (answer,) = asker(library, ("Ada Rook", 1.0, 5.0), threshold=0).answer(["Who sold the mill?"])
    assert answer.text == "Ada Rook"


@pytest.mark.parametrize(("score", "declined"), [(2.0, False), (0.1, True)])
def test_below_the_fitted_confidence_it_declines(library, score, declined):
    (answer,) = asker(library, ("Ada Rook", score, 0.0), calibration=by_margin(0.6)).answer(
        ["Who built the mill?"]
    )
    assert answer.no_answer is declined
    shown = answer.best_rejected if declined else answer.best
    assert shown.confidence == pytest.approx(1 / (1 + math.exp(-score)))


def test_a_why_question_is_answered_by_the_sentence(library):
    (answer,) = asker(library, ("1920", 9.0, 0.0)).answer(["Why was the weir raised?"])
    assert answer.text == "The weir was raised in 1920."
    assert answer.best.answer.text == "1920"


def test_a_list_question_is_answered_by_the_whole_list(library):
    (answer,) = asker(library, ("leave by six", 9.0, 0.0)).answer(["What are the rules for visitors?"])
    assert answer.text == "Visitors must:\n\n- keep off the stones\n- leave by six"


@pytest.mark.parametrize("question", ["Was the weir raised?", "What is a weir?"])
def test_whether_and_what_something_is_tells_the_sentence(library, question):
    (answer,) = asker(library, ("1920", 9.0, 0.0)).answer([question])
    assert (answer.text, answer.best.answer.text) == ("The weir was raised in 1920.", "1920")


def test_passages_that_say_the_same_are_one_answer(library, folder):
    (folder / "guide.txt").write_text("The old mill is the work of Ada Rook.\n", encoding="utf-8")
    library.sync(vectors=False)
    script = (("Ada Rook", 9.0, 2.0), ("stones", 8.0, 2.0))
    (answer,) = asker(library, *script).answer(["Who built the mill with stones?"])
    places = [answer.span.document_id, *(other.span.document_id for other in answer.best.also_in)]
    assert sorted(places) == ["guide.txt", "mill.md"]
    assert [other.text for other in answer.alternatives] == ["stones"]


def test_answers_never_overlap(library):
    script = (("built in 1811 by Ada Rook", 9.0, 0.0), ("Ada Rook", 8.0, 0.0), ("stones", 7.0, 0.0))
    (answer,) = asker(library, *script).answer(["Who built the mill with stones?"])
    assert [answer.text, *(other.text for other in answer.alternatives)] == [
        "built in 1811 by Ada Rook",
        "stones",
    ]


def test_nothing_found_is_declined(library):
    (answer,) = asker(library, ("Ada Rook", 9.0, 0.0)).answer(["zebra?"])
    assert answer.no_answer
    assert (answer.best_rejected, answer.nearest) == (None, ())


def test_a_model_without_a_null_answer_still_answers(library):
    (answer,) = asker(library, ("Ada Rook", 3.0, math.nan)).answer(["Who built the mill?"])
    assert answer.text == "Ada Rook"


def test_questions_are_answered_in_order(library):
    reader = (("Ada Rook", 9.0, 0.0), ("Ute Falk", 9.0, 0.0))
    answers = asker(library, *reader, k=1).answer(["Who built the mill?", "Who opened the tram?"])
    assert [answer.text for answer in answers] == ["Ada Rook", "Ute Falk"]


def test_only_allowed_passages_are_read_and_shown(library):
    where = Filter(paths=("mill.md", "tram.txt"))
    script = (("Ada Rook", 9.0, 0.0), ("Ute Falk", 8.0, 0.0), ("1920", 9.5, 0.0))
    (answer,) = confined(library, where, *script).answer(["Who raised the weir, the mill and the tram?"])
    assert answer.text == "Ada Rook"
    assert [other.text for other in answer.alternatives] == ["Ute Falk"]
    assert answer.scope == library.scope(where)
    assert answer.passages_searched == answer.scope.passages < library.snapshot.n_passages


def test_a_filter_that_leaves_nothing_declines(library):
    (answer,) = confined(library, Filter(paths=("x",)), ("Ada Rook", 9.0, 0.0), threshold=0).answer(["mill?"])
    assert (answer.no_answer, answer.nearest, answer.passages_searched) == (True, (), 0)
    assert (answer.scope.documents, answer.scope.of_documents) == (0, 3)


def test_no_alternative_is_surer_than_the_answer(library):
    weights = {"margin": 1.0}
    odd = Calibration(weights, 0.0, 0.0, 0.1, "scripted", "nothing", {"margin": -1.0})
    script = (("Ada Rook", 2.0, 0.0), ("stones", 1.0, 0.0))
    (answer,) = asker(library, *script, calibration=odd).answer(["Who built the mill with stones?"])
    assert answer.text == "Ada Rook"
    assert [one.confidence for one in answer.alternatives] == [answer.confidence]


def test_candidates_are_compared_with_all_that_was_read(library):
    """Both passages say 9 points; of the two sentences that say Ada Rook the copy would count once."""
    one = asker(library, ("Ada Rook", 9.0, 9.0), ("Ute Falk", 9.0, 9.0))
    question = "Who built the mill and opened the tram?"
    [hits] = one.retriever.search([question], 2)
    [readings] = one.reader.read([question], [[hit.passage for hit in hits]])
    found = one.score_candidates(question, hits, readings)
    assert [c.features.log_share for c in found] == [pytest.approx(math.log(1 / 4))] * 2
    assert [c.features.agreeing for c in found] == [0.0, 0.0]
    assert {c.features.score_gap for c in found} == {0.0, 1.0}
    assert {c.features.type_fit for c in found} == {1.0}
