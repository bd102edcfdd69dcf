"""Problems of COCO's suites: as given, seen through a view, under noise, with integers, with constraints."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from . import suites
from .objective import Array, ConstrainedObjective, MixedObjective, NoisyObjective, Objective, Parameter
from .suites import UnknownProblem

MOVE = 0.25  # of the width of the box, either way, as far as the optimum stays inside


@dataclass(frozen=True)
class View:
    """What an algorithm sees of a problem: nothing of it may change what it does."""

    moved: bool = False  # the box is moved by a random vector, and the optimum stays inside
    offset: float | None = None  # f − f_opt + offset for f
    scale: float = 1.0  # times that, or times f

    @property
    def id(self) -> str:
        words = ["moved"] * self.moved
        words += [f"offset{self.offset!r}"] * (self.offset is not None) + [f"scale{self.scale!r}"] * (self.scale != 1)
        return "".join(f"_{word}" for word in words)

    def shown(self, f_opt: float) -> Callable[[float], float] | None:
        scale, offset = self.scale, self.offset
        if offset is not None:
            return lambda value: scale * (value - f_opt) + offset
        return None if scale == 1 else lambda value: scale * value


AS_GIVEN = View()


@dataclass(frozen=True)
class Noise:
    """`gaussian` and `heavy` noise (Student's t with two degrees of freedom) is added, with `level` times the
    interquartile range of f over the box; `multiplicative` noise multiplies f − f_opt by exp(level · N(0, 1))."""

    kind: str
    level: float

    KINDS: ClassVar = ("gaussian", "multiplicative", "heavy")

    def __post_init__(self) -> None:
        if self.kind not in self.KINDS:
            raise UnknownProblem(f"unknown noise {self.kind!r}. Allowed: {', '.join(self.KINDS)}")
        if not 0 < self.level < np.inf:
            raise UnknownProblem(f"the level of noise must be above 0, not {self.level}")

    @property
    def id(self) -> str:
        return f"{self.kind}{self.level:g}"

    def function(self, value: Callable[[Any], float], f_opt: float, width: float, seed: Sequence[int]) -> Any:
        """The noisy function, with draws of its own; and the standard deviation of what is added, if it is one."""
        rng = np.random.default_rng([*seed, self.KINDS.index(self.kind)])
        scale = self.level * width
        if self.kind == "gaussian":
            return (lambda x: value(x) + scale * rng.standard_normal()), scale
        if self.kind == "heavy":
            return (lambda x: value(x) + scale * rng.standard_t(2)), np.nan
        return (lambda x: f_opt + (value(x) - f_opt) * np.exp(self.level * rng.standard_normal())), np.nan


@dataclass(frozen=True)
class CocoProblem:
    """One instance of one function of a COCO suite, observed by COCO's own logger if a folder is given."""

    suite: str
    function: int
    instance: int
    dim: int
    observer: str | None = None  # folder of COCO's data of one algorithm
    algorithm: str = ""  # its name there
    view: View = AS_GIVEN
    noise: Noise | None = None

    @property
    def name(self) -> str:
        return f"{self.suite}_f{self.function:03d}_i{self.instance:02d}_d{self.dim:02d}"

    @property
    def id(self) -> str:
        noise = f"_{self.noise.id}" if self.noise else ""
        return self.name + noise + self.view.id + ("_observed" if self.observer else "")

    @property
    def fields(self) -> dict[str, Any]:
        noise = {"noise": self.noise.id} if self.noise else {}
        return {"suite": self.suite, "f": self.function, "i": self.instance, "d": self.dim, **noise}

    @property
    def seed_words(self) -> list[int]:
        return [self.function, self.instance, self.dim]

    @contextmanager
    def open(self, budget: int, seed: int = 0) -> Iterator[Objective]:
        if self.noise is not None:
            yield self._noisy(self.noise, budget, seed)
            return
        suite = coco_suite(self.suite, self.dim, self.instance)
        problem = suite.get_problem_by_function_dimension_instance(self.function, self.dim, self.instance)
        if self.observer is not None:
            problem.observe_with(self._observer())
        try:
            yield self._objective(problem, budget, seed)
        finally:
            problem.free()

    def _objective(self, problem: Any, budget: int, seed: int) -> Objective:
        lower, upper = np.array(problem.lower_bounds), np.array(problem.upper_bounds)
        kind = suites.suite(self.suite).kind
        if kind == "noisy":
            f_opt, true = noiseless(self.function, self.dim, self.instance)
            return NoisyObjective(problem, lower, upper, budget, f_opt, true)
        f_opt = coco_minimum(self.suite, self.function, self.dim, self.instance)
        if kind == "mixed":
            whole = problem.number_of_integer_variables
            box = zip(lower.tolist(), upper.tolist(), strict=True)
            parameters = [Parameter(low, high, integer=k < whole) for k, (low, high) in enumerate(box)]
            return MixedObjective(problem, parameters, budget, f_opt)
        if kind == "constrained":
            both = lambda x: (problem(x), problem.constraint(x))  # noqa: E731
            count, initial = problem.number_of_constraints, problem.initial_solution
            return ConstrainedObjective(both, lower, upper, budget, f_opt, count, initial)
        if self.view.moved:
            lower, upper = self._moved(lower, upper)
        return Objective(problem, lower, upper, budget, f_opt, shown=self.view.shown(f_opt))

    def _noisy(self, noise: Noise, budget: int, seed: int) -> NoisyObjective:
        """Of the function that nobody counts: COCO makes it in any dimension up to 40."""
        twin = bare(self.function, self.dim, self.instance)
        f_opt, width = float(twin.best_value()), interquartile_range(self.function, self.dim, self.instance)
        noisy, sigma = noise.function(twin, f_opt, width, [*self.seed_words, seed])
        objective = NoisyObjective(noisy, np.full(self.dim, -5.0), np.full(self.dim, 5.0), budget, f_opt, twin)
        objective.sigma = sigma
        return objective

    def _moved(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        optimum = np.asarray(bare(self.function, self.dim, self.instance).best_parameter())
        reach = MOVE * (upper - lower)
        least, most = np.maximum(-reach, optimum - upper), np.minimum(reach, optimum - lower)
        shift = np.random.default_rng(self.seed_words).uniform(least, most)
        return lower + shift, upper + shift

    def _observer(self) -> Any:
        # One folder per problem: what an interrupted run leaves behind can be told and removed; cocopp merges the rest.
        cocoex = import_cocoex()
        cocoex.log_level("warning")
        shutil.rmtree(Path(self.observer or "") / self.name, ignore_errors=True)
        # A line in the data for every hundredth of a decade reached, which includes all targets of the measure.
        return cocoex.Observer(
            "bbob",
            f'outer_folder: "{self.observer}" result_folder: {self.name} algorithm_name: {self.algorithm} '
            "number_target_triggers: 100",
        )


# ---- COCO


def import_cocoex() -> Any:
    try:
        import cocoex
    except ImportError as error:
        raise UnknownProblem("COCO is not installed: pip install labcat-bench (or coco-experiment)") from error
    return cocoex


@functools.lru_cache(maxsize=64)
def coco_suite(suite: str, dim: int, instance: int) -> Any:
    return import_cocoex().Suite(suite, f"instances: {instance}", f"dimensions: {dim}")


@functools.lru_cache(maxsize=256)
def bare(function: int, dim: int, instance: int) -> Any:
    """A function of `bbob` that nobody counts."""
    return import_cocoex().BareProblem("bbob", function, dim, instance)


@functools.lru_cache(maxsize=4096)
def coco_minimum(suite: str, function: int, dim: int, instance: int) -> float:
    """f_opt from an unobserved twin of the problem.

    In the suites of real variables it depends on the function and the instance only (COCO makes the bare twin up to 40
    dimensions); the others scale and move the functions, and a twin is evaluated at the optimum that COCO tells.
    """
    if suites.suite(suite).kind == "box":
        return float(bare(function, min(dim, 40), instance).best_value())
    twin = coco_suite(suite, dim, instance).get_problem_by_function_dimension_instance(function, dim, instance)
    try:
        return float(twin(best_point(twin)))
    finally:
        twin.free()


def best_point(problem: Any) -> Array:
    """COCO writes it into a file of the working directory, and nowhere else."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.chdir(folder)
            problem._best_parameter("print")
        finally:
            os.chdir(home)
        point: Array = np.loadtxt(Path(folder) / "._bbob_problem_best_parameter.txt", ndmin=1)
    return point


@functools.lru_cache(maxsize=4096)
def interquartile_range(function: int, dim: int, instance: int) -> float:
    """Of f over the box, from a thousand uniform points."""
    twin = bare(function, dim, instance)
    points = np.random.default_rng([function, instance, dim]).uniform(-5, 5, (1000, dim))
    low, high = np.quantile([twin(x) for x in points], [0.25, 0.75])
    return float(high - low)


# The functions of `bbob` in `bbob-noisy`, and by how much they are scaled there.
UNDERLYING = {
    **dict.fromkeys((101, 102, 103, 107, 108, 109), (1, 1.0)),
    **dict.fromkeys((104, 105, 106, 110, 111, 112), (8, 1.0)),
    **dict.fromkeys((113, 114, 115), (7, 1.0)),
    **dict.fromkeys((119, 120, 121), (14, 1.0)),
    **dict.fromkeys((122, 123, 124), (17, 1.0)),
    **dict.fromkeys((125, 126, 127), (19, 0.1)),
    **dict.fromkeys((128, 129, 130), (21, 1.0)),
}


def noiseless(function: int, dim: int, instance: int) -> tuple[float, Callable[[Any], float]]:
    """The minimum of a function of `bbob-noisy`, and the function without its noise."""
    number, scale = UNDERLYING[function]
    twin = bare(number, dim, instance)
    f_opt = float(twin.best_value())
    return f_opt, lambda x: f_opt + scale * (twin(x) - f_opt)


def coco_problems(
    suite: str,
    dims: Sequence[int],
    functions: Sequence[int],
    instances: Sequence[int],
    observer: str | None = None,
    view: View = AS_GIVEN,
    noise: Noise | None = None,
) -> list[CocoProblem]:
    """The problems in the order of dimension, function, instance."""
    kind = suites.suite(suite).kind
    twins = noise is not None and suite in ("bbob", "bbob-boxed")
    if twins and (unknown := [d for d in dims if not 2 <= d <= 40]):
        raise UnknownProblem(f"noise is for 2 to 40 dimensions, not {unknown[0]}")
    suites.check(suite, [] if twins else dims, functions, instances)
    import_cocoex()
    if suite == "bbob-largescale":
        warnings.warn("bbob-largescale: the cost of a LABCAT step grows with the cube of the dimension", stacklevel=2)
    if view.moved and suite != "bbob":
        raise UnknownProblem(
            f"the box of {suite!r} cannot be moved: only that of bbob, whose functions go on outside it"
        )
    if (view != AS_GIVEN and kind != "box") or (noise and not twins):
        raise UnknownProblem(f"{suite!r} is run as given: no offset, scale or other noise")
    if view != AS_GIVEN and noise:
        raise UnknownProblem("noise goes with the functions as given: no offset, scale or moved bounds")
    return [
        CocoProblem(suite, f, i, d, observer, view=view, noise=noise)
        for d in dims
        for f in functions
        for i in instances
    ]
