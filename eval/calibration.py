"""Calibration of confidence: fitting it, its thresholds, and its measures ECE and AURC.

Every question has a confidence, 0..1, and a credit: 1 for a right answer, 0 for a wrong one, or an F1 in
between. Questions with a confidence below the threshold are declined.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import fsum
from statistics import fmean

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]

N_BINS = 15
MAX_STEPS = 100
TOLERANCE = 1e-10
LIST_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """P(right | x) = 1 / (1 + exp(-(weights · x + bias)))."""

    weights: tuple[float, ...]
    bias: float


def fit_logistic(features: ArrayLike, labels: ArrayLike) -> LogisticModel:
    """The weights and bias that minimise the penalised log loss, the same for every order of the rows.

    J(w, b) = sum_i [ln(1 + exp(z_i)) - y_i z_i] + |w|² / 2, z_i = w · x_i + b; the bias is not penalised.
    With one feature, this is Platt's scaling without his smoothing of the labels.
    Source: Hastie, Tibshirani and Friedman 2009, "The Elements of Statistical Learning", section 4.4.1;
    Platt 1999, "Probabilistic Outputs for Support Vector Machines", section 2.

    `features` (n, d) float64 and finite; `labels` (n,), each 0 or 1, both present. ValueError for anything
    else. Needs the extra `train`.

    >>> model = fit_logistic([[-1.0]] * 3 + [[1.0]] * 3, [1, 0, 0, 0, 1, 1])
    >>> round(model.weights[0], 4), round(model.bias, 4)
    (0.4032, 0.0)
    """
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(solver="newton-cholesky", tol=TOLERANCE, max_iter=MAX_STEPS).fit(
        features, labels
    )
    return LogisticModel(tuple(fitted.coef_[0].tolist()), float(fitted.intercept_[0]))


def fit_listwise(lists: Sequence[Vector], right: Sequence[Mask], l2: float = 1.0) -> Vector:
    """(d,) float64 weights that rank the right rows of each list (n_i, d) first; `right` are masks (n_i,).

    P(i | list) = exp(w · x_i) / sum over the list of exp(w · x_j)
    loss(w) = sum over the lists of the mean over its right rows of -ln P(i | list)  +  l2 / 2 |w|²

    Lists without a right row are left out; ValueError when no other is left. Newton's method finds the one
    optimum. Source: the conditional logit of McFadden 1974; as a ranking loss, ListNet (Cao et al. 2007)
    with the right rows as the target's whole mass.
    """
    used = [(rows, mask) for rows, mask in zip(lists, right, strict=True) if mask.any()]
    if not used:
        raise ValueError("no list has a right candidate, so there is nothing to learn from")

    def loss(weights: Vector) -> float:
        total = l2 / 2 * float(weights @ weights)
        for rows, mask in used:
            scores = rows @ weights
            top = scores.max()
            total += top + float(np.log(np.exp(scores - top).sum())) - float(scores[mask].mean())
        return total

    weights = np.zeros(used[0][0].shape[1])
    for _ in range(MAX_STEPS):
        gradient = l2 * weights
        hessian = l2 * np.eye(len(weights))
        for rows, mask in used:
            scores = rows @ weights
            p = np.exp(scores - scores.max())
            p = p / p.sum()
            mean = p @ rows
            gradient = gradient + mean - rows[mask].mean(axis=0)
            hessian = hessian + (rows * p[:, None]).T @ rows - np.outer(mean, mean)
        step = np.linalg.solve(hessian, gradient)
        while loss(weights - step) > loss(weights) and np.abs(step).max() > LIST_TOLERANCE:
            step /= 2
        weights -= step
        if np.abs(step).max() <= LIST_TOLERANCE:
            break
    return weights


def threshold_at(absent: Sequence[float], max_share: float) -> float:
    """The lowest threshold that at most the share `max_share` of `absent`, confidences in 0..1, reaches.

    0 if all of them may reach it.

    >>> threshold_at([0.9, 0.4, 0.3, 0.2], 0.25) > 0.4, threshold_at([0.9, 0.4, 0.3, 0.2], 0.25) < 0.401
    (True, True)
    """
    allowed = int(max_share * len(absent))
    if allowed >= len(absent):
        return 0.0
    return math.nextafter(sorted(absent, reverse=True)[allowed], math.inf)


def expected_calibration_error(
    confidences: Sequence[float], right: Sequence[float], n_bins: int = N_BINS
) -> float:
    """ECE, 0..1: the mean distance of confidence and accuracy per bin, weighted by the size of the bin.

    ECE = sum over the bins of n_b / n |acc(b) - conf(b)|; bins have equal numbers of forecasts. An edge
    belongs to the bin above.
    Source: Guo et al. 2017, "On Calibration of Modern Neural Networks", equation 3.
    ValueError as for `require_forecasts`.

    >>> round(expected_calibration_error([0.95] * 4 + [0.65] * 4, [1, 1, 1, 0, 1, 1, 0, 0], 2), 6)
    0.175
    """
    require_forecasts(confidences, right)
    ordered = sorted(confidences)
    edges = [ordered[k * len(ordered) // n_bins] for k in range(1, n_bins)]
    bins: dict[int, list[tuple[float, float]]] = {}
    for confidence, outcome in zip(confidences, right, strict=True):
        bins.setdefault(bisect_right(edges, confidence), []).append((confidence, outcome))
    means = [(len(held), *map(fmean, zip(*held, strict=True))) for held in bins.values()]
    return fsum(n * abs(accuracy - confidence) for n, confidence, accuracy in means) / len(confidences)


def aurc(confidences: Sequence[float], credit: Sequence[float]) -> float:
    """The area under the risk-coverage curve, 0..1; lower is better.

    AURC = 1/n sum over k of the mean loss, 1 - credit, of the k most confident answers. Ties count with the
    mean over all their orders.
    Source: Geifman, Uziel and El-Yaniv 2019, "Bias-Reduced Uncertainty Estimation for Deep Neural
    Classifiers", section 3.

    >>> round(aurc([0.9, 0.6, 0.2], [1, 0, 1]), 6)  # risks 0, 1/2, 1/3
    0.277778
    """
    risks: list[float] = []
    total_loss = 0.0
    for losses in _tied_losses(confidences, credit):
        mean = fsum(losses) / len(losses)
        n_surer = len(risks)
        risks += [(total_loss + i * mean) / (n_surer + i) for i in range(1, len(losses) + 1)]
        total_loss += fsum(losses)
    return fsum(risks) / len(risks)


def require_forecasts(confidences: Sequence[float], outcomes: Sequence[float]) -> None:
    """Raise ValueError unless there are answers, each with a confidence and an outcome in 0..1.

    >>> require_forecasts([1.5], [True])
    Traceback (most recent call last):
    ValueError: confidence 0 is 1.5; expected a number in 0..1
    """
    if not confidences or len(confidences) != len(outcomes):
        raise ValueError(f"{len(confidences)} confidences for {len(outcomes)} outcomes")
    for name, values in (("confidence", confidences), ("outcome", outcomes)):
        for i, value in enumerate(values):
            if not 0 <= value <= 1:  # nor NaN
                raise ValueError(f"{name} {i} is {value}; expected a number in 0..1")


def _tied_losses(confidences: Sequence[float], credit: Sequence[float]) -> list[list[float]]:
    """The losses at each confidence, highest confidence first."""
    require_forecasts(confidences, credit)
    pairs = sorted(zip(confidences, credit, strict=True), key=lambda pair: -pair[0])
    return [[1 - credit for _, credit in tied] for _, tied in groupby(pairs, key=lambda pair: pair[0])]
