"""Methods for measured constraints, satisfied when g ≤ 0. They begin where the suite says, or at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import adapters
from ..algorithms import Peer
from ..objective import ConstrainedObjective, Objective
from .classic import STEP


def cobyla(objective: Objective, seed: int) -> None:
    _scipy(objective, seed, "COBYLA", {"rhobeg": STEP, "tol": 1e-12, "maxiter": objective.remaining})


def cobyqa(objective: Objective, seed: int) -> None:
    options = {"maxfev": objective.remaining, "initial_tr_radius": STEP, "final_tr_radius": 1e-12}
    _scipy(objective, seed, "COBYQA", options)


def _scipy(objective: Objective, seed: int, method: str, options: dict[str, Any]) -> None:
    from scipy.optimize import Bounds, NonlinearConstraint, minimize

    assert isinstance(objective, ConstrainedObjective)
    measure = objective.once
    minimize(
        lambda u: measure(objective.from_unit(u))[0],
        objective.start(seed),
        method=method,
        bounds=Bounds(np.zeros(objective.dim), np.ones(objective.dim)),
        constraints=NonlinearConstraint(lambda u: measure(objective.from_unit(u))[1], -np.inf, 0),
        options=options,
    )


def egobox(objective: Objective, seed: int) -> None:
    import egobox

    assert isinstance(objective, ConstrainedObjective)
    rng = np.random.default_rng(seed)
    first = [objective.start(seed), *rng.random((objective.initial_points - 1, objective.dim))]
    design = np.array([objective.from_unit(u) for u in first])
    optimizer = egobox.Egor(
        [list(pair) for pair in objective.bounds],
        cstr_specs=[egobox.CstrSpec.leq(0.0, tol=0.0)] * objective.constraints,
        x_doe=design,
        seed=seed,
    )

    def values(points: Any) -> Any:
        return np.array([[value, *g] for value, g in map(objective.measure, points)])

    optimizer.minimize(values, max_iters=objective.remaining - len(design))


def optuna_gp(objective: Objective, seed: int) -> None:
    import optuna
    from optuna.samplers import GPSampler

    assert isinstance(objective, ConstrainedObjective)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = GPSampler(
        n_startup_trials=objective.initial_points,
        seed=seed,
        deterministic_objective=True,
        constraints_func=lambda trial: trial.user_attrs["constraints"],
    )
    study = optuna.create_study(sampler=sampler)
    names = [(f"x{k}", low, high) for k, (low, high) in enumerate(objective.bounds)]
    start = objective.from_unit(objective.start(seed))
    study.enqueue_trial({name: float(v) for (name, _, _), v in zip(names, start, strict=True)})

    def value(trial: Any) -> float:
        found, constraints = objective.measure([trial.suggest_float(*parameter) for parameter in names])
        trial.set_user_attr("constraints", constraints.tolist())
        return found

    study.optimize(value, n_trials=objective.remaining)


KINDS: Any = ("constrained",)
FIRST = f"first step {STEP} of the box"

PEERS = (
    Peer(
        "labcat-nan",
        "LABCAT (default, NaN where infeasible)",
        adapters.failing,
        settings="a violated constraint is a failed evaluation",
        kinds=KINDS,
    ),
    Peer("cobyla", "COBYLA", cobyla, ("scipy>=1.14",), ("scipy",), FIRST, kinds=KINDS),
    Peer("cobyqa-constrained", "COBYQA", cobyqa, ("scipy>=1.14",), ("scipy",), FIRST, kinds=KINDS),
    Peer("egobox-constrained", "EGO (egobox)", egobox, ("egobox",), ("egobox",), "2d+1 initial points", kinds=KINDS),
    Peer(
        "optuna-gp-constrained",
        "Optuna GP",
        optuna_gp,
        ("optuna", "torch"),
        ("optuna", "torch"),
        "2d+1 initial points",
        "torch is large",
        kinds=KINDS,
    ),
)
