"""A smooth surface through all evaluations of a run, for pictures: the optimiser's own model is local."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ._parameters import Boolean, Categorical
from ._space import Space, Vector

if TYPE_CHECKING:
    from ._result import OptimizeResult

Matrix = npt.NDArray[np.float64]

_MOST = 300  # evaluations
_NEAR = 0.04  # of the box: of evaluations that close the best counts
_LENGTHS = (0.1, 0.2, 0.4, 0.8)  # of the box, for a parameter of average relevance
_UNKNOWN = 0.5  # the score far from every evaluation: worse than most, so that nothing looks good there
_NOISES = (1e-6, 1e-2, 1e-1)  # in units of the variance
_LEAST_WEIGHT = 0.02  # of a parameter without relevance


def surface(result: OptimizeResult) -> Callable[[Matrix], tuple[Vector, Vector, Vector]] | None:
    """Median and one standard deviation below and above at points, shape (n, d); None if there is too little to go by.

    A Gaussian process over the ranks of the values, so that single large ones do no harm, with length-scales by the
    parameters' relevance.
    """
    history, space = result.history, result.optimizer.space
    told = np.flatnonzero(~history.failed)
    if len(told) < 3 or np.ptp(history.value[told]) == 0:
        return None
    shares = result.optimizer.relevance
    weights = np.ones(len(space)) if shares is None else np.maximum(shares * len(space), _LEAST_WEIGHT)
    places, value = _thinned(_places(space, history.x[told], weights), history.value[told], result.optimizer.direction)
    if len(value) < 3:
        return None
    score = _scores(value)
    squares = _distances(places, places)
    far = -_UNKNOWN if result.optimizer.direction == "maximize" else _UNKNOWN
    fits = [_Fit(squares, score, length, noise, far) for length in _LENGTHS for noise in _NOISES]
    best = max(fits, key=lambda fit: fit.likelihood)
    order = np.argsort(score, kind="stable")

    def at(points: Matrix) -> tuple[Vector, Vector, Vector]:
        mean, std = best.predict(_distances(_places(space, points, weights), places))
        middle, below, above = (np.interp(s, score[order], value[order]) for s in (mean, mean - std, mean + std))
        return middle, below, above

    return at


def _thinned(places: Matrix, value: Vector, direction: str) -> tuple[Matrix, Vector]:
    """The evaluations without those that have a better one near: a run that converges makes many of nearly one point."""
    best_first = np.argsort(-value if direction == "maximize" else value, kind="stable")
    kept: list[int] = []
    for i in best_first:
        if not kept or _distances(places[[i]], places[kept]).min() > _NEAR**2:
            kept.append(int(i))
    spread = np.unique(np.linspace(0, len(kept) - 1, min(_MOST, len(kept))).astype(int))
    chosen = np.array(kept)[spread]
    return places[chosen], value[chosen]


def _places(space: Space, points: Matrix, weights: Vector) -> Matrix:
    """Points in a box of side 1, stretched by the weights; a category has an axis per label."""
    columns = []
    used = np.array([space.active(x) for x in points], dtype=bool)
    for i, parameter in enumerate(space.values()):
        numbers, scale = points[:, i], np.sqrt(weights[i])
        if isinstance(parameter, Categorical):
            labels = np.arange(len(parameter.choices))
            columns += [np.where(used[:, i], (numbers == k) * scale / np.sqrt(2), 0.0) for k in labels]
            continue
        low, high = (0.0, 1.0) if isinstance(parameter, Boolean) else (parameter.low, parameter.high)
        if not isinstance(parameter, Boolean) and parameter.scale == "log":
            numbers, low, high = np.log(numbers), np.log(low), np.log(high)
        place = (numbers - low) / (high - low) if high > low else np.full(len(points), 0.5)
        columns.append(np.where(used[:, i], place, 0.5) * scale)
    return np.column_stack(columns)


def _distances(a: Matrix, b: Matrix) -> Matrix:
    squares: Matrix = np.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=2)
    return squares


def _scores(value: Vector) -> Vector:
    """Ranks as numbers between −1 and 1, equal ones alike."""
    _, inverse, counts = np.unique(value, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - 0.5 * (counts + 1)
    scores: Vector = (2 * middle / max(len(value) - 1, 1) - 1)[inverse]
    return scores


def _matern(squares: Matrix, length: float) -> Matrix:
    """The kernel of a function with one derivative: it does not carry a slope far."""
    r = np.sqrt(3 * squares) / length
    k: Matrix = (1 + r) * np.exp(-r)
    return k


class _Fit:
    """A Gaussian process with one length-scale and one noise."""

    def __init__(self, squares: Matrix, score: Vector, length: float, noise: float, far: float) -> None:
        self._length, self._far = length, far
        k = _matern(squares, length) + (noise + 1e-8) * np.eye(len(score))
        factor = np.linalg.cholesky(k)
        half = np.linalg.solve(factor, score - self._far)
        n = len(score)
        self._signal = max(float(half @ half) / n, 1e-12)
        self._inverse = np.linalg.inv(factor)
        self._alpha = self._inverse.T @ half
        self.likelihood = -0.5 * n * np.log(self._signal) - float(np.log(np.diag(factor)).sum())

    def predict(self, squares: Matrix) -> tuple[Vector, Vector]:
        k = _matern(squares, self._length)
        explained = np.sum((k @ self._inverse.T) ** 2, axis=1)
        return self._far + k @ self._alpha, np.sqrt(self._signal * np.maximum(1 - explained, 0))
