"""labcat as a method of `scipy.optimize.minimize`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._errors import InvalidError
from ._minimize import minimize, no_derivative
from ._values import SWITCHES

if TYPE_CHECKING:
    from ._result import OptimizeResult

_OPTIONS = {
    name
    for name, parameter in inspect.signature(minimize).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
} | set(SWITCHES)


def scipy_method(
    fun: Callable[..., Any],
    x0: npt.ArrayLike,
    args: Any = (),
    *,
    bounds: Any = None,
    constraints: Any = (),
    callback: Callable[..., Any] | None = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    tol: float | None = None,
    maxfev: int | None = None,
    maxiter: int | None = None,
    disp: bool = False,
    **options: Any,
) -> OptimizeResult:
    """For ``scipy.optimize.minimize(fun, x0, bounds=bounds, method=labcat.scipy_method)``.

    `x0` is evaluated first. `options` are the keywords of `labcat.minimize`, and scipy's `maxfev`
    or `maxiter` (the budget), `tol` (the tolerance; it ends the run unless ``restarts=True``) and
    `disp` (the progress). Derivatives and constraints are an error; an unknown option is a
    warning, as scipy's methods do it.

    >>> import labcat
    >>> from scipy.optimize import minimize
    >>> result = minimize(lambda x: (x[0] - 1) ** 2, [0.0], bounds=[(-5, 5)],
    ...                   method=labcat.scipy_method, options={"budget": 30, "rng": 1})
    >>> result.nfev
    30
    """
    if np.any(constraints):
        raise InvalidError("labcat has no constraints other than bounds yet")
    for name, derivative in (("jac", jac), ("hess", hess), ("hessp", hessp)):
        no_derivative(name, derivative)
    if bounds is None:
        raise InvalidError("labcat needs bounds: pairs (low, high), one per parameter")
    start = np.atleast_1d(np.asarray(x0, dtype=np.float64))
    if hasattr(bounds, "lb"):  # scipy lets one number stand for every parameter
        bounds = [
            (low, high)
            for low, high in zip(
                np.broadcast_to(bounds.lb, start.shape), np.broadcast_to(bounds.ub, start.shape)
            )
        ]
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        warnings.warn(
            f"unknown options for labcat: {', '.join(unknown)}", RuntimeWarning, stacklevel=3
        )
    chosen = {name: value for name, value in options.items() if name not in unknown}
    for name, value in (("budget", maxiter), ("budget", maxfev), ("tolerance", tol)):
        if value is not None:
            chosen.setdefault(name, value)
    if tol is not None:
        chosen.setdefault("restarts", False)
    chosen.setdefault("progress", bool(disp))
    return minimize(fun, bounds, args=args, x0=start, callback=callback, **chosen)
