"""Marks of citations are told from the sentences that they stand at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.pipelines.summarizing.marks import marked_sentences, without_marks


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It burned in 1871. [1][3]", [("It burned in 1871.", (1, 3))]),
        ("It burned in 1871 [2].", [("It burned in 1871.", (2,))]),
        (
            "It burned [1] and fell [2]. It stands. [1]",
            [("It burned and fell.", (1, 2)), ("It stands.", (1,))],
        ),
        ("It burned. [2] [2] It fell.", [("It burned.", (2,)), ("It fell.", ())]),
        ("[4] It burned.", [("It burned.", ())]),
        ("- the mill [1]\n- the weir [2]", [("- the mill", (1,)), ("- the weir", (2,))]),
        ("Nothing is cited here.", [("Nothing is cited here.", ())]),
        ("", []),
        ("[1]", []),
    ],
)
def test_a_mark_belongs_to_the_sentence_before_it(text: str, sentences: list) -> None:
    assert marked_sentences(text) == sentences


@given(st.text(alphabet="ab. [1]\n2A", max_size=40))
def test_words_are_kept_in_their_order(text: str) -> None:
    found = "".join(sentence for sentence, _ in marked_sentences(text))
    assert "".join(found.split()) == "".join(without_marks(text).split())
