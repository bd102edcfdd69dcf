"""The result of `minimize` and `maximize`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ._history import Evaluation, History, Recommendation, Restart
from ._html import result_html
from ._optimizer import Optimizer
from ._values import plural

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class _PlainResult(dict[str, Any]):
    """A substitute for `scipy.optimize.OptimizeResult` on machines without scipy: a dictionary whose keys
    are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{key:>{width}}: {value!r}" for key, value in self.items())

    def __dir__(self) -> list[str]:
        return list(self)


if TYPE_CHECKING:
    _Base = _PlainResult
else:
    try:
        from scipy.optimize import OptimizeResult as _Base
    except ModuleNotFoundError:
        _Base = _PlainResult


class OptimizeResult(_Base):
    """The result of `minimize` and `maximize`: a `scipy.optimize.OptimizeResult` if scipy is installed.

    It is a dictionary whose keys are attributes too.

    >>> import labcat
    >>> result = labcat.minimize(lambda x: (x[0] - 1) ** 2, [(-5, 5)], budget=30, rng=1)
    >>> result.success, result.nfev, result.message
    (False, 30, 'the budget of 30 evaluations is used up')
    >>> result["fun"] == result.fun
    True
    """

    if TYPE_CHECKING:
        x: npt.NDArray[np.float64]
        """The best point, shape (d,), or what is recommended if values have noise; NaN if every
        evaluation failed."""
        params: dict[str, Any]
        """The best point by name; only with a `Space`."""
        fun: float
        """The value at `x`; its expectation if values have noise."""
        recommended: Recommendation | None
        """The point to use, with the expected value and its standard deviation: `x` and `fun`."""
        best: Evaluation | None
        """The best single evaluation; with noise its value is partly luck."""
        constraints: npt.NDArray[np.float64]
        """The measured constraints of `best`, NaN if there is none; only where some are measured."""
        feasible: bool
        """Whether `best` meets them; likewise."""
        success: bool
        """Whether the run came to its goal, the target or the tolerance, or has evaluated every configuration
        of a finite space. As in scipy a run that ended for lack of budget or time says False; `x` is the
        best point all the same."""
        status: int
        """0 budget, 1 target, 2 tolerance, 3 time limit, 4 Ctrl-C, 5 exception, 6 every configuration was
        evaluated, 99 callback."""
        message: str
        """Why the run ended, in words."""
        nfev: int
        """Evaluations of this run, failed ones included; what `history` of the call told is not counted."""
        nit: int
        """Steps of the optimiser: one per evaluation."""
        restarts: list[Restart]
        """The restarts, each with its cause."""
        history: History
        """Every evaluation, as arrays and as a sequence."""
        newest: Evaluation | None
        """The evaluation told last, with `x`, `params`, `value`, `id`, `status`, `seconds`, `extra`."""
        optimizer: Optimizer
        """The optimiser in its final state."""

    def __missing__(self, key: str) -> Any:
        if "optimizer" in self and key == "history":
            self[key] = self["optimizer"].history
            return self[key]
        if "optimizer" in self and key == "newest":
            return self["optimizer"]._newest()
        raise KeyError(key)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self, "history", "newest"})

    def plot(self, fun: Callable[[npt.NDArray[np.float64]], float] | None = None) -> Figure:
        """Draws the run, see `labcat.plots.overview`. A notebook shows the returned figure."""
        from .plots import overview

        return overview(self, fun)

    def _repr_html_(self) -> str:
        return repr(self) if "history" not in self else result_html(self)


STATUS = {
    "budget": 0,
    "target": 1,
    "tolerance": 2,
    "time_limit": 3,
    "interrupted": 4,
    "error": 5,
    "exhausted": 6,
    "callback": 99,
}
"""The status for each reason to end."""


def snapshot(optimizer: Optimizer) -> OptimizeResult:
    """The result so far, without a status; `history` and `newest` are made on demand."""
    found, best = optimizer.recommended, optimizer.best
    n = optimizer.n_evaluations - optimizer._given
    result = OptimizeResult(
        fun=np.nan if found is None else found.mean,
        x=np.full(len(optimizer.space), np.nan) if found is None else found.x,
        recommended=found,
        best=best,
        nfev=n,
        nit=n,
        restarts=optimizer.restarts,
        optimizer=optimizer,
    )
    if measured := optimizer.config["constraints"]:
        nothing_met = np.full(measured, np.nan), False
        result["constraints"], result["feasible"] = nothing_met if best is None else (best.constraints, best.feasible)
    if optimizer.has_names:
        nothing = dict.fromkeys(optimizer.space, np.nan)
        result["params"] = nothing if found is None else optimizer.space.to_dict(found.x)
    if optimizer._misfit is not None:
        from ._fit import begin

        return begin(result, optimizer._misfit)
    return result


def final(optimizer: Optimizer, ending: str, message: str) -> OptimizeResult:
    """The result of a run that ended in one of the ways of `STATUS`."""
    history = optimizer.history
    failures = failure_summary(history)
    if failures:
        message += f"; {failures}"
    if history.constraints.shape[1] and not history.feasible.any():
        satisfied = (history.constraints <= 0).all(axis=1).any()
        none = "no evaluation that satisfied the constraints gave a value" if satisfied else "no evaluation satisfied the constraints"
        message += f"; {none}" + ("" if optimizer.best is None else ": x has the smallest violation")
    verdict = {
        "message": message,
        "success": ending in ("target", "tolerance", "exhausted"),
        "status": STATUS[ending],
    }
    now = snapshot(optimizer)
    result = type(now)({**verdict, **now, "history": history})
    if optimizer._misfit is not None:
        from ._fit import LeastSquaresResult, complete

        complete(cast(LeastSquaresResult, result), optimizer._misfit)
    return result


def failure_summary(history: History) -> str:
    """How many evaluations failed, and the most frequent reason; empty if none failed."""
    failed = int(history.failed.sum())
    if failed == 0:
        return ""
    how_many = (
        "no evaluation succeeded"
        if failed == len(history)
        else f"{plural(failed, 'evaluation')} failed"
    )
    reasons = Counter(reason for reason in history.reason if reason is not None)
    if not reasons:
        return how_many
    reason, times = reasons.most_common(1)[0]
    often = "" if times == failed else "once " if times == 1 else f"{times} times "
    return f"{how_many} ({often}{reason})"
