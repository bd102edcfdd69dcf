"""The objective as an algorithm sees it: a box, a budget, and a count that cannot be cheated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np


class BudgetSpent(BaseException):
    """The budget is used up.

    Not an `Exception`: several peers catch every `Exception` of an objective and go on.
    """


class ObjectiveError(Exception):
    """The objective itself raised; the cause is chained."""


class Objective:
    """Counts evaluations, keeps the best value, and records each improvement.

    `trace` holds one `(evaluation, regret)` pair per improvement, where the regret is the value minus `f_opt`.
    """

    def __init__(
        self,
        fun: Callable[[np.ndarray], float],
        lower: Sequence[float],
        upper: Sequence[float],
        budget: int,
        f_opt: float = 0.0,
        *,
        centre_first: bool = False,
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

    def __call__(self, x: Sequence[float]) -> float:
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
            self.trace.append((self.evaluations, value - self.f_opt))
        return value

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

    def start(self, seed: int) -> np.ndarray:
        """Where a method that needs a start begins, in the unit cube: at random, or first in the centre if so asked."""
        if self.centre_first and not self.evaluations:
            return np.full(self.dim, 0.5)
        return np.random.default_rng(seed).random(self.dim)

    def from_unit(self, u: Sequence[float]) -> np.ndarray:
        """The point of the box at `u` in the unit cube, kept inside against rounding."""
        x = self.lower + np.asarray(u, dtype=float) * (self.upper - self.lower)
        return np.clip(x, self.lower, self.upper)

    def in_unit(self, u: Sequence[float]) -> float:
        """Evaluate at the point of the unit cube `u`."""
        return self(self.from_unit(u))
