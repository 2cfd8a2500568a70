"""Calibration by logistic regression: from a few features of an answer to the probability that it is right.

With one feature, the reader's score, this is Platt's scaling; more features are the same model. Fitted with
Newton's method (iteratively reweighted least squares) in float64. It leaves out Platt's smoothing of the
labels: the ridge penalty does that work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]

MAX_STEPS = 100
TOLERANCE = 1e-10
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """P(right | x) = 1 / (1 + exp(-(weights · x + bias))); plain numbers, so that it stores as JSON."""

    weights: tuple[float, ...]
    bias: float

    def probability(self, features: ArrayLike) -> Vector:
        """(n,) float64 probabilities of the rows of (n, d) features.

        ValueError: not two axes, not as wide as the weights, or not finite.
        """
        rows = _matrix(features)
        if rows.shape[1] != len(self.weights):
            raise ValueError(f"features are {rows.shape[1]} wide; expected {len(self.weights)}")
        return _sigmoid(rows @ np.asarray(self.weights) + self.bias)


def fit_logistic(features: ArrayLike, labels: ArrayLike, l2: float = 1.0) -> LogisticModel:
    """The weights and bias that minimise the penalised log loss, the same for every order of the rows.

    J(w, b) = sum_i [ln(1 + exp(z_i)) - y_i z_i] + (l2 / 2) |w|², z_i = w · x_i + b; the bias is not
    penalised. Each Newton step solves H step = gradient, with gradient = X^T (p - y) + l2 w and
    H = X^T diag(p (1 - p)) X + l2 I, X carrying a column of ones; a step that does not lower J is halved.
    The penalty is in the units of the features: bring them to a similar scale first.
    Source: Hastie, Tibshirani and Friedman 2009, "The Elements of Statistical Learning", section 4.4.1;
    Platt 1999, "Probabilistic Outputs for Support Vector Machines", section 2.

    `features` (n, d) float64 and finite; `labels` (n,), each 0 or 1, both present. ValueError for anything
    else, for l2 < 0, and for l2 = 0 where no finite optimum exists (separable or collinear features).

    >>> model = fit_logistic([[0.0]] * 4 + [[1.0]] * 4, [1, 0, 0, 0, 1, 1, 1, 0], l2=0.0)
    >>> round(model.weights[0], 6), round(model.bias, 6)  # ln 9, -ln 3
    (2.197225, -1.098612)
    """
    x, y = _checked(features, labels, l2)
    ones = np.hstack([x, np.ones((len(x), 1))])  # (n, d + 1), the last column is the bias
    ridge = np.append(np.full(x.shape[1], float(l2)), 0.0)
    theta = np.zeros(x.shape[1] + 1)
    for _ in range(MAX_STEPS):
        step = _newton_step(ones, y, ridge, theta)
        theta = _descend(ones, y, ridge, theta, step)
        if float(np.abs(step).max()) <= TOLERANCE * (1.0 + float(np.abs(theta).max())):
            return LogisticModel(tuple(theta[:-1].tolist()), float(theta[-1]))
    raise ValueError("no finite optimum: the features separate the labels; use l2 > 0")


def _newton_step(ones: Vector, y: Vector, ridge: Vector, theta: Vector) -> Vector:
    """What Newton's method subtracts from theta; ValueError when H cannot be solved."""
    p = _sigmoid(ones @ theta)
    gradient = ones.T @ (p - y) + ridge * theta
    hessian = (ones.T * (p * (1 - p))) @ ones + np.diag(ridge)
    try:
        return np.asarray(np.linalg.solve(hessian, gradient), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise ValueError("no single optimum: collinear or separating features; use l2 > 0") from error


def _descend(ones: Vector, y: Vector, ridge: Vector, theta: Vector, step: Vector) -> Vector:
    """theta after the largest of step, step/2, step/4, … that does not raise the loss; else theta itself.

    Rises within the rounding of the loss pass, or the last steps before the optimum would be refused.
    """
    now = _loss(ones, y, ridge, theta)
    for halvings in range(30):
        candidate = theta - 0.5**halvings * step
        if _loss(ones, y, ridge, candidate) <= now + ROUNDING * (1.0 + now):
            return candidate
    return theta


def _loss(ones: Vector, y: Vector, ridge: Vector, theta: Vector) -> float:
    """J of `fit_logistic`."""
    z = ones @ theta
    return float(np.sum(np.logaddexp(0.0, z) - y * z) + 0.5 * np.sum(ridge * theta**2))


def _sigmoid(z: Vector) -> Vector:
    """1 / (1 + exp(-z)) without overflow: (1 + tanh(z / 2)) / 2."""
    value: Vector = 0.5 * (1.0 + np.tanh(0.5 * z))
    return value


def _matrix(features: ArrayLike) -> Vector:
    """The features as (n, d) float64; ValueError when they are not that, or not finite."""
    rows: NDArray[Any] = np.asarray(features, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"features have shape {rows.shape}; expected (n, d)")
    if not np.isfinite(rows).all():
        raise ValueError("features hold NaN or infinity; expected finite numbers")
    return rows


def _checked(features: ArrayLike, labels: ArrayLike, l2: float) -> tuple[Vector, Vector]:
    """The inputs of `fit_logistic` as float64 arrays, or ValueError."""
    x, y = _matrix(features), np.asarray(labels, dtype=np.float64)
    if y.shape != (len(x),):
        raise ValueError(f"labels have shape {y.shape}; expected ({len(x)},)")
    if not np.isin(y, (0.0, 1.0)).all() or len(np.unique(y)) < 2:
        raise ValueError("labels must be 0 or 1, and both must occur")
    if not (np.isfinite(l2) and l2 >= 0):
        raise ValueError(f"l2 is {l2}; expected a finite number >= 0")
    return x, y
