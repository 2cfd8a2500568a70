"""ROUGE-L through rouge-score."""

from __future__ import annotations

import pytest

from spanwise.eval.text import rouge_l


def test_rouge_l_is_the_f1_of_the_longest_common_subsequence() -> None:
    pytest.importorskip("rouge_score")
    assert rouge_l("the cat sat on the mat", ["the cat lay on the mat"]) == pytest.approx(10 / 12)
    assert rouge_l("", ["a mat"]) == 0


def test_the_best_reference_counts() -> None:
    pytest.importorskip("rouge_score")
    assert rouge_l("mills", ["a boat", "mill"]) == 1  # words are stemmed
    with pytest.raises(ValueError, match="reference"):
        rouge_l("mill", [])
