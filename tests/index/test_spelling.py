"""Words one edit away: against every edit spelled out, on bytes of any length."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spanwise.index.spelling import one_edit_apart, spelled_alike

LETTERS = "abé語𐐷"  # of one to four bytes
words = st.text(LETTERS, min_size=1, max_size=6)


def dictionary(terms: list[str]) -> tuple[np.ndarray, np.ndarray]:
    encoded = [term.encode() for term in terms]
    ends = np.cumsum([0, *map(len, encoded)]).astype(np.uint64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def edits(word: str) -> set[str]:
    """Every word one edit away over `LETTERS`."""
    places = range(len(word) + 1)
    dropped = {word[:i] + word[i + 1 :] for i in places[:-1]}
    changed = {word[:i] + c + word[i + 1 :] for i in places[:-1] for c in LETTERS}
    put_in = {word[:i] + c + word[i:] for i in places for c in LETTERS}
    swapped = {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in places[:-2]}
    return (dropped | changed | put_in | swapped) - {word}


@given(words, words)
def test_one_edit_is_what_the_edits_make(a, b):
    assert one_edit_apart(a, b) == (b in edits(a))


@given(words, st.lists(words, unique=True, max_size=30))
def test_a_dictionary_gives_its_words_one_edit_away_in_order(word, others):
    terms = sorted({*others, *list(edits(word) - {""})[:10], word}, key=str.encode)
    assert spelled_alike(word, *dictionary(terms)) == [term for term in terms if one_edit_apart(word, term)]
