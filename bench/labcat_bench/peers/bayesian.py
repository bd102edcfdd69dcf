"""Bayesian optimisation over the whole box, and sequential model-based search."""

from __future__ import annotations

import logging
import tempfile
from typing import Any

import numpy as np

from ..algorithms import Peer
from ..objective import Objective
from .classic import SEED_RANGE


def bayesian_optimization(objective: Objective, seed: int) -> None:
    _bayes_opt(objective, seed)


def domain_reduction(objective: Objective, seed: int) -> None:
    from bayes_opt import SequentialDomainReductionTransformer

    _bayes_opt(objective, seed, bounds_transformer=SequentialDomainReductionTransformer())


def _bayes_opt(objective: Objective, seed: int, **options: Any) -> None:
    from bayes_opt import BayesianOptimization

    names = [f"x{i}" for i in range(objective.dim)]
    optimizer = BayesianOptimization(
        lambda **point: -objective([point[name] for name in names]),
        dict(zip(names, objective.bounds, strict=True)),
        random_state=seed % SEED_RANGE,
        verbose=0,
        allow_duplicate_points=True,
        **options,
    )
    initial = objective.initial_points
    optimizer.maximize(init_points=initial, n_iter=objective.remaining - initial)


def egobox_ego(objective: Objective, seed: int) -> None:
    egobox(objective, seed, trego=False)


def egobox(objective: Objective, seed: int, *, trego: bool) -> None:
    import egobox

    initial = objective.initial_points
    bounds = [list(pair) for pair in objective.bounds]
    optimizer = egobox.Egor(bounds, n_doe=initial, trego=trego, seed=seed)
    values = lambda points: np.array([[objective(x)] for x in points])  # noqa: E731
    optimizer.minimize(values, max_iters=objective.remaining - initial)


def optuna_tpe(objective: Objective, seed: int) -> None:
    from optuna.samplers import TPESampler

    _optuna(objective, TPESampler(n_startup_trials=objective.initial_points, seed=seed))


def optuna_gp(objective: Objective, seed: int) -> None:
    from optuna.samplers import GPSampler

    sampler = GPSampler(n_startup_trials=objective.initial_points, seed=seed, deterministic_objective=True)
    _optuna(objective, sampler)


def optuna_cma(objective: Objective, seed: int) -> None:
    from optuna.samplers import CmaEsSampler

    _optuna(objective, CmaEsSampler(seed=seed))


def _optuna(objective: Objective, sampler: Any) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = [(f"x{i}", low, high) for i, (low, high) in enumerate(objective.bounds)]
    study = optuna.create_study(sampler=sampler)
    study.optimize(
        lambda trial: objective([trial.suggest_float(*parameter) for parameter in space]), n_trials=objective.remaining
    )


def smac(objective: Objective, seed: int) -> None:
    from ConfigSpace import ConfigurationSpace
    from smac import BlackBoxFacade, Scenario

    names = [f"x{i}" for i in range(objective.dim)]
    space = ConfigurationSpace(dict(zip(names, objective.bounds, strict=True)), seed=seed % SEED_RANGE)
    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(
            space,
            deterministic=True,
            n_trials=objective.remaining,
            seed=seed % SEED_RANGE,
            output_directory=folder,
        )
        design = BlackBoxFacade.get_initial_design(scenario, n_configs=objective.initial_points, max_ratio=1.0)
        BlackBoxFacade(
            scenario,
            lambda configuration, seed=0: objective([configuration[name] for name in names]),
            initial_design=design,
            logging_level=logging.ERROR,
            overwrite=True,
        ).optimize()


def hebo(objective: Objective, seed: int) -> None:
    import torch
    from hebo.design_space.design_space import DesignSpace
    from hebo.optimizers.hebo import HEBO

    names = [f"x{i}" for i in range(objective.dim)]
    parameters = zip(names, objective.bounds, strict=True)
    space = DesignSpace().parse([{"name": n, "type": "num", "lb": low, "ub": high} for n, (low, high) in parameters])
    np.random.seed(seed % SEED_RANGE)  # noqa: NPY002 (the package draws from it)
    torch.manual_seed(seed)
    optimizer = HEBO(space, rand_sample=objective.initial_points, scramble_seed=seed % SEED_RANGE)
    while objective.remaining:
        point = optimizer.suggest(n_suggestions=1)
        value = objective(point[names].to_numpy(dtype=float)[0])
        optimizer.observe(point, np.array([[value]]))


DESIGN = "2d+1 initial points"

PEERS = (
    Peer("bo", "BO", bayesian_optimization, ("bayesian-optimization",), ("bayes_opt",), DESIGN),
    Peer("ego", "EGO (egobox)", egobox_ego, ("egobox",), ("egobox",), DESIGN),
    Peer("optuna-tpe", "Optuna TPE", optuna_tpe, ("optuna",), ("optuna",), DESIGN),
    Peer("optuna-gp", "Optuna GP", optuna_gp, ("optuna", "torch"), ("optuna", "torch"), DESIGN, "torch is large"),
    Peer("optuna-cma", "Optuna CMA-ES", optuna_cma, ("optuna", "cmaes"), ("optuna", "cmaes"), "its own start"),
    Peer("smac", "SMAC", smac, ("smac",), ("smac",), DESIGN, "slow: seconds per evaluation late in a run"),
    Peer("hebo", "HEBO", hebo, ("HEBO",), ("hebo",), DESIGN, "needs numpy < 2: a virtual environment of its own"),
)
