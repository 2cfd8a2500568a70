"""Choosing among texts by their agreement."""

from __future__ import annotations

import pytest

from spanwise.reader.decoding.mbr import agreed, expected_likeness, majority


def test_the_text_that_is_most_like_the_others():
    texts = ["the cat sat on the mat", "the black cat sat on the mat", "the cat sat"]
    assert expected_likeness(texts) == pytest.approx([0.794872, 0.761538, 0.633333], abs=1e-6)
    assert expected_likeness(["alone"]) == [1.0]


def test_the_majority_of_five():
    assert majority(["A", "A", "B", "A", "C"]) == ("A", 3)
    assert majority(["B", "A"]) == ("B", 1)
    with pytest.raises(ValueError, match="no text"):
        majority([])


def test_several_agree_on_the_most_frequent_or_the_nearest():
    assert agreed(["A", "A", "B", "A", "C"]) == ("A", 0.6)
    cats = ["the cat sat on the mat", "the black cat sat on the mat", "the cat sat"]
    assert agreed(cats) == (cats[0], 1 / 3)
    assert agreed(["A"]) == ("A", 1.0)
    with pytest.raises(ValueError, match="no text"):
        agreed([])
