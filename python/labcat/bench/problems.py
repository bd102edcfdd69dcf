"""Benchmark problems as plain, picklable values: a worker in another process or on another machine opens them."""

from __future__ import annotations

import functools
import hashlib
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .functions import PAPER
from .objective import Array, Function, Objective

SHIFT = 0.15  # of the width of the domain, either way; each minimum named by the function stays inside

MOVE = 0.25  # of the width of the box, either way, as far as the optimum stays inside


class UnknownProblem(ValueError):
    """A suite, function, instance or dimension that cannot be benchmarked."""


@dataclass(frozen=True)
class SyntheticProblem:
    """One run on one of the paper's functions; `shifted` moves the optimum by a vector drawn for this run."""

    function: str
    run: int
    shifted: bool = False

    @property
    def id(self) -> str:
        return f"{self.function}{'-shifted' if self.shifted else ''}-r{self.run}"

    @property
    def fields(self) -> dict[str, Any]:
        return {"function": self.function, "shifted": self.shifted, "run": self.run}

    @property
    def seed_words(self) -> list[int]:
        return [list(PAPER).index(self.function), self.run, int(self.shifted)]

    @contextmanager
    def open(self, budget: int) -> Iterator[Objective]:
        function = PAPER[self.function]
        lower, upper = np.array(function.bounds).T
        value = function.value
        if self.shifted:
            rng = np.random.default_rng(self.seed_words)
            shift = rng.uniform(-SHIFT, SHIFT, lower.size) * (upper - lower)
            fun: Function = lambda x: value(x - shift)  # noqa: E731
        else:
            fun = value
        yield Objective(fun, lower, upper, budget, function.minimum)


@dataclass(frozen=True)
class UserProblem:
    """One repeat on a user's own function."""

    fun: Function
    bounds: tuple[tuple[float, float], ...]
    run: int
    f_opt: float | None = None
    name: str = "objective"

    @property
    def id(self) -> str:
        # What a result depends on beside the name: a file that was edited since is another function.
        facts = repr((self.bounds, self.f_opt, getattr(self.fun, "digest", "")))
        return f"{self.name}-{hashlib.sha256(facts.encode()).hexdigest()[:8]}-r{self.run}"

    @property
    def fields(self) -> dict[str, Any]:
        return {"function": self.name, "shifted": False, "run": self.run}

    @property
    def seed_words(self) -> list[int]:
        return [self.run]

    @contextmanager
    def open(self, budget: int) -> Iterator[Objective]:
        lower, upper = zip(*self.bounds, strict=True)
        yield Objective(self.fun, lower, upper, budget, self.f_opt)


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
class CocoProblem:
    """One instance of one function of a COCO suite, observed by COCO's own logger if a folder is given."""

    suite: str
    function: int
    instance: int
    dim: int
    observer: str | None = None  # folder of COCO's data of one algorithm
    algorithm: str = ""  # its name there
    view: View = AS_GIVEN

    @property
    def name(self) -> str:
        return f"{self.suite}_f{self.function:03d}_i{self.instance:02d}_d{self.dim:02d}"

    @property
    def id(self) -> str:
        return self.name + self.view.id + ("_observed" if self.observer else "")

    @property
    def fields(self) -> dict[str, Any]:
        return {"suite": self.suite, "f": self.function, "i": self.instance, "d": self.dim}

    @property
    def seed_words(self) -> list[int]:
        return [self.function, self.instance, self.dim]

    @contextmanager
    def open(self, budget: int) -> Iterator[Objective]:
        suite = coco_suite(self.suite, self.dim, self.instance)
        problem = suite.get_problem_by_function_dimension_instance(self.function, self.dim, self.instance)
        if self.observer is not None:
            problem.observe_with(self._observer())
        try:
            f_opt = coco_minimum(self.function, self.dim, self.instance)
            lower, upper = self._box(problem)
            yield Objective(problem, lower, upper, budget, f_opt, shown=self.view.shown(f_opt))
        finally:
            problem.free()

    def _box(self, problem: Any) -> tuple[Array, Array]:
        lower, upper = np.array(problem.lower_bounds), np.array(problem.upper_bounds)
        if not self.view.moved:
            return lower, upper
        optimum = np.asarray(
            import_cocoex().BareProblem("bbob", self.function, self.dim, self.instance).best_parameter()
        )
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
        raise UnknownProblem("COCO is not installed: pip install 'labcat[bench]' (or coco-experiment)") from error
    return cocoex


SUITES = {
    "bbob": (2, 3, 5, 10, 20, 40),
    "bbob-boxed": (2, 3, 5, 10, 20, 40),
    "bbob-largescale": (20, 40, 80, 160, 320, 640),
}
REFUSED_SUITES = {
    "bbob-noisy": "its values are noisy, and LABCAT takes every value as exact",
    "bbob-mixint": "it has integer variables, and LABCAT has real ones only",
    "bbob-constrained": "it has constraints beyond the box, and LABCAT has none",
    "bbob-biobj": "it has two objectives, and LABCAT has one",
    "bbob-biobj-ext": "it has two objectives, and LABCAT has one",
    "bbob-biobj-mixint": "it has two objectives and integer variables, and LABCAT has neither",
}


def check_suite(suite: str) -> None:
    if suite in REFUSED_SUITES:
        raise UnknownProblem(
            f"suite {suite!r} cannot be run yet: {REFUSED_SUITES[suite]}. Allowed: {', '.join(SUITES)}"
        )
    if suite not in SUITES:
        raise UnknownProblem(f"unknown suite {suite!r}. Allowed: {', '.join(SUITES)}")


@functools.lru_cache(maxsize=64)
def coco_suite(suite: str, dim: int, instance: int) -> Any:
    return import_cocoex().Suite(suite, f"instances: {instance}", f"dimensions: {dim}")


def coco_minimum(function: int, dim: int, instance: int) -> float:
    """f_opt from an unobserved twin of the problem.

    It depends on the function and the instance only, and is the same in the suites we run; COCO makes the bare twin
    up to 40 dimensions.
    """
    return float(import_cocoex().BareProblem("bbob", function, min(dim, 40), instance).best_value())


def coco_problems(
    suite: str,
    dims: Sequence[int],
    functions: Sequence[int],
    instances: Sequence[int],
    observer: str | None = None,
    view: View = AS_GIVEN,
) -> list[CocoProblem]:
    """The problems in the order of dimension, function, instance."""
    check_suite(suite)
    import_cocoex()
    if unknown := sorted(set(dims) - set(SUITES[suite])):
        allowed = ", ".join(map(str, SUITES[suite]))
        raise UnknownProblem(f"dimension {unknown[0]} is not in suite {suite}. Allowed: {allowed}")
    if unknown := sorted(set(functions) - set(range(1, 25))):
        raise UnknownProblem(f"function {unknown[0]} is not in suite {suite}. Allowed: 1-24")
    if unknown := [i for i in instances if i < 1]:
        raise UnknownProblem(f"instance {unknown[0]} is not allowed: instances count from 1")
    if suite == "bbob-largescale":
        warnings.warn("bbob-largescale: the cost of a LABCAT step grows with the cube of the dimension", stacklevel=2)
    if view.moved and suite != "bbob":
        raise UnknownProblem(
            f"the box of {suite!r} cannot be moved: only that of bbob, whose functions go on outside it"
        )
    return [CocoProblem(suite, f, i, d, observer, view=view) for d in dims for f in functions for i in instances]
