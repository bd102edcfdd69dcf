"""Methods that see more than values, residuals or gradients, and methods that look for a global minimum."""

from __future__ import annotations

import numpy as np

from ..algorithms import Peer
from ..objective import Array, Objective, Point
from ..started import StartedObjective
from .classic import SEED_RANGE, SETTINGS


def started(objective: Objective) -> StartedObjective:
    if not isinstance(objective, StartedObjective):
        raise TypeError("this method is for problems that show residuals or gradients")
    return objective


def dfo_ls(objective: Objective, seed: int) -> None:
    _dfo_ls(started(objective), seed, noisy=False)


def dfo_ls_noisy(objective: Objective, seed: int) -> None:
    _dfo_ls(started(objective), seed, noisy=True)


def _dfo_ls(objective: StartedObjective, seed: int, *, noisy: bool) -> None:
    import dfols

    np.random.seed(seed % SEED_RANGE)  # noqa: NPY002 (what the package draws from)
    dfols.solve(
        lambda u: objective.residuals(objective.from_unit(u)),
        objective.start(seed),
        bounds=(np.zeros(objective.dim), np.ones(objective.dim)),
        maxfun=objective.remaining,
        rhobeg=objective.first_step,
        rhoend=1e-10,
        objfun_has_noise=noisy,
        do_logging=False,
    )


def levenberg_marquardt(objective: Objective, seed: int) -> None:
    """With finite differences, each an evaluation; inside the bounds scipy's method is a reflective trust region."""
    from scipy.optimize import least_squares

    target = started(objective)
    inside = np.clip(target.start(seed), 1e-9, 1 - 1e-9)
    tolerances = dict.fromkeys(("xtol", "ftol", "gtol"), 1e-12)
    least_squares(lambda u: target.residuals(target.from_unit(u)), inside, bounds=(0.0, 1.0), **tolerances)


def lbfgsb(objective: Objective, seed: int) -> None:
    from scipy.optimize import minimize

    target = started(objective)
    width = target.upper - target.lower

    def scaled(u: Point) -> tuple[float, Array]:
        value, gradient = target.with_gradient(target.from_unit(u))
        return value, gradient * width

    options = {"maxfun": target.remaining, "ftol": 1e-15, "gtol": 1e-12}
    bounds = [(0.0, 1.0)] * target.dim
    minimize(scaled, target.start(seed), jac=True, method="L-BFGS-B", bounds=bounds, options=options)


def direct(objective: Objective, seed: int) -> None:
    """Nothing of it is random: after its end another run would be the same, so it may go on to the smallest boxes."""
    from scipy.optimize import direct

    del seed
    limits = {"maxfun": objective.remaining, "maxiter": objective.remaining, "vol_tol": 0.0, "len_tol": 0.0}
    direct(objective, objective.bounds, locally_biased=False, **limits)


def direct_local(objective: Objective, seed: int) -> None:
    import nlopt

    del seed
    optimizer = nlopt.opt(nlopt.GN_DIRECT_L, objective.dim)
    optimizer.set_lower_bounds(0.0)
    optimizer.set_upper_bounds(1.0)
    optimizer.set_min_objective(lambda u, _gradient: objective.in_unit(u))
    optimizer.set_maxeval(objective.remaining)
    optimizer.optimize(np.full(objective.dim, 0.5))


def ngopt(objective: Objective, seed: int) -> None:
    import nevergrad

    given = isinstance(objective, StartedObjective) and objective.x0 is not None
    first = objective.start(seed) if given or objective.evaluations else np.full(objective.dim, 0.5)
    space = nevergrad.p.Array(init=first, lower=0.0, upper=1.0)
    space.random_state.seed(seed % SEED_RANGE)
    optimizer = nevergrad.optimizers.NGOpt(space, budget=objective.remaining)
    while objective.remaining:
        asked = optimizer.ask()
        optimizer.tell(asked, objective.in_unit(asked.value))


def multi_start(objective: Objective, seed: int) -> None:
    """MLSL with a low-discrepancy sequence, BOBYQA for the local searches."""
    import nlopt

    nlopt.srand(seed % SEED_RANGE)
    optimizer = nlopt.opt(nlopt.GN_MLSL_LDS, objective.dim)
    search = nlopt.opt(nlopt.LN_BOBYQA, objective.dim)
    search.set_ftol_rel(1e-6)
    search.set_xtol_abs(1e-5)
    search.set_initial_step(0.1)
    optimizer.set_local_optimizer(search)
    optimizer.set_lower_bounds(0.0)
    optimizer.set_upper_bounds(1.0)
    optimizer.set_min_objective(lambda u, _gradient: objective.in_unit(u))
    optimizer.set_maxeval(objective.remaining)
    optimizer.optimize(objective.start(seed))


NLOPT = (("nlopt",), ("nlopt",))
SCIPY = (("scipy>=1.14",), ("scipy",))
DFO_LS = (("DFO-LS",), ("dfols",))

PEERS = (
    Peer("dfo-ls", "DFO-LS", dfo_ls, *DFO_LS, SETTINGS, kinds=("residuals",)),
    Peer(
        "dfo-ls-noisy",
        "DFO-LS (noise)",
        dfo_ls_noisy,
        *DFO_LS,
        SETTINGS + ", told of noise",
        kinds=("residuals",),
    ),
    Peer(
        "lm",
        "Levenberg–Marquardt (differences)",
        levenberg_marquardt,
        *SCIPY,
        "scipy's `least_squares`, trf",
        kinds=("residuals",),
    ),
    Peer("lbfgsb", "L-BFGS-B", lbfgsb, *SCIPY, "with gradients", kinds=("gradients",)),
    Peer("direct", "DIRECT", direct, *SCIPY, "not locally biased; nothing of it is random"),
    Peer("direct-l", "DIRECT-L", direct_local, *NLOPT, "nothing of it is random"),
    Peer("ngopt", "NGOpt", ngopt, ("nevergrad",), ("nevergrad",), "begins in the centre, as the package does"),
    Peer("multistart", "multi-start BOBYQA", multi_start, *NLOPT, "MLSL, low-discrepancy starts"),
)
