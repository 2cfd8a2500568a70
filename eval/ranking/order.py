"""The order of the documents of one query: by their scores, with the two rules for ties that are in use.

The rank that a run file states is not looked at. Source: `form_res_rels.c` of trec_eval and the evaluation
script of MS MARCO, as `ir_measures` applies them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def trec_order(scores: Mapping[str, float]) -> list[str]:
    """The documents by score, best first; of equal scores the greater id comes first.

    Scores are compared in single precision, as trec_eval does up to version 9 and pytrec_eval does
    (version 10 compares them in double precision). Ids compare by code points, which is the order of their
    UTF-8 bytes. ValueError: a score is not a number.

    >>> trec_order({"a": 1.0, "b": 1.0 + 1e-9, "c": 2.0})
    ['c', 'b', 'a']
    """
    values = _values(scores)
    with np.errstate(over="ignore"):  # beyond single precision: infinite, as in C
        single = values.astype(np.float32)
    return [document for _, document in sorted(zip(single.tolist(), scores, strict=True), reverse=True)]


def msmarco_order(scores: Mapping[str, float]) -> list[str]:
    """The documents by score, best first; of equal scores the smaller id comes first.

    ValueError: a score is not a number.

    >>> msmarco_order({"b": 1.0, "a": 1.0, "c": 2.0})
    ['c', 'a', 'b']
    """
    return [document for _, document in sorted(zip((-_values(scores)).tolist(), scores, strict=True))]


def _values(scores: Mapping[str, float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """(n,) the scores, none of them NaN."""
    values = np.fromiter(scores.values(), dtype=np.float64, count=len(scores))
    if np.isnan(values).any():
        document = next(document for document, score in scores.items() if score != score)
        raise ValueError(f"the score of document {document!r} is {scores[document]}; expected a number")
    return values
