"""The `parallel` command: what several evaluations at a time are worth, on a simulated clock.

Evaluations take log-normal times; `q` of them are pending at a time, and each result is told when it is there. The yardstick is
the same sequential run with every result q − 1 evaluations late: what perfect use of the pending points would give.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from . import versus
from .algorithms import Algorithm
from .coco import decimal, failures
from .coco_problems import coco_problems
from .functions import rosenbrock
from .results import Record
from .runner import Run
from .scoring import Runtimes, record_score, run_score, runtimes_of
from .shared import Command, carry_out, coco_options, common_options, fill, numbers, positive, present
from .summary import Block, Table

FACTOR = 100
OUTSTANDING = [1, 2, 4, 8, 16, 32]
LONGER = (
    4  # times the budget is what a run with several pending evaluations may take to the sequential run's final value
)
PRECISION = 1e-8  # regrets below this count as it, where times to the same value are compared
GOAL = 1e-6
SMALL_DIM = 5
ROUNDS_RUNS = 20
MOST_ROUNDS = 300
BOWL_EVALUATIONS = 640


# ---- on the clock


def late(run: Runtimes, outstanding: int) -> Runtimes:
    """The same run with every result `outstanding` − 1 evaluations later."""
    return replace(run, evaluations=tuple(n + outstanding - 1 for n in run.evaluations))


def time_to(record: Record, regret: float) -> float:
    """When the regret was first this small."""
    reached = (t for (_, r), t in zip(record["trace"], record["times"], strict=True) if r <= regret)
    return float(next(reached, math.inf))


def clock_table(records: Sequence[Record], dim: int, outstanding: Sequence[int], factor: int) -> Table:
    """One row for each q: AUC, that of the late sequential run, their ratio, and times against the sequential run's."""
    by_q: dict[int, dict[tuple[int, int, int], Record]] = {}
    for record in records:
        if record["d"] == dim:
            key = (record["f"], record["i"], record["seed"])
            by_q.setdefault(record["outstanding"], {})[key] = record
    alone = by_q[1]
    rows = []
    for q in outstanding:
        auc, solved = np.mean([record_score(r, factor) for r in by_q[q].values()], axis=0)
        yardstick = float(np.mean([run_score(late(runtimes_of(r), q), factor)[0] for r in alone.values()]))
        ratios = []
        for key, record in by_q[q].items():
            goal = max(alone[key]["trace"][-1][1], PRECISION)
            ratios.append(time_to(record, goal) / time_to(alone[key], goal))
        reached = sum(map(math.isfinite, ratios)) / len(ratios)
        rows.append(
            [
                str(q),
                decimal(auc),
                decimal(yardstick),
                f"{auc / yardstick:.3f}",
                decimal(solved),
                f"{np.median(ratios):.3f}",
                f"{1 / q:.3f}",
                decimal(reached),
            ]
        )
    header = ["q", "AUC", "late sequential", "ratio", "Solved", "time to the same value", "1/q", "reached"]
    return Table(
        f"bbob, d = {dim}, budget {factor}·d: q pending evaluations",
        header,
        rows,
        "AUC in evaluations, in the order of their results. Time to the sequential run's final value (or a regret of"
        f" {PRECISION:g}) over the sequential run's time to it: median; and the share of runs that reach it, within"
        f" {LONGER} times the budget.",
    )


# ---- in rounds


def bowl(x: Any) -> float:
    return float(sum((k + 1) * (v - 1) ** 2 for k, v in enumerate(x)))


def ellipsoid(x: Any) -> float:
    """The one of the user's guide."""
    return float(sum(10**k * (v - 1) ** 2 for k, v in enumerate(x)))


SMALL: dict[str, Callable[[Any], float]] = {"ellipsoid": ellipsoid, "bowl": bowl, "rosenbrock": rosenbrock}
BOX = (-5.0, 10.0)


def best_so_far(name: str, outstanding: int, seed: int, options: Mapping[str, Any], most: int) -> Iterator[float]:
    """The best value after each evaluation, with results in the order asked, each once `outstanding` are asked."""
    import labcat

    fun, best = SMALL[name], math.inf
    optimizer = labcat.Optimizer([BOX] * SMALL_DIM, rng=seed, **options)
    running: deque[Any] = deque()
    for _ in range(most):
        while len(running) < outstanding:
            running.append(optimizer.ask())
        trial = running.popleft()
        value = fun(trial.x)
        optimizer.tell(trial, value)
        best = min(best, value)
        yield best


def rounds_to(name: str, outstanding: int, seed: int, options: Mapping[str, Any]) -> float:
    """Evaluations until one is below the goal, divided by how many are made at a time; infinite if too many."""
    curve = best_so_far(name, outstanding, seed, options, MOST_ROUNDS * outstanding)
    return next((math.ceil(n / outstanding) for n, best in enumerate(curve, start=1) if best < GOAL), math.inf)


def rounds_table(outstanding: Sequence[int], options: Mapping[str, Any], runs: int) -> Table:
    rows = []
    for name in SMALL:
        found = [float(np.median([rounds_to(name, q, s, options) for s in range(runs)])) for q in outstanding]
        falls = all(b <= a for a, b in pairwise(found))
        rows.append([name, *(f"{r:g}" for r in found), "yes" if falls else "no"])
    return Table(
        f"Rounds to {GOAL:g}, d = {SMALL_DIM}, median of {runs} seeds",
        ["function", *(f"q = {q}" for q in outstanding), "never more"],
        rows,
        f"A round is q evaluations, of which q are always pending; no more than {MOST_ROUNDS} rounds.",
    )


def bowl_table(outstanding: Sequence[int], options: Mapping[str, Any], runs: int) -> Table:
    """What is left of the bowl after a fixed number of evaluations."""

    def left(q: int, seed: int) -> float:
        *_, last = best_so_far("bowl", q, seed, options, BOWL_EVALUATIONS)
        return last

    cells = [f"{np.median([left(q, s) for s in range(runs)]):.1e}" for q in outstanding]
    title = f"Bowl, d = {SMALL_DIM}, after {BOWL_EVALUATIONS} evaluations, median of {runs} seeds"
    return Table(title, ["function", *(f"q = {q}" for q in outstanding)], [["bowl", *cells]])


# ---- the command


def register(command: Command) -> None:
    sub = command("parallel", run, "several evaluations at a time, on a simulated clock and in rounds")
    common_options(sub, "parallel")
    sub.add_argument("settings", nargs="*", default=["default"], help="as in `versus` (default: default)")
    coco_options(sub, range(1, 4), [5])
    sub.add_argument(
        "--pending",
        "--outstanding",
        dest="outstanding",
        type=numbers,
        default=OUTSTANDING,
        help="q (default: 1,2,4,8,16,32; 1 is always run)",
    )
    sub.add_argument("--rounds-runs", type=positive, default=ROUNDS_RUNS, help="seeds of the rounds (default: 20)")


def run(options: Any) -> None:
    options.budget_factor = options.budget_factor or FACTOR
    fill(options, "bbob")
    outstanding = sorted({1, *options.outstanding})
    settings = versus.settings_beside(options.settings, "box")
    if peers := [setting.label for setting in settings if not setting.is_labcat]:
        raise ValueError(f"{peers[0]!r} cannot be run in parallel: a setting of LABCAT can")
    problems = coco_problems("bbob", options.dims, options.functions, options.instances)
    versus.check(settings, problems[0])
    runs = {
        setting.label: [
            Run(at_a_time(setting, q), problem, min(q, LONGER) * options.budget_factor * problem.dim, options.seed)
            for problem in problems
            for q in outstanding
        ]
        for setting in settings
    }
    records, results = carry_out(options, [run for each in runs.values() for run in each], "parallel")
    made = iter(records)
    found = {label: [next(made) for _ in each] for label, each in runs.items()}
    blocks: list[Block] = []
    for setting in settings:
        beside = setting.label if len(settings) > 1 else ""
        blocks += tables(found[setting.label], setting, outstanding, options, beside)
    base, *others = found.values()
    blocks += [against(base, other, outstanding, options.budget_factor) for other in others]
    present(options, "Parallel", results, blocks + failures(records))


def tables(
    records: Sequence[Record], setting: Algorithm, outstanding: Sequence[int], options: Any, beside: str
) -> list[Block]:
    """The clock, and where the setting is one of this interpreter the rounds."""
    found = [clock_table(records, dim, outstanding, options.budget_factor) for dim in options.dims]
    if not setting.python:
        few = [q for q in outstanding if q <= 16]
        found.append(rounds_table(few, setting.options, options.rounds_runs))
        found.append(bowl_table(outstanding, setting.options, options.rounds_runs))
    return [replace(table, title=f"{beside}: {table.title}" if beside else table.title) for table in found]


def against(base: Sequence[Record], other: Sequence[Record], outstanding: Sequence[int], factor: int) -> Table:
    """Paired differences to the first setting, one row for each q."""
    rows = []
    for q in outstanding:
        here, there = (versus.scores([r for r in each if r["outstanding"] == q], factor) for each in (base, other))
        change = [versus.difference({key: there[key][index] - here[key][index] for key in here}) for index in (0, 1)]
        rows.append([str(q), *map(str, change)])
    names = [each[0]["algorithm"].rpartition(", q = ")[0] for each in (base, other)]
    note = "Paired, ± one standard error over instances."
    return Table(f"A = {names[0]}, B = {names[1]}: B − A", ["q", "AUC", "Solved"], rows, note)


def at_a_time(setting: Algorithm, outstanding: int) -> Algorithm:
    label = f"{setting.label}, q = {outstanding}"
    return replace(setting, label=label, options={**setting.options, "outstanding": outstanding})
