from __future__ import annotations

import pytest

from spanwise.reader.answer_form import question_type, type_fit


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who founded the mill?", "factoid"),
        ("How many arches has the bridge?", "factoid"),
        ("How do I renew a card?", "how"),
        ("What happens if the alarm rings?", "how"),
        ("Why was the school closed?", "why"),
        ("What is the reason for the ban?", "why"),
        ("What are the rules for visitors?", "list"),
        ("What steps must a brewer take?", "list"),
        ("What is the class of the engine?", "factoid"),
        ("What is a statocyst?", "definition"),
        ("What does isobaric mean?", "definition"),
        ("Define the term weir.", "definition"),
        ("What does CBD stand for?", "factoid"),
        ("What is the largest mill?", "factoid"),
        ("What are some existing facilities?", "factoid"),
        ("Is the tram free for children?", "yes-no"),
        ("Is the weir old or new?", "factoid"),
    ],
)
def test_kind_of_a_question(question, kind):
    assert question_type(question) == kind


@pytest.mark.parametrize(
    ("question", "answer", "fit"),
    [
        ("How many rooms has it?", "twelve", 1.0),
        ("How many rooms has it?", "the old mill", -1.0),
        ("In what year was it built?", "1811", 1.0),
        ("To whom was it sold?", "ADA ROOK", 1.0),
        ("Why was it shut?", "the frost", 0.0),
    ],
)
def test_the_form_of_an_answer(question: str, answer: str, fit: float) -> None:
    assert type_fit(question, answer) == fit
