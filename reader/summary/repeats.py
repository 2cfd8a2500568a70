"""Which sentences say the same again."""

from __future__ import annotations

from collections.abc import Sequence

SHARE = 0.7  # of the shorter sentence's runs of terms
RUN = 3
NEGATIONS = frozenset(("not", "no", "never", "nor", "neither", "none", "cannot", "without"))

Shingle = tuple[str, ...]


def is_repeat(terms: Sequence[str], others: Sequence[str], share: float = SHARE) -> bool:
    """True when the shorter of two sentences is nearly contained in the longer one; the same both ways round.

    |S(a) & S(b)| / min(|S(a)|, |S(b)|) >= share, with S the runs of three terms. Figures tell versions of a
    fact apart: where each has a number that the other lacks, neither repeats the other; nor does a negated
    sentence one that is not, in English. Sentences without terms repeat one another and nothing else.
    Source: Broder 1997, "On the resemblance and containment of documents": containment.

    >>> is_repeat("the mill burnt down in may".split(), "the old mill burnt down in may 1811".split())
    True
    >>> is_repeat("it took 100 men a day".split(), "it took 1000 men a day".split())
    False
    """
    mine, theirs = _runs(terms), _runs(others)
    if _numbers(terms) - _numbers(others) and _numbers(others) - _numbers(terms):
        return False
    if _is_negated(terms) != _is_negated(others):
        return False
    return len(mine & theirs) >= share * min(len(mine), len(theirs))


def _runs(terms: Sequence[str]) -> frozenset[Shingle]:
    """The runs of three terms; fewer terms are one run."""
    width = min(RUN, len(terms))
    return frozenset(tuple(terms[at : at + width]) for at in range(len(terms) - width + 1))


def _numbers(terms: Sequence[str]) -> set[str]:
    return {term for term in terms if term[:1].isdigit()}


def _is_negated(terms: Sequence[str]) -> bool:
    return any(term in NEGATIONS or term.endswith("n't") for term in terms)
