"""Documents say first what they are about: a factor for the first whole sentences of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .similarity import Floats

REACH = 20  # a passage that starts within so many characters opens its document


def opening_factors(
    documents: Sequence[str], starts: Sequence[int], whole: Sequence[bool], weight: float
) -> Floats:
    """(n,) float64, at least 1: 1 + weight / i for the i-th whole sentence of a document's opening passage.

    The sentences are given in order of their places by document id, the start of their passage, and whether
    they are whole; a fragment does not count and, like all that stands elsewhere, has the factor 1.
    Source: Edmundson 1969, "New Methods in Automatic Extracting", weighs sentences by their place; the form
    is ours. ValueError: a weight below 0 or not finite.

    >>> opening_factors(["a", "a", "a", "b"], [0, 0, 0, 90], [False, True, True, True], 1.0).tolist()
    [1.0, 2.0, 1.5, 1.0]
    """
    if not 0 <= weight < np.inf:
        raise ValueError(f"weight is {weight}; expected 0 or more")
    seen: Counter[str] = Counter()
    factors = np.ones(len(documents))
    for at, (document, start, is_whole) in enumerate(zip(documents, starts, whole, strict=True)):
        if is_whole and start < REACH:
            seen[document] += 1
            factors[at] += weight / seen[document]
    return factors
