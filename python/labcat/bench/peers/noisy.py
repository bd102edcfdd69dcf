"""Methods made for noisy values; each says what it would recommend."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from ..algorithms import Peer
from ..objective import NoisyObjective, Objective
from .classic import SEED_RANGE, SETTINGS, STEP, _cma_options


def cma_favourite(objective: Objective, seed: int) -> None:
    _cma(objective, seed, handler=False)


def cma_noise_handler(objective: Objective, seed: int) -> None:
    _cma(objective, seed, handler=True)


def _cma(objective: Objective, seed: int, *, handler: bool) -> None:
    """Recommends its favourite, the mean of the distribution; that of a restart once its generation has done better
    than the last one of the runs before."""
    import cma

    assert isinstance(objective, NoisyObjective)
    search = cma.CMAEvolutionStrategy(objective.start(seed), STEP, _cma_options(objective, seed))
    noise = cma.NoiseHandler(search.N) if handler else None
    before = float(objective.info.get("median", np.inf))  # type: ignore[arg-type]
    if before == np.inf:
        objective.recommend(objective.from_unit(search.x0))
    while not search.stop():
        evaluations = noise.evaluations if noise else 1
        points, values = search.ask_and_eval(objective.in_unit, evaluations=evaluations)
        search.tell(points, values)
        if noise:
            search.sigma *= noise(points, values, objective.in_unit, search.ask)
            search.countevals += noise.evaluations_just_done
        median = float(np.median(values))
        if median <= before:
            objective.recommend(objective.from_unit(search.result.xfavorite))
            objective.info["median"] = median


def bads_noisy(objective: Objective, seed: int) -> None:
    """Recommends its incumbent, and at the end what it returns."""
    from pybads import BADS

    assert isinstance(objective, NoisyObjective)
    logging.getLogger("BADS").setLevel(logging.ERROR)
    start = objective.from_unit(objective.start(seed))

    def incumbent(x: Any, *_: Any) -> bool:
        objective.recommend(np.ravel(x))
        return False

    options = {
        "max_fun_evals": objective.remaining,
        "random_seed": seed % SEED_RANGE,
        "display": "off",
        "uncertainty_handling": True,
        "output_fcn": incumbent,
    }
    box = (objective.lower, objective.upper)
    found = BADS(objective, start, *box, *box, options=options).optimize()
    objective.recommend(np.ravel(found["x"]))


FAVOURITE = SETTINGS + ", recommends its mean"

PEERS = (
    Peer("cma-favourite", "CMA-ES (favourite)", cma_favourite, ("cma",), ("cma",), FAVOURITE, kinds=("noisy",)),
    Peer("cma-noise", "CMA-ES (noise handler)", cma_noise_handler, ("cma",), ("cma",), FAVOURITE, kinds=("noisy",)),
    Peer(
        "bads-noisy",
        "BADS (noisy)",
        bads_noisy,
        ("pybads",),
        ("pybads",),
        "told that values are noisy",
        kinds=("noisy",),
    ),
)
