"""The `recommend` command: under noise, whether a recommendation is as good as it says, and whether long runs go on learning.

- Calibration: a bowl in three dimensions, σ = 1, 100 evaluations.
- Long runs: a sphere and Rosenbrock's function in five dimensions, 1000 evaluations. How far f moves, without its noise,
  from the centre of the trust region to the ends of its half-axes is held against σ/√budget, which is all that
  the evaluations could resolve if every one of them had been spent on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import figures, versus
from .functions import rosenbrock, sphere
from .objective import Array
from .results import ResultsFile, metadata
from .shared import Command, positive, present
from .summary import Block, Figure, Table

LEVEL = 0.01  # σ as a share of the interquartile range of f over the box
CHECKPOINTS = 20


@dataclass(frozen=True)
class Noisy:
    """A function of d variables whose optimum is moved at random with the seed, in a box."""

    name: str
    fun: Callable[[Any], float]
    half: float  # half the width of the box
    move: float  # how far the optimum goes along an axis, at most

    def shifted(self, dim: int, seed: int) -> Callable[[Any], float]:
        shift = np.random.default_rng([seed, dim]).uniform(-self.move, self.move, dim)
        return lambda x: self.fun(np.asarray(x) - shift)

    def sigma(self, dim: int, level: float) -> float:
        points = np.random.default_rng(dim).uniform(-self.half, self.half, (1000, dim))
        low, high = np.quantile([self.fun(x) for x in points], [0.25, 0.75])
        return float(level * (high - low))


FUNCTIONS = (Noisy("sphere", sphere, 5.0, 3.0), Noisy("rosenbrock", rosenbrock, 2.0, 0.5))


@dataclass
class Course:
    """What one run recommended, and how far its regions could see."""

    at: list[int] = field(default_factory=list)
    regret: list[float] = field(default_factory=list)
    narrowest: float = math.inf  # the least half-width, as a part of the box
    resolved: float = math.inf  # the least of what f moves along the half-axis along which it moves most, in σ/√budget
    restarts: int = 0


def course(function: Noisy, dim: int, sigma: float, budget: int, seed: int, options: Mapping[str, Any]) -> Course:
    """One run; the least value of every function is 0."""
    import labcat

    f, luck = function.shifted(dim, seed), np.random.default_rng([seed, 12])
    optimizer = labcat.Optimizer([(-function.half, function.half)] * dim, rng=seed, **options)
    found, region = Course(), None
    scored = set(np.geomspace(10 * dim, budget, CHECKPOINTS).astype(int))
    for n in range(1, budget + 1):
        trial = optimizer.ask()
        optimizer.tell(trial, f(trial.x) + sigma * luck.standard_normal())
        if optimizer.noise and (region := optimizer.trust_region) is not None:
            found.narrowest = min(found.narrowest, np.linalg.norm(region.half_axes, axis=1).min() / (2 * function.half))
            found.resolved = min(found.resolved, largest_move(f, *region) / (sigma / math.sqrt(budget)))
        if n in scored and (recommended := optimizer.recommended) is not None:
            found.at.append(n)
            found.regret.append(f(recommended.x))
    found.restarts = len(optimizer.restarts)
    return found


def largest_move(f: Callable[[Any], float], centre: Array, half_axes: Array) -> float:
    """By how much f changes from the centre to the end of a half-axis, at most."""
    middle = f(centre)
    return max(abs(f(centre + sign * axis) - middle) for axis in half_axes for sign in (1, -1))


def calibration(runs: int, options: Mapping[str, Any]) -> Table:
    dim, sigma, evaluations = 3, 1.0, 100
    bowl = FUNCTIONS[0]
    within, values, draws = 0, [], []
    for seed in range(runs):
        f, luck = bowl.shifted(dim, seed), np.random.default_rng([seed, 12])
        found = _minimise(f, luck, [(-bowl.half, bowl.half)] * dim, sigma, evaluations, seed, options)
        value = f(found.recommended.x)
        within += abs(found.recommended.mean - value) <= 2 * found.recommended.std
        values.append(value)
        draws.append(found.best.value - f(found.best.x))
    row = [f"{within / runs:.3f}", f"{np.median(values):.3f}", f"{np.median(draws):.2f}"]
    return Table(
        f"Calibration: bowl, d = {dim}, σ = {sigma:g}, {evaluations} evaluations, {runs} seeds",
        ["", "within two std", "median of f recommended", "median luck of the best draw"],
        [["recommendation", *row]],
        "Within: how often the mean recommended is no farther from the true value of its point than two of its std.",
    )


def _minimise(f: Any, luck: Any, box: Any, sigma: float, budget: int, seed: int, options: Mapping[str, Any]) -> Any:
    import labcat

    return labcat.minimize(lambda x: f(x) + sigma * luck.standard_normal(), box, budget=budget, rng=seed, **options)


def long_table(name: str, dim: int, sigma: float, courses: Sequence[Course]) -> Table:
    shown = courses[0].at[::3] + ([] if (len(courses[0].at) - 1) % 3 == 0 else courses[0].at[-1:])
    place = [courses[0].at.index(n) for n in shown]
    regret = np.array([c.regret for c in courses])
    rows = [[f"{q:g} %", *(f"{np.percentile(regret[:, k], q) / sigma:.3g}" for k in place)] for q in (25, 50, 75)]
    restarts = [c.restarts for c in courses]
    return Table(
        f"{name}, d = {dim}, σ = {sigma:.3g}, {len(courses)} seeds: f recommended, without noise, in σ",
        ["quantile", *(f"{n} evaluations" for n in shown)],
        rows,
        f"Restarts: {min(restarts)} to {max(restarts)}, {sum(r > 0 for r in restarts)} of {len(restarts)} runs have one."
        f" Narrowest half-width: {min(c.narrowest for c in courses):.2g} of the box. The least that f moved along the half-axis"
        f" along which it moves most: {min(c.resolved for c in courses):.3g} σ/√budget.",
    )


# ---- the command


def register(command: Command) -> None:
    sub = command("recommend", run, "under noise: whether recommendations are as good as they say, and long runs learn")
    sub.add_argument("setting", nargs="?", default="default,noise=auto", help="as in `versus` (default: %(default)s)")
    sub.add_argument("--out", type=Path, default=Path("results") / "recommend", help="folder (default: %(default)s)")
    sub.add_argument("--seeds", type=int, default=200, help="of the calibration, 0 for none (default: %(default)s)")
    sub.add_argument("--runs", type=int, default=30, help="long runs of each function (default: %(default)s)")
    sub.add_argument("--budget", type=positive, default=1000, help="of a long run (default: %(default)s)")
    sub.add_argument("--dim", type=positive, default=5, help="of the long runs (default: %(default)s)")
    sub.add_argument("--level", type=float, default=LEVEL, help="σ, in interquartile ranges (default: %(default)g)")
    sub.add_argument("--no-figures", dest="figures", action="store_false", help="tables only")


def run(options: Any) -> None:
    setting = versus.setting(options.setting, "noisy")
    if not setting.is_labcat or setting.python:
        raise ValueError(f"{options.setting!r} says nothing of its noise: a setting of LABCAT in this interpreter does")
    results = ResultsFile(options.out / "results.jsonl")
    results.start(metadata(options.line))
    blocks: list[Block] = [calibration(options.seeds, setting.options)] if options.seeds else []
    panels = {}
    for function in FUNCTIONS if options.runs else ():
        sigma = function.sigma(options.dim, options.level)
        where = (function, options.dim, sigma, options.budget)
        courses = [course(*where, seed, setting.options) for seed in range(options.runs)]
        blocks.append(long_table(function.name, options.dim, sigma, courses))
        traces = [[*zip(c.at, np.array(c.regret) / sigma, strict=True)] for c in courses]
        panels[function.name] = {options.setting: [figures.log_regret(t, options.budget, 1e-6) for t in traces]}
    if options.figures and panels:
        figure = figures.regret_figure(panels, "log10 of f recommended, in σ")
        figures.save(figure, options.out / "recommend")
        blocks.append(Figure("Long runs under noise", "recommend"))
    present(options, "Recommendations under noise", results, blocks)
