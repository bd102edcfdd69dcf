"""The `tasks` command: real programs and functions with many modes, against the methods one would pick for each."""

from __future__ import annotations

import functools
import importlib.util
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import task_programs as programs
from . import versus
from .algorithms import Algorithm, NotInstalled
from .coco import failures
from .medians import value_at
from .objective import Array, NoisyObjective, Objective
from .problems import RepeatedProblem
from .results import Record
from .runner import Run
from .shared import Command, carry_out, common_options, positive, present, words
from .started import Measured, StartedObjective, finite
from .suites import Kind
from .summary import Block, Table, Text
from .task_functions import MODAL, SMOOTH, Modal, gradient, ridge

RUNS = 5
FRESH = 200  # episodes by which the lander of single episodes is judged
CLOSE = 1.0001  # of the least cost: where a calibration is done
FLOOR = 1e-8  # of a difference that counts, and EQUAL of the value
EQUAL = 1e-4
WITHIN = 0.16  # of the resamples
RESAMPLES = 1000  # for the error of a median
LEAST_SQUARES = "default,least_squares=true"


@dataclass(frozen=True)
class Task:
    """`bounds`, `x0` and `measure` are of a run's generator, which is the same for every algorithm."""

    group: str
    budget: int
    bounds: Callable[[np.random.Generator], Sequence[tuple[float, float]]]
    measure: Callable[[Array], Measured]
    best: Callable[[], float | None] = lambda: None
    starts: bool = False  # at a random point, which every algorithm is given
    centred: bool = False  # starts in the middle of the box, a design that one has
    first_step: float | None = None
    episodes: bool = False  # a new one at each evaluation


@dataclass(frozen=True)
class Group:
    title: str
    settings: tuple[str, ...]
    kind: Kind = "box"
    imports: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()


GROUPS = {
    "global": Group(
        "Functions with many modes: regret",
        ("default", "direct", "direct-l", "ngopt", "multistart", "cma", "random"),
        requires=("scipy",),
        imports=("scipy",),
    ),
    "gradients": Group(
        "Smooth functions, gradients told: regret", ("default,jac=true", "default", "lbfgsb"), "gradients"
    ),
    "calibration": Group(
        "Calibrations of differential equations: sum of squares above the least one",
        (LEAST_SQUARES, "default", "dfo-ls", "lm", "cobyqa"),
        "residuals",
        ("scipy",),
        ("scipy",),
    ),
    "many": Group(
        "Sixty dimensions: value", ("default", "cma", "cobyqa", "random"), imports=("scipy",), requires=("scipy",)
    ),
    "tuning": Group(
        "scikit-learn: error of cross-validation",
        ("default", "cma", "cobyqa", "ngopt", "random"),
        imports=("sklearn",),
        requires=("scikit-learn",),
    ),
    "photonics": Group(
        "Photonics of nevergrad: value",
        ("default", "cma", "cobyqa", "ngopt", "random"),
        imports=("nevergrad",),
        requires=("nevergrad",),
    ),
    "lander": Group(
        f"LunarLander's heuristic controller, {programs.LANDER_EPISODES} fixed episodes: minus the mean reward",
        ("default", "cma", "cobyqa", "ngopt", "random"),
        imports=("gymnasium", "Box2D"),
        requires=("'gymnasium[box2d]'",),
    ),
    "episodes": Group(
        f"LunarLander, single episodes: minus the mean reward of what is recommended, over {FRESH} fresh episodes",
        ("default,noise=auto", "cma-favourite", "cma-noise", "random"),
        "noisy",
        ("gymnasium", "Box2D"),
        ("'gymnasium[box2d]'",),
    ),
}


def plain(value: Callable[[Array], Any]) -> Callable[[Array], Measured]:
    def measure(x: Array) -> Measured:
        found = float(value(x))
        return Measured(found, found)

    return measure


def sloped(value: Callable[[Any], Any]) -> Callable[[Array], Measured]:
    def measure(x: Array) -> Measured:
        found = float(value(x))
        return Measured(found, found, gradient=gradient(value, x))

    return measure


def squared(residuals: Callable[[Array], Array]) -> Callable[[Array], Measured]:
    def measure(x: Array) -> Measured:
        found = finite(residuals(x))
        total = float(found @ found)
        return Measured(total, total, found)

    return measure


def box(*bounds: tuple[float, float]) -> Callable[[np.random.Generator], Sequence[tuple[float, float]]]:
    return lambda rng: bounds


def _tasks() -> dict[str, Task]:
    zero = lambda: 0.0  # noqa: E731
    found = {
        name: Task(
            "global", modal.budget, modal.bounds, plain(modal.value), functools.partial(getattr, modal, "minimum")
        )
        for name, modal in MODAL.items()
    }
    for name, smooth in SMOOTH.items():
        bounds = box(*[smooth.box] * smooth.dim)
        found[name] = Task("gradients", smooth.budget, bounds, sloped(smooth.value), zero, starts=True)
    for name, calibration in programs.CALIBRATIONS.items():
        residuals = functools.partial(programs.misfits, name)
        least = functools.partial(programs.least_cost, name)
        found[name] = Task("calibration", 300, box(*calibration.bounds), squared(residuals), least, starts=True)
    fixed = functools.partial(programs.lander_loss, episodes=range(programs.LANDER_EPISODES))
    bragg, chirped = [(2.0, 3.0)] * 10 + [(30.0, 180.0)] * 10, [(30.0, 180.0)] * 20
    return found | {
        "rover-60": Task("many", 500, box(*[(-0.1, 1.1)] * 60), plain(programs.rover)),
        "rover-line-60": Task(
            "many", 500, box(*[(-0.5, 0.5)] * 60), plain(programs.rover_from_line), centred=True, first_step=0.05
        ),
        "ridge-60": Task("many", 400, Modal(ridge, (-4.0, 6.0), (1.0,) * 60, 400).bounds, plain(ridge), zero),
        "svr-diabetes-3": Task("tuning", 60, box((-2, 3), (-4, 1), (-2, 2)), plain(programs.tuned_svr)),
        "svc-cancer-2": Task("tuning", 60, box((-2, 4), (-6, 1)), plain(programs.tuned_svc)),
        "regression-wine-7": Task("tuning", 100, box((-3, 3), *[(-2, 1)] * 6), plain(programs.tuned_regression)),
        "bragg-20": Task("photonics", 400, box(*bragg), plain(functools.partial(programs.photonics, "bragg"))),
        "chirped-20": Task("photonics", 400, box(*chirped), plain(functools.partial(programs.photonics, "chirped"))),
        "lander-12": Task("lander", 200, box(*[(0.0, 2.0)] * 12), plain(fixed)),
        "lander-episodes-12": Task("episodes", 600, box(*[(0.0, 2.0)] * 12), plain(fixed), episodes=True),
    }


TASKS = _tasks()


class EpisodeObjective(NoisyObjective):
    """One new episode at each evaluation; what is recommended last is judged when all is over, by fresh episodes."""

    def __init__(self, bounds: Sequence[tuple[float, float]], budget: int, rng: np.random.Generator) -> None:
        lower, upper = zip(*bounds, strict=True)
        episodes = rng.integers(10**6, 2 * 10**6, budget)

        def single(x: Any) -> float:
            return programs.lander_loss(x, [episodes[self.evaluations - 1]])

        super().__init__(single, lower, upper, budget, 0.0, single)

    def _judge(self, x: Array) -> None:
        self.recommended = x.copy()

    def finish(self) -> None:
        self.trace = [(self.evaluations, programs.lander_loss(self.recommended, range(10**7, 10**7 + FRESH)))]


class TaskProblem(RepeatedProblem):
    @contextmanager
    def open(self, budget: int, seed: int = 0) -> Iterator[Objective]:
        task = TASKS[self.name]
        rng = np.random.default_rng([seed, *self.seed_words])
        bounds = task.bounds(rng)
        if task.episodes:
            noisy = EpisodeObjective(bounds, budget, rng)
            yield noisy
            noisy.finish()
            return
        lower, upper = np.array(bounds, dtype=float).T
        x0 = rng.uniform(lower, upper) if task.starts else (lower + upper) / 2 if task.centred else None
        step = task.first_step
        yield StartedObjective(task.measure, lower, upper, budget, task.best(), x0=x0, first_step=step)


# ---- the command


def register(command: Command) -> None:
    sub = command("tasks", run, "real programs and functions with many modes: medians over seeds, with their errors")
    common_options(sub, "tasks")
    sub.add_argument(
        "settings", nargs="*", help="as in `versus`, for the tasks they are fit for (default: those of each group)"
    )
    sub.add_argument(
        "--tasks", type=words, default=list(GROUPS), help=f"groups ({', '.join(GROUPS)}) or names (default: all)"
    )
    sub.add_argument("--runs", type=positive, default=RUNS, help="per task (default: %(default)s)")
    sub.add_argument("--budget", type=positive, help="evaluations (default: those of each task)")


def run(options: Any) -> None:
    chosen = chosen_tasks(options.tasks)
    groups = list(dict.fromkeys(TASKS[name].group for name in chosen))
    check_installed(groups)
    algorithms = {group: algorithms_for(group, options.settings) for group in groups}
    runs: list[Run] = []
    for group in groups:
        problems = [TaskProblem(name, k) for name in chosen if TASKS[name].group == group for k in range(options.runs)]
        versus.check([a for a in algorithms[group] if a.is_labcat], problems[0])
        runs += [
            Run(a, p, options.budget or TASKS[p.name].budget, options.seed) for p in problems for a in algorithms[group]
        ]
    records, results = carry_out(options, runs, "tasks", apart=True)
    present(options, "Tasks", results, summarise(records) + failures(records))


def chosen_tasks(names: Sequence[str]) -> list[str]:
    if unknown := [name for name in names if name not in GROUPS and name not in TASKS]:
        raise ValueError(f"unknown task {unknown[0]!r}. Allowed: {', '.join([*GROUPS, *TASKS])}")
    return [name for name, task in TASKS.items() if name in names or task.group in names]


def check_installed(groups: Sequence[str]) -> None:
    for group in groups:
        if any(importlib.util.find_spec(module) is None for module in GROUPS[group].imports):
            others = ",".join(other for other in GROUPS if other != group)
            raise NotInstalled(
                f"the tasks of the group {group!r} need a package: pip install {' '.join(GROUPS[group].requires)}."
                f" Or leave them out: --tasks {others}"
            )


def algorithms_for(group: str, texts: Sequence[str]) -> list[Algorithm]:
    """Those named, or those of the group."""
    import labcat

    chosen = list(texts or GROUPS[group].settings)
    if not texts and LEAST_SQUARES in chosen and not hasattr(labcat, "least_squares"):
        warnings.warn("this build of LABCAT has no `labcat.least_squares`: it is left out", stacklevel=2)
        chosen.remove(LEAST_SQUARES)
    return versus.settings_beside(chosen, GROUPS[group].kind)


# ---- medians and their errors


@dataclass(frozen=True)
class Median:
    """Of the runs on a task, whose boxes and starts are the same for every algorithm."""

    runs: tuple[float, ...]

    @property
    def value(self) -> float:
        return float(np.median(self.runs))

    @functools.cached_property
    def resampled(self) -> Array:
        """The medians of resamples of the runs, the same runs for every algorithm."""
        chosen = np.random.default_rng(0).integers(0, len(self.runs), (RESAMPLES, len(self.runs)))
        found: Array = np.median(np.array(self.runs)[chosen], axis=1)
        return found

    @property
    def error(self) -> float:
        return float(np.std(self.resampled)) if len(self.runs) > 1 and np.isfinite(self.runs).all() else math.nan

    def is_within(self, best: Median) -> bool:
        """Whether it is not above the best one in at least a sixth of the resamples: one standard error, of any scale."""
        least = FLOOR + EQUAL * abs(best.value) if math.isfinite(best.value) else 0.0
        return float(np.mean(self.resampled <= best.resampled + least)) >= WITHIN

    def __str__(self) -> str:
        error = "" if math.isnan(self.error) else f" ± {self.error:.1g}"
        return f"{self.value:.3g}{error}" if math.isfinite(self.value) else "∞"


Medians = Mapping[str, Mapping[str, Median]]  # task → algorithm → median


def medians(records: Sequence[Record], score: Callable[[Record], float]) -> Medians:
    values: dict[str, dict[str, list[float]]] = {}
    for record in records:
        values.setdefault(record["function"], {}).setdefault(record["algorithm"], []).append(score(record))
    return {name: {a: Median(tuple(v)) for a, v in each.items()} for name, each in values.items()}


def leading(each: Mapping[str, Median]) -> list[str]:
    """The best algorithm and those within the error of it."""
    best = min(each.values(), key=lambda m: m.value)
    return [name for name, median in each.items() if math.isfinite(median.value) and median.is_within(best)]


def summarise(records: Sequence[Record]) -> list[Block]:
    blocks: list[Block] = []
    by_group: dict[str, list[Record]] = {}
    for record in records:
        by_group.setdefault(TASKS[record["function"]].group, []).append(record)
    for group, found in by_group.items():
        blocks += group_blocks(group, found)
    return blocks


def group_blocks(group: str, records: Sequence[Record]) -> list[Block]:
    runs = len({r["run"] for r in records})
    final = medians(records, lambda r: value_at(r, r["budget"]))
    title = f"{GROUPS[group].title} (medians of {runs} runs)"
    budgets = {r["function"]: r["budget"] for r in records}
    if group != "calibration":
        return [table(title, final, budgets), standings(final)]
    taken = medians(records, evaluations_to_close)
    what = (
        f"Simulations to {CLOSE:g} of the least sum of squares (medians of {runs} runs; ∞: not reached by half of them)"
    )
    return [table(title, final, budgets), table(what, taken, budgets), standings(taken), Text(solved(records))]


def evaluations_to_close(record: Record) -> float:
    target = (CLOSE - 1) * programs.least_cost(record["function"])
    return float(next((n for n, regret in record["trace"] if regret <= target), math.inf))


def solved(records: Sequence[Record]) -> str:
    counts: dict[str, list[bool]] = {}
    for record in records:
        counts.setdefault(record["algorithm"], []).append(math.isfinite(evaluations_to_close(record)))
    return "Solved: " + ", ".join(f"{name} {sum(found)} of {len(found)} runs" for name, found in counts.items()) + "."


def table(title: str, found: Medians, budgets: Mapping[str, int]) -> Table:
    names = list(dict.fromkeys(name for each in found.values() for name in each))
    rows = []
    for task, each in found.items():
        best = leading(each)
        cells = [str(each[name]) if name in each else "–" for name in names]
        rows.append(
            [task, str(budgets[task]), *(f"**{c}**" if n in best else c for n, c in zip(names, cells, strict=True))]
        )
    return Table(title, ["task", "budget", *names], rows, "In bold: the best, and what lies within the error of it.")


def standings(found: Medians) -> Text:
    """How often each algorithm leads, and how often it is among the last two."""
    names = list(dict.fromkeys(name for each in found.values() for name in each))
    lines = []
    for name in names:
        tasks = [each for each in found.values() if name in each]
        leads = sum(name in leading(each) for each in tasks)
        last = [task for task, each in found.items() if name in each and is_among_last(name, each)]
        lines.append(
            f"- {name} is best or within the error of the best on {leads} of {len(tasks)}"
            + (f", among the last two on {len(last)}: {', '.join(last)}." if last else ", nowhere among the last two.")
        )
    return Text("\n".join(lines))


def is_among_last(name: str, each: Mapping[str, Median]) -> bool:
    """At most one is no better; of three algorithms or fewer, and of those that lead, nobody is said to be last."""
    if len(each) < 4 or name in leading(each):
        return False
    return sum(median.value >= each[name].value for other, median in each.items() if other != name) <= 1
