"""The parameters of a study of Optuna as a space of labcat: what there is, in which range, and on what it depends."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial

from labcat import Categorical, Integer, InvalidError, Real, Space
from labcat._values import EXACT

Point = tuple[float, ...]

_RECENT = 10
"""Ranges of a parameter that are looked at: if they change all the time it has all of them, else the newest."""

_MOST_VALUES = 1000
"""An integer with more values than this is a quantity, on which no other parameter depends."""


class Condition(NamedTuple):
    """A parameter that is part of a trial only with some values of another."""

    parameter: str
    values: frozenset[Any]


class Conditional(NamedTuple):
    """Parameters with their ranges, those that others depend on first."""

    distributions: dict[str, BaseDistribution]
    conditions: dict[str, Condition]
    """What some of them depend on."""
    rare: frozenset[str] = frozenset()
    """Those that some trials lack, and nothing tells why: they are chosen always, used or not."""

    def restricted(self, names: Iterable[str]) -> Conditional:
        """Some of the parameters."""
        kept = {name: self.distributions[name] for name in self.distributions if name in set(names)}
        conditions = {name: c for name, c in self.conditions.items() if name in kept and c.parameter in kept}
        return Conditional(kept, conditions, self.rare | (set(self.conditions) & set(kept)) - set(conditions))


class StudySpace:
    """What the finished trials of a study tell about its parameters."""

    def __init__(self) -> None:
        self._trials: list[dict[str, Any]] = []  # what each had
        self._ranges: dict[str, deque[BaseDistribution]] = {}
        self._now = Conditional({}, {})
        self._known = 0  # trials that `_now` knows

    def add(self, trials: Iterable[FrozenTrial]) -> None:
        """Takes note of trials that have finished."""
        for trial in trials:
            self._trials.append(trial.params)
            for name, distribution in trial.distributions.items():
                ranges = self._ranges.setdefault(name, deque(maxlen=_RECENT))
                if not ranges or ranges[-1] != distribution:
                    ranges.append(distribution)

    def now(self) -> Conditional:
        """The parameters as far as they are known."""
        if self._known < len(self._trials):
            self._now, self._known = self._found(), len(self._trials)
        return self._now

    def _found(self) -> Conditional:
        count = {name: sum(name in params for params in self._trials) for name in self._ranges}
        names = sorted(self._ranges, key=lambda name: (-count[name], name))
        distributions = {name: _range(self._ranges[name]) for name in names}
        conditions = {}
        partial = [name for name in names if count[name] < len(self._trials)]
        for name in partial:
            parents = [other for other in names if count[other] > count[name] and _may_lead(distributions[other])]
            found = self._condition(name, parents, distributions)
            if found is not None:
                conditions[name] = found
        return Conditional(distributions, conditions, frozenset(partial) - set(conditions))

    def _condition(
        self, name: str, parents: list[str], distributions: Mapping[str, BaseDistribution]
    ) -> Condition | None:
        """What tells the trials with a parameter from those without: the rarest parameter that can."""
        having = [params for params in self._trials if name in params]
        lacking = [params for params in self._trials if name not in params]
        for parent in reversed(parents):
            if not all(parent in params for params in having):
                continue
            values = {params[parent] for params in having}
            others = {params[parent] for params in lacking if parent in params}
            if not values & others:
                return Condition(parent, frozenset(_extended(distributions[parent], values, others)))
        return None


def _may_lead(distribution: BaseDistribution) -> bool:
    """Whether others may depend on a parameter: it has values, not a range."""
    if isinstance(distribution, IntDistribution):
        steps: int = (distribution.high - distribution.low) // distribution.step
        return 0 < steps < _MOST_VALUES
    return isinstance(distribution, CategoricalDistribution) and not distribution.single()


def _extended(distribution: BaseDistribution, values: set[Any], others: set[Any]) -> set[Any]:
    """The values with which a parameter is there; of an integer also those beyond a threshold."""
    if isinstance(distribution, IntDistribution) and others:
        steps = range(distribution.low, distribution.high + 1, distribution.step)
        if min(values) > max(others):
            return values | {n for n in steps if n >= min(values)}
        if max(values) < min(others):
            return values | {n for n in steps if n <= max(values)}
    return values


def _range(ranges: deque[BaseDistribution]) -> BaseDistribution:
    """The newest range; if it changes all the time, one that holds the recent ones."""
    newest = ranges[-1]
    if len(ranges) < 3 or not isinstance(newest, (FloatDistribution, IntDistribution)) or newest.step not in (None, 1):
        return newest
    alike = [r for r in ranges if type(r) is type(newest) and r.log == newest.log and r.step == newest.step]
    low, high = min(r.low for r in alike), max(r.high for r in alike)
    return type(newest)(low, high, log=newest.log)


class Grid:
    """Parameters of Optuna as a space of labcat: a category by its number, a float with steps by theirs."""

    def __init__(self, conditional: Conditional) -> None:
        self.conditional = conditional
        self.distributions = conditional.distributions
        names = {name: f"x{i}" for i, name in enumerate(self.distributions)}
        parameters = {}
        for name, distribution in self.distributions.items():
            condition, when = conditional.conditions.get(name), None
            if condition is not None:
                parent = self.distributions[condition.parameter]
                numbers = [_number(parent, value) for value in condition.values]
                known = sorted(round(number) for number in numbers if number is not None)
                when = {names[condition.parameter]: known} if known else None
            parameters[names[name]] = _parameter(distribution, when)
        self.space = Space(parameters)

    def point(self, params: Mapping[str, Any]) -> Point | None:
        """The point that parameters describe; None if one that it should have is missing or out of range."""
        x = []
        for name, distribution in self.distributions.items():
            number = _number(distribution, params[name]) if name in params else _middle(distribution)
            if number is None:
                return None
            x.append(number)
        for name, active in zip(self.distributions, self.space.active(x)):
            if active and name not in params and name not in self.conditional.rare:
                return None
        return tuple(x)

    def radius(self, given: float | Mapping[str, float] | None) -> dict[str, float] | None:
        """The radius of a first design, given in the units of the study, in those of the space."""
        if given is None:
            return None
        found = {}
        for ours, (name, distribution) in zip(self.space, self.distributions.items()):
            if isinstance(distribution, CategoricalDistribution):
                continue
            if isinstance(given, Mapping) and name not in given:
                raise InvalidError(f"radius lacks {name!r}; it has {', '.join(given)}")
            reach = given[name] if isinstance(given, Mapping) else given
            steps = isinstance(distribution, FloatDistribution) and distribution.step
            found[ours] = reach / steps if steps else reach
        return found

    def params(self, x: Point) -> dict[str, Any]:
        """The parameters of a point that are part of it."""
        named = zip(self.distributions.items(), x, self.space.active(x))
        return {name: _value(d, number) for (name, d), number, active in named if active}

    def same(self, a: Point, b: Point) -> bool:
        """Whether two points have the same parameters."""
        return a == b or self.space.to_dict(a) == self.space.to_dict(b)


def _parameter(distribution: BaseDistribution, when: dict[str, Any] | None) -> Real | Integer | Categorical:
    if isinstance(distribution, CategoricalDistribution):
        return Categorical(range(len(distribution.choices)), when=when)
    assert isinstance(distribution, (FloatDistribution, IntDistribution))
    scale: Literal["linear", "log"] = "log" if distribution.log else "linear"
    if isinstance(distribution, IntDistribution):
        if max(-distribution.low, distribution.high) > EXACT:  # rounded when they are suggested
            return Real(float(distribution.low), float(distribution.high), scale, when=when)
        return Integer(distribution.low, distribution.high, scale, distribution.step, when=when)
    if distribution.step is not None:
        steps = round((distribution.high - distribution.low) / distribution.step)
        return Integer(0, steps, when=when) if steps <= EXACT else Real(0, steps, when=when)
    return Real(distribution.low, distribution.high, scale, when=when)


def _middle(distribution: BaseDistribution) -> float:
    """A number for a parameter that is not part of a trial."""
    parameter = _parameter(distribution, None)
    if isinstance(parameter, Categorical):
        return 0.0
    if isinstance(parameter, Integer):
        return float(parameter.low)
    return (parameter.low * parameter.high) ** 0.5 if parameter.scale == "log" else (parameter.low + parameter.high) / 2


def clipped(distribution: BaseDistribution, value: Any) -> Any:
    """The value of a distribution that is nearest to one of another range; None if there is none."""
    if not isinstance(distribution, (FloatDistribution, IntDistribution)) or not isinstance(value, (int, float)):
        return None
    near = min(max(value, distribution.low), distribution.high)
    if distribution.step is not None:
        near = distribution.low + round((near - distribution.low) / distribution.step) * distribution.step
        near = near if near <= distribution.high else near - distribution.step
    return int(near) if isinstance(distribution, IntDistribution) else float(near)


def _number(distribution: BaseDistribution, value: Any) -> float | None:
    """A value of Optuna as a number of a point; None if it is none of the distribution's."""
    if isinstance(distribution, CategoricalDistribution):
        try:
            return float(distribution.to_internal_repr(value))
        except ValueError:
            return None
    assert isinstance(distribution, (FloatDistribution, IntDistribution))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not distribution.low <= value <= distribution.high:
        return None
    if isinstance(distribution, FloatDistribution) and distribution.step is not None:
        return float(round((value - distribution.low) / distribution.step))
    if isinstance(distribution, IntDistribution) and (value - distribution.low) % distribution.step:
        return None
    return float(value)


def _value(distribution: BaseDistribution, number: float) -> Any:
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[round(number)]
    if isinstance(distribution, IntDistribution):
        return clipped(distribution, round(number))
    assert isinstance(distribution, FloatDistribution)
    if distribution.step is None:
        return number
    return min(distribution.low + round(number) * distribution.step, distribution.high)
