"""The scores of passages for questions, up to a stated slack, from all their tokens.

One question for a machine that can: `product_maxima`, one pass over the tokens where they lie. Else, and for
many questions at once, in blocks: the product of the block's tokens with the rows of all questions, then the
maxima of each passage. Memory is that of a block, whatever the size of the collection.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .int8_tokens import Int8Form
from .product_maxima import LANES, ROWS, interleaved, is_fused, product_sums
from .question import Question
from .stored_tokens import StoredTokens, TokenPart
from .tokens import token_places

_TOGETHER = 4  # questions from which a block's products pay
_COLUMNS = 128  # question rows that are multiplied at once
_BLOCK = 1 << 20  # bytes of the products of a block
_LONGEST_BLOCK = 8192  # tokens in a block
_NO_LEVELS = np.empty(0, np.int8)
_ROUNDING = 1e-5  # of whole numbers, summed exactly, and then scaled in float32


@dataclass(frozen=True, slots=True)
class _Run:
    """Passages of one part: their tokens, and where their scores go."""

    part: TokenPart
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    first: int

    @property
    def to(self) -> slice:
        return slice(self.first, self.first + len(self.starts))


def scan(
    stored: StoredTokens,
    form: Int8Form,
    questions: Sequence[Question],
    rows: NDArray[np.int64] | None = None,
) -> NDArray[np.float32]:
    """(questions, n): the score of each of these rows of the stored tokens, ascending; None means all."""
    scores = np.empty((len(questions), len(stored) if rows is None else len(rows)), np.float32)
    if rows is None:
        stored.check()
    else:
        stored.check_rows(rows)
    runs = [run for run in _runs(stored, rows) if len(run.starts)]
    if _is_fused(len(questions), stored.width):
        for question, row in zip(questions, scores, strict=True):
            _scan_fused(form, question, runs, row)
        return scores
    for first, last in _groups(questions):
        _scan_blocks(form, questions[first:last], runs, scores[first:last])
    return scores


def rounding(n_questions: int, width: int) -> float:
    """How far a product of `scan` may be from the exact one, as a share of the lengths of its two vectors."""
    if _is_fused(n_questions, width):
        return _ROUNDING
    from . import products

    return products.rounding()


def _is_fused(n_questions: int, width: int) -> bool:
    return n_questions < _TOGETHER and is_fused(width)


def _runs(stored: StoredTokens, rows: NDArray[np.int64] | None) -> Iterator[_Run]:
    """The passages of these rows, part by part."""
    at = 0
    for part in stored.parts:
        starts, ends = part.starts, part.ends
        if rows is not None:
            first, last = np.searchsorted(rows, (part.first, part.first + len(starts)))
            here = rows[first:last] - part.first
            starts, ends = starts[here], ends[here]
        yield _Run(part, starts, ends, at)
        at += len(starts)


def _scan_fused(
    form: Int8Form, question: Question, runs: Sequence[_Run], scores: NDArray[np.float32]
) -> None:
    rows = interleaved(question.codes)
    n_groups = len(rows)
    weights = np.zeros(n_groups * ROWS, np.float32)
    weights[: question.n_rows] = question.weights
    number = np.arange(question.n_rows)
    base = question.base(number // ROWS * LANES + number % ROWS, n_groups * LANES)
    levels = _NO_LEVELS if form.levels is None else form.levels
    for run in runs:
        codes = run.part.codes
        scales = codes.scales.view(np.uint16)
        product_sums(
            rows, weights, base, levels, codes.values, scales, codes.centroids, run.starts, run.ends,
            scores[run.to],
        )  # fmt: skip


def _groups(questions: Sequence[Question]) -> Iterator[tuple[int, int]]:
    """Questions that follow one another and have at most `_COLUMNS` rows together, or one."""
    first = n_rows = 0
    for number, question in enumerate(questions):
        if number > first and n_rows + question.n_rows > _COLUMNS:
            yield first, number
            first, n_rows = number, 0
        n_rows += question.n_rows
    if questions:
        yield first, len(questions)


def _scan_blocks(
    form: Int8Form, questions: Sequence[Question], runs: Sequence[_Run], scores: NDArray[np.float32]
) -> None:
    from .products import Int8Rows
    from .segment_maxima import segment_maxima

    multiplied = Int8Rows(np.concatenate([question.codes for question in questions]))
    weights = np.concatenate([question.weights for question in questions])
    bases = [question.base(np.arange(question.n_rows), question.n_rows) for question in questions]
    base = np.concatenate(bases, axis=1)
    starts_of_questions = np.cumsum([0, *(question.n_rows for question in questions[:-1])])
    most = min(_LONGEST_BLOCK, _BLOCK // (4 * multiplied.n_columns))
    for run in runs:
        for first, last in _blocks(run.ends - run.starts, most):
            lengths = run.ends[first:last] - run.starts[first:last]
            tokens = _tokens(run.starts[first:last], lengths)
            codes = run.part.codes
            maxima = np.empty((last - first, len(weights)), np.float32)
            segment_maxima(
                multiplied.products(form.values(codes.values[tokens])),
                codes.scales[tokens].astype(np.float32),
                base,
                codes.centroids[tokens],
                np.cumsum(lengths),
                maxima,
            )
            sums = np.add.reduceat(maxima * weights, starts_of_questions, axis=1)
            scores[:, run.first + first : run.first + last] = sums.T


def _blocks(lengths: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Passages that follow one another and have at most `most` tokens together, or one."""
    ends = np.cumsum(lengths)
    first = done = 0
    while first < len(ends):
        last = max(first + 1, int(np.searchsorted(ends, done + most, side="right")))
        yield first, last
        first, done = last, int(ends[last - 1])


def _tokens(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """The places of the tokens of passages: a slice when nothing lies between them, which copies nothing."""
    if int(starts[-1] + lengths[-1] - starts[0]) == int(lengths.sum()):
        return slice(int(starts[0]), int(starts[-1] + lengths[-1]))
    return token_places(starts, lengths)
