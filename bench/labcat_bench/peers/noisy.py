"""Methods made for noisy values; each says what it would recommend."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np

from ..algorithms import Peer
from ..objective import NoisyObjective, Objective
from .classic import SEED_RANGE, SETTINGS, STEP, _cma_options

NEARLY_SURE = 3.09  # standard deviations: `final_quantile`, 1e-3, of BADS


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
    """Recommends its incumbent, and at the end what it returns; after a restart only once that is the better one by its
    own estimates, and by the rule by which it chooses among its iterates: the lowest value that it is nearly sure of."""
    from pybads import BADS

    assert isinstance(objective, NoisyObjective)
    logging.getLogger("BADS").setLevel(logging.ERROR)
    start = objective.from_unit(objective.start(seed))
    before = float(objective.info.get("sure", math.inf))  # type: ignore[arg-type]  # of what earlier runs returned
    returned = objective.recommended

    def incumbent(x: Any, state: Any, stage: str) -> bool:
        sure = float(np.ravel(state["fval"])[0] + NEARLY_SURE * np.ravel(state["fsd"])[0])
        better = before == math.inf or (stage != "init" and sure < before)  # the first estimate is one draw
        objective.recommend(np.ravel(x) if better else returned)
        if better and stage == "done":
            objective.info["sure"] = sure
        return False

    options = {
        "max_fun_evals": objective.remaining,
        "random_seed": seed % SEED_RANGE,
        "display": "off",
        "uncertainty_handling": True,
        "output_fcn": incumbent,
    }
    box = (objective.lower, objective.upper)
    BADS(objective, start, *box, *box, options=options).optimize()


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
