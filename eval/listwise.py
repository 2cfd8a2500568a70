"""A linear ranker from lists: which features lift the right candidates of a question above the others.

    P(i | list) = exp(w · x_i) / sum over the list of exp(w · x_j)
    loss(w) = sum over the lists of the mean over its right candidates of -ln P(i | list)  +  l2 / 2 |w|²

Convex, so Newton's method finds the one optimum; its Hessian is the sum of the covariances under P.
Source: the conditional logit of McFadden 1974; as a ranking loss, ListNet (Cao et al. 2007) with the
right candidates as the target's whole mass.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

MAX_STEPS = 100
TOLERANCE = 1e-9


def fit_listwise(lists: Sequence[Matrix], right: Sequence[NDArray[np.bool_]], l2: float = 1.0) -> Matrix:
    """(d,) float64 weights from lists (n_i, d) and which of their rows are right (n_i,).

    Lists without a right row say nothing of the order and are passed over; ValueError when none is left.
    """
    used = [(rows, mask) for rows, mask in zip(lists, right, strict=True) if mask.any()]
    if not used:
        raise ValueError("no list has a right candidate, so there is nothing to learn from")
    weights = np.zeros(used[0][0].shape[1])
    for _ in range(MAX_STEPS):
        gradient, hessian = _derivatives(used, weights, l2)
        step = np.linalg.solve(hessian, gradient)
        while _loss(used, weights - step, l2) > _loss(used, weights, l2) and np.abs(step).max() > TOLERANCE:
            step /= 2
        weights -= step
        if np.abs(step).max() <= TOLERANCE:
            break
    return weights


def _derivatives(
    used: Sequence[tuple[Matrix, NDArray[np.bool_]]], weights: Matrix, l2: float
) -> tuple[Matrix, Matrix]:
    gradient, hessian = l2 * weights, l2 * np.eye(len(weights))
    for rows, mask in used:
        p = _softmax(rows @ weights)
        mean = p @ rows
        gradient = gradient + mean - rows[mask].mean(axis=0)
        hessian = hessian + (rows * p[:, None]).T @ rows - np.outer(mean, mean)
    return gradient, hessian


def _loss(used: Sequence[tuple[Matrix, NDArray[np.bool_]]], weights: Matrix, l2: float) -> float:
    total = l2 / 2 * float(weights @ weights)
    for rows, mask in used:
        scores = rows @ weights
        top = scores.max()
        total += top + float(np.log(np.exp(scores - top).sum())) - float(scores[mask].mean())
    return total


def _softmax(scores: Matrix) -> Matrix:
    p = np.exp(scores - scores.max())
    shares: Matrix = p / p.sum()
    return shares
