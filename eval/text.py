"""Scores of generated text, by rouge-score (extra `eval`)."""

from __future__ import annotations

from collections.abc import Sequence


def rouge_l(text: str, references: Sequence[str]) -> float:
    """The ROUGE-L F1 of a text against its best reference, 0..1, with Porter stemming.

    Source: Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries", section 3.
    ValueError: no reference. ImportError without the extra: `pip install spanwise[eval]`.
    """
    from rouge_score.rouge_scorer import RougeScorer

    if not references:
        raise ValueError("no reference texts; expected at least one")
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    return max(float(scorer.score(reference, text)["rougeL"].fmeasure) for reference in references)
