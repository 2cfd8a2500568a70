"""Declined questions: candidates, and sections of a topic."""

import json

import pytest
from helpers.scripted_reader import asker, by_margin, confined

from spanwise.index.analysis import Analyzer
from spanwise.pipelines.json_records import answer_record
from spanwise.pipelines.plain_text import refusal
from spanwise.pipelines.understanding.question import content_terms
from spanwise.types import Answer, Filter

QUESTION = "Who sold the zeppelin mlil?"


def declined(library, *script, calibration=None, question=QUESTION) -> Answer:
    (answer,) = asker(library, *script, calibration=calibration, threshold=None).answer([question])
    assert answer.no_answer
    return answer


@pytest.mark.parametrize(
    ("score", "outcome", "candidates"),
    [
        (2.0, "not sure", ["Ada Rook", "ten minutes"]),
        (-2.0, "not sure", ["Ada Rook"]),
        (-2.5, "not found", []),
        (3.0, "answer", []),
    ],
)
def test_the_score_decides_between_answer_candidates_and_nothing(library, score, outcome, candidates):
    script = [(words, score - rank, 0.0) for rank, words in enumerate(("Ada Rook", "ten minutes", "1903"))]
    question = "Who opened, built or raised mill, tram, weir and rules?"
    (answer,) = asker(library, *script, calibration=by_margin(0.9)).answer([question])
    assert answer.outcome == outcome
    assert [candidate.text for candidate in answer.candidates] == candidates
    assert (answer.rejected == ()) is (outcome == "answer")
    record = json.loads(json.dumps(answer_record(answer)))
    assert record["outcome"] == outcome
    assert (record["answer"] is None) == (outcome != "answer")
    assert [candidate["text"] for candidate in record["candidates"]] == candidates


def test_candidates_share_no_sentence_and_have_words(library):
    script = ("Ada Rook", 2.0, 0.0), (".\n\n## Rules", 1.9, 0.0), ("-", 1.8, 0.0), ("six", 1.7, 0.0)
    answer = declined(library, *script, calibration=by_margin(0.9), question="Who made the mill?")
    assert [candidate.text for candidate in answer.candidates] == ["Ada Rook", "six"]


@pytest.mark.parametrize("question", ["mill", "What is the mill?", "Show me the mills"])
def test_the_section_of_a_topic_is_a_candidate(library, question):
    answer = declined(library, ("stones", -9.0, 0.0), calibration=by_margin(0.9), question=question)
    [section] = answer.candidates
    assert section.line == 3
    assert section.confidence is None
    assert section.text == "The mill was built in 1811 by Ada Rook."


def test_a_question_about_a_fact_has_no_section_as_a_candidate(library):
    unread = ("stones", -9.0, 0.0)
    answer = declined(library, unread, calibration=by_margin(0.9), question="Who sold the mill?")
    assert answer.candidates == ()


def test_function_words_count_only_in_a_question_of_nothing_else():
    assert content_terms("How much did the mills, the mill?", Analyzer()) == {"mill"}
    assert content_terms("To be or not to be?", Analyzer()) == {"to", "be", "or", "not"}


@pytest.fixture
def unread(library, folder):
    """A library with two broken documents, an empty one and a film."""
    (folder / "sub" / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "torn.docx").write_bytes(b"torn")
    (folder / "film.mp4").write_bytes(b"\0\1")
    (folder / "empty.md").touch()
    library.sync(vectors=False)
    return library


@pytest.mark.parametrize(
    ("where", "n_files"),
    [
        (Filter(), 2),
        (Filter(paths=("sub/**",)), 1),
        (Filter(paths=("*.md",)), 0),
        (Filter(paths=("nowhere/",)), 0),
        (Filter(types=("md",)), 0),
        (Filter(after="2000-01-01"), 2),
        (Filter(before="2000-01-01"), 0),
    ],
)
def test_a_refusal_counts_the_documents_of_its_filter_that_could_not_be_read(unread, where, n_files):
    [answer] = confined(unread, where).answer([QUESTION])
    assert answer.unread_files == n_files
    assert answer_record(answer)["unread_files"] == n_files


@pytest.mark.parametrize(("score", "outcome"), [(9.0, "answer"), (0.5, "not sure")])
def test_an_answer_and_candidates_look_for_no_unread_file(unread, monkeypatch, score, outcome):
    script = asker(unread, ("Ada Rook", score, 0.0), calibration=by_margin(0.9))
    monkeypatch.setattr(type(script.snapshot), "unread_files", None)
    [answer] = script.answer(["Who built the mill?"])
    assert answer.outcome == outcome
    assert answer.unread_files == 0


@pytest.mark.parametrize(
    ("word", "is_missing"),
    [
        ("pelican", True),
        ("fill", False),
        ("boats", False),
        ("make", False),
        ("city", False),
        ("bob", True),
    ],
)
def test_a_word_inside_others_is_not_missing(library, folder, word, is_missing):
    (folder / "more.txt").write_text("Refill the lifeboat. Remake the citywide list.\n")
    library.sync(vectors=False)
    answer = declined(library, question=f"Who has the {word}?")
    assert bool(answer.missing_terms) is is_missing


@pytest.mark.parametrize(("question", "hint"), [("Wer hat den Zeppelin verkauft?", True), (QUESTION, False)])
def test_a_declined_question_in_another_language_has_a_hint(library, question, hint):
    record = answer_record(declined(library, question=question))
    assert ("read English" in record["hint"]) is hint


def test_an_answer_has_no_hint(library):
    [answer] = asker(library, ("Ada Rook", 9.0, 0.0)).answer(["Wer hat the mill gebaut?"])
    assert answer_record(answer)["hint"] == ""


def test_a_question_without_a_word_to_look_for_quotes_nothing(library):
    answer = declined(
        library, ("Ada Rook", 2.0, 0.0), calibration=by_margin(0.9), question="What can you do?"
    )
    assert (answer.candidates, answer.nearest) == ((), ())
    assert refusal(answer).startswith("nothing in this question to look for: ask what the documents say")
