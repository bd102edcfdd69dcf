"""The objective as an algorithm sees it: a box, a budget, and a count that cannot be cheated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[np.float64]"
Point: TypeAlias = "Sequence[float] | npt.NDArray[np.float64]"
Function: TypeAlias = Callable[[Any], float]  # of a point as an array


class BudgetSpent(BaseException):
    """The budget is used up.

    Not an `Exception`: several peers catch every `Exception` of an objective and go on.
    """


class ObjectiveError(Exception):
    """The objective itself raised; the cause is chained."""


class Objective:
    """Counts evaluations, keeps the best value, and records each improvement.

    `trace` holds one `(evaluation, regret)` pair per improvement: the regret is the value minus `f_opt` (a value below
    it is rounding, and has no regret), or the value itself where the least one is not known. An algorithm is shown
    `shown(value)` where that is given, and is judged by the value.
    """

    def __init__(
        self,
        fun: Function,
        lower: Point,
        upper: Point,
        budget: int,
        f_opt: float | None = None,
        *,
        centre_first: bool = False,
        shown: Callable[[float], float] | None = None,
    ) -> None:
        self.lower = np.asarray(lower, dtype=float)
        self.upper = np.asarray(upper, dtype=float)
        self.dim = self.lower.size
        self.budget = budget
        self.f_opt = f_opt
        self.centre_first = centre_first
        self.evaluations = 0
        self.best = math.inf
        self.trace: list[tuple[int, float]] = []
        self.info: dict[str, object] = {}  # whatever an adapter wants in the record
        self.failure: ObjectiveError | None = None
        self._fun = fun
        self._shown = shown

    def __call__(self, x: Point) -> float:
        if self.evaluations >= self.budget:
            raise BudgetSpent
        self.evaluations += 1
        try:
            value = float(self._fun(np.asarray(x, dtype=float)))
        except Exception as error:
            self.failure = ObjectiveError(f"the objective raised {type(error).__name__}: {error}")
            raise self.failure from error
        if value < self.best:
            self.best = value
            self.trace.append((self.evaluations, value if self.f_opt is None else max(value - self.f_opt, 0.0)))
        return value if self._shown is None else self._shown(value)

    @property
    def remaining(self) -> int:
        return self.budget - self.evaluations

    @property
    def bounds(self) -> list[tuple[float, float]]:
        return list(zip(self.lower.tolist(), self.upper.tolist(), strict=True))

    @property
    def initial_points(self) -> int:
        """The size of the initial design that every peer with such a setting is given: 2d + 1."""
        return min(2 * self.dim + 1, self.remaining)

    def start(self, seed: int) -> Array:
        """Where a method that needs a start begins, in the unit cube: at random, or first in the centre if so asked."""
        if self.centre_first and not self.evaluations:
            return np.full(self.dim, 0.5)
        return np.random.default_rng(seed).random(self.dim)

    def from_unit(self, u: Point) -> Array:
        """The point of the box at `u` in the unit cube, kept inside against rounding."""
        x = self.lower + np.asarray(u, dtype=float) * (self.upper - self.lower)
        inside: Array = np.clip(x, self.lower, self.upper)
        return inside

    def in_unit(self, u: Point) -> float:
        """Evaluate at the point of the unit cube `u`."""
        return self(self.from_unit(u))
