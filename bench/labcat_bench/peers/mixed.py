"""Methods for integers and categories. An integer has `levels` values; in the unit cube each has the same share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import adapters
from ..algorithms import Peer
from ..objective import MixedObjective, Objective, Parameter
from .classic import SEED_RANGE, STEP


def optuna_tpe(objective: Objective, seed: int) -> None:
    from optuna.samplers import TPESampler

    _optuna(objective, TPESampler(n_startup_trials=objective.initial_points, seed=seed))


def optuna_cma_margin(objective: Objective, seed: int) -> None:
    from optuna.samplers import CmaEsSampler

    _optuna(objective, CmaEsSampler(seed=seed, with_margin=True, warn_independent_sampling=False))


def _optuna(objective: Objective, sampler: Any) -> None:
    import optuna

    assert isinstance(objective, MixedObjective)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    names = [(f"x{k}", parameter) for k, parameter in enumerate(objective.parameters)]

    def suggested(trial: Any, name: str, parameter: Parameter) -> float:
        if parameter.choices:
            return float(trial.suggest_categorical(name, range(parameter.levels)))
        if parameter.integer:
            return float(trial.suggest_int(name, round(parameter.low), round(parameter.high), log=parameter.log))
        return float(trial.suggest_float(name, parameter.low, parameter.high, log=parameter.log))

    def value(trial: Any) -> float:
        point: list[float] = []
        for name, parameter in names:
            active = parameter.is_active(point, objective.parameters)
            point.append(suggested(trial, name, parameter) if active else parameter.middle)
        return objective(point)

    study = optuna.create_study(sampler=sampler)
    study.optimize(value, n_trials=objective.remaining)


def cma_integer(objective: Objective, seed: int) -> None:
    """pycma with integer variables: in its own units, each half a unit beyond its ends, rounded."""
    import cma

    assert isinstance(objective, MixedObjective)
    whole = np.array([p.integer for p in objective.parameters])
    lower = np.where(whole, objective.lower - 0.5 + 1e-9, _logs(objective, objective.lower))
    upper = np.where(whole, objective.upper + 0.5 - 1e-9, _logs(objective, objective.upper))

    def value(x: Any) -> float:
        reals = [np.exp(v) if p.log and not p.integer else v for p, v in zip(objective.parameters, x, strict=True)]
        return objective([p.rounded(v) for p, v in zip(objective.parameters, reals, strict=True)])

    options = {
        "bounds": [lower.tolist(), upper.tolist()],
        "integer_variables": np.flatnonzero(whole).tolist(),
        "CMA_stds": (STEP * (upper - lower)).tolist(),
        "maxfevals": objective.remaining,
        "seed": seed % SEED_RANGE + 1,
        "verbose": -9,
        "verb_log": 0,
    }
    cma.fmin2(value, lower + objective.start(seed) * (upper - lower), 1.0, options)


def _logs(objective: MixedObjective, ends: Any) -> Any:
    """The ends of real parameters, in logarithms where that is their scale."""
    return [np.log(v) if p.log and not p.integer else v for p, v in zip(objective.parameters, ends, strict=True)]


def cma_with_margin(objective: Objective, seed: int) -> None:
    """cmaes's CMAwM in the unit cube; the values of an integer lie evenly from 0 to 1."""
    from cmaes import CMAwM

    assert isinstance(objective, MixedObjective)
    steps = np.array([1 / (p.levels - 1) if p.integer else 0.0 for p in objective.parameters])
    bounds = np.array([[0.0, 1.0]] * objective.dim)
    search = CMAwM(objective.start(seed), STEP, bounds, steps, seed=seed % SEED_RANGE)
    while not search.should_stop():
        told = []
        for _ in range(search.population_size):
            encoded, raw = search.ask()
            told.append((raw, objective([_even(p, u) for p, u in zip(objective.parameters, encoded, strict=True)])))
        search.tell(told)


def _even(parameter: Parameter, u: float) -> float:
    if parameter.integer:
        return parameter.rounded(parameter.low + u * (parameter.high - parameter.low))
    return parameter.from_unit(u)


def cat_cma_with_margin(objective: Objective, seed: int) -> None:
    """cmaes's CatCMAwM: reals in the unit cube, integers by their values, categories (and pairs of values) as such."""
    from cmaes import CatCMAwM

    assert isinstance(objective, MixedObjective)
    parameters = objective.parameters
    choices = [k for k, p in enumerate(parameters) if p.choices or p.levels == 2]
    whole = [k for k, p in enumerate(parameters) if p.integer and k not in choices]
    reals = [k for k, p in enumerate(parameters) if not p.integer]
    search = CatCMAwM(
        x_space=[[0.0, 1.0]] * len(reals) or None,
        z_space=[np.arange(parameters[k].levels) + parameters[k].low for k in whole] or None,
        c_space=[parameters[k].levels for k in choices] or None,
        seed=seed % SEED_RANGE,
    )
    while not search.should_stop():
        told = []
        for _ in range(search.population_size):
            solution = search.ask()
            point = np.zeros(objective.dim)
            for k, u in _paired(reals, solution.x):
                point[k] = parameters[k].from_unit(float(u))
            for k, value in _paired(whole, solution.z):
                point[k] = value
            for k, row in _paired(choices, solution.c):
                point[k] = parameters[k].low + int(np.argmax(row))
            told.append((solution, objective(point)))
        search.tell(told)


def _paired(places: Sequence[int], values: Any) -> zip[tuple[int, Any]]:
    return zip(places, values if places else [], strict=True)


def smac(objective: Objective, seed: int) -> None:
    import logging
    import tempfile

    from ConfigSpace import Categorical, ConfigurationSpace, Float, InCondition, Integer
    from joblib import parallel_config
    from smac import HyperparameterOptimizationFacade, Scenario

    assert isinstance(objective, MixedObjective)

    def described(name: str, p: Parameter) -> Any:
        if p.choices:
            return Categorical(name, list(range(p.levels)))
        if p.integer:
            return Integer(name, (round(p.low), round(p.high)), log=p.log)
        return Float(name, (p.low, p.high), log=p.log)

    names = [f"x{k}" for k in range(objective.dim)]
    space = ConfigurationSpace(seed=seed % SEED_RANGE)
    known = [described(*named) for named in zip(names, objective.parameters, strict=True)]
    space.add(known)
    for child, p in zip(known, objective.parameters, strict=True):
        if p.when is not None:
            on, labels = p.when
            numbers = [objective.parameters[on].choices.index(label) for label in labels]
            space.add(InCondition(child, known[on], numbers))

    def value(configuration: Any, seed: int = 0) -> float:
        given = dict(configuration)
        named = zip(names, objective.parameters, strict=True)
        return objective([given.get(name, p.middle) for name, p in named])

    # One tree after another: setting up threads for each look at the forest takes longer than the look.
    with tempfile.TemporaryDirectory() as folder, parallel_config(backend="sequential"):
        scenario = Scenario(
            space,
            deterministic=True,
            n_trials=objective.remaining,
            seed=seed % SEED_RANGE,
            output_directory=folder,
        )
        HyperparameterOptimizationFacade(
            scenario,
            value,
            logging_level=logging.ERROR,
            overwrite=True,
        ).optimize()


KINDS: Any = ("mixed",)
CMAES = ("cmaes",)

PEERS = (
    Peer(
        "labcat-rounded",
        "LABCAT (default, rounded by hand)",
        adapters.rounded,
        settings="reals in the unit cube, rounded before the evaluation",
        kinds=KINDS,
    ),
    Peer("tpe", "Optuna TPE", optuna_tpe, ("optuna",), ("optuna",), "2d+1 initial points", kinds=KINDS),
    Peer(
        "optuna-cma-margin",
        "Optuna CMA-ES (margin)",
        optuna_cma_margin,
        ("optuna", "cmaes"),
        ("optuna", "cmaes"),
        "choices at random",
        kinds=KINDS,
    ),
    Peer("cma-int", "CMA-ES (integer)", cma_integer, ("cma",), ("cma",), "categories as integers", kinds=KINDS),
    Peer("cmawm", "CMAwM", cma_with_margin, CMAES, CMAES, "categories as integers", kinds=KINDS),
    Peer("catcmawm", "CatCMAwM", cat_cma_with_margin, CMAES, CMAES, "its own start", kinds=KINDS),
    Peer("smac-mixed", "SMAC", smac, ("smac",), ("smac",), "its own initial design", "slow", kinds=KINDS),
)
