"""Benchmark problems as plain, picklable values: a worker in another process or on another machine opens them."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .functions import PAPER
from .objective import Function, Objective

SHIFT = 0.15  # of the width of the domain, either way; each minimum named by the function stays inside


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
    def open(self, budget: int, seed: int = 0) -> Iterator[Objective]:
        del seed  # nothing of it is random
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
class RepeatedProblem:
    """One run on a problem that has a name; what it is says `open`."""

    name: str
    run: int

    @property
    def id(self) -> str:
        return f"{self.name}-r{self.run}"

    @property
    def fields(self) -> dict[str, Any]:
        return {"function": self.name, "run": self.run}

    @property
    def seed_words(self) -> list[int]:
        return [zlib.crc32(self.name.encode()), self.run]


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
    def open(self, budget: int, seed: int = 0) -> Iterator[Objective]:
        del seed
        lower, upper = zip(*self.bounds, strict=True)
        yield Objective(self.fun, lower, upper, budget, self.f_opt)
