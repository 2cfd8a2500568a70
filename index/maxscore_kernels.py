"""Search by MaxScore, compiled: the best rows with their exact scores; most other scores are never computed.

    score = sum over the terms of  weight * tf * (k1 + 1) / (tf + norm of the row)

An impact is the last factor, tf * (k1 + 1) / (tf + norm), rounded up to one of 65,535 steps. Uints are
searched in windows. A window whose largest impacts add up to less than the k-th score so far is left out. In
another one, the terms with the smallest impacts, which together stay below that score, find no rows: they
only add to rows that the other terms found, as long as these may still reach it.

Rounding up keeps every row that belongs to the best k. The scores of those that are left are then added in
float64 in the order of the question: to the last bit what numpy makes of the formula.

Source: Turtle and Flood, "Query evaluation: strategies and optimizations", 1995, for MaxScore; Ding and Suel,
"Faster top-k document retrieval using block-max indexes", SIGIR 2011, for the maxima of windows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from numba.core import cgutils

from .maxsim.kernels import compiled, instructions
from .protocol import Counts, Doubles, Ids, Mask, Uints

WINDOW_BITS = 13
_WINDOW = 1 << WINDOW_BITS  # rows
_ROUNDING_SLACK = 1e-6  # bound of the relative rounding error to float32, per term
_MAX_IMPACT = 2**16 - 1
N_HIGHEST = 16  # highest saturations that are stored for each term
_LOOKUP_COST = 32  # of finding a row by bisection, in pairs scanned
_MAX_SORTED = 256  # results that are sorted here
_INITIAL_RESULTS = 1024  # capacity for results


class _Scratch(NamedTuple):
    """Memory of one search, for w windows and questions of at most t terms."""

    sums: Doubles  # (_WINDOW,), 0 between windows
    touched: Ids  # (_WINDOW + 1,), places of the sums above 0
    bounds: Doubles  # (w,), the largest possible score in each window
    cursors: Ids  # (t,), the place of each term in the list of its windows
    maxima: Doubles  # (t,), of the terms in one window
    spans: Ids  # (t, 2), of their pairs in one window
    order: Ids  # (t,), terms by their maxima


class _Question(NamedTuple):
    """The terms of a question, as rows of `places`, with weights. The factor `slack` raises bounds."""

    places: Ids
    terms: Ids
    weights: Doubles
    slack: float


@instructions
def _pointer(_: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(types.intp), generate


@compiled
def _count(places: Ids, term: int, place: int) -> Any:
    """How often a term occurs in its row at that place."""
    address, n = _pointer(places[term, 0]), places[term, 2]
    if places[term, 8] == 2:
        return np.int64(carray(address, n, np.uint16)[place])
    return np.int64(carray(address, n, np.uint32)[place])


@compiled
def _impacts(places: Ids, term: int) -> Any:
    """The impacts of a term, and the size of their steps."""
    step = carray(_pointer(places[term, 7]), N_HIGHEST + 1, np.float64)[N_HIGHEST]
    return carray(_pointer(places[term, 1]), places[term, 2], np.uint32), step


@compiled
def _saturation(count: Any, norm: Any, k1: float) -> Any:
    tf = np.float64(count)
    return tf * (k1 + 1) / (tf + norm)


@compiled
def prepare(rows: Uints, counts: Counts, norms: Doubles, k1: float) -> Any:
    """The pairs of a term as (place in the window << 16 | impact) uint32, and the windows that hold it.

    These are their numbers (w,) int32, the places of their first pairs (w + 1,) int32, and their largest
    saturations (w,) float64. The last array has the highest saturations, ascending, and the size of a step.
    """
    n, last = 0, np.int64(-1)
    tops = np.zeros(N_HIGHEST + 1)
    for place in range(len(rows)):
        row: Any = np.int64(rows[place])
        n += row >> WINDOW_BITS != last
        last = row >> WINDOW_BITS
        saturation = _saturation(counts[place], norms[row], k1)
        if saturation > tops[0]:
            _push(tops[:N_HIGHEST], N_HIGHEST, saturation)
    tops.sort()
    tops[:N_HIGHEST] = tops[1:]
    step = tops[N_HIGHEST] = tops[N_HIGHEST] / _MAX_IMPACT
    numbers, starts, maxima = np.empty(n, np.int32), np.empty(n + 1, np.int32), np.zeros(n, np.float64)
    impacts = np.empty(len(rows), np.uint32)
    at, last = -1, np.int64(-1)
    for place in range(len(rows)):
        row = np.int64(rows[place])
        if row >> WINDOW_BITS != last:
            at += 1
            last = row >> WINDOW_BITS
            numbers[at], starts[at] = last, place
        saturation = _saturation(counts[place], norms[row], k1)
        maxima[at] = max(maxima[at], saturation)
        impacts[place] = (row & (_WINDOW - 1)) << 16 | min(np.int64(np.ceil(saturation / step)), _MAX_IMPACT)
    starts[n] = len(rows)
    return impacts, numbers, starts, maxima, tops


@compiled
def _find(values: Any, bits: int, start: int, end: int, wanted: int) -> Any:
    """The place in values[start:end], which ascend, of what is `wanted` without its lowest bits, or -1."""
    low, n = start, end - start
    while n > 1:
        half = n >> 1
        low += half * (values[low + half - 1] >> bits < wanted)
        n -= half
    return low if n and values[low] >> bits == wanted else -1


@compiled
def _push(heap: Doubles, n: int, score: float) -> Any:
    """The new size of a heap, the smallest first, that takes a score; a full one takes a higher one."""
    at = 0
    if n < len(heap):
        at = n
        while at > 0 and heap[(at - 1) >> 1] > score:
            heap[at] = heap[(at - 1) >> 1]
            at = (at - 1) >> 1
        n += 1
    else:
        below = 1
        while below < n:
            below += below + 1 < n and heap[below + 1] < heap[below]
            if heap[below] >= score:
                break
            heap[at] = heap[below]
            at, below = below, 2 * below + 1
    heap[at] = score
    return n


@compiled
def _windows(places: Ids, term: int) -> Any:
    """The numbers of the windows of a term, their first pairs, and their largest saturations."""
    n = places[term, 3]
    return (
        carray(_pointer(places[term, 4]), n, np.int32),
        carray(_pointer(places[term, 5]), n + 1, np.int32),
        carray(_pointer(places[term, 6]), n, np.float64),
    )


@compiled
def _open(question: _Question, scratch: _Scratch) -> None:
    """Write the bounds of the windows, and set all cursors to the start."""
    places, terms, weights, _ = question
    scratch.bounds[:] = 0
    for term in range(len(terms)):
        numbers, _, maxima = _windows(places, terms[term])
        weight = weights[term]
        for at in range(len(numbers)):
            scratch.bounds[numbers[at]] += weight * maxima[at]
        scratch.cursors[term] = 0


@compiled
def _enter(question: _Question, scratch: _Scratch, window: int) -> None:
    """Write the maxima and spans of the terms in a window that follows the one before."""
    places, terms, weights, _ = question
    for term in range(len(terms)):
        numbers, starts, maxima = _windows(places, terms[term])
        at = scratch.cursors[term]
        while at < len(numbers) and numbers[at] < window:
            at += 1
        scratch.cursors[term] = at
        scratch.maxima[term] = 0
        if at < len(numbers) and numbers[at] == window:
            scratch.maxima[term] = weights[term] * maxima[at]
            scratch.spans[term, 0], scratch.spans[term, 1] = starts[at], starts[at + 1]


@compiled
def _ordered(maxima: Doubles, n_terms: int, order: Ids) -> Any:
    """The number of terms with a maximum above 0, written into `order` with the smallest first."""
    n = 0
    for term in range(n_terms):
        if maxima[term] > 0:
            at = n
            while at > 0 and maxima[order[at - 1]] > maxima[term]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = term
            n += 1
    return n


@compiled
def _collect(question: _Question, scratch: _Scratch, threshold: float) -> Any:
    """The number of rows of a window that may reach the threshold.

    The first of `touched` are their places in the window; other sums are 0.
    """
    places, terms, weights, slack = question
    sums, touched, order = scratch.sums, scratch.touched, scratch.order
    maxima, spans = scratch.maxima, scratch.spans
    n_terms, n_others, others = _ordered(maxima, len(terms), order), 0, 0.0
    while n_others < n_terms and (others + maxima[order[n_others]]) * slack < threshold:
        others += maxima[order[n_others]]
        n_others += 1
    n = 0
    for at in range(n_others, n_terms):
        term = order[at]
        impacts, step = _impacts(places, terms[term])
        weight = np.float32(weights[term] * step)
        for place in range(spans[term, 0], spans[term, 1]):
            impact = impacts[place]
            local = impact >> 16
            held = sums[local]
            touched[n] = local
            n += held == 0
            sums[local] = held + weight * np.float32(impact & _MAX_IMPACT)
    n_pairs = 0
    for at in range(n_others):
        n_pairs += spans[order[at], 1] - spans[order[at], 0]
    if n_others:
        n = _kept(sums, touched, n, np.float32(threshold / slack - others))
    if not n:
        return 0
    is_few = n * n_others * _LOOKUP_COST < n_pairs
    for at in range(n_others - 1, -1, -1):
        term = order[at]
        impacts, step = _impacts(places, terms[term])
        weight = np.float32(weights[term] * step)
        if is_few:
            for number in range(n):
                local = touched[number]
                place = _find(impacts, 16, spans[term, 0], spans[term, 1], local)
                if place >= 0:
                    sums[local] += weight * np.float32(impacts[place] & _MAX_IMPACT)
        else:
            for place in range(spans[term, 0], spans[term, 1]):
                impact = impacts[place]
                local = impact >> 16
                held = sums[local]
                sums[local] = held + weight * np.float32(impact & _MAX_IMPACT) * np.float32(held > 0)
    return n


@compiled
def _kept(sums: Any, touched: Any, n: int, least: Any) -> Any:
    """The number of touched rows with sums of at least `least`; the other sums become 0."""
    kept = 0
    for number in range(n):
        local = touched[number]
        held = sums[local]
        passes = held >= least
        sums[local] = held if passes else np.float32(0)
        touched[kept] = local
        kept += passes
    return kept


@compiled
def _score(question: _Question, norms: Doubles, k1: float, found: Ids, scores: Doubles) -> None:
    """Write the scores of rows, added in the order of the question."""
    places, terms, weights, _ = question
    scores[:] = 0
    for term in range(len(terms)):
        numbers, starts, _ = _windows(places, terms[term])
        impacts, _ = _impacts(places, terms[term])
        weight = weights[term]
        for number in range(len(found)):
            row = found[number]
            at = _find(numbers, 0, 0, len(numbers), row >> WINDOW_BITS)
            place = -1 if at < 0 else _find(impacts, 16, starts[at], starts[at + 1], row & (_WINDOW - 1))
            if place >= 0:
                scores[number] += weight * _saturation(_count(places, terms[term], place), norms[row], k1)


@compiled
def _least(question: _Question, k: int) -> Any:
    """A score that k rows reach, each by one term; 0 when unknown."""
    places, terms, weights, slack = question
    least = 0.0
    for term in range(len(terms)):
        tops = carray(_pointer(places[terms[term], 7]), N_HIGHEST, np.float64)
        least = max(least, weights[term] * tops[N_HIGHEST - k])
    return least / slack


@compiled
def _rounding(question: _Question) -> Any:
    """The most that impacts, which are rounded up, add to a score."""
    places, terms, weights, _ = question
    most = 0.0
    for term in range(len(terms)):
        most += weights[term] * _impacts(places, terms[term])[1]
    return most


@compiled
def _scratch(n_windows: int, longest: int) -> Any:
    """The memory for questions of at most `longest` terms."""
    return _Scratch(
        np.zeros(_WINDOW, np.float32),
        np.empty(_WINDOW + 1, np.uint16),
        np.empty(n_windows),
        np.empty(longest, np.int64),
        np.empty(longest),
        np.empty((longest, 2), np.int64),
        np.empty(longest, np.int64),
    )


@compiled
def search(
    places: Ids, terms: Ids, weights: Doubles, ends: Ids, norms: Doubles, k1: float, k: int, allowed: Mask
) -> Any:
    """For each question its best k rows and all that tie with the last, by score.

    Returns rows, scores, the ends of each question in both, and whether its order is yet to be found: for
    equal scores, and many results. Some rows beyond the best k may follow. Question q has the `terms` and
    `weights` [ends[q]:ends[q + 1]]. A row of `places` (n, 9) describes a term: the addresses of its counts
    and impacts, the numbers of its pairs and windows, the addresses of the other results of `prepare`, and
    the bytes of a count. `allowed` is empty, or says which rows may be found.
    """
    n_windows = (len(norms) + _WINDOW - 1) >> WINDOW_BITS
    longest = (ends[1:] - ends[:-1]).max()
    scratch = _scratch(n_windows, longest)
    heap = np.empty(min(k, len(norms)))
    found_rows, found_scores = np.empty(_INITIAL_RESULTS, np.int64), np.empty(_INITIAL_RESULTS)
    found_ends, is_unordered = np.zeros(len(ends), np.int64), np.zeros(len(ends) - 1, np.bool_)
    done = 0
    for number in range(len(ends) - 1):
        asked = slice(ends[number], ends[number + 1])
        slack = 1 + _ROUNDING_SLACK * (2 + ends[number + 1] - ends[number])
        question = _Question(places, terms[asked], weights[asked], slack)
        _open(question, scratch)
        n_heap, threshold, n = 0, 0.0, done
        if k <= N_HIGHEST and not len(allowed):
            threshold = _least(question, k)
        rounding = _rounding(question)
        for window in range(n_windows):
            bound = scratch.bounds[window] * slack
            if bound == 0 or bound < threshold:
                continue
            _enter(question, scratch, window)
            n_touched = _collect(question, scratch, threshold)
            for at in range(n_touched):
                local = scratch.touched[at]
                row, score = (window << WINDOW_BITS) + local, scratch.sums[local]
                scratch.sums[local] = 0
                if score * slack < threshold or (len(allowed) and not allowed[row]):
                    continue
                if n == len(found_rows):
                    n = _best(found_rows, found_scores, done, n, threshold / slack)
                    if 2 * n > len(found_rows):
                        found_rows = np.append(found_rows, np.empty_like(found_rows))
                        found_scores = np.append(found_scores, np.empty_like(found_scores))
                found_rows[n], found_scores[n] = row, score
                n += 1
                if n_heap < len(heap) or score > heap[0]:
                    n_heap = _push(heap, n_heap, score)
                    if n_heap == len(heap):
                        threshold = max(threshold, heap[0] / slack - rounding)
        n = _best(found_rows, found_scores, done, n, threshold / slack)
        _score(question, norms, k1, found_rows[done:n], found_scores[done:n])
        is_unordered[number] = not _sort(found_rows[done:n], found_scores[done:n])
        done = found_ends[number + 1] = n
    return found_rows[:done], found_scores[:done], found_ends, is_unordered


@compiled
def _best(rows: Ids, scores: Doubles, start: int, end: int, threshold: float) -> Any:
    """The new end of the results [start:end] without those below the threshold."""
    kept = start
    for at in range(start, end):
        if scores[at] >= threshold:
            rows[kept], scores[kept] = rows[at], scores[at]
            kept += 1
    return kept


@compiled
def _sort(rows: Ids, scores: Doubles) -> Any:
    """Whether the results are now in their final order: no scores are equal, and there are not many."""
    if len(rows) > _MAX_SORTED:
        return False
    is_strict = True
    for at in range(1, len(rows)):
        row, score, to = rows[at], scores[at], at
        while to > 0 and scores[to - 1] < score:
            rows[to], scores[to] = rows[to - 1], scores[to - 1]
            to -= 1
        is_strict &= to == 0 or scores[to - 1] > score
        rows[to], scores[to] = row, score
    return is_strict
