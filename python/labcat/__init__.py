"""Locally adaptive Bayesian optimisation of expensive black-box functions.

`minimize` and `maximize` run to the end; `Optimizer` is asked and told.

>>> import labcat
>>> result = labcat.minimize(lambda x: (x[0] - 1) ** 2 + x[1] ** 2, [(-5, 5)] * 2, budget=50, rng=1)
>>> result.fun < 1e-6
True
"""

from ._errors import (
    BudgetOutstanding,
    CheckpointError,
    InvalidError,
    LabcatError,
    NoModelError,
    Stopped,
    UnknownSwitchError,
    UnknownTrialError,
    WorkerError,
)
from ._history import Evaluation, History, Prediction, Restart, Trial, TrustRegion
from ._labcat import __version__
from ._minimize import maximize, minimize
from ._optimizer import Optimizer
from ._result import OptimizeResult
from ._scipy import scipy_method
from ._space import Categorical, Integer, Real, Space
from ._values import SWITCHES, Switch

__all__ = [
    "SWITCHES",
    "BudgetOutstanding",
    "Categorical",
    "CheckpointError",
    "Evaluation",
    "History",
    "Integer",
    "InvalidError",
    "LabcatError",
    "NoModelError",
    "OptimizeResult",
    "Optimizer",
    "Prediction",
    "Real",
    "Restart",
    "Space",
    "Stopped",
    "Switch",
    "Trial",
    "TrustRegion",
    "UnknownSwitchError",
    "UnknownTrialError",
    "WorkerError",
    "__version__",
    "maximize",
    "minimize",
    "scipy_method",
]
