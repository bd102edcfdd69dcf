"""The `tuning` command: models of scikit-learn, tuned by cross-validation on the data that it ships.

Each task is a `labcat.Space`, with conditions, and a loss. Optuna's samplers get the same parameters by its own interface, asked for
only where their condition holds.
"""

from __future__ import annotations

import functools
import importlib.util
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import numpy as np

import labcat

from .results import Record, ResultsFile, metadata
from .shared import Command, common_options, numbers, positive, present, words
from .summary import Block, Table

BUDGETS = [15, 50]
RUNS = 10
FOLDS = 3
ROWS = 600
"""Of the data, at most: an evaluation takes about a tenth of a second."""
METHODS = ("labcat", "sampler", "tpe", "gp", "random")
"""labcat itself; its sampler for Optuna; Optuna's TPE, Gaussian process and random sampler."""

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Task:
    """Something to tune: the data, the parameters, and the model that they make."""

    data: str
    space: labcat.Space
    model: Callable[[Params], Any]
    help: str


@functools.cache
def folds(name: str) -> Any:
    """Inputs and outputs of one of scikit-learn's sets, and the parts they are split into."""
    try:
        from sklearn import datasets
        from sklearn.model_selection import KFold
    except ImportError as error:
        raise ValueError("tuning needs scikit-learn: pip install scikit-learn") from error
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    x, y = x[:ROWS], y[:ROWS]
    x = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-12)
    if name == "diabetes":
        y = (y - y.mean()) / y.std()
    return x, y, list(KFold(FOLDS, shuffle=True, random_state=0).split(x))


def loss(task: str, params: Params) -> float:
    """The mean loss over the folds: log loss of a classifier, squared error (of standardised outputs) of a regression."""
    return _loss(task, tuple(sorted(params.items())))


@functools.lru_cache(maxsize=100_000)
def _loss(task: str, params: tuple[tuple[str, Any], ...]) -> float:
    from sklearn.metrics import log_loss, mean_squared_error

    x, y, splits = folds(TASKS[task].data)
    losses = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a fit that stopped at its limit
        for fit, rest in splits:
            model = TASKS[task].model(dict(params)).fit(x[fit], y[fit])
            if hasattr(model, "predict_proba"):
                losses.append(log_loss(y[rest], model.predict_proba(x[rest]), labels=np.unique(y)))
            elif hasattr(model, "decision_function"):
                losses.append(1.0 - model.score(x[rest], y[rest]))
            else:
                losses.append(mean_squared_error(y[rest], model.predict(x[rest])))
    return float(np.mean(losses))


def support_vectors(params: Params) -> Any:
    from sklearn.svm import SVC

    return SVC(max_iter=2000, **params)


def one_of_four(params: Params) -> Any:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    models = {
        "logistic": lambda: LogisticRegression(C=params["C"], max_iter=300),
        "neighbours": lambda: KNeighborsClassifier(params["neighbours"], weights=params["weights"]),
        "tree": lambda: DecisionTreeClassifier(
            max_depth=params["depth"], min_samples_leaf=params["leaf"], random_state=0
        ),
        "forest": lambda: RandomForestClassifier(
            20, max_depth=params["depth"], max_features=params["features"], random_state=0
        ),
    }
    return models[params["model"]]()


def boosting(params: Params) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(random_state=0, **params)


def perceptron(params: Params) -> Any:
    from sklearn.neural_network import MLPClassifier

    given = dict(params)
    layers = given.pop("layers")
    widths = [given.pop(f"width{i}") for i in range(1, layers + 1)]
    return MLPClassifier(widths, max_iter=60, random_state=0, **given)


TASKS: dict[str, Task] = {
    "svc": Task(
        "digits",
        labcat.Space(
            kernel=["linear", "rbf", "poly", "sigmoid"],
            C=labcat.Real(1e-3, 1e3, "log"),
            gamma=labcat.Real(1e-5, 1e1, "log", when={"kernel": ["rbf", "poly", "sigmoid"]}),
            degree=labcat.Integer(2, 5, when={"kernel": "poly"}),
            coef0=labcat.Real(0, 2, when={"kernel": ["poly", "sigmoid"]}),
        ),
        support_vectors,
        "support-vector classification of digits, parameters by kernel: error",
    ),
    "models": Task(
        "breast_cancer",
        labcat.Space(
            model=["logistic", "neighbours", "tree", "forest"],
            C=labcat.Real(1e-4, 1e3, "log", when={"model": "logistic"}),
            neighbours=labcat.Integer(1, 60, "log", when={"model": "neighbours"}),
            weights=labcat.Categorical(["uniform", "distance"], when={"model": "neighbours"}),
            depth=labcat.Integer(1, 12, when={"model": ["tree", "forest"]}),
            leaf=labcat.Integer(1, 60, "log", when={"model": "tree"}),
            features=labcat.Real(0.1, 1, when={"model": "forest"}),
        ),
        one_of_four,
        "one of four classifiers of the breast-cancer data, each with its parameters: log loss",
    ),
    "gbm": Task(
        "diabetes",
        labcat.Space(
            learning_rate=labcat.Real(1e-3, 1, "log"),
            n_estimators=labcat.Integer(10, 200, "log"),
            max_depth=labcat.Integer(1, 8),
            subsample=labcat.Real(0.3, 1),
            min_samples_leaf=labcat.Integer(1, 60, "log"),
            max_features=labcat.Real(0.1, 1),
        ),
        boosting,
        "gradient boosting of the diabetes data: squared error",
    ),
    "mlp": Task(
        "wine",
        labcat.Space(
            layers=labcat.Integer(1, 3),
            width1=labcat.Integer(4, 64, "log"),
            width2=labcat.Integer(4, 64, "log", when={"layers": [2, 3]}),
            width3=labcat.Integer(4, 64, "log", when={"layers": 3}),
            activation=["relu", "tanh", "logistic"],
            learning_rate_init=labcat.Real(1e-4, 1e-1, "log"),
            alpha=labcat.Real(1e-6, 1, "log"),
        ),
        perceptron,
        "a neural network of the wine data, one to three layers: log loss",
    ),
}


def suggested(trial: Any, space: labcat.Space) -> dict[str, Any]:
    """The parameters of a trial of Optuna, asked for where their condition holds."""
    params: dict[str, Any] = {}
    for name, parameter in space.items():
        when = parameter.when
        if when is not None:
            assert isinstance(when, Mapping)
            ((other, values),) = when.items()
            if params.get(other) not in (values if isinstance(values, list) else [values]):
                continue
        params[name] = _suggest(trial, name, parameter)
    return params


def _suggest(trial: Any, name: str, parameter: Any) -> Any:
    if isinstance(parameter, labcat.Categorical):
        return trial.suggest_categorical(name, list(parameter.choices))
    suggest = trial.suggest_int if isinstance(parameter, labcat.Integer) else trial.suggest_float
    return suggest(name, parameter.low, parameter.high, log=parameter.scale == "log")


def values_of(method: str, task: str, budget: int, seed: int) -> list[float]:
    """The losses that a method found, one per evaluation."""
    if method == "labcat":
        space = TASKS[task].space
        found = labcat.minimize(functools.partial(_named_loss, task), space, budget=budget, rng=seed)
        return [float(value) for value in found.history.value]
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is experimental
        study = optuna.create_study(sampler=_sampler(method, seed))
        study.optimize(lambda trial: loss(task, suggested(trial, TASKS[task].space)), n_trials=budget)
    return [float(trial.value) for trial in study.trials]


def _named_loss(task: str, params: Params) -> float:
    return loss(task, dict(params))


def _sampler(method: str, seed: int) -> Any:
    import optuna

    from labcat.integrations.optuna import LabcatSampler

    made: dict[str, Callable[[], Any]] = {
        "sampler": lambda: LabcatSampler(seed=seed),
        "tpe": lambda: optuna.samplers.TPESampler(seed=seed),
        "gp": lambda: optuna.samplers.GPSampler(seed=seed),
        "random": lambda: optuna.samplers.RandomSampler(seed=seed),
    }
    return made[method]()


def register(command: Command) -> None:
    sub = command(
        "tuning", run, "models of scikit-learn, tuned by labcat, by its sampler for Optuna and by Optuna's own"
    )
    common_options(sub, "tuning")
    sub.add_argument("--tasks", type=words, default=list(TASKS), help=f"of {', '.join(TASKS)} (default: all)")
    sub.add_argument("--methods", type=words, default=list(METHODS), help=f"of {', '.join(METHODS)} (default: all)")
    sub.add_argument("--runs", type=positive, default=RUNS, help="per task and method (default: %(default)s)")
    shown = ",".join(map(str, BUDGETS))
    sub.add_argument("--budgets", type=numbers, default=BUDGETS, help=f"evaluations shown (default: {shown})")


def run(options: Any) -> None:
    for given, allowed in ((options.tasks, TASKS), (options.methods, METHODS)):
        if unknown := [name for name in given if name not in allowed]:
            raise ValueError(f"unknown {unknown[0]!r}. Allowed: {', '.join(allowed)}")
    folds("wine")  # whether scikit-learn is there
    if any(name != "labcat" for name in options.methods) and importlib.util.find_spec("optuna") is None:
        raise ValueError("Optuna's samplers need it: pip install optuna, or --methods labcat")
    if "gp" in options.methods and importlib.util.find_spec("torch") is None:
        raise ValueError(
            "Optuna's Gaussian process needs torch: pip install torch, or --methods labcat,sampler,tpe,random"
        )
    path = options.out / "results.jsonl"
    if options.fresh:
        path.unlink(missing_ok=True)
    results = ResultsFile(path)
    results.start(metadata(options.line))
    began = time.monotonic()
    made = 0
    for record in _made(options, results):
        results.append(record)
        made += 1
        if not options.quiet:
            print(f"{record['key']}: {min(record['values']):.4g}", file=sys.stderr)
    print(f"{made} runs in {time.monotonic() - began:.1f} s", file=sys.stderr)
    present(options, "Tuning", results, summarise(results.records, options))


def _made(options: Any, results: ResultsFile) -> Iterator[Record]:
    """The runs that are missing, as they end."""
    budget = max(options.budgets)
    wanted = [
        (method, task, budget, options.seed + k)
        for k in range(options.runs)
        for task in options.tasks
        for method in options.methods
    ]
    missing = [case for case in wanted if _key(*case) not in results.records]
    with ProcessPoolExecutor(options.workers) as pool:
        cases = {pool.submit(values_of, *case): case for case in missing}
        for future in as_completed(cases):
            method, task, _, seed = cases[future]
            record = {
                "key": _key(*cases[future]),
                "method": method,
                "task": task,
                "seed": seed,
                "values": future.result(),
            }
            yield record


def _key(method: str, task: str, budget: int, seed: int) -> str:
    return f"{task}/{method}/{budget}/{seed}"


def summarise(records: Mapping[str, Record], options: Any) -> list[Block]:
    """For each number of evaluations the medians, and the paired difference from labcat with its standard error."""
    return [
        Table(
            f"Best loss after {evaluations} evaluations: median of {options.runs} runs (difference from {options.methods[0]} ± its standard error)",
            ["task", *options.methods],
            [[task, *_row(records, options, task, evaluations)] for task in options.tasks],
            note="A difference above 0 is in favour of the first method. Runs of one seed are compared with each other.",
        )
        for evaluations in options.budgets
    ]


def _row(records: Mapping[str, Record], options: Any, task: str, evaluations: int) -> list[str]:
    best = {method: _best(records, options, method, task, evaluations) for method in options.methods}
    first = best[options.methods[0]]
    return [
        f"{statistics.median(found):.4g}" + ("" if found is first else f" ({_difference(found, first)})")
        for found in best.values()
    ]


def _best(records: Mapping[str, Record], options: Any, method: str, task: str, evaluations: int) -> list[float]:
    keys = [_key(method, task, max(options.budgets), options.seed + k) for k in range(options.runs)]
    return [min(records[key]["values"][:evaluations]) for key in keys]


def _difference(found: Sequence[float], first: Sequence[float]) -> str:
    differences = [a - b for a, b in zip(found, first, strict=True)]
    error = statistics.stdev(differences) / len(differences) ** 0.5 if len(differences) > 1 else float("nan")
    return f"{statistics.mean(differences):+.2g} ± {error:.1g}"
