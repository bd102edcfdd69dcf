"""Random search, evolution strategies and quadratic interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algorithms import Peer
from ..objective import Objective

# pycma takes the seed 0 as "use the clock", and scipy and nlopt want 32 bits.
SEED_RANGE = 2**31 - 2
STEP = Objective.first_step


def random_search(objective: Objective, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for u in rng.random((objective.remaining, objective.dim)):
        objective.in_unit(u)


def cma_es(objective: Objective, seed: int) -> None:
    import cma

    cma.fmin2(objective.in_unit, objective.start(seed), objective.first_step, _cma_options(objective, seed))


def lq_cma_es(objective: Objective, seed: int) -> None:
    import cma

    cma.fmin_lq_surr(objective.in_unit, objective.start(seed), objective.first_step, _cma_options(objective, seed))


def _cma_options(objective: Objective, seed: int) -> dict[str, object]:
    return {
        "bounds": [0, 1],
        "maxfevals": objective.remaining,
        "seed": seed % SEED_RANGE + 1,
        "verbose": -9,
        "verb_log": 0,
    }


def newuoa(objective: Objective, seed: int) -> None:
    """Without bounds: points outside the box are moved to it. nlopt's bounded variant can loop without evaluating."""
    import nlopt

    _nlopt(nlopt.opt(nlopt.LN_NEWUOA, objective.dim), objective, seed)


def bobyqa(objective: Objective, seed: int) -> None:
    import nlopt

    optimizer = nlopt.opt(nlopt.LN_BOBYQA, objective.dim)
    optimizer.set_lower_bounds(0.0)
    optimizer.set_upper_bounds(1.0)
    _nlopt(optimizer, objective, seed)


def _nlopt(optimizer: Any, objective: Objective, seed: int) -> None:
    import nlopt

    optimizer.set_min_objective(lambda u, _gradient: objective.in_unit(u))
    optimizer.set_initial_step(objective.first_step)
    optimizer.set_xtol_rel(1e-10)
    optimizer.set_maxeval(objective.remaining)
    try:
        optimizer.optimize(objective.start(seed))
    except nlopt.RoundoffLimited:
        pass  # converged as far as the arithmetic allows


def cobyqa(objective: Objective, seed: int) -> None:
    from scipy.optimize import Bounds, minimize

    options = {"maxfev": objective.remaining, "initial_tr_radius": objective.first_step, "final_tr_radius": 1e-12}
    bounds = Bounds(np.zeros(objective.dim), np.ones(objective.dim))
    minimize(objective.in_unit, objective.start(seed), method="COBYQA", bounds=bounds, options=options)


SETTINGS = f"first step {STEP} of the box"

PEERS = (
    Peer(
        "random",
        "random",
        random_search,
        settings="uniform in the box",
        kinds=("box", "noisy", "mixed", "constrained"),
    ),
    Peer("cma", "CMA-ES", cma_es, ("cma",), ("cma",), SETTINGS, takes_start=True),
    Peer("lq-cma", "lq-CMA-ES", lq_cma_es, ("cma",), ("cma",), SETTINGS, takes_start=True),
    Peer("newuoa", "NEWUOA", newuoa, ("nlopt",), ("nlopt",), SETTINGS + ", 2d+1 initial points", takes_start=True),
    Peer("bobyqa", "BOBYQA", bobyqa, ("nlopt",), ("nlopt",), SETTINGS + ", 2d+1 initial points", takes_start=True),
    Peer(
        "cobyqa", "COBYQA", cobyqa, ("scipy>=1.14",), ("scipy",), SETTINGS + ", 2d+1 initial points", takes_start=True
    ),
)
