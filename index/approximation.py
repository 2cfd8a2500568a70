"""When a collection is searched by compact codes, and how these are kept up.

At about FROM vectors a search that looks at each takes as long as the encoding of the question; below, codes
would save nothing that can be felt. They are made by the sync that stores so many. New passages are looked at
one by one until they are more than a share of all, and then coded with the quantizer there is, which is
trained anew when the collection has doubled. Whatever is written is tuned anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .codes import Codes, Tuning, grouped
from .ivfpq import ENTRIES, GROUP, SAMPLE, Quantizer, list_count
from .proposer import Proposer, coded_rows
from .stored_vectors import StoredVectors
from .tuning import tune

FROM = 200_000  # live vectors of a model
RECALL = 0.98  # of the exact top 10
_UNCODED = 0.05  # the share that is looked at one by one without being coded
_GONE = 0.25  # the share of the codes that may belong to passages that are gone
_BLOCK = 16_384  # vectors that are encoded together

Report = Callable[[int, int], None]
"""Hears (done, total) passages while codes are made."""


def renewed(
    stored: StoredVectors,
    old: Codes | None = None,
    wanted: float = RECALL,
    report: Report = lambda done, total: None,
) -> Codes | None:
    """The codes that should take the place of the old ones; None when those will do, and for vectors that
    cannot have any: a few, or of a width that is no multiple of 4.
    """
    if stored.width % (2 * GROUP) or len(stored) < ENTRIES:
        return None
    rows = np.full(len(stored), -1)  # of each live passage the place of its code
    if old is not None and _trained_for(old, stored):
        places = coded_rows(stored, old)
        there = np.flatnonzero(places >= 0)
        rows[places[there]] = there
        if abs(old.tuning.wanted - wanted) < 1e-6 and _will_do(rows, old):
            return None
        quantizer, trained_on = old.quantizer, old.trained_on
    else:
        quantizer, trained_on = _trained(stored), len(stored)
    lists, codes = _encoded(stored, quantizer, old, rows, report)
    untuned = grouped(
        stored.passage_ids, stored.sums, lists, codes, quantizer, trained_on, Tuning(1, 1, wanted, 0.0)
    )
    proposer = Proposer.load(untuned, coded_rows(stored, untuned))
    return replace(untuned, tuning=tune(stored, proposer, len(untuned.ends), wanted))


def _trained_for(old: Codes, stored: StoredVectors) -> bool:
    return old.quantizer.width == stored.width and len(stored) < 2 * old.trained_on


def _will_do(rows: NDArray[np.int64], old: Codes) -> bool:
    n_coded = int((rows >= 0).sum())
    return len(rows) - n_coded <= _UNCODED * len(rows) and len(old.codes) - n_coded <= _GONE * len(old.codes)


def _trained(stored: StoredVectors) -> Quantizer:
    """A quantizer for these vectors; the same for the same rows."""
    n_lists = list_count(len(stored))
    n = min(len(stored), max(SAMPLE * n_lists, 4096))
    sample = np.random.default_rng(1).choice(len(stored), n, replace=False)
    return Quantizer.train(stored.gather(np.sort(sample)), n_lists)


def _encoded(
    stored: StoredVectors, quantizer: Quantizer, old: Codes | None, rows: NDArray[np.int64], report: Report
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """List and codes of each stored vector: of the old ones where `rows` names one, else made now."""
    lists = np.empty(len(stored), np.int64)
    codes = np.empty((len(stored), stored.width // (2 * GROUP)), np.uint8)
    known, new = np.flatnonzero(rows >= 0), np.flatnonzero(rows < 0)
    if old is not None and len(known):
        lists[known] = np.searchsorted(old.ends, rows[known], side="right")
        codes[known] = old.codes[rows[known]]
    for at in range(0, len(new), _BLOCK):
        block = new[at : at + _BLOCK]
        lists[block], codes[block] = quantizer.encode(stored.gather(block))
        report(at + len(block), len(new))
    return lists, codes
