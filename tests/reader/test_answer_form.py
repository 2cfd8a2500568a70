"""The kind of a question, the form of an answer, and the lists that are quoted whole."""

from __future__ import annotations

import pytest

from spanwise.reader.answer_form import enclosing_list, question_type, type_fit


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who founded the mill?", "factoid"),
        ("How many arches has the bridge?", "factoid"),
        ("How do I renew a card?", "how"),
        ("Why was the school closed?", "why"),
        ("What is the reason for the ban?", "why"),
        ("What are the rules for visitors?", "list"),
        ("What steps must a brewer take?", "list"),
        ("What is a statocyst?", "definition"),
        ("What does isobaric mean?", "definition"),
        ("What does CBD stand for?", "factoid"),
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
        ("Why was it shut?", "the frost", 0.0),
    ],
)
def test_the_form_of_an_answer(question: str, answer: str, fit: float) -> None:
    assert type_fit(question, answer) == fit


RULES = """Visitors must keep three rules:

- Do not touch the stones.
- Keep dogs
  on a lead.
- Leave by six.

The mill is open daily."""


def quoted(text: str, inside: str) -> str | None:
    start = text.index(inside)
    found = enclosing_list(text, start, start + len(inside))
    return None if found is None else text[slice(*found)]


def test_an_item_brings_its_whole_list_and_the_line_that_announces_it():
    whole = RULES[: RULES.index("\n\nThe mill")]
    assert quoted(RULES, "dogs") == whole
    assert quoted(RULES, "on a lead") == whole
    assert quoted(RULES, "three rules") == whole


def test_a_numbered_list():
    assert (
        quoted("Steps\n1. Close the gate.\n2. Open the weir.\n", "weir")
        == "1. Close the gate.\n2. Open the weir."
    )


def test_a_long_list_is_cut_at_whole_items():
    text = "Items:\n" + "\n".join(f"- item number {i} of the inventory" for i in range(100))
    found = quoted(text, "number 3 ")
    assert found is not None
    assert len(found) <= 1200
    assert text[len(found)] == "\n"
