"""Search by MaxScore, compiled: the best rows with their exact scores; most other scores are never computed.

    score = sum over the terms of  weight * tf * (k1 + 1) / (tf + norm of the row)

An impact is the last factor, tf * (k1 + 1) / (tf + norm), rounded up to one of 65,535 steps. Rows are
searched in windows. A window is skipped if its largest impacts add up to less than the k-th score so far. In
other windows, the terms with the smallest impacts are set aside if together they stay below that score. They
add only to rows that the other terms found and that may still reach the score.

Rounding up keeps every row of the best k. The scores of the remaining rows are then added in float64 in the
order of the question, so scores are bit-identical to the numpy version.

Source: Turtle and Flood, "Query evaluation: strategies and optimizations", 1995, for MaxScore; Ding and Suel,
"Faster top-k document retrieval using block-max indexes", SIGIR 2011, for the maxima of windows.
"""

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
    """The count of a term in the row at one of its places."""
    address = _pointer(places[term, 0])
    n = places[term, 2]
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

    Of the windows: their numbers (w,) int32, the places of their first pairs (w + 1,) int32, and their
    largest saturations (w,) float64. The last array holds the highest saturations, ascending, and the size of
    a step.
    """
    n = 0
    last = np.int64(-1)
    highest = np.zeros(N_HIGHEST + 1)
    for place in range(len(rows)):
        row: Any = np.int64(rows[place])
        n += row >> WINDOW_BITS != last
        last = row >> WINDOW_BITS
        saturation = _saturation(counts[place], norms[row], k1)
        if saturation > highest[0]:
            _push(highest[:N_HIGHEST], N_HIGHEST, saturation)
    highest.sort()
    highest[:N_HIGHEST] = highest[1:]
    step = highest[N_HIGHEST] = highest[N_HIGHEST] / _MAX_IMPACT
    numbers = np.empty(n, np.int32)
    starts = np.empty(n + 1, np.int32)
    maxima = np.zeros(n, np.float64)
    impacts = np.empty(len(rows), np.uint32)
    number = -1
    last = np.int64(-1)
    for place in range(len(rows)):
        row = np.int64(rows[place])
        if row >> WINDOW_BITS != last:
            number += 1
            last = row >> WINDOW_BITS
            numbers[number] = last
            starts[number] = place
        saturation = _saturation(counts[place], norms[row], k1)
        maxima[number] = max(maxima[number], saturation)
        impacts[place] = (row & (_WINDOW - 1)) << 16 | min(np.int64(np.ceil(saturation / step)), _MAX_IMPACT)
    starts[n] = len(rows)
    return impacts, numbers, starts, maxima, highest


@compiled
def _find(values: Any, bits: int, start: int, end: int, wanted: int) -> Any:
    """The place in the ascending values[start:end] of `wanted`, ignoring the lowest bits; -1 if absent."""
    low = start
    n = end - start
    while n > 1:
        half = n >> 1
        low += half * (values[low + half - 1] >> bits < wanted)
        n -= half
    return low if n and values[low] >> bits == wanted else -1


@compiled
def _push(heap: Doubles, n: int, score: float) -> Any:
    """Add a score to a min-heap of n scores and return its new size. A full heap drops its smallest score."""
    place = 0
    if n < len(heap):
        place = n
        while place > 0 and heap[(place - 1) >> 1] > score:
            heap[place] = heap[(place - 1) >> 1]
            place = (place - 1) >> 1
        n += 1
    else:
        child = 1
        while child < n:
            child += child + 1 < n and heap[child + 1] < heap[child]
            if heap[child] >= score:
                break
            heap[place] = heap[child]
            place = child
            child = 2 * child + 1
    heap[place] = score
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
    """Write the bounds of the windows, and reset all cursors."""
    places, terms, weights, _ = question
    scratch.bounds[:] = 0
    for term in range(len(terms)):
        numbers, _, maxima = _windows(places, terms[term])
        weight = weights[term]
        for place in range(len(numbers)):
            scratch.bounds[numbers[place]] += weight * maxima[place]
        scratch.cursors[term] = 0


@compiled
def _enter(question: _Question, scratch: _Scratch, window: int) -> None:
    """Write the maxima and spans of the terms in a window; windows must be entered in order."""
    places, terms, weights, _ = question
    for term in range(len(terms)):
        numbers, starts, maxima = _windows(places, terms[term])
        cursor = scratch.cursors[term]
        while cursor < len(numbers) and numbers[cursor] < window:
            cursor += 1
        scratch.cursors[term] = cursor
        scratch.maxima[term] = 0
        if cursor < len(numbers) and numbers[cursor] == window:
            scratch.maxima[term] = weights[term] * maxima[cursor]
            scratch.spans[term, 0] = starts[cursor]
            scratch.spans[term, 1] = starts[cursor + 1]


@compiled
def _ordered(maxima: Doubles, n_terms: int, order: Ids) -> Any:
    """The number of terms with a maximum above 0, written into `order` with the smallest first."""
    n = 0
    for term in range(n_terms):
        if maxima[term] > 0:
            place = n
            while place > 0 and maxima[order[place - 1]] > maxima[term]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = term
            n += 1
    return n


@compiled
def _collect(question: _Question, scratch: _Scratch, threshold: float) -> Any:
    """The number of rows of a window that may reach the threshold.

    Their places in the window are written to the beginning of `touched`; all other sums are 0.
    """
    places, terms, weights, slack = question
    sums, touched, _, _, maxima, spans, order = scratch
    n_terms = _ordered(maxima, len(terms), order)
    n_others = 0
    others = 0.0
    while n_others < n_terms and (others + maxima[order[n_others]]) * slack < threshold:
        others += maxima[order[n_others]]
        n_others += 1
    n = 0
    for rank in range(n_others, n_terms):
        term = order[rank]
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
    for rank in range(n_others):
        n_pairs += spans[order[rank], 1] - spans[order[rank], 0]
    if n_others:
        n = _filtered(sums, touched, n, np.float32(threshold / slack - others))
    if not n:
        return 0
    is_few = n * n_others * _LOOKUP_COST < n_pairs
    for rank in range(n_others - 1, -1, -1):
        term = order[rank]
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
def _filtered(sums: Any, touched: Any, n: int, least: Any) -> Any:
    """The number of touched rows with sums of at least `least`; the other sums become 0."""
    n_passing = 0
    for number in range(n):
        local = touched[number]
        held = sums[local]
        passes = held >= least
        sums[local] = held if passes else np.float32(0)
        touched[n_passing] = local
        n_passing += passes
    return n_passing


@compiled
def _score(question: _Question, norms: Doubles, k1: float, rows: Ids, scores: Doubles) -> None:
    """Write the scores of rows, added in the order of the question."""
    places, terms, weights, _ = question
    scores[:] = 0
    for term in range(len(terms)):
        numbers, starts, _ = _windows(places, terms[term])
        impacts, _ = _impacts(places, terms[term])
        weight = weights[term]
        for number in range(len(rows)):
            row = rows[number]
            window = _find(numbers, 0, 0, len(numbers), row >> WINDOW_BITS)
            place = -1
            if window >= 0:
                place = _find(impacts, 16, starts[window], starts[window + 1], row & (_WINDOW - 1))
            if place >= 0:
                scores[number] += weight * _saturation(_count(places, terms[term], place), norms[row], k1)


@compiled
def _least(question: _Question, k: int) -> Any:
    """A score that at least k rows reach, each by one term; 0 if unknown."""
    places, terms, weights, slack = question
    least = 0.0
    for term in range(len(terms)):
        highest = carray(_pointer(places[terms[term], 7]), N_HIGHEST, np.float64)
        least = max(least, weights[term] * highest[N_HIGHEST - k])
    return least / slack


@compiled
def _rounding(question: _Question) -> Any:
    """The most that rounding impacts up can add to a score."""
    places, terms, weights, _ = question
    most = 0.0
    for term in range(len(terms)):
        most += weights[term] * _impacts(places, terms[term])[1]
    return most


@compiled
def _scratch(n_windows: int, longest: int) -> Any:
    """Memory for questions of at most `longest` terms."""
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
    """The best k rows for each question and all that tie with the last, by score.

    Returns rows, scores, the end of each question in both, and whether its rows are still unordered, because
    scores tie or there are many. Some rows beyond the best k may follow. Question q has the `terms` and
    `weights` [ends[q]:ends[q + 1]]. A row of `places` (n, 9) describes a term: the addresses of its counts
    and impacts, the numbers of its pairs and windows, the addresses of the other results of `prepare`, and
    the bytes of a count. `allowed` is empty, or a mask of the rows that may be returned.
    """
    scratch = _scratch((len(norms) + _WINDOW - 1) >> WINDOW_BITS, (ends[1:] - ends[:-1]).max())
    heap = np.empty(min(k, len(norms)))
    rows = np.empty(_INITIAL_RESULTS, np.int64)
    scores = np.empty(_INITIAL_RESULTS)
    result_ends = np.zeros(len(ends), np.int64)
    is_unordered = np.zeros(len(ends) - 1, np.bool_)
    start = 0
    for number in range(len(ends) - 1):
        span = slice(ends[number], ends[number + 1])
        slack = 1 + _ROUNDING_SLACK * (2 + len(terms[span]))
        question = _Question(places, terms[span], weights[span], slack)
        _open(question, scratch)
        n_heap = 0
        n = start
        threshold = _least(question, k) if k <= N_HIGHEST and not len(allowed) else 0.0
        rounding = _rounding(question)
        for window in range(len(scratch.bounds)):
            if scratch.bounds[window] == 0 or scratch.bounds[window] * slack < threshold:
                continue
            _enter(question, scratch, window)
            for touched in range(_collect(question, scratch, threshold)):
                local = scratch.touched[touched]
                row = (window << WINDOW_BITS) + local
                score = scratch.sums[local]
                scratch.sums[local] = 0
                if score * slack < threshold or (len(allowed) and not allowed[row]):
                    continue
                if n == len(rows):
                    n = _best(rows, scores, start, n, threshold / slack)
                    rows, scores = _with_room(rows, scores, n)
                rows[n] = row
                scores[n] = score
                n += 1
                if n_heap < len(heap) or score > heap[0]:
                    n_heap = _push(heap, n_heap, score)
                    if n_heap == len(heap):
                        threshold = max(threshold, heap[0] / slack - rounding)
        n = _best(rows, scores, start, n, threshold / slack)
        is_unordered[number] = not _finished(question, norms, k1, rows[start:n], scores[start:n])
        start = result_ends[number + 1] = n
    return rows[:start], scores[:start], result_ends, is_unordered


@compiled
def _with_room(rows: Ids, scores: Doubles, n: int) -> Any:
    """The arrays, with twice the capacity if n results fill more than half of it."""
    if 2 * n <= len(rows):
        return rows, scores
    return np.append(rows, np.empty_like(rows)), np.append(scores, np.empty_like(scores))


@compiled
def _finished(question: _Question, norms: Doubles, k1: float, rows: Ids, scores: Doubles) -> Any:
    """Write the exact scores of the results and sort them; see `_sort`."""
    _score(question, norms, k1, rows, scores)
    return _sort(rows, scores)


@compiled
def _best(rows: Ids, scores: Doubles, start: int, end: int, threshold: float) -> Any:
    """The new end of the results [start:end] without those below the threshold."""
    new_end = start
    for place in range(start, end):
        if scores[place] >= threshold:
            rows[new_end] = rows[place]
            scores[new_end] = scores[place]
            new_end += 1
    return new_end


@compiled
def _sort(rows: Ids, scores: Doubles) -> Any:
    """Sort the results, unless they are many. True if their order is final: no scores are equal."""
    if len(rows) > _MAX_SORTED:
        return False
    is_strict = True
    for place in range(1, len(rows)):
        row = rows[place]
        score = scores[place]
        to = place
        while to > 0 and scores[to - 1] < score:
            rows[to] = rows[to - 1]
            scores[to] = scores[to - 1]
            to -= 1
        is_strict &= to == 0 or scores[to - 1] > score
        rows[to] = row
        scores[to] = score
    return is_strict
