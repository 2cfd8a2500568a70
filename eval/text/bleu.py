"""BLEU of a text or of a corpus, equal to `sacrebleu` with its tokenizer 13a.

Counting is apart from scoring: the counts of a corpus are the sums of those of its texts, and BLEU-1 to
BLEU-4 come from the same counts. Scores are on the scale of the field, 0..100.
Source: Papineni et al. 2002, "BLEU: a Method for Automatic Evaluation of Machine Translation"; Post 2018,
"A Call for Clarity in Reporting BLEU Scores"; smoothing: Chen and Cherry 2014, "A Systematic Comparison of
Smoothing Techniques for Sentence-Level BLEU".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from .mteval_13a import mteval_tokens
from .ngrams import ngrams

MAX_ORDER = 4
Smoothing = Literal["none", "floor", "add-k", "exp"]
SMOOTHING_VALUES: dict[str, float] = {"none": 0.0, "floor": 0.1, "add-k": 1.0, "exp": 0.0}


@dataclass(frozen=True, slots=True)
class BleuCounts:
    """What BLEU is made of: at index n - 1 the n-grams that match and all of the candidate, and lengths.

    A match is clipped: an n-gram counts at most as often as the reference that has it most often. The
    reference length is that of the reference nearest in length, the shorter of two.
    """

    matched: tuple[int, ...]
    total: tuple[int, ...]
    candidate_length: int
    reference_length: int


@dataclass(frozen=True, slots=True)
class Bleu:
    """`score` is 0..100; the smoothed precisions by order and the brevity penalty are 0..1."""

    score: float
    precisions: tuple[float, ...]
    brevity_penalty: float


def bleu_counts(references: Sequence[str], candidate: str, lowercase: bool = False) -> BleuCounts:
    """The counts of one text; ValueError when there is no reference.

    >>> bleu_counts(["the black cat sat on the mat"], "the cat sat on the mat").matched
    (6, 4, 3, 2)
    """
    if not references:
        raise ValueError("no references; expected at least one")
    given = _tokens(candidate, lowercase)
    expected = [_tokens(reference, lowercase) for reference in references]
    matched, total = [], []
    for n in range(1, MAX_ORDER + 1):
        limits: Counter[tuple[str, ...]] = Counter()
        for tokens in expected:
            limits |= ngrams(tokens, n)
        grams = ngrams(given, n)
        matched.append((grams & limits).total())
        total.append(grams.total())
    nearest = min(map(len, expected), key=lambda length: (abs(length - len(given)), length))
    return BleuCounts(tuple(matched), tuple(total), len(given), nearest)


def corpus_counts(counts: Iterable[BleuCounts]) -> BleuCounts:
    """The counts of a corpus: the sums of those of its texts."""
    matched, total, candidate, reference = [0] * MAX_ORDER, [0] * MAX_ORDER, 0, 0
    for one in counts:
        matched = [a + b for a, b in zip(matched, one.matched, strict=True)]
        total = [a + b for a, b in zip(total, one.total, strict=True)]
        candidate, reference = candidate + one.candidate_length, reference + one.reference_length
    return BleuCounts(tuple(matched), tuple(total), candidate, reference)


def bleu(
    counts: BleuCounts,
    order: int = MAX_ORDER,
    smoothing: Smoothing = "exp",
    value: float | None = None,
    effective_order: bool = False,
) -> Bleu:
    """BLEU-`order` of the counts of a text or corpus.

    BLEU = BP exp(1/N sum ln p_n), n = 1..N; p_n = matched_n / total_n;
    BP = 1 if c >= r else exp(1 - r / c), for the lengths c of the candidate and r of the reference.
    An order without a match is smoothed: "none" leaves the score 0, "floor" takes `value` (default 0.1)
    matches, "exp" 1/2, 1/4, … of one; "add-k" adds `value` (default 1) to both counts of every order above
    1. `effective_order`, meant for single texts, ends N at the last order that the candidate has n-grams of.
    A candidate that shares no word with the reference scores 0 however smoothed.
    ValueError: an order outside 1..4, an unknown smoothing, a value that is negative or not finite.

    >>> round(bleu(bleu_counts(["the black cat sat on the mat"], "the cat sat on the mat")).score, 4)
    67.3182
    """
    _require(order, smoothing, value)
    penalty = _brevity_penalty(counts.candidate_length, counts.reference_length)
    if not any(counts.matched[:order]):
        return Bleu(0.0, (0.0,) * order, penalty)
    found = _precisions(counts, order, smoothing, SMOOTHING_VALUES[smoothing] if value is None else value)
    precisions = (*found, *(0.0,) * (order - len(found)))
    used = found if effective_order else precisions
    if 0.0 in used:
        return Bleu(0.0, precisions, penalty)
    score = 100 * penalty * math.exp(math.fsum(map(math.log, used)) / len(used))
    return Bleu(score, precisions, penalty)


def _precisions(counts: BleuCounts, order: int, smoothing: str, value: float) -> tuple[float, ...]:
    """The precisions up to the last order that the candidate has n-grams of, after smoothing."""
    precisions: list[float] = []
    halved = 1.0
    for n in range(order):
        added = value if smoothing == "add-k" and n > 0 else 0
        matched, total = counts.matched[n] + added, counts.total[n] + added
        if total == 0:
            break
        if matched == 0 and smoothing == "exp":
            halved /= 2
            matched = halved
        elif matched == 0 and smoothing == "floor":
            matched = value
        precisions.append(matched / total)
    return tuple(precisions)


def _brevity_penalty(candidate: int, reference: int) -> float:
    if candidate >= reference:
        return 1.0
    return math.exp(1 - reference / candidate) if candidate else 0.0


def _require(order: int, smoothing: str, value: float | None) -> None:
    if not 1 <= order <= MAX_ORDER:
        raise ValueError(f"order is {order}; expected 1 to {MAX_ORDER}")
    if smoothing not in SMOOTHING_VALUES:
        raise ValueError(f"smoothing is {smoothing!r}; expected one of {', '.join(SMOOTHING_VALUES)}")
    if value is not None and not 0 <= value < math.inf:
        raise ValueError(f"value is {value}; expected a finite number >= 0")


def _tokens(text: str, lowercase: bool) -> list[str]:
    return mteval_tokens(text.lower() if lowercase else text)
