"""The Jacobian of the residuals at a point, from the evaluations around it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_WINDOWS = ((0, 2), (0, 4), (1, 4), (2, 4), (4, 4), (8, 4), (16, 4), (32, 4))
"""Neighbourhoods that are tried: how many of the nearest evaluations are left out, and how many are used, as multiples of
the number of unknowns per residual. The nearest ones may differ by rounding errors alone."""
_LENGTHS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Length-scales that are tried, in units of the spread of the evaluations along each parameter."""
_NUGGETS = (1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1.0)
"""Variances of the noise that are tried, relative to the process."""
_FACTOR = 2.0  # by which a length-scale of one parameter is changed
_SWEEPS = 2


class Local(NamedTuple):
    """A model of the residuals around a point."""

    value: Array
    """The residuals at the point, shape (m,)."""
    jacobian: Array
    """Their derivatives, shape (m, n)."""
    uncertainty: Array
    """The covariance of each row of the Jacobian, summed over the residuals, shape (n, n)."""

    def error(self) -> float:
        """How wrong the Jacobian may be: the largest ratio, over all directions, of its standard deviation to its length."""
        lengths = np.linalg.norm(self.jacobian, axis=0)
        if not (np.isfinite(lengths).all() and lengths.all()):
            return np.inf
        unit = self.jacobian / lengths
        try:
            factor = np.linalg.cholesky(unit.T @ unit)
        except np.linalg.LinAlgError:
            return np.inf
        inside = np.linalg.solve(factor, self.uncertainty / np.outer(lengths, lengths))
        inside = np.linalg.solve(factor, inside.T)
        return float(np.sqrt(max(np.linalg.eigvalsh((inside + inside.T) / 2)[-1], 0.0)))


def local_model(steps: Array, residuals: Array) -> Local | None:
    """The model of the residuals at 0 that is most certain of its slopes; None if the evaluations do not determine one.

    Each residual is a linear trend plus a Gaussian process, with one kernel for all, over the nearest evaluations:
    `steps`, shape (N, n), of which `residuals`, shape (N, m), are known.
    """
    unknowns = steps.shape[1] + 1
    order = np.argsort((steps**2).sum(axis=1), kind="stable")
    found = None
    for left_out, used in _WINDOWS:
        rest = order[1 + left_out * unknowns :][: used * unknowns]
        if len(rest) <= unknowns:
            continue
        chosen = np.append(order[:1], rest)
        model = _fitted(steps[chosen], residuals[chosen])
        if model is not None and (found is None or model.error() < found.error()):
            found = model
    return found


def _fitted(steps: Array, residuals: Array) -> Local | None:
    spread = np.sqrt((steps**2).mean(axis=0))
    if not spread.all():
        return None
    differences = residuals - residuals[0]
    scale = np.abs(differences).max()
    if scale == 0:
        return None
    gram = (differences / scale) @ (differences / scale).T
    unit = steps / spread
    lengths, nugget = _likeliest(unit, gram)
    kriging = _Kriging.of(unit, lengths, nugget)
    if kriging is None:
        return None
    local = kriging.at_zero(unit, differences, lengths, nugget)
    return Local(
        local.value + residuals[0], local.jacobian / spread, local.uncertainty / np.outer(spread, spread)
    )


def _likeliest(unit: Array, gram: Array) -> tuple[Array, float]:
    """Length-scales and nugget of the greatest restricted likelihood."""

    def loss(lengths: Array, nugget: float) -> float:
        kriging = _Kriging.of(unit, lengths, nugget)
        return np.inf if kriging is None else kriging.loss(gram)

    n = unit.shape[1]
    grid = [(np.full(n, length), nugget) for length in _LENGTHS for nugget in _NUGGETS]
    losses = [loss(*entry) for entry in grid]
    (lengths, nugget), least = grid[int(np.argmin(losses))], min(losses)
    for _ in range(_SWEEPS):
        for axis in range(n):
            for factor in (_FACTOR, 1 / _FACTOR):
                tried = lengths.copy()
                tried[axis] *= factor
                if (found := loss(tried, nugget)) < least:
                    lengths, least = tried, found
                    break
        for other in _NUGGETS:
            if (found := loss(lengths, other)) < least:
                nugget, least = other, found
    return lengths, nugget


class _Kriging(NamedTuple):
    """A Gaussian process with a linear trend: all that depends on the places alone."""

    half: Array
    """The inverse of the Cholesky factor of the covariance."""
    trend: Array
    """The trend's functions at the places, times `half`."""
    factor: Array
    """The Cholesky factor of the precision of the trend's coefficients, FᵀK⁻¹F."""
    logdet: float

    @staticmethod
    def of(unit: Array, lengths: Array, nugget: float) -> _Kriging | None:
        scaled = unit / lengths
        squares = ((scaled[:, None, :] - scaled[None, :, :]) ** 2).sum(axis=2)
        covariance = np.exp(-squares / 2) + nugget * np.eye(len(unit))
        try:
            factor = np.linalg.cholesky(covariance)
            half = np.linalg.solve(factor, np.eye(len(unit)))
            trend = np.asarray(half, dtype=np.float64) @ np.column_stack([np.ones(len(unit)), unit])
            of_trend = np.linalg.cholesky(trend.T @ trend)
        except np.linalg.LinAlgError:
            return None
        logdet = 2 * (np.log(np.diag(factor)).sum() + np.log(np.diag(of_trend)).sum())
        return _Kriging(np.asarray(half, dtype=np.float64), trend, np.asarray(of_trend, dtype=np.float64), logdet)

    def _coefficients(self, weighted: Array) -> Array:
        """Of the trend, by generalised least squares, for right-hand sides times `half`."""
        found: Array = np.linalg.solve(self.factor.T, np.linalg.solve(self.factor, self.trend.T @ weighted))
        return found

    def loss(self, gram: Array) -> float:
        """-2 log of the restricted likelihood per residual, without constants."""
        free = len(gram) - self.trend.shape[1]
        inside = self.half @ gram @ self.half.T
        of_trend = np.linalg.solve(self.factor, self.trend.T)
        misfit = float(np.trace(inside) - np.trace(of_trend @ inside @ of_trend.T))
        return free * np.log(misfit) + self.logdet if misfit > 0 else np.inf

    def at_zero(self, unit: Array, residuals: Array, lengths: Array, nugget: float) -> Local:
        """Value, slopes and their covariance at 0."""
        count, n = unit.shape
        weighted = self.half @ residuals
        coefficients = self._coefficients(weighted)
        rest = weighted - self.trend @ coefficients
        variance = float((rest**2).sum()) / (count - n - 1)
        near = np.exp(-((unit / lengths) ** 2).sum(axis=1) / 2)
        slopes = self.half @ (near[:, None] * unit / lengths**2)  # derivatives of the covariance at 0
        of_trend = np.vstack([np.zeros(n), np.eye(n)]) - self.trend.T @ slopes
        of_trend = np.linalg.solve(self.factor, of_trend)
        rounding = min(1.0, count * np.finfo(np.float64).eps / nugget)
        of_process = np.maximum(1 - lengths**2 * (slopes**2).sum(axis=0), rounding) / lengths**2
        return Local(
            value=coefficients[0] + (self.half @ near) @ rest,
            jacobian=(coefficients[1:] + slopes.T @ rest).T,
            uncertainty=variance * (np.diag(of_process) + of_trend.T @ of_trend),
        )
