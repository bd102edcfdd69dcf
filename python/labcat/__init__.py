"""Locally adaptive Bayesian optimisation of expensive black-box functions.

`minimize` and `maximize` run an optimisation to its end. With `Optimizer` you ask for points and tell their values.

>>> import labcat
>>> result = labcat.minimize(lambda x: (x[0] - 1) ** 2 + x[1] ** 2, [(-5, 5)] * 2, budget=50, rng=1)
>>> result.fun < 1e-6
True
"""

from typing import TYPE_CHECKING

from ._errors import (
    BudgetOutstanding,
    CheckpointError,
    EvaluationTimeout,
    InvalidError,
    LabcatError,
    NoModelError,
    Stopped,
    SystematicFailure,
    UnknownSwitchError,
    UnknownTrialError,
    WorkerError,
)
from ._history import Evaluation, History, Prediction, Recommendation, Restart, Trial, TrustRegion
from ._labcat import __version__
from ._least_squares import least_squares
from ._minimize import maximize, minimize
from ._optimizer import Optimizer
from ._outcome import Outcome
from ._parameters import Boolean, Categorical, Fixed, Integer, Real
from ._scipy import scipy_method
from ._space import Space
from ._values import SWITCHES, Switch

if TYPE_CHECKING:
    from . import integrations, plots
    from ._async import amaximize, aminimize
    from ._fit import LeastSquaresResult
    from ._result import OptimizeResult

__all__ = [
    "SWITCHES",
    "Boolean",
    "BudgetOutstanding",
    "Categorical",
    "CheckpointError",
    "Evaluation",
    "EvaluationTimeout",
    "Fixed",
    "History",
    "Integer",
    "InvalidError",
    "LabcatError",
    "LeastSquaresResult",
    "NoModelError",
    "OptimizeResult",
    "Optimizer",
    "Outcome",
    "Prediction",
    "Real",
    "Recommendation",
    "Restart",
    "Space",
    "Stopped",
    "Switch",
    "SystematicFailure",
    "Trial",
    "TrustRegion",
    "UnknownSwitchError",
    "UnknownTrialError",
    "WorkerError",
    "__version__",
    "amaximize",
    "aminimize",
    "integrations",
    "least_squares",
    "maximize",
    "minimize",
    "plots",
    "scipy_method",
]


def __getattr__(name: str) -> object:
    """Loads some names when they are first used, because importing scipy takes most of a second."""
    import importlib

    if name == "OptimizeResult":
        return importlib.import_module("labcat._result").OptimizeResult
    if name in ("aminimize", "amaximize"):
        return getattr(importlib.import_module("labcat._async"), name)
    if name == "LeastSquaresResult":
        return importlib.import_module("labcat._fit").LeastSquaresResult
    if name in ("integrations", "plots"):
        return importlib.import_module(f"labcat.{name}")
    meant = _ELSEWHERE.get(name)
    hint = "" if meant is None else f"; it is called labcat.{meant} here"
    raise AttributeError(f"module 'labcat' has no attribute {name!r}{hint}")


_ELSEWHERE = {
    "Bool": "Boolean",
    "Choice": "Categorical",
    "Constant": "Fixed",
    "Float": "Real",
    "Int": "Integer",
    "LogUniform": "Real(low, high, scale=\"log\")",
    "Uniform": "Real",
    "curve_fit": "least_squares",
    "fmin": "minimize",
    "gp_minimize": "minimize",
}
"""Names in other packages, and the name here."""


def __dir__() -> list[str]:
    return sorted(__all__)
