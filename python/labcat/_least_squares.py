"""`least_squares`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy.typing as npt

from ._constraints import Constraints
from ._minimize import OnError, optimize, says_keywords
from ._misfit import Loss, Misfit
from ._optimizer import Bounds, Preset
from ._space import Points, Radius
from ._values import Rng
from ._warm import HistoryLike
from ._workers import Workers

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._fit import LeastSquaresResult
    from ._switches import Switches


@says_keywords
def least_squares(
    residuals: Callable[..., Any],
    bounds: Bounds,
    *,
    args: Any = (),
    x0: Points | None = None,
    radius: Radius | None = None,
    jac: bool | Callable[..., Any] | None = None,
    loss: Loss = "linear",
    f_scale: float = 1.0,
    sigma: npt.ArrayLike | None = None,
    absolute_sigma: bool = False,
    history: HistoryLike | None = None,
    budget: int | None = None,
    target: float | None = None,
    tolerance: float | None = None,
    time_limit: float | None = None,
    rng: Rng = None,
    preset: Preset = "default",
    workers: Workers = 1,
    callback: Callable[..., Any] | None = None,
    progress: bool = False,
    on_error: OnError = "raise",
    max_first_failures: int | None = 10,
    timeout: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    constraints: Constraints | None = None,
    **switches: Unpack[Switches],
) -> LeastSquaresResult:
    """Fits the parameters of an expensive model: minimises the sum of the squares of its residuals.

    Each residual is modelled, which takes far fewer evaluations than modelling their sum. Arguments that
    are not described here are those of `minimize`.

    Parameters
    ----------
    residuals
        ``residuals(x, *args)`` returns a vector, usually model minus data, of the same length for every `x`. A
        vector with a NaN or an infinite number is a failed evaluation.
    history
        As in `minimize`: an earlier result, or a pair ``(X, R)`` of points and their residuals, one row each.
    bounds, args, time_limit, rng, preset, workers, callback, progress, on_error, max_first_failures, timeout, checkpoint
        As in `minimize`.
    x0, radius
        Where the search begins, and how far the first evaluations lie from it, as in `minimize`.
    jac
        A function that returns the Jacobian, shape (m, d), called like `residuals`. Or True, if `residuals` returns
        ``(residuals, jacobian)``. NaN marks an unknown derivative. None: the Jacobian is estimated.
    loss, f_scale
        As in `scipy.optimize.least_squares`: "linear", or, for data with outliers, "soft_l1", "huber", "cauchy" or
        "arctan". Residuals well below `f_scale` count as squares, larger ones count less.
    sigma
        The standard deviation of each residual, or one number for all. Residuals are divided by it.
    absolute_sigma
        As in `scipy.optimize.curve_fit`. True: `sigma` is absolute, and the covariance follows from it. False:
        `sigma` is relative, and its scale is estimated from the residuals at the optimum.
    budget, target, tolerance
        As in `minimize`. Target and tolerance refer to the sum of squares, which is twice the cost.
    constraints
        As in `minimize`. With measured constraints `residuals` returns ``(residuals, [g, …])``, with `jac=True`
        ``(residuals, jacobian, [g, …])``, or a dictionary with "residuals", "jacobian", "constraints".
    switches
        Any other option of the search, by name: `labcat.SWITCHES` lists them.

    Returns
    -------
    LeastSquaresResult
        The fields of `scipy.optimize.least_squares`: ``x cost fun jac grad optimality active_mask nfev status
        message success``, where `fun` has the residuals at `x`. Also ``cov_x stderr correlation`` of the
        parameters, and the fields of `minimize`: ``history restarts optimizer``, and `params` with a `Space`.

    Notes
    -----
    Without `jac` the Jacobian comes from a model of the evaluations around `x`. If these do not
    determine it to a tenth, it is NaN, and the message says so. Integers, categories and booleans have no
    derivatives: their entries of the covariance are NaN.

    Examples
    --------
    >>> import labcat
    >>> import numpy as np
    >>> t = np.linspace(0, 4, 30)
    >>> data = 2 * np.exp(-0.8 * t) + 0.05 * np.random.default_rng(1).standard_normal(30)
    >>> def misfit(p):
    ...     return p[0] * np.exp(-p[1] * t) - data
    >>> result = labcat.least_squares(misfit, [(0, 10), (0, 5)], x0=[1, 1], budget=40, rng=1)
    >>> bool(np.all(abs(result.x - [2, 0.8]) < 3 * result.stderr))
    True
    """
    result = optimize(
        "minimize",
        residuals,
        bounds,
        {"budget": budget, "target": target, "tolerance": tolerance, **switches},
        args=args,
        x0=x0,
        radius=radius,
        history=history,
        time_limit=time_limit,
        rng=rng,
        preset=preset,
        workers=workers,
        callback=callback,
        progress=progress,
        on_error=on_error,
        max_first_failures=max_first_failures,
        timeout=timeout,
        checkpoint=checkpoint,
        jac=jac,
        constraints=constraints,
        misfit=Misfit.checked(loss, f_scale, sigma, absolute_sigma),
        own=least_squares,
    )
    return cast("LeastSquaresResult", result)
