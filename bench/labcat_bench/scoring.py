"""The measure: evaluations to targets, their distribution, and its two summaries.

Budget 200 d unless said. Fifty targets for each function and dimension: the values that best2009 reaches within
[0.5, …, 100] d evaluations, spaced evenly in the logarithm; absolute targets for suites without best2009 data.

- AUC: mean over 100 budgets, log-spaced between d and 200 d, of the share of (instance, target) pairs reached.
- Solved: that share at 200 d.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from .objective import Array
from .results import Record
from .suites import GROUPS, SUITES, Groups

BUDGET_FACTOR = 200
ABSOLUTE_TARGETS = tuple(10.0**e for e in np.linspace(2, -8, 51))
RUNLENGTHS = np.logspace(math.log10(0.5), math.log10(100), 50)


class NoTargets(ValueError):
    """No targets are known for a function and dimension."""


@dataclass(frozen=True)
class Runtimes:
    """Evaluations to each target, infinite where it was not reached, in one run on one instance."""

    algorithm: str
    function: int
    instance: int
    dim: int
    evaluations: tuple[float, ...]


@dataclass(frozen=True)
class Score:
    auc: float
    solved: float
    error: float  # standard error of the AUC, from its spread over instances; NaN for one instance
    instances: int


@cache
def shipped_targets() -> Mapping[str, list[float]]:
    """`"f,d"` → targets, computed once with cocopp's RunlengthBasedTargetValues from its best2009 data."""
    text = resources.files(__package__).joinpath("data/targets.json").read_text(encoding="utf-8")
    targets: dict[str, list[float]] = json.loads(text)
    return targets


@cache
def targets(suite: str, function: int, dim: int) -> tuple[float, ...]:
    if suite != "bbob":
        return ABSOLUTE_TARGETS
    # A dimension that nobody was measured in takes the targets of the nearest one below.
    dim = max((d for d in SUITES["bbob"].dims if d <= dim), default=dim)
    shipped = shipped_targets().get(f"{function},{dim}")
    return tuple(shipped) if shipped is not None else tuple(cocopp_targets(function, dim))


def cocopp_targets(function: int, dim: int) -> list[float]:
    """The same targets from cocopp itself, for the dimensions that are not shipped."""
    return [float(t) for t in _cocopp_target_values()((function, dim))]


@cache
def _cocopp_target_values() -> Any:
    try:
        from cocopp import pproc, testbedsettings
    except ImportError as error:
        raise NoTargets("targets for this dimension come from cocopp: pip install cocopp six") from error
    testbedsettings.load_current_testbed("bbob", pproc.TargetValues)
    return pproc.RunlengthBasedTargetValues(RUNLENGTHS, reference_data="testbedsettings")


def evaluations_to_targets(trace: Iterable[Sequence[float]], wanted: Sequence[float]) -> tuple[float, ...]:
    """The first evaluation at which the regret is at most each target. Neither need be sorted."""
    best, reached = math.inf, [math.inf] * len(wanted)
    for evaluation, regret in trace:
        if regret < best:
            best = regret
            reached = [evaluation if n == math.inf and best <= t else n for n, t in zip(reached, wanted, strict=True)]
    return tuple(reached)


def runtimes_of(record: Record) -> Runtimes:
    wanted = targets(record["suite"], record["f"], record["d"])
    reached = evaluations_to_targets(record["trace"], wanted)
    return Runtimes(record["algorithm"], record["f"], record["i"], record["d"], reached)


def budgets(dim: int, factor: float = BUDGET_FACTOR, count: int = 100) -> Array:
    return np.geomspace(dim, factor * dim, count)


def record_score(record: Record, factor: float = BUDGET_FACTOR) -> tuple[float, float]:
    """AUC and Solved of one run, by the regret that it stood at: under noise a target that was met may be lost again."""
    wanted = targets(record["suite"], record["f"], record["d"])
    trace = np.array([(0, math.inf), *record["trace"]])
    place = np.searchsorted(trace[:, 0], budgets(record["d"], factor), side="right") - 1
    curve = (trace[place, 1][:, np.newaxis] <= np.array(wanted)).mean(axis=1)
    return float(curve.mean()), float(curve[-1])


def run_score(run: Runtimes, factor: float = BUDGET_FACTOR) -> tuple[float, float]:
    """AUC and Solved of one run."""
    curve = ecdf([run], budgets(run.dim, factor))
    return float(curve.mean()), float(curve[-1])


def ecdf(runtimes: Sequence[Runtimes], at: Array) -> Array:
    """The share of (instance, target) pairs reached within each of the budgets."""
    pooled = np.sort(np.concatenate([r.evaluations for r in runtimes]))
    return np.searchsorted(pooled, at, side="right") / pooled.size


def score(runtimes: Sequence[Runtimes], factor: float = BUDGET_FACTOR) -> Score:
    """AUC and Solved of runs in one dimension."""
    dims = {r.dim for r in runtimes}
    if len(dims) != 1:
        raise ValueError(f"a score is for one dimension, not for {sorted(dims)}")
    at = budgets(dims.pop(), factor)
    curve = ecdf(runtimes, at)
    by_instance = [
        ecdf([r for r in runtimes if r.instance == i], at).mean() for i in sorted({r.instance for r in runtimes})
    ]
    n = len(by_instance)
    error = float(np.std(by_instance, ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    return Score(float(curve.mean()), float(curve[-1]), error, n)


def group_scores(
    runtimes: Sequence[Runtimes], groups: Groups = GROUPS, factor: float = BUDGET_FACTOR
) -> dict[str, Score]:
    """The score in each group of functions that has a run."""
    members = {name: [r for r in runtimes if r.function in group] for name, group in groups.items()}
    return {name: score(runs, factor) for name, runs in members.items() if runs}
