"""Random search, evolution strategies and quadratic interpolation."""

from __future__ import annotations

import numpy as np

from ..algorithms import Peer
from ..objective import Objective

# pycma takes the seed 0 as "use the clock", and scipy and nlopt want 32 bits.
SEED_RANGE = 2**31 - 2


def random_search(objective: Objective, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for u in rng.random((objective.remaining, objective.dim)):
        objective.in_unit(u)


def cma_es(objective: Objective, seed: int) -> None:
    import cma

    start = np.random.default_rng(seed).random(objective.dim)
    cma.fmin2(objective.in_unit, start, 0.2, _cma_options(objective, seed))


def lq_cma_es(objective: Objective, seed: int) -> None:
    import cma

    start = np.random.default_rng(seed).random(objective.dim)
    cma.fmin_lq_surr(objective.in_unit, start, 0.2, _cma_options(objective, seed))


def _cma_options(objective: Objective, seed: int) -> dict[str, object]:
    return {
        "bounds": [0, 1],
        "maxfevals": objective.remaining,
        "seed": seed % SEED_RANGE + 1,
        "verbose": -9,
        "verb_log": 0,
    }


def newuoa(objective: Objective, seed: int) -> None:
    _nlopt(objective, seed, "LN_NEWUOA_BOUND")


def bobyqa(objective: Objective, seed: int) -> None:
    _nlopt(objective, seed, "LN_BOBYQA")


def _nlopt(objective: Objective, seed: int, method: str) -> None:
    import nlopt

    optimizer = nlopt.opt(getattr(nlopt, method), objective.dim)
    optimizer.set_min_objective(lambda x, _gradient: objective(x))
    optimizer.set_lower_bounds(objective.lower)
    optimizer.set_upper_bounds(objective.upper)
    optimizer.set_xtol_rel(1e-10)
    optimizer.set_maxeval(objective.remaining)  # NEWUOA_BOUND never returns when the objective raises
    try:
        optimizer.optimize(objective.from_unit(np.random.default_rng(seed).random(objective.dim)))
    except nlopt.RoundoffLimited:
        pass  # converged as far as the arithmetic allows


def cobyqa(objective: Objective, seed: int) -> None:
    from scipy.optimize import Bounds, minimize

    start = objective.from_unit(np.random.default_rng(seed).random(objective.dim))
    bounds = Bounds(objective.lower, objective.upper)
    options = {"maxfev": objective.remaining, "final_tr_radius": 1e-12}
    minimize(objective, start, method="COBYQA", bounds=bounds, options=options)


PEERS = (
    Peer("random", "random", random_search, settings="uniform in the box"),
    Peer("cma", "CMA-ES", cma_es, ("cma",), ("cma",), "start uniform, σ₀ = 0.2 of the box"),
    Peer("lq-cma", "lq-CMA-ES", lq_cma_es, ("cma",), ("cma",), "start uniform, σ₀ = 0.2 of the box"),
    Peer("newuoa", "NEWUOA", newuoa, ("nlopt",), ("nlopt",), "start uniform, 2d+1 points, xtol 1e-10"),
    Peer("bobyqa", "BOBYQA", bobyqa, ("nlopt",), ("nlopt",), "start uniform, 2d+1 points, xtol 1e-10"),
    Peer("cobyqa", "COBYQA", cobyqa, ("scipy>=1.14",), ("scipy",), "start uniform, 2d+1 points"),
)
