"""Answers: ranked candidates, alternatives, the same answer in several places, early exit."""

import math
import time
from dataclasses import replace
from functools import partial

import pytest
from helpers.scripted_reader import Scripted, asker, by_margin, confined
from hypothesis import given, strategies as st

from spanwise.pipelines.answering.candidates import answer_key, merge_same_answers
from spanwise.pipelines.json_records import answer_record, answer_span_record
from spanwise.pipelines.understanding.question import Question
from spanwise.reader.evidence import Calibration, EarlyExit
from spanwise.types import AnswerSpan, Filter, Passage, ScoredSpan, Span, Spelling

TWO = (("Ada Rook", 9.0, 2.0), ("stones", 8.0, 2.0))
STONES = "Who built the mill with stones?"


def answer_to(library, question, *script, **options):
    [answer] = asker(library, *script, **options).answer([question])
    return answer


def texts_of(answers):
    return [answer.text for answer in answers]


def test_the_best_margin_wins_and_is_quoted_with_its_place(library):
    answer = answer_to(library, STONES, *TWO)
    assert answer.text == "Ada Rook"
    assert answer.best.context.text == "The mill was built in 1811 by Ada Rook."
    assert library.document("mill.md").text[answer.span.start : answer.span.end] == "Ada Rook"
    assert answer.best.line == 3
    assert answer.best.page is None
    assert texts_of(answer.alternatives) == ["stones"]
    assert answer.confidence is None


def test_an_answer_names_the_headings_above_its_span(library):
    answer = answer_to(library, STONES, *TWO)
    assert answer.best.heading == ("The mill",)
    [stones] = answer.alternatives
    assert stones.passage.heading == ("The mill",)
    assert stones.heading == ("The mill", "Rules")
    assert answer_span_record(stones)["heading"] == ["The mill", "Rules"]


class Listening(Scripted):
    """Remembers the headings of the passages that it reads."""

    def read(self, questions, passages, n_best=5):
        self.headings = [passage.heading for group in passages for passage in group]
        return super().read(questions, passages, n_best)


@pytest.mark.parametrize(
    ("question", "headings"),
    [
        ("What is the rent in lease_oslo?", [("lease oslo", "Lease")]),
        ("What is the rent of the lease?", [("Lease",)]),
    ],
)
def test_the_reader_gets_the_name_of_a_file_that_has_a_word_only_of_the_question(
    library, folder, question, headings
):
    (folder / "lease_oslo.md").write_text("# Lease\n\nThe rent is 9 crowns.")
    library.sync(vectors=False)
    reader = Listening(("9 crowns", 9.0, 0.0))
    [answer] = replace(asker(library), reader=reader).answer([question])
    assert reader.headings == headings
    assert answer.text == "9 crowns"
    assert answer.best.passage.heading == ("Lease",)


def test_an_answer_holds_whole_words_and_pairs_of_marks(library, folder):
    (folder / "wifi.md").write_text("The password is `quayside-guest` for (paying) guests.\n")
    library.sync(vectors=False)
    answer = answer_to(library, "password", ("guest`", 9.0, 0.0))
    assert answer.text == library.document("wifi.md").text[answer.span.start : answer.span.end]
    assert answer.text == "quayside-guest"


def test_raw_scores_rank_passages_against_each_other(library):
    answer = answer_to(
        library, "Who opened or built mill and tram?", ("Ada Rook", 6.0, 0.0), ("Ute Falk", 2.0, 0.0)
    )
    assert answer.text == "Ada Rook"


def test_a_winning_null_score_declines_and_shows_what_was_searched(library):
    answer = answer_to(library, "Who sold the mill?", ("Ada Rook", 1.0, 5.0))
    assert answer.outcome == "not found"
    assert answer.candidates == ()  # without a calibration
    assert answer.best_rejected.text == "Ada Rook"
    assert answer.nearest[0].passage.document_id == "mill.md"
    assert answer.passages_searched == library.snapshot.n_passages


@pytest.mark.parametrize(("score", "declined"), [(2.0, False), (0.1, True)])
def test_below_the_fitted_confidence_it_declines(library, score, declined):
    answer = answer_to(library, "Who built the mill?", ("Ada Rook", score, 0.0), calibration=by_margin(0.6))
    assert answer.no_answer is declined
    shown = answer.best_rejected if declined else answer.best
    assert shown.confidence == pytest.approx(1 / (1 + math.exp(-score)))


@pytest.mark.parametrize(
    ("typed", "understood", "score", "outcome"),
    [
        ("Who built the mill?", "", 0.9, "answer"),
        ("Who built it?", "Who built it? (mill)", 0.9, "answer"),
        ("Who sold it?", "Who sold it? (mill)", 0.9, "not sure"),
        ("Who sold it?", "Who sold it? (mill)", 2.0, "answer"),
        ("Who?", "Who? (built mill)", 2.0, "answer"),
    ],
)
def test_a_passage_with_only_words_of_the_conversation_needs_more_confidence(
    library, typed, understood, score, outcome
):
    asked = Question(Spelling(typed, understood=understood), library.snapshot, library.analyzer)
    assert answer_to(library, asked, ("Ada Rook", score, 0.0), calibration=by_margin(0.6)).outcome == outcome


def test_the_threshold_of_a_user_is_not_raised_in_a_conversation(library):
    asked = Question(
        Spelling("Who sold it?", understood="Who sold it? (mill)"), library.snapshot, library.analyzer
    )
    script = ("Ada Rook", 0.9, 0.0)
    assert answer_to(library, asked, script, calibration=by_margin(0.6)).threshold == pytest.approx(0.8)
    answer = answer_to(library, asked, script, calibration=by_margin(0.9), threshold=0.7)
    assert (answer.text, answer.threshold) == ("Ada Rook", 0.7)


def test_a_how_to_has_all_steps_of_its_list_with_their_lines(library, folder):
    (folder / "mill.md").write_text("# The mill\n\nTo grind:\n\n1. Lift the gate.\n2. Fill the hopper.\n")
    library.sync(vectors=False)
    script = ("Lift the gate", 9.0, 0.0)
    answer = answer_to(library, "How do I grind at the mill?", script)
    assert [(step.text, step.line) for step in answer.steps] == [
        ("Lift the gate.", 5),
        ("Fill the hopper.", 6),
    ]
    record = answer_record(answer)["steps"][1]
    assert library.document("mill.md").text[record["start"] : record["end"]] == record["text"]
    assert answer_to(library, "Where is the gate of the mill?", script).steps == ()


def test_an_answer_for_several_things_has_parts_in_several_passages(library, monkeypatch):
    several = partial(ScoredSpan, is_list_question=True)
    monkeypatch.setattr("helpers.scripted_reader.ScoredSpan", several)
    script = (("Ada Rook", 9.0, 0.0), ("Ute Falk", 8.0, 0.0), ("1920", 0.1, 0.0))
    sure = by_margin(0.9)
    answer = answer_to(library, "Who raised the weir, the mill and the tram?", *script, calibration=sure)
    assert texts_of(answer.parts) == ["Ada Rook", "Ute Falk"]
    monkeypatch.setattr(
        "helpers.scripted_reader.ScoredSpan", partial(several, is_list_question=False, verdict="no")
    )
    answer = answer_to(library, "Who raised the weir, the mill and the tram?", *script, calibration=sure)
    assert answer.parts == ()
    assert answer.verdict == "no"


def test_a_sentence_that_says_yes_itself_is_believed(library, folder, monkeypatch):
    (folder / "gate.txt").write_text("Yes, the gate opens at six.\n", encoding="utf-8")
    library.sync(vectors=False)
    monkeypatch.setattr("helpers.scripted_reader.ScoredSpan", partial(ScoredSpan, verdict="no"))
    assert answer_to(library, "Does the gate open at six?", ("the gate opens", 9.0, 0.0)).verdict == "yes"


def test_the_answer_to_a_yes_no_question_is_the_whole_sentence(library, monkeypatch):
    monkeypatch.setattr("helpers.scripted_reader.ScoredSpan", partial(ScoredSpan, yes=0.1))
    best = answer_to(library, "Did Ada Rook raise the weir?", ("Ada Rook", 9.0, 0.0)).best
    assert "Ada Rook" in best.text != "Ada Rook"
    assert best.span == best.context


def test_of_a_record_it_is_the_line_of_the_key(library, folder, monkeypatch):
    (folder / "shop.yml").write_text("port: 9191\nshop: true\nhost: a\n", encoding="utf-8")
    library.sync(vectors=False)
    monkeypatch.setattr("helpers.scripted_reader.ScoredSpan", partial(ScoredSpan, yes=0.1))
    assert answer_to(library, "Is the shop open?", ("true", 9.0, 0.0)).best.text == "shop: true"


def test_the_answer_of_a_mail_has_its_day(library, folder):
    mail = "Date: Mon, 22 Apr 2024 09:00:00 +0200\nSubject: Masks\n\nThe masks arrived yesterday.\n"
    (folder / "masks.eml").write_text(mail, encoding="utf-8")
    library.sync(vectors=False)
    assert answer_to(library, "When did the masks arrive?", ("yesterday", 9.0, 0.0)).best.date == "2024-04-22"


def test_passages_that_say_the_same_are_one_answer(library, folder):
    (folder / "guide.txt").write_text("The old mill is the work of Ada Rook.\n", encoding="utf-8")
    library.sync(vectors=False)
    answer = answer_to(library, STONES, *TWO)
    places = [answer.span.document_id, *(other.span.document_id for other in answer.best.also_in)]
    assert sorted(places) == ["guide.txt", "mill.md"]
    assert texts_of(answer.alternatives) == ["stones"]


def test_answers_never_overlap(library):
    script = (("built in 1811 by Ada Rook", 9.0, 0.0), ("Ada Rook", 8.0, 0.0), ("stones", 7.0, 0.0))
    answer = answer_to(library, STONES, *script)
    assert texts_of([answer, *answer.alternatives]) == ["built in 1811 by Ada Rook", "stones"]


def test_a_model_without_a_null_answer_still_answers(library):
    answer = answer_to(library, "Who built the mill?", ("Ada Rook", 3.0, math.nan))
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
    assert texts_of(answer.alternatives) == ["Ute Falk"]
    assert answer.scope.documents == 2
    assert answer.passages_searched == answer.scope.passages < library.snapshot.n_passages


def test_a_filter_that_leaves_nothing_declines(library):
    (answer,) = confined(library, Filter(paths=("x",)), ("Ada Rook", 9.0, 0.0), threshold=0).answer(["mill?"])
    assert answer.no_answer
    assert answer.nearest == ()
    assert answer.passages_searched == 0
    assert answer.scope.documents == 0
    assert answer.scope.of_documents == 3


def test_no_alternative_is_surer_than_the_answer(library):
    odd = Calibration({"margin": 1.0}, 0.0, 0.0, 0.1, "scripted", "nothing", {"margin": -1.0})
    script = (("Ada Rook", 2.0, 0.0), ("stones", 1.0, 0.0))
    answer = answer_to(library, STONES, *script, calibration=odd)
    assert answer.text == "Ada Rook"
    assert [other.confidence for other in answer.alternatives] == [answer.confidence]


def answer(words: str, passage_id: int, score: float, start: int = 0) -> AnswerSpan:
    name = f"{passage_id}.txt"
    span = Span(name, start, start + len(words), words)
    passage = Passage(passage_id, name, 0, 100, "x" * 100)
    return AnswerSpan(span, span, passage, None, 1, score, None)


def test_the_best_answer_holds_those_of_other_passages_in_the_same_words():
    given_answers = [answer("Ada Rook", 1, 9), answer("Ute Falk", 2, 8), answer("ada rook.", 3, 7)]
    first, second = merge_same_answers(given_answers)
    assert first.text == "Ada Rook"
    assert [other.passage.id for other in first.also_in] == [3]
    assert second.text == "Ute Falk"
    assert second.also_in == ()


def test_only_the_best_span_of_a_passage_counts_as_agreement():
    torn = [answer("Ada Rook", 1, 9), answer("1811", 2, 8), answer("Ada Rook", 2, 7, start=20)]
    merged = merge_same_answers(torn)
    assert texts_of(merged) == ["Ada Rook", "1811"]
    assert [answer.also_in for answer in merged] == [(), ()]


WORDS = st.sampled_from(["a mill", "Mill", "tram", "The tram!", ""])


@given(st.lists(st.tuples(WORDS, st.integers(1, 4)), max_size=9))
def test_merged_answers_differ_and_keep_their_order(rows):
    answers = [answer(words, passage, -place) for place, (words, passage) in enumerate(rows)]
    merged = merge_same_answers(answers)
    assert list(map(answer_key, texts_of(merged))) == [*dict.fromkeys(map(answer_key, texts_of(answers)))]
    for best in merged:
        places = [best.passage.id, *(other.passage.id for other in best.also_in)]
        assert len(set(places)) == len(places)
        assert {answer_key(other.text) for other in best.also_in} <= {answer_key(best.text)}
        assert all(other.also_in == () and other.score <= best.score for other in best.also_in)


# Early exit

BOTH = "Who built the mill and who opened the tram?"
RULE = EarlyExit(first=1, of=20, margin=3.0)


def exiting(library, *script, rule=RULE, threshold=0.0, **options):
    calibration = replace(by_margin(threshold), stopping=rule)
    return asker(library, *script, calibration=calibration, dedupe=False, **options)


@pytest.mark.parametrize(("margin", "text"), [(4.0, "Ada Rook"), (1.0, "stones")])
def test_the_answer_of_a_sure_small_reader_stands(library, margin, text):
    small = asker(library, ("Ada Rook", margin, 0.0), calibration=by_margin(0.5))
    pair = asker(library, ("stones", 8.0, 2.0), calibration=replace(by_margin(0.5), sure=0.9))
    [trace] = replace(pair, small=small).trace([STONES])
    assert trace.answer.text == text
    assert trace.calibration == (small if margin == 4 else pair).calibration
    assert set(trace.answer.timings_ms) == {"retrieve", "read", "rank", "tables"}


@pytest.mark.parametrize(
    ("hopeless", "threshold", "text"), [(0.2, None, ""), (0.0, None, "stones"), (0.2, 0.5, "stones")]
)
def test_a_small_reader_without_hope_declines_for_both(library, hopeless, threshold, text):
    small = asker(library, ("Ada Rook", -4.0, 0.0), calibration=by_margin(0.5), threshold=threshold)
    calibration = replace(by_margin(0.5), sure=0.9, hopeless=hopeless)
    pair = asker(library, ("stones", 8.0, 2.0), calibration=calibration, threshold=threshold)
    (answer,) = replace(pair, small=small).answer([STONES])
    assert answer.text == text


def test_a_small_reader_without_a_calibration_decides_nothing(library):
    pair = asker(library, ("stones", 8.0, 2.0), calibration=replace(by_margin(0.5), sure=0.9))
    small = asker(library, ("Ada Rook", -4.0, 0.0))
    (answer,) = replace(pair, small=small).answer([STONES])
    assert answer.text == "stones"


class Slow(Scripted):
    """Takes time to read."""

    def read(self, questions, passages, n_best=5):
        time.sleep(0.05)
        return super().read(questions, passages, n_best)


class SlowCalibration(Calibration):
    """Takes time to weigh a candidate."""

    def evidence(self, features):
        time.sleep(0.05)
        return super().evidence(features)


def test_the_time_of_the_small_reader_and_of_ranking_counts(library):
    slow = SlowCalibration({"margin": 1.0}, 1.0, 0.0, 0.5, "scripted", "nothing", sure=0.99)
    pair = asker(library, ("stones", 8.0, 2.0), calibration=slow)
    small = replace(pair, reader=Slow(("Ada Rook", 1.0, 0.0)), calibration=by_margin(0.5))
    (answer,) = replace(pair, small=small).answer([STONES])
    assert answer.text == "stones"
    assert min(answer.timings_ms["read"], answer.timings_ms["rank"]) >= 50


def test_a_sure_first_passage_leaves_the_others_unread(library):
    script = (("Ada Rook", 9.0, 0.0), ("Ute Falk", 9.0, 0.0))
    (sure,) = exiting(library, *script).answer([BOTH])
    (whole,) = exiting(library, *script, read_all=True).answer([BOTH])
    assert sure.passages_read == 1
    assert whole.passages_unread == 0
    assert sure.passages_read + sure.passages_unread == whole.passages_read > 1


def test_after_an_unsure_first_passage_all_are_read(library):
    (answer,) = exiting(library, ("Ada Rook", 2.0, 0.0), ("Ute Falk", 2.0, 0.0)).answer([BOTH])
    assert answer.passages_unread == 0


def test_all_is_read_before_a_question_is_declined(library):
    script = (("Ada Rook", 4.0, 0.0), ("Ute Falk", 4.0, 0.0))
    (answer,) = exiting(library, *script, threshold=0.999).answer([BOTH])
    assert answer.no_answer
    assert answer.passages_unread == 0


def test_each_question_of_a_batch_exits_early_for_itself(library):
    answerer = exiting(library, ("Ada Rook", 9.0, 0.0), ("Ute Falk", 1.0, 0.0))
    questions = ["Who built the mill in 1811?", "Who opened the tram in 1903?"]
    together = [answer.passages_read for answer in answerer.answer(questions)]
    assert together == [answerer.answer([question])[0].passages_read for question in questions]
