"""The `choices` command: functions of reals, whole numbers and choices, and two tuning tasks with scikit-learn's data.

func2C and func3C are those of Ru, Alvi, Nguyen, Osborne and Roberts (2020, CoCaBO), without their noise of 1e-6.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .coco import failures
from .medians import standing
from .objective import MixedObjective, Objective, Parameter
from .problems import RepeatedProblem
from .runner import Run
from .shared import (
    Command,
    algorithm_options,
    carry_out,
    chosen_algorithms,
    common_options,
    numbers,
    positive,
    present,
    words,
)
from .summary import Block

BUDGETS = [100, 200]
RUNS = 20
PEERS = ["labcat-rounded", "tpe", "catcmawm", "random"]


def rosenbrock(x: float, y: float) -> float:
    return (100 * (y - x**2) ** 2 + (x - 1) ** 2) / 300


def camel(x: float, y: float) -> float:
    return ((4 - 2.1 * x**2 + x**4 / 3) * x**2 + x * y + (4 * y**2 - 4) * y**2) / 10


def beale(x: float, y: float) -> float:
    return ((1.5 - x + x * y) ** 2 + (2.25 - x + x * y**2) ** 2 + (2.625 - x + x * y**3) ** 2) / 50


PARTS = (rosenbrock, camel, beale)


def func2c(v: Any) -> float:
    first, second, x, y = int(v[0]), int(v[1]), 2 * v[2], 2 * v[3]
    return PARTS[first](x, y) + PARTS[min(second, 2)](x, y)


def func3c(v: Any) -> float:
    third, x, y = int(v[2]), 2 * v[3], 2 * v[4]
    last = (5 * camel(x, y), 2 * rosenbrock(x, y), third * beale(x, y))[min(third, 2)]
    return func2c([v[0], v[1], v[3], v[4]]) + last


@functools.cache
def dataset(name: str) -> Any:
    """Inputs, standardised, and outputs of one of the sets that scikit-learn ships."""
    try:
        from sklearn import datasets
    except ImportError as error:
        raise ValueError("the tuning tasks need scikit-learn: pip install scikit-learn") from error
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-12), y


KERNELS = ("linear", "rbf", "poly", "sigmoid")
FORESTS = ("ExtraTreesClassifier", "RandomForestClassifier")


def support_vectors(v: Any) -> float:
    """The mean squared error (in thousands) of support-vector regression on the diabetes data, three folds."""
    from sklearn.model_selection import KFold, cross_val_score
    from sklearn.svm import SVR

    kernel, shrinking, degree, c, gamma, epsilon = v
    model = SVR(
        kernel=KERNELS[int(kernel)],
        shrinking=bool(shrinking),
        degree=int(degree),
        C=c,
        gamma=gamma,
        epsilon=epsilon,
        max_iter=2000,
    )
    folds = KFold(3, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a fit that stopped at its limit
        scores = cross_val_score(model, *dataset("diabetes"), cv=folds, scoring="neg_mean_squared_error")
    return -float(scores.mean()) / 1000


def trees(v: Any) -> float:
    """The Brier score of a forest on the breast-cancer data, three folds."""
    from sklearn import ensemble
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    kind, bootstrap, count, depth, leaf, features = v
    model = getattr(ensemble, FORESTS[int(kind)])(
        int(count),
        bootstrap=bool(bootstrap),
        max_depth=int(depth),
        min_samples_leaf=int(leaf),
        max_features=float(features),
        random_state=0,
    )
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(model, *dataset("breast_cancer"), cv=folds, scoring="neg_brier_score")
    return -float(scores.mean())


@dataclass(frozen=True)
class Task:
    fun: Callable[[Any], float]
    parameters: tuple[Parameter, ...]


UNIT = Parameter(-1, 1)
SWITCH = Parameter.choice("no", "yes")
THREE, FOUR, FIVE = (Parameter.choice(*"abcde"[:n]) for n in (3, 4, 5))
TASKS = {
    "func2C": Task(func2c, (THREE, FIVE, UNIT, UNIT)),
    "func3C": Task(func3c, (THREE, FIVE, FOUR, UNIT, UNIT)),
    "svr-diabetes": Task(
        support_vectors,
        (
            Parameter.choice(*KERNELS),
            SWITCH,
            Parameter(1, 6, integer=True),
            Parameter(1e-2, 1e4, log=True),
            Parameter(1e-5, 10, log=True),
            Parameter(1e-2, 100, log=True),
        ),
    ),
    "trees-cancer": Task(
        trees,
        (
            Parameter.choice(*FORESTS),
            SWITCH,
            Parameter(2, 32, integer=True, log=True),
            Parameter(1, 16, integer=True),
            Parameter(1, 32, integer=True, log=True),
            Parameter(0.05, 1),
        ),
    ),
}


class ChoicesProblem(RepeatedProblem):
    @contextmanager
    def open(self, budget: int, seed: int = 0) -> Iterator[Objective]:
        del seed
        task = TASKS[self.name]
        yield MixedObjective(task.fun, task.parameters, budget)


def register(command: Command) -> None:
    sub = command("choices", run, "functions of reals, whole numbers and choices, and two tuning tasks: medians")
    common_options(sub, "choices")
    algorithm_options(sub, PEERS)
    sub.add_argument("--tasks", type=words, default=list(TASKS), help=f"of {', '.join(TASKS)} (default: all)")
    sub.add_argument("--runs", type=positive, default=RUNS, help="per task (default: %(default)s)")
    sub.add_argument("--budgets", type=numbers, default=BUDGETS, help="evaluations shown (default: 100,200)")


def run(options: Any) -> None:
    if unknown := [name for name in options.tasks if name not in TASKS]:
        raise ValueError(f"unknown task {unknown[0]!r}. Allowed: {', '.join(TASKS)}")
    if any("-" in name for name in options.tasks):
        dataset("diabetes")  # whether scikit-learn is there
    algorithms = chosen_algorithms(options, "mixed")
    problems = [ChoicesProblem(name, k) for name in options.tasks for k in range(options.runs)]
    budget = max(options.budgets)
    runs = [Run(algorithm, problem, budget, options.seed) for problem in problems for algorithm in algorithms]
    records, results = carry_out(options, runs, "choices")
    present(options, "Choices", results, summarise(records, options, [a.label for a in algorithms]))


def summarise(records: Sequence[Any], options: Any, names: Sequence[str]) -> list[Block]:
    blocks: list[Block] = []
    for evaluations in options.budgets:
        title = f"Best value after {evaluations} evaluations, median of {options.runs} runs"
        blocks += standing(title, records, evaluations, names)
    return blocks + failures(records)
