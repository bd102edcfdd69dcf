"""Objectives that have a starting point, and may show more than a value: residuals, or a gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .objective import Array, Objective, Point

MOST = 1e50  # of a residual: a value that is not finite would be a failed evaluation, which only some algorithms know


@dataclass(frozen=True)
class Measured:
    """What one evaluation gives. An algorithm is judged by the true value of its point."""

    true: float
    shown: float
    residuals: Array | None = None
    gradient: Array | None = None


class StartedObjective(Objective):
    """Value, residuals and gradient of a point are one evaluation, whichever of them an algorithm asks for."""

    def __init__(
        self,
        measure: Callable[[Array], Measured],
        lower: Point,
        upper: Point,
        budget: int,
        f_opt: float | None = None,
        *,
        x0: Point | None = None,
        first_step: float | None = None,
    ) -> None:
        super().__init__(measure, lower, upper, budget, f_opt)  # type: ignore[arg-type]
        self.x0 = None if x0 is None else np.asarray(x0, dtype=float)
        if first_step is not None:
            self.first_step = first_step

    def measure(self, x: Point) -> Measured:
        found: Measured = self._evaluate(np.asarray(x, dtype=float))
        if found.true < self.best:
            self._improve(found.true)
        return found

    def __call__(self, x: Point) -> float:
        return self.measure(x).shown

    def residuals(self, x: Point) -> Array:
        found = self.measure(x).residuals
        if found is None:
            raise TypeError("this problem has no residuals")
        return found

    def with_gradient(self, x: Point) -> tuple[float, Array]:
        found = self.measure(x)
        if found.gradient is None:
            raise TypeError("this problem has no gradient")
        return found.shown, found.gradient

    def start(self, seed: int) -> Array:
        if self.x0 is not None and not self.evaluations:
            unit: Array = (self.x0 - self.lower) / (self.upper - self.lower)
            return unit
        return super().start(seed)


def finite(residuals: Any) -> Array:
    """With what is not a number, or too large, at the largest size there is."""
    found: Array = np.clip(np.nan_to_num(residuals, nan=MOST, posinf=MOST, neginf=-MOST), -MOST, MOST)
    return found
