"""The `choices` command: functions of reals, integers and categories, and two tuning tasks with scikit-learn's data.

func2C and func3C are those of Ru, Alvi, Nguyen, Osborne and Roberts (2020, CoCaBO), without their noise of 1e-6.
"""

from __future__ import annotations

import argparse
import functools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from .coco import failures
from .medians import standing
from .objective import MixedObjective, Objective, Parameter
from .problems import RepeatedProblem
from .runner import Problem, Run
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
PEERS = ["tpe", "catcmawm", "random"]


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


FOLDS = 2


@functools.cache
def folds(name: str) -> Any:
    """Inputs, standardised, and outputs of one of the sets that scikit-learn ships, and its halves, each once to fit and once to judge."""
    try:
        from sklearn import datasets
        from sklearn.model_selection import KFold
    except ImportError as error:
        raise ValueError("the tuning tasks need scikit-learn: pip install scikit-learn") from error
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    x = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-12)
    return x, y, list(KFold(FOLDS, shuffle=True, random_state=0).split(x))


def validated(model: Any, name: str, predict: Callable[[Any, Any], Any]) -> float:
    """The mean squared error of what a model predicts for the fold that it was not fitted to."""
    x, y, splits = folds(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a fit that stopped at its limit
        errors = [((predict(model.fit(x[fit], y[fit]), x[rest]) - y[rest]) ** 2).mean() for fit, rest in splits]
    return float(sum(errors)) / FOLDS


KERNELS = ("linear", "rbf", "poly", "sigmoid")
MODELS = ("tree", "neighbours", "logistic")


@functools.lru_cache(maxsize=100_000)
def support_vectors(kernel: float, c: float, epsilon: float, gamma: float, degree: float) -> float:
    """Support-vector regression on the diabetes data: the mean squared error, in thousands."""
    from sklearn.svm import SVR

    name = KERNELS[int(kernel)]
    model = SVR(kernel=name, degree=int(degree), C=c, gamma=gamma, epsilon=epsilon, max_iter=1000)
    return validated(model, "diabetes", lambda fitted, x: fitted.predict(x)) / 1000


@functools.lru_cache(maxsize=100_000)
def classifier(model: float, *v: float) -> float:
    """A decision tree, nearest neighbours or logistic regression on the breast-cancer data: the Brier score."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    entropy, depth, leaf, count, by_distance, euclidean, c, balanced = v
    chosen: Any = (
        lambda: DecisionTreeClassifier(
            criterion="entropy" if entropy else "gini",
            max_depth=int(depth),
            min_samples_leaf=int(leaf),
            random_state=0,
        ),
        lambda: KNeighborsClassifier(
            int(count), weights="distance" if by_distance else "uniform", p=1 + int(euclidean)
        ),
        lambda: LogisticRegression(C=c, class_weight="balanced" if balanced else None, max_iter=100),
    )[int(model)]()
    return validated(chosen, "breast_cancer", lambda fitted, x: fitted.predict_proba(x)[:, 1])


@dataclass(frozen=True)
class Task:
    fun: Callable[[Any], float]
    parameters: tuple[Parameter, ...]


UNIT = Parameter(-1, 1)
TREE, NEIGHBOURS, LOGISTIC = ((0, (model,)) for model in MODELS)
THREE, FOUR, FIVE = (Parameter.choice(*"abcde"[:n]) for n in (3, 4, 5))
TASKS = {
    "func2C": Task(func2c, (THREE, FIVE, UNIT, UNIT)),
    "func3C": Task(func3c, (THREE, FIVE, FOUR, UNIT, UNIT)),
    "svr-diabetes": Task(
        lambda v: support_vectors(*v),
        (
            Parameter.choice(*KERNELS),
            Parameter(1e-2, 1e4, log=True),
            Parameter(1e-2, 100, log=True),
            Parameter(1e-5, 10, log=True, when=(0, ("rbf", "poly", "sigmoid"))),
            Parameter(2, 6, integer=True, when=(0, ("poly",))),
        ),
    ),
    "models-cancer": Task(
        lambda v: classifier(*v),
        (
            Parameter.choice(*MODELS),
            Parameter.choice("gini", "entropy", when=TREE),
            Parameter(1, 12, integer=True, when=TREE),
            Parameter(1, 64, integer=True, log=True, when=TREE),
            Parameter(1, 64, integer=True, log=True, when=NEIGHBOURS),
            Parameter.choice("uniform", "distance", when=NEIGHBOURS),
            Parameter.choice("manhattan", "euclidean", when=NEIGHBOURS),
            Parameter(1e-4, 1e4, log=True, when=LOGISTIC),
            Parameter.choice("no", "balanced", when=LOGISTIC),
        ),
    ),
}


class TaskProblem(RepeatedProblem):
    """A run of a task of a table."""

    tasks: ClassVar[Mapping[str, Task]]

    @contextmanager
    def open(self, budget: int, seed: int = 0) -> Iterator[Objective]:
        del seed
        task = self.tasks[self.name]
        yield MixedObjective(task.fun, task.parameters, budget)


class ChoicesProblem(TaskProblem):
    tasks = TASKS


def register(command: Command) -> None:
    sub = command("choices", run, "functions of reals, integers and categories, and two tuning tasks: medians")
    task_options(sub, "choices", TASKS, BUDGETS)


def task_options(sub: argparse.ArgumentParser, name: str, tasks: Mapping[str, Task], budgets: Sequence[int]) -> None:
    common_options(sub, name)
    algorithm_options(sub, PEERS)
    sub.add_argument("--tasks", type=words, default=list(tasks), help=f"of {', '.join(tasks)} (default: all)")
    sub.add_argument("--runs", type=positive, default=RUNS, help="per task (default: %(default)s)")
    shown = ",".join(map(str, budgets))
    sub.add_argument("--budgets", type=numbers, default=budgets, help=f"evaluations shown (default: {shown})")


def run(options: Any) -> None:
    if any("-" in name for name in options.tasks):
        folds("diabetes")  # whether scikit-learn is there
    compare(options, "choices", TASKS, ChoicesProblem)


def compare(options: Any, command: str, tasks: Mapping[str, Task], problem: Callable[[str, int], Problem]) -> None:
    """Runs every algorithm on every task as often as asked, and prints the medians."""
    if unknown := [name for name in options.tasks if name not in tasks]:
        raise ValueError(f"unknown task {unknown[0]!r}. Allowed: {', '.join(tasks)}")
    algorithms = chosen_algorithms(options, "mixed")
    problems = [problem(name, k) for name in options.tasks for k in range(options.runs)]
    budget = max(options.budgets)
    runs = [Run(algorithm, problem, budget, options.seed) for problem in problems for algorithm in algorithms]
    records, results = carry_out(options, runs, command)
    present(options, command.title(), results, summarise(records, options, [a.label for a in algorithms]))


def summarise(records: Sequence[Any], options: Any, names: Sequence[str]) -> list[Block]:
    blocks: list[Block] = []
    for evaluations in options.budgets:
        title = f"Best value after {evaluations} evaluations, median of {options.runs} runs"
        blocks += standing(title, records, evaluations, names)
    return blocks + failures(records)
