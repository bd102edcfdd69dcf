"""The `fits` command: what `labcat.least_squares` says of the parameters it has fitted, and what it costs.

Standard errors are compared with those of scipy's Jacobian at the optimum; their intervals with the truth, over many
noisy data sets; the time of a step with that of `labcat.minimize` on the sum of squares.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from . import task_programs as programs
from .algorithms import NotInstalled
from .objective import Array
from .shared import Command, carry_out, common_options, positive, present
from .summary import Block, Table

DATASETS = 200
RESIDUALS = 10_000
STEPS = 60  # evaluations over which the time of a step is measured
REPEATS = 5  # runs of the same steps
BUDGET = 60  # evaluations of the fit of a data set
LEVEL = 0.95

DECAY_TRUTH = np.array([2.0, 0.8, 0.5])
DECAY_BOUNDS = [(0.1, 10.0), (0.05, 5.0), (-2.0, 2.0)]
DECAY_TIMES = np.linspace(0, 5, 25)
DECAY_NOISE = 0.05


def decay(p: Array) -> Any:
    """An amplitude, a rate and an offset."""
    return p[0] * np.exp(-p[1] * DECAY_TIMES) + p[2]


def register(command: Command) -> None:
    sub = command("fits", run, "least squares: standard errors, coverage of intervals, time of a step")
    common_options(sub, "fits")
    sub.add_argument("--datasets", type=positive, default=DATASETS, help="for the coverage (default: %(default)s)")
    sub.add_argument("--residuals", type=positive, default=RESIDUALS, help="for the time (default: %(default)s)")


def run(options: Any) -> None:
    solve = solver()
    _, results = carry_out(options, [], "fits")
    blocks: list[Block] = [
        error_table(solve, options.seed),
        coverage_table(solve, options.datasets, options.seed),
        time_table(solve, options.residuals, options.seed),
    ]
    present(options, "Least squares", results, blocks)


def solver() -> Callable[..., Any]:
    import labcat

    found: Callable[..., Any] | None = getattr(labcat, "least_squares", None)
    if found is None:
        raise NotInstalled("this build of LABCAT has no `labcat.least_squares`, which `fits` is about")
    return found


# ---- standard errors


def standard_errors(jacobian: Array, cost: float) -> Array:
    """Of the parameters, from the Jacobian and half the sum of squares at the optimum."""
    m, n = jacobian.shape
    found: Array = np.sqrt(2 * cost / (m - n) * np.diag(np.linalg.inv(jacobian.T @ jacobian)))
    return found


def reference(residuals: Callable[[Array], Array], bounds: Any, start: Array) -> tuple[Array, Array]:
    """Optimum and standard errors by scipy, with differences of three points."""
    from scipy.optimize import least_squares

    lower, upper = np.array(bounds).T
    tight: dict[str, Any] = dict.fromkeys(("xtol", "ftol", "gtol"), 1e-12)
    found = least_squares(residuals, start, "3-point", (lower, upper), x_scale=upper - lower, **tight)
    return found.x, standard_errors(found.jac, float(found.cost))


def error_table(solve: Callable[..., Any], seed: int) -> Table:
    rows = []
    for name, calibration in programs.CALIBRATIONS.items():
        truth = np.array(calibration.truth)
        bounds = list(calibration.bounds)

        def residuals(p: Array, name: str = name) -> Array:
            return programs.misfits(name, p)

        _, errors = reference(residuals, bounds, truth)
        found = solve(residuals, bounds, x0=truth, budget=40 * truth.size, rng=seed)
        ratios = np.sqrt(np.diag(found.cov_x)) / errors
        rows.append([name, f"{ratios.min():.3f}", f"{ratios.max():.3f}", str(found.nfev)])
    header = ["calibration", "least ratio", "largest ratio", "simulations"]
    return Table("Standard errors, as multiples of those of scipy's Jacobian at the optimum", header, rows)


# ---- coverage


def covered(solve: Callable[..., Any], data: Array, seed: int) -> Any:
    """Which of the true parameters lie inside their intervals."""
    from scipy.stats import t

    def residuals(p: Array) -> Any:
        return decay(np.asarray(p)) - data

    found = solve(residuals, DECAY_BOUNDS, x0=[1.0, 1.0, 0.0], budget=BUDGET, rng=seed)
    width = t.ppf((1 + LEVEL) / 2, data.size - DECAY_TRUTH.size) * np.sqrt(np.diag(found.cov_x))
    return np.abs(np.asarray(found.x) - DECAY_TRUTH) <= width


def coverage_table(solve: Callable[..., Any], datasets: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    exact = decay(DECAY_TRUTH)
    inside = [covered(solve, exact + DECAY_NOISE * rng.standard_normal(exact.size), seed) for _ in range(datasets)]
    shares = np.mean(inside, axis=0)
    errors = np.sqrt(shares * (1 - shares) / datasets)
    names = ("amplitude", "rate", "offset")
    rows = [[n, f"{s:.3f} ± {e:.3f}"] for n, s, e in zip(names, shares, errors, strict=True)]
    title = f"Share of {datasets} noisy data sets whose {100 * LEVEL:g} % interval holds the true parameter"
    return Table(title, ["parameter", "share"], rows)


# ---- time


def time_table(solve: Callable[..., Any], count: int, seed: int) -> Table:
    """Five parameters; a bent linear model, so that runs do not end before the budget."""
    import labcat

    matrix = np.random.default_rng(seed).standard_normal((count, 5))
    bounds = [(-4.0, 6.0)] * 5

    def residuals(p: Array) -> Any:
        return matrix @ (p - 1) + 0.3 * np.sin(3 * (matrix @ p))

    def total(p: Array) -> float:
        return float(np.sum(residuals(p) ** 2))

    vector = per_step(lambda f: solve(f, bounds, x0=np.zeros(5), budget=STEPS, rng=seed), residuals)
    scalar = per_step(lambda f: labcat.minimize(f, bounds, x0=np.zeros(5), budget=STEPS, rng=seed), total)
    reading = time_of_reading(bounds, residuals(np.zeros(5)))
    rows = [
        [f"`least_squares`, {count} residuals", f"{vector:.3f}", f"{vector / scalar:.2f}"],
        ["… without the reading of the vector", f"{vector - reading:.3f}", f"{(vector - reading) / scalar:.2f}"],
        ["reading of the vector", f"{reading:.3f}", f"{reading / scalar:.2f}"],
        ["`minimize`, their sum of squares", f"{scalar:.3f}", "1"],
    ]
    title = f"Time of a step, five parameters, mean of {STEPS} steps, each the fastest of {REPEATS}"
    return Table(title, ["", "ms", "multiple"], rows)


def per_step(solve: Callable[[Any], Any], function: Callable[[Array], Any]) -> float:
    """Milliseconds of processor time from the end of an evaluation to the beginning of the next: a tell and an ask.

    Every run takes the same steps, so the fastest of each is the one that other work disturbed least.
    """
    runs = []
    for _ in range(REPEATS):
        between: list[float] = []
        ended = 0.0

        def timed(p: Array, between: list[float] = between) -> Any:
            nonlocal ended
            if ended:
                between.append(time.thread_time() - ended)
            value = function(np.asarray(p))
            ended = time.thread_time()
            return value

        solve(timed)
        runs.append(between)
    return 1000 * float(np.mean(np.min(runs, axis=0)))


def time_of_reading(bounds: Any, vector: Array) -> float:
    """Milliseconds until an optimizer has taken a vector, over those for a number: of tells that no step follows."""
    import labcat

    def telling(told: Callable[[Any, Any], None], **options: Any) -> float:
        times = []
        for _ in range(REPEATS):
            optimizer = labcat.Optimizer(bounds, rng=1, initial_points=STEPS, **options)
            for _ in range(STEPS):
                trial, begun = optimizer.ask(), time.thread_time()
                told(optimizer, trial)
                times.append(time.thread_time() - begun)
        return 1000 * float(np.median(times))

    of_vector = telling(lambda optimizer, trial: optimizer.tell(trial, residuals=vector), residuals=True)
    return of_vector - telling(lambda optimizer, trial: optimizer.tell(trial, 1.0))
