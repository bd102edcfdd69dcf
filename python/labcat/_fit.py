"""The result of `least_squares`: the fitted parameters and their covariance."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ._misfit import Misfit
from ._result import OptimizeResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._optimizer import Optimizer

Array = npt.NDArray[np.float64]

_WORST = 0.1
"""The largest relative error with which a Jacobian is reported."""
_AT_BOUND = 1e-10  # of the range
_NO_JACOBIAN = "the evaluations do not determine the Jacobian (a larger budget or `jac` may help)"
_SINGULAR = 1e-9  # a singular value of the Jacobian below this part of the largest is rounding
_NOT_ALL = "the residuals do not determine all parameters, or the evaluations not well enough"


class LeastSquaresResult(OptimizeResult):
    """The result of `least_squares`: the fields of a result of `minimize` and of scipy's `least_squares`.

    >>> import labcat
    >>> result = labcat.least_squares(lambda x: [x[0] - 1, x[1] - 2, x[0] * x[1]], [(-5, 5)] * 2, budget=40, rng=1)
    >>> result.fun.shape, result.jac.shape, result.cov_x.shape
    ((3,), (3, 2), (2, 2))
    """

    if TYPE_CHECKING:
        fun: npt.NDArray[np.float64]  # type: ignore[assignment]
        """The residuals at `x`, shape (m,), without weights and loss; expected ones if they have noise."""
        cost: float
        """Half the sum that is minimised: ½ Σ r², with `sigma` and `loss` in it."""
        jac: npt.NDArray[np.float64]
        """The derivative of each residual by each parameter at `x`, shape (m, d). NaN where the evaluations do not
        determine it, and for parameters that are not real."""
        grad: npt.NDArray[np.float64]
        """The gradient of the cost, shape (d,)."""
        optimality: float
        """The largest component of the gradient, without those that only a bound keeps from decreasing the cost."""
        active_mask: npt.NDArray[np.int_]
        """For each parameter -1 at its lower bound, 1 at its upper bound, else 0."""
        cov_x: npt.NDArray[np.float64]
        """The covariance of the parameters, shape (d, d)."""
        stderr: npt.NDArray[np.float64]
        """Their standard errors, shape (d,)."""
        correlation: npt.NDArray[np.float64]
        """Their correlations, shape (d, d)."""

    def plot(  # type: ignore[override]
        self,
        data: npt.ArrayLike | None = None,
        *,
        at: npt.ArrayLike | None = None,
        model: npt.ArrayLike | None = None,
    ) -> Figure:
        """Draws data and model, the residuals, and 95 % confidence ellipses; see `labcat.plots.fit`."""
        from .plots import fit

        return fit(self, data, at=at, model=model)


def begin(result: OptimizeResult, misfit: Misfit) -> LeastSquaresResult:
    """Turns the result so far into one of least squares: the best evaluation, with its residuals and its cost."""
    best = result["best"]
    known = best is not None and len(best.residuals) > 0
    fun = best.residuals if known else np.full(1, np.nan)
    found = LeastSquaresResult(cost=misfit.cost(fun) if known else np.nan)
    found.update(result)
    found["fun"] = fun
    if known:
        _move(found, best.x)
    return found


def complete(result: LeastSquaresResult, misfit: Misfit) -> None:
    """Adds the Jacobian at the optimum and everything that is computed from it."""
    optimizer, found = result.optimizer, bool(np.isfinite(result.fun).all())
    if found and optimizer._has_noise:
        local = _without_noise(result, misfit)
    else:
        local = _modelled(result, result.x) if found else None
    x = result.x
    free = _free(optimizer, x)
    jacobian, note = np.full((len(result.fun), len(x)), np.nan), ""
    if found and free.any():
        if local is not None and local.error <= _WORST:
            jacobian[:, local.parameters] = local.jacobian
        note = "" if local is None or local.weakest <= _WORST else _NOT_ALL
        if (told := _told_jacobian(result)) is not None:
            jacobian = np.where(np.isfinite(told), told, jacobian)
            note = ""
        if not np.isfinite(jacobian[:, free]).all():
            note = _NO_JACOBIAN
    result["jac"] = jacobian
    result["grad"] = misfit.gradient(result.fun, jacobian) if found else np.full(len(x), np.nan)
    result["active_mask"] = _at_bounds(optimizer, x)
    pushed = np.where(result.grad * result.active_mask < 0, 0.0, np.abs(result.grad))[free]
    result["optimality"] = float(pushed.max(initial=0.0))
    result["cov_x"] = np.full((len(x), len(x)), np.nan)
    if found and free.any() and not note:
        result["cov_x"][np.ix_(free, free)], note = _covariance(result, misfit, jacobian[:, free])
    result["stderr"] = np.sqrt(np.diag(result.cov_x))
    with np.errstate(invalid="ignore", divide="ignore"):
        result["correlation"] = result.cov_x / np.outer(result.stderr, result.stderr)
    if note:
        result["message"] += f"; there are no standard errors: {note}"


def _move(result: LeastSquaresResult, x: Array) -> None:
    """Moves the result to another point."""
    result["x"] = x
    if result.optimizer.has_names:
        result["params"] = result.optimizer.space.to_dict(x)


def _without_noise(result: LeastSquaresResult, misfit: Misfit) -> _Local | None:
    """Goes to what is recommended, and takes the noise out of the residuals there; where the evaluations do not determine them, the
    best evaluation stays."""
    recommended = result["recommended"]
    there = None if recommended is None else _modelled(result, recommended.x)
    if there is None or there.error > _WORST:
        return _modelled(result, result.x)
    _move(result, recommended.x)
    result["fun"], result["cost"] = there.value, misfit.cost(there.value)
    return there


def _free(optimizer: Optimizer, x: Array) -> npt.NDArray[np.bool_]:
    """The parameters that have derivatives: the reals that apply."""
    rows = optimizer.space.described()
    active = optimizer.space.active(x) if np.isfinite(x).all() else [True] * len(x)
    return np.array([row.kind == "real" and not row.step and row.low < row.high and there for row, there in zip(rows, active)])


def _told_jacobian(result: LeastSquaresResult) -> Array | None:
    """The Jacobian that the user gave at the optimum."""
    held, best = result.optimizer._jacobian, result["best"]
    if held is None or best is None or held[0] != best.id or not np.array_equal(best.x, result.x):
        return None
    return held[1]


class _Local(NamedTuple):
    """The core's model of the residuals around a point."""

    value: Array
    """The residuals there, shape (m,)."""
    parameters: list[int]
    jacobian: Array
    """Their derivatives by these parameters, shape (m, p)."""
    error: float
    """The error of the derivatives: their standard deviation, relative to their size, for the worst parameter."""
    weakest: float
    """The same for the worst of all directions: infinite where the residuals do not change."""


def _modelled(result: LeastSquaresResult, x: Array) -> _Local | None:
    """The model of the residuals around a point; None if there are too few evaluations, or no parameter there has derivatives."""
    if not _free(result.optimizer, x).any():
        return None
    found = result.optimizer._core.residuals_around(x.tolist())
    if found is None:
        return None
    place = {id: row for row, id in enumerate(result.history.id.tolist())}
    near = result.history.residuals[[place[id] for id in found.evaluations]]
    differences = near - near[0]  # what does not change would cancel
    jacobian = differences.T @ np.transpose(found.slopes)
    return _Local(near[0] + found.weights @ differences, found.parameters, jacobian, found.error, found.weakest)


def _at_bounds(optimizer: Optimizer, x: Array) -> npt.NDArray[np.int_]:
    rows = optimizer.space.described()
    low, high, x = (
        np.array([np.log(value) if row.scale == "log" else value for row, value in zip(rows, values)])
        for values in ([row.low for row in rows], [row.high for row in rows], x)
    )
    margin = _AT_BOUND * (high - low)
    return np.where(x <= low + margin, -1, np.where(x >= high - margin, 1, 0))


def _covariance(result: LeastSquaresResult, misfit: Misfit, jacobian: Array) -> tuple[Array, str]:
    """The covariance s² (JᵀJ)⁻¹; or NaN, and the reason why there is none."""
    m, n = jacobian.shape
    nothing = np.full((n, n), np.nan)
    curved = misfit.curved(result.fun, jacobian)
    lengths = np.linalg.norm(curved, axis=0)
    lengths[lengths == 0] = 1.0
    _, singular, turned = np.linalg.svd(curved / lengths, full_matrices=False)
    if len(singular) < n or singular[-1] <= _SINGULAR * singular[0]:
        return nothing, _NOT_ALL
    if m <= n and not misfit.absolute_sigma:
        return nothing, "there must be more residuals than parameters to estimate the noise of the data (or use absolute_sigma=True)"
    scale = 1.0 if misfit.absolute_sigma else 2 * result.cost / (m - n)
    root = turned.T / singular / lengths[:, None]
    return scale * (root @ root.T), ""
