"""Words are replaced whole, everywhere, and every place is known on both sides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.fairness.name_swap import NAME_WORD, swap

NAMES = {"Ada": "Fatima", "Rook": "Xu", "Ann": "Ngozi"}
WORDS = st.sampled_from([*NAMES, "Annex", "Adas", "he", "she", "mill", "\u0301", "é", "𝔄", "."])
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from([" ", "", "'s ", "-", "\n"])), max_size=12).map(
    lambda parts: "".join(part for pair in parts for part in pair)
)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("Ada Rook's mill", "Fatima Xu's mill"),
        ("The Annex, Anna, ANN and Rooks", "The Annex, Anna, ANN and Rooks"),
        ("She said that he gave it to Ann.", "She said that he gave it to Ngozi."),
        ("an Ada-built mill", "an Fatima-built mill"),
        ("", ""),
    ],
)
def test_names_are_replaced_inside_nothing_and_pronouns_stay(text: str, after: str) -> None:
    assert swap(text, NAMES).text == after


@given(TEXTS)
def test_swapping_back_gives_the_text(text: str) -> None:
    there = swap(text, NAMES)
    assert swap(there.text, {new: old for old, new in NAMES.items()}).text == text


@given(TEXTS, st.data())
def test_a_moved_span_holds_the_swapped_words_and_moves_back(text: str, data: st.DataObject) -> None:
    edges = sorted({0, len(text), *(at for match in NAME_WORD.finditer(text) for at in match.span())})
    start, end = sorted((data.draw(st.sampled_from(edges)), data.draw(st.sampled_from(edges))))
    swapped = swap(text, NAMES)
    moved = swapped.span(start, end)
    assert moved is not None
    assert swapped.text[slice(*moved)] == swap(text[start:end], NAMES).text
    assert swapped.before(*moved) == (start, end)


@given(TEXTS, st.data())
def test_every_span_is_exact_or_refused(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    swapped = swap(text, NAMES)
    moved = swapped.span(start, end)
    if moved is not None:
        assert swapped.text[: moved[0]] == swap(text, NAMES).text[: moved[0]]
        assert swapped.before(*moved) == (start, end)
    else:
        assert any(place.start < at < place.end for place in swapped.places for at in (start, end))


def test_a_part_of_a_new_name_stands_for_the_whole_old_one() -> None:
    swapped = swap("by Ada Rook", NAMES)
    assert swapped.text == "by Fatima Xu"
    assert swapped.before(5, 8) == (3, 6)
    assert swapped.span(4, 6) is None
