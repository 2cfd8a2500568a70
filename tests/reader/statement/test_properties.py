"""What holds of every statement, whatever the texts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.reader.statement import statement, unhedged, unsaid
from spanwise.reader.statement.inflection import inflected
from spanwise.reader.statement.words import words_of

WORDS = st.sampled_from(
    "who what when where which how many much long did does was is has had can the a Ada mill in on of to "
    'river built build win flows Ely 1811 years called old "Rex" two that it not, people last'.split()
)
QUESTIONS = st.lists(WORDS, min_size=1, max_size=9).map(lambda words: " ".join(words).capitalize() + "?")
ANSWERS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


@given(st.text(), st.text(), st.text())
def test_any_text_gives_a_statement_or_none(question, answer, sentence):
    for asked in (question, f"Who {question}?", f"When did {question}?", f"What is {question}?"):
        found = statement(asked, answer, sentence)
        assert found is None or found.strip()


@settings(max_examples=300)
@given(QUESTIONS, ANSWERS, ANSWERS)
def test_the_answer_stands_in_it_once_and_no_question_is_left(question, answer, sentence):
    found = statement(question, answer, f"{sentence} {answer}")
    if found is not None:
        held = " ".join(_plain(found))
        assert f" {held} ".count(f" {' '.join(_plain(answer))} ") == 1
        assert found.endswith(".")
        assert "?" not in found


@given(QUESTIONS, ANSWERS)
def test_it_is_the_same_every_time(question, answer):
    assert statement(question, answer, answer) == statement(question, answer, answer)


def content(text: str) -> list[str]:
    return text.lower().replace(".", "").split()


def test_words_that_no_evidence_has_are_named():
    assert unsaid("The mill closed in May.", ["the mill opened in may."], content) == ("closed",)
    assert unsaid("It fell before 18.", ["it fell after 18."], content) == ("before",)


def test_a_hedge_that_is_left_out_is_named():
    assert unhedged("The mill burned.", "The mill allegedly burned.") == "allegedly"
    assert unhedged("The mill nearly burned.", "The mill nearly burned.") == ""


def test_a_verb_with_two_past_forms_takes_the_one_that_was_seen():
    assert inflected("lie", "VBD", frozenset({"lay"})) == "lay"
    assert inflected("lie", "VBD", frozenset()) is None


def test_a_stop_of_an_abbreviation_is_not_doubled():
    assert statement("Where was the play first shown?", "the U.S.", "It ran in the U.S.") == (
        "The play was first shown in the U.S."
    )


def test_names_keep_their_case_at_the_start():
    assert statement("Which firm made the phone?", "iNord", "It is iNord.") == "iNord made the phone."


def test_an_article_that_opened_its_sentence_is_lowered_inside():
    said = statement("What is the seat of Ely?", "The old hall", "The old hall is its seat.")
    assert said == "The seat of Ely is the old hall."


def _plain(text: str) -> list[str]:
    return [word.core.casefold().rstrip(".,;:\"”’'") for word in words_of(text)]
