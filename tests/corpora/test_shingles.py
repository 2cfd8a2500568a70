"""Near-duplicates are told by shared three-word shingles."""

from __future__ import annotations

from spanwise.corpora.shingles import jaccard, shingles


def test_c30_near_duplicates() -> None:
    assert jaccard("the black cat sat on the mat", "the cat sat on the mat") == 0.5


def test_c30_the_same_passage() -> None:
    assert jaccard("the cat sat", "the  CAT sat") == 1.0


def test_nothing_shared() -> None:
    assert jaccard("one two three four", "five six seven") == 0.0


def test_short_texts_are_one_shingle() -> None:
    assert shingles("two words") == {("two", "words")}
    assert jaccard("two words", "two words") == 1.0
    assert jaccard("two words", "") == 0.0


def test_texts_without_words_are_equal() -> None:
    assert jaccard("", " \n") == 1.0
