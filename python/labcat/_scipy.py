"""labcat as a method of `scipy.optimize.minimize`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._errors import InvalidError
from ._minimize import minimize
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
    """A method for scipy: ``scipy.optimize.minimize(fun, x0, bounds=bounds, method=labcat.scipy_method)``.

    `x0` is evaluated first. `options` are the keywords of `labcat.minimize`, and scipy's `maxfev`
    or `maxiter` (the budget; of both the smaller), `tol` (the tolerance; it ends the run unless ``restarts=True``) and
    `disp` (the progress). `jac` and `constraints` work as in `labcat.minimize`. Second
    derivatives are an error. An unknown option is a warning, as in scipy's own methods.

    >>> import labcat
    >>> from scipy.optimize import minimize
    >>> result = minimize(lambda x: (x[0] - 1) ** 2, [0.0], bounds=[(-5, 5)],
    ...                   method=labcat.scipy_method, options={"budget": 30, "rng": 1})
    >>> result.nfev
    30
    """
    for name, derivative in (("hess", hess), ("hessp", hessp)):
        if derivative is not None and derivative is not False:
            raise InvalidError(f"{name} is {derivative!r}: labcat uses first derivatives only")
    if bounds is None:
        raise InvalidError("labcat needs bounds: pairs (low, high), one per parameter")
    start = np.atleast_1d(np.asarray(x0, dtype=np.float64))
    if hasattr(bounds, "lb"):  # scipy lets one number stand for every parameter
        ends = [np.ravel(bounds.lb), np.ravel(bounds.ub)]
        if any(end.size not in (1, start.size) for end in ends):
            raise InvalidError(f"bounds are {bounds!r}: x0 has {start.size} values")
        bounds = list(zip(*(np.broadcast_to(end, start.size) for end in ends)))
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        warnings.warn(
            f"unknown options for labcat: {', '.join(unknown)}", RuntimeWarning, stacklevel=3
        )
    chosen = {name: value for name, value in options.items() if name not in unknown}
    limits = [limit for limit in (maxfev, maxiter) if limit is not None]
    if limits:  # an iteration is an evaluation
        chosen.setdefault("budget", min(limits))
    if tol is not None:
        chosen.setdefault("tolerance", tol)
        chosen.setdefault("restarts", False)
    chosen.setdefault("progress", bool(disp))
    if callable(jac):
        chosen["jac"], fun = True, _Both(fun, jac)
    elif jac:
        chosen["jac"] = True
    given = list(constraints) if isinstance(constraints, (list, tuple)) else [constraints]
    if given:
        chosen["constraints"] = given
    return minimize(fun, bounds, args=args, x0=start, callback=callback, **chosen)


class _Both:
    """A function and its gradient as one."""

    def __init__(self, fun: Any, jac: Any) -> None:
        self._fun, self._jac = fun, jac

    def __call__(self, x: Any, *args: Any) -> tuple[Any, Any]:
        return self._fun(x, *args), self._jac(x, *args)
