"""Lists at a place of a document: which items they have, and what belongs to an item."""

import time
from dataclasses import replace

import pytest

from spanwise.corpora.lists import LIST_ASKED, MAX_STEPS, steps_at
from spanwise.types import Document, Heading, Span, Step


def steps(text: str, words: str, **structure: object) -> list[Step]:
    document = replace(Document("a.txt", "text/plain", "", "", text), **structure)
    start = text.index(words)
    found = steps_at("How to?", Span("a.txt", start, start + len(words), words), lambda _: document)
    assert all(text[step.start : step.end] == step.text for step in found)
    return list(found)


def items(text: str, words: str, **structure: object) -> list[str]:
    return [step.text for step in steps(text, words, **structure)]


@pytest.mark.parametrize(
    "text",
    [
        "- a b\n- c d\n- e f\n",
        "* a b\n* c d\n* e f\n",
        "1. a b\n2. c d\n3. e f\n",
        "1. a b\n\n2. c d\n\n3. e f\n",
        "1. a b\n1. c d\n1. e f\n",
        "a) a b\nb) c d\nc) e f\n",
        "(1) a b\n(2) c d\n(3) e f",
        "i. a b\nii. c d\niii. e f\n",
        "#. a b\n#. c d\n#. e f\n",
        ". a b\n. c d\n. e f\n",
        "Step 1: a b\nStep 2: c d\nStep 3: e f\n",
        "- [ ] a b\n- [x] c d\n- [ ] e f\n",
        "  • a b\n  • c d\n  • e f\n",
        "Do this:\n\n- a b\n- c d\n- e f\n\nThen rest. It is late.\n",
    ],
)
def test_items_come_without_their_marks(text: str) -> None:
    assert items(text, "c d") == ["a b", "c d", "e f"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("- a\n  wrapped\n- b\n", "a\n  wrapped"),
        ("- a long line\nwrapped here\n- b\n", "a long line\nwrapped here"),
        ("- a\n\n  Paragraph.\n\n- b\n", "a\n\n  Paragraph."),
        ("- a\n  - x\n    - y\n  - z\n- b\n", "a\n  - x\n    - y\n  - z"),
        ("1. a\n- x\n- y\n2. b\n", "a\n- x\n- y"),
        ("* a\n** x\n** y\n* b\n", "a\n** x\n** y"),
        ("1. a\n\n![](x.png)\n\n2. b\n", "a\n\n![](x.png)"),
        ("1. a\n```\n1. x\n2. y\n```\n2. b\n", "a\n```\n1. x\n2. y\n```"),
    ],
)
def test_what_belongs_to_an_item_is_in_its_span(text: str, first: str) -> None:
    assert items(text, "a") == [first, "b"]


@pytest.mark.parametrize(
    "text",
    [
        "- a\n- b\n\nRest.\n\n- c\n",
        "- a\n- b\n\n1. c\n2. d\n",
        "1. a\n2. b\n\nOther:\n\n1. c\n2. d\n",
        "1. a\n2. b\n\n" + 200 * "Words. " + "\n\n3. c\n",
        "- a\n- b\n\n---\n\n- c\n",
    ],
)
def test_a_list_ends(text: str) -> None:
    assert items(text, "b") == ["a", "b"]


def test_the_sentence_above_a_list_introduces_it() -> None:
    assert items("It is old. Take care:\n\n- a\n- b\n", "care") == ["a", "b"]
    assert items("It is old. Take care:\n\n- a\n- b\n", "old") == []


def test_the_outer_of_two_lists_is_taken() -> None:
    assert items("1. On a phone\n   - tap\n   - hold\n2. Sign\n", "tap")[1:] == ["Sign"]


def test_numbered_titles_are_no_items() -> None:
    words = "The silt is put ashore at the old brick pits of Sandholm, and no longer at sea.\n"
    assert items(f"1. DISPOSAL\n{words}\n2. FERRIES\n{words}", "brick") == []


def test_a_list_goes_on_over_a_page() -> None:
    text = "- a b c d\nThe mill - page 1\n- e f\n"
    assert items(text, "e f") == []
    assert items(text, "e f", page_starts=(0, text.index("- e"))) == ["a b c d", "e f"]


def test_a_heading_ends_a_list_and_is_no_item() -> None:
    text = "Cake\n1. Baking\n1. a\n2. b\n3. Eating\n"
    headings = (Heading(5, 1, "1. Baking"), Heading(text.index("3. E"), 1, "3. Eating"))
    assert items(text, "b", headings=headings) == ["a", "b"]


def test_a_step_has_its_line() -> None:
    assert [step.line for step in steps("Do:\n- a\n\n- b\n", "a")] == [2, 4]


def test_what_is_left_out_of_a_document_is_no_item() -> None:
    text = "- a\n- (b)\n- c <d>\n"
    found = steps(text, "a", left_out=((4, 9), (14, 17)))
    assert [step.readable for step in found] == ["a", "c"]


def test_a_long_list_is_found_in_linear_time() -> None:
    for line in (
        "- a\n",
        "- a\n\nb\n\n",
        "1. a\n\nb\n\n",
        "```\n",
        "~~~\n```\n",
        "\t" * 99 + "- a\n",
        "* - + a\n",
    ):
        began = time.process_time()
        assert len(items(line * 20_000 + "- Z\n", "Z")) <= MAX_STEPS
        assert time.process_time() - began < 2, line


def test_how_tos_and_questions_for_several_things_ask_for_a_list() -> None:
    for question in (
        "How do I join?",
        "tell me how to\njoin",
        "What do I need?",
        "Which rooms are free?",
        "list the rules",
    ):
        assert LIST_ASKED.search(question), question
    for question in ("How much is it?", "Who built it?", "What is a weir?", "When does it open?"):
        assert not LIST_ASKED.search(question), question
