"""The objective as an algorithm sees it: a box, a budget, and a count that cannot be cheated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

    first_step = 0.2  # of the width of the box: first standard deviation or trust-region radius of a local method

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
        value = float(self._evaluate(np.asarray(x, dtype=float)))
        if value < self.best:
            self._improve(value)
        return value if self._shown is None else self._shown(value)

    def _evaluate(self, x: Any) -> Any:
        """What the function gives, counted."""
        if self.evaluations >= self.budget:
            raise BudgetSpent
        self.evaluations += 1
        try:
            return self._fun(x)
        except Exception as error:
            self.failure = ObjectiveError(f"the objective raised {type(error).__name__}: {error}")
            raise self.failure from error

    def _improve(self, value: float) -> None:
        self.best = value
        self.trace.append((self.evaluations, self.regret(value)))

    def regret(self, value: float) -> float:
        return value if self.f_opt is None else max(value - self.f_opt, 0.0)

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


class NoisyObjective(Objective):
    """Gives noisy values, and judges by the value without noise of the point that would be recommended.

    That is the point of the best draw until an algorithm calls `recommend`. `trace` has a pair for every change of the
    regret, for better or worse.
    """

    def __init__(self, fun: Function, lower: Point, upper: Point, budget: int, f_opt: float, true: Function) -> None:
        super().__init__(fun, lower, upper, budget, f_opt)
        self.sigma = math.nan  # the standard deviation of the noise, where it is one number
        self._true = true
        self._chooses = False
        self.recommended: Array = np.full(0, math.nan)  # the newest, if there is one

    def __call__(self, x: Point) -> float:
        point = np.asarray(x, dtype=float)
        value = float(self._evaluate(point))
        if value < self.best:
            self.best = value
            if not self._chooses:
                self._judge(point)
        return value

    def recommend(self, x: Point) -> None:
        """The point that the algorithm would give if it were stopped now."""
        self._chooses = True
        self._judge(np.clip(np.asarray(x, dtype=float), self.lower, self.upper))

    def _judge(self, x: Array) -> None:
        if x.tobytes() != self.recommended.tobytes():
            self.recommended = x.copy()
            entry = (max(self.evaluations, 1), self.regret(float(self._true(x))))
            if self.trace and self.trace[-1][0] == entry[0]:
                self.trace.pop()
            self.trace.append(entry)


@dataclass(frozen=True)
class Parameter:
    """A real or integer parameter between `low` and `high`, or the number of one of `choices`.

    With `when = (k, labels)` it means something only while parameter `k`, one before it, has one of these labels.
    """

    low: float
    high: float
    integer: bool = False
    log: bool = False
    choices: tuple[str, ...] = ()
    when: tuple[int, tuple[str, ...]] | None = None

    @classmethod
    def choice(cls, *choices: str, when: tuple[int, tuple[str, ...]] | None = None) -> Parameter:
        return cls(0, len(choices) - 1, integer=True, choices=choices, when=when)

    def is_active(self, point: Sequence[float], parameters: Sequence[Parameter]) -> bool:
        """Whether it means something, given the values of those before it."""
        if self.when is None:
            return True
        k, labels = self.when
        return parameters[k].choices[round(point[k])] in labels

    @property
    def middle(self) -> float:
        return self.from_unit(0.5)

    @property
    def levels(self) -> int:
        """How many values it has; 0 for a real one."""
        return round(self.high - self.low) + 1 if self.integer else 0

    def from_unit(self, u: float) -> float:
        """Each integer has the same share of the unit interval (of its logarithm, on a log scale)."""
        half = 0.5 if self.integer else 0.0
        low, high = self.low - half, self.high + half
        value = low * (high / low) ** u if self.log else low + u * (high - low)
        return self.rounded(value)

    def rounded(self, value: float) -> float:
        return float(min(max(round(value) if self.integer else value, self.low), self.high))


class MixedObjective(Objective):
    """Of reals, integers and categories; a point holds the number of each category.

    What means nothing at a point has its middle value there, whatever an algorithm gives.
    """

    def __init__(self, fun: Function, parameters: Sequence[Parameter], budget: int, f_opt: float | None = None) -> None:
        super().__init__(fun, [p.low for p in parameters], [p.high for p in parameters], budget, f_opt)
        self.parameters = tuple(parameters)

    def from_unit(self, u: Point) -> Array:
        return np.array([p.from_unit(float(v)) for p, v in zip(self.parameters, u, strict=True)])

    def __call__(self, x: Point) -> float:
        point = [float(v) for v in x]
        named = zip(self.parameters, point, strict=True)
        return super().__call__([v if p.is_active(point, self.parameters) else p.middle for p, v in named])


class ConstrainedObjective(Objective):
    """Of a value and constraints, satisfied when g ≤ 0; only points that meet them all count.

    The function gives the value and the constraints. `initial` is where the suite says to begin, if it does; a
    constraint that is violated by no more than its `tolerance` counts as met.
    """

    def __init__(
        self,
        fun: Callable[[Any], tuple[float, Any]],
        lower: Point,
        upper: Point,
        budget: int,
        f_opt: float | None,
        constraints: int,
        initial: Point | None = None,
        tolerance: Point | float = 0.0,
    ) -> None:
        super().__init__(fun, lower, upper, budget, f_opt)  # type: ignore[arg-type]
        self.constraints = constraints
        self.initial = None if initial is None else np.asarray(initial, dtype=float)
        self.tolerance = np.asarray(tolerance, dtype=float)
        self._last: tuple[bytes, tuple[float, Array]] | None = None

    def measure(self, x: Point) -> tuple[float, Array]:
        """The value and the constraints."""
        point = np.asarray(x, dtype=float)
        value, constraints = self._evaluate(point)
        measured = float(value), np.asarray(constraints, dtype=float)
        self._last = point.tobytes(), measured
        if measured[0] < self.best and self.feasible(measured[1]):
            self._improve(measured[0])
        return measured

    def feasible(self, constraints: Array) -> bool:
        return bool((constraints <= self.tolerance).all())

    def __call__(self, x: Point) -> float:
        return self.once(x)[0]

    def once(self, x: Point) -> tuple[float, Array]:
        """The same, but the point measured last costs nothing: some methods ask for value and constraints in turn."""
        point = np.asarray(x, dtype=float)
        if self._last is not None and self._last[0] == point.tobytes():
            return self._last[1]
        return self.measure(point)

    def start(self, seed: int) -> Array:
        if self.initial is not None and not self.evaluations:
            unit: Array = (self.initial - self.lower) / (self.upper - self.lower)
            return unit
        return super().start(seed)
