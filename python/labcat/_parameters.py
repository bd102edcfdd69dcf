"""The types of parameters: their values, and the numbers that stand for these in a vector."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, TypeVar

from . import _labcat
from ._errors import InvalidError, UnknownSwitchError
from ._values import EXACT, as_float

Scale: TypeAlias = Literal["linear", "log"]
When: TypeAlias = "Mapping[str, Any] | Sequence[Mapping[str, Any]] | None"
Numbers: TypeAlias = "dict[str, list[float]]"
"""A condition: the numbers that others must have, all of them."""

_ROUNDING = 1e-9
"""How far, in steps, a value of a `Real` with steps may be from the one that is meant."""

_Class = TypeVar("_Class", bound=type)


def _with_hints(cls: _Class) -> _Class:
    """Lets the error of a keyword that other packages have say what it is called here."""
    plain: Any = cls.__init__  # type: ignore[misc]

    @functools.wraps(plain)
    def init(self: Any, *arguments: Any, **keywords: Any) -> None:
        for name, meant in (("log", 'scale="log"'), ("q", "step=…"), ("default", "x0=… of minimize")):
            if name in keywords:
                raise UnknownSwitchError(f"{cls.__name__} has no keyword {name!r}; write {meant}")
        plain(self, *arguments, **keywords)

    cls.__init__ = init  # type: ignore[misc]
    return cls


class _Shown:
    """Shown with every field that has a value: a condition, too."""

    def __repr__(self) -> str:
        given = ((f.name, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given if value is not None)})"


@_with_hints
@dataclass(frozen=True, repr=False)
class Real(_Shown):
    """A real parameter between `low` and `high`.

    With ``scale="log"`` its logarithm is searched. This is right for parameters such as a learning rate,
    whose order of magnitude is unknown. `low` must then be above 0.

    A parameter of any type may depend on parameters before it. With ``when={"kind": "b"}`` or
    ``when={"kind": ["b", "c"]}`` it is chosen, and appears in `params`, only while `kind` has this value or
    one of these values. If a dictionary has several conditions, all must hold:
    ``when={"kind": "b", "deep": True}``. If there is a list of dictionaries, one of them must hold:
    ``when=[{"kind": "b"}, {"deep": True}]``.

    With a `step` the values are `low`, `low` + `step`, … up to `high`. If `low` equals `high`, it is fixed.

    >>> import labcat
    >>> labcat.Real(1e-5, 1e-1, scale="log")
    Real(low=1e-05, high=0.1, scale='log')
    >>> labcat.Optimizer(labcat.Space(dose=labcat.Real(0, 0.3, step=0.1)), rng=1).ask().params
    {'dose': 0.1}
    """

    low: float
    high: float
    scale: Scale = "linear"
    step: float | None = None
    when: When = field(default=None, kw_only=True)

    def to_number(self, value: Any) -> float:
        """The number that stands for a value in the core."""
        number = _number(value)
        near = self._nearest(number)
        return near if self.step and abs(near - number) <= _ROUNDING * self.step else number

    def _nearest(self, number: float) -> float:
        """The nearest value, as the core has it."""
        return _labcat.Parameter("", "real", self.low, self.high, scale=self.scale, step=self.step or 0.0).nearest(number)

    def from_number(self, number: float) -> float:
        """The value that a number of the core stands for."""
        return float(number)

    def allows(self, number: float) -> bool:
        """Whether a number stands for a value of this parameter."""
        return self.low <= number <= self.high and number == self._nearest(number)

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        steps = "" if self.step is None else f", in steps of {self.step:.15g} from the first"
        return f"it must lie in [{self.low:.15g}, {self.high:.15g}]{steps}"


@_with_hints
@dataclass(frozen=True, repr=False)
class Integer(_Shown):
    """An integer: `low`, `low` + `step`, … up to `high`.

    With ``scale="log"`` its logarithm is searched, as for a `Real`. `low` must then be at least 1.

    >>> import labcat
    >>> labcat.Integer(16, 1024, scale="log")
    Integer(low=16, high=1024, scale='log', step=1)
    """

    low: int
    high: int
    scale: Scale = "linear"
    step: int = 1
    when: When = field(default=None, kw_only=True)

    def to_number(self, value: Any) -> float:
        """The number that stands for a value in the core."""
        return _number(value)

    def from_number(self, number: float) -> int:
        """The value that a number of the core stands for."""
        return round(number)

    def allows(self, number: float) -> bool:
        """Whether a number stands for a value of this parameter."""
        return self.low <= number <= self.high and (number - self.low) % self.step == 0

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        steps = "" if self.step == 1 else f" in steps of {self.step}"
        return f"it must be an integer from {self.low} to {self.high}{steps}"


@dataclass(frozen=True, repr=False)
class Categorical(_Shown):
    """One of `choices`, which are labels of any type. With ``ordered=True`` neighbours resemble each other.

    In a vector the number of a label stands for it, starting at 0.

    >>> import labcat
    >>> labcat.Categorical(["lu", "qr", "svd"])
    Categorical(choices=('lu', 'qr', 'svd'), ordered=False)
    """

    choices: Sequence[Any]
    ordered: bool = False
    when: When = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.choices, (str, bytes)) or not hasattr(self.choices, "__iter__"):
            raise InvalidError(f"choices must be a list of labels, not {self.choices!r}")
        object.__setattr__(self, "choices", tuple(self.choices))

    def to_number(self, value: Any) -> float:
        """The number that stands for a value in the core."""
        same = [k for k, label in enumerate(self.choices) if label is value]
        alike = [k for k, label in enumerate(self.choices) if _alike(label, value)]
        equal = [k for k, label in enumerate(self.choices) if _equal(label, value)]
        for found in (same, alike, equal):
            if found:
                return float(found[0])
        raise InvalidError(f"{value!r} is not one of the choices: {self.allowed}")

    def from_number(self, number: float) -> Any:
        """The value that a number of the core stands for."""
        return self.choices[round(number)]

    def allows(self, number: float) -> bool:
        """Whether a number stands for a value of this parameter."""
        return number in range(len(self.choices))

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        return f"it must be one of {', '.join(map(repr, self.choices))}"


@dataclass(frozen=True, repr=False)
class Boolean(_Shown):
    """False or True.

    >>> import labcat
    >>> labcat.Space(shuffle=labcat.Boolean()).to_dict([1])
    {'shuffle': True}
    """

    when: When = field(default=None, kw_only=True)

    def to_number(self, value: Any) -> float:
        """The number that stands for a value in the core."""
        number = _number(value)
        if number not in (0.0, 1.0):
            raise InvalidError(f"{value!r} is not allowed: {self.allowed}")
        return number

    def from_number(self, number: float) -> bool:
        """The value that a number of the core stands for."""
        return bool(number)

    def allows(self, number: float) -> bool:
        """Whether a number stands for a value of this parameter."""
        return number in (0.0, 1.0)

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        return "it must be False or True"


@dataclass(frozen=True, repr=False)
class Fixed(Categorical):
    """A value of any type that is the same in every evaluation.

    >>> import labcat
    >>> labcat.Space(x=(0, 1), solver=labcat.Fixed("lu")).to_dict([0.5, 0])
    {'x': 0.5, 'solver': 'lu'}
    """

    def __init__(self, value: Any, *, when: When = None) -> None:
        super().__init__((value,), when=when)

    def __repr__(self) -> str:
        when = "" if self.when is None else f", when={self.when!r}"
        return f"Fixed({self.choices[0]!r}{when})"


Parameter: TypeAlias = "Real | Integer | Categorical | Boolean"
ParameterLike: TypeAlias = "Parameter | tuple[float, float] | list[Any]"


def checked(name: str, parameter: object) -> Parameter:
    """The parameter with bounds of its own type; a pair of numbers stands for a `Real`, a list of labels for a `Categorical`."""
    if not isinstance(name, str) or not name:
        raise InvalidError(f"the name of a parameter must be a string that is not empty, not {name!r}")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InvalidError(f"the name of a parameter is {name!r}, which is not Unicode text (a lone surrogate)") from None
    if isinstance(parameter, Integer):
        first, last = _whole(name, "low", parameter.low), _whole(name, "high", parameter.high)
        whole = _whole(name, "step", parameter.step)
        if whole < 1:
            raise InvalidError(f"the step of parameter {name!r} is {whole}; it must be at least 1")
        return Integer(first, last, parameter.scale, whole, when=parameter.when)
    if _lists_labels(parameter):
        return Categorical(parameter)  # type: ignore[arg-type]
    if isinstance(parameter, (Categorical, Boolean)):
        return parameter
    if isinstance(parameter, Real):
        low, high, scale, step, when = parameter.low, parameter.high, parameter.scale, parameter.step, parameter.when
    elif isinstance(parameter, (tuple, list)) and len(parameter) == 2:
        (low, high), scale, step, when = parameter, "linear", None, None
    else:
        raise InvalidError(
            f"parameter {name!r} is {parameter!r}; allowed: labcat.Real, Integer, Categorical, Boolean, Fixed, "
            "a pair (low, high) of numbers or a list of labels"
        )
    step = None if step is None else _bound(name, "step", step)
    if step is not None and not step > 0:
        raise InvalidError(f"the step of parameter {name!r} is {step!r}; it must be above 0")
    return Real(_bound(name, "low", low), _bound(name, "high", high), scale, step, when=when)


def _lists_labels(parameter: object) -> bool:
    """Whether it lists labels: a pair of numbers is a range, any other list one of categories."""
    if not isinstance(parameter, (list, tuple)) or not parameter:
        return False
    if isinstance(parameter, list) and len(parameter) != 2:
        return True
    words = [isinstance(label, (str, bool)) for label in parameter]
    return any(words) and all(word or label is None for word, label in zip(words, parameter))


def describe(name: str, parameter: Parameter, others: Mapping[str, Parameter]) -> _labcat.Parameter:
    """The parameter as the core takes it; `others` come before it."""
    when = core_condition(conditions(name, parameter.when, others))
    if isinstance(parameter, Categorical):
        labels = [_plain(label) for label in parameter.choices]
        last = max(len(labels) - 1, 0)
        return _labcat.Parameter(
            name, "categorical", 0, last, labels=labels, ordered=parameter.ordered, when=when
        )
    if isinstance(parameter, Boolean):
        return _labcat.Parameter(name, "boolean", 0, 1, when=when)
    kind = "integer" if isinstance(parameter, Integer) else "real"
    step = 0.0 if parameter.low == parameter.high and kind == "real" else parameter.step or 0.0
    return _labcat.Parameter(
        name, kind, parameter.low, parameter.high, scale=parameter.scale, step=step, when=when
    )


def parameter_of(described: _labcat.Parameter, others: Mapping[str, Parameter]) -> Parameter:
    """The parameter that `describe` describes; labels that are no plain data come back as text."""
    when: When = None
    if described.when is not None:
        other, values = described.when
        when = {other: [others[other].from_number(value) for value in values]}
    if described.kind == "categorical":
        return Categorical(described.labels, described.ordered, when=when)
    if described.kind == "boolean":
        return Boolean(when=when)
    low, high, scale = described.low, described.high, described.scale
    if described.kind == "integer":
        return Integer(round(low), round(high), scale, round(described.step), when=when)  # type: ignore[arg-type]
    return Real(low, high, scale, described.step or None, when=when)  # type: ignore[arg-type]


def conditions(name: str, when: When, others: Mapping[str, Parameter]) -> list[Numbers]:
    """The conditions of a parameter, one of which must hold; none if it is always there."""
    if when is None:
        return []
    listed: list[Any] = list(when) if isinstance(when, (list, tuple)) else [when]
    if not listed or not all(isinstance(one, Mapping) and one for one in listed):
        raise InvalidError(
            f'the condition of {name!r} is {when!r}; allowed: other parameters and their values, when={{"kind": "b"}}, '
            'when={"kind": ["b", "c"], "deep": True} (both), or a list of such dictionaries (one of them)'
        )
    return [{other: _allowed_numbers(name, other, values, others) for other, values in one.items()} for one in listed]


def core_condition(alternatives: list[Numbers]) -> tuple[str, list[float]] | None:
    """What the core gets to know of conditions: one parameter and its values, and nothing that is not implied."""
    if not alternatives:
        return None
    for other in alternatives[0]:
        if all(other in one for one in alternatives):
            return other, sorted({number for one in alternatives for number in one[other]})
    return None


def _allowed_numbers(name: str, other: str, values: Any, others: Mapping[str, Parameter]) -> list[float]:
    """The numbers that stand for some values of another parameter."""
    if other not in others or isinstance(others[other], Real):
        before = ", ".join(n for n, p in others.items() if not isinstance(p, Real)) or "there is none"
        raise InvalidError(
            f"{name!r} depends on {other!r}: a condition names an Integer, Categorical or Boolean parameter that "
            f"comes before it ({before})"
        )
    listed = list(values) if isinstance(values, (list, tuple, set, frozenset)) else [values]
    parameter = others[other]
    if not listed:
        raise InvalidError(f"{name!r} depends on {other!r} being none of its values: {parameter.allowed}")
    numbers = []
    for value in listed:
        try:
            number = parameter.to_number(value)
        except InvalidError:
            number = math.nan
        if not parameter.allows(number):
            raise InvalidError(f"{name!r} depends on {other!r} being {value!r}, which it never is: {parameter.allowed}")
        numbers.append(number)
    return numbers


def _plain(label: Any) -> bool | int | float | str | None:
    """A label as the core keeps it: plain data as it is, anything else by its name."""
    plain = label.item() if hasattr(label, "item") and getattr(label, "ndim", None) == 0 else label
    if plain is None or isinstance(plain, (bool, str)):
        return plain
    if isinstance(plain, int) and -(2**63) <= plain < 2**63:
        return plain
    if isinstance(plain, float) and math.isfinite(plain):
        return plain
    return str(getattr(label, "__qualname__", None) or repr(label))


def _alike(a: Any, b: Any) -> bool:
    return type(a) is type(b) and _equal(a, b)


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except (TypeError, ValueError):
        return False


def _number(value: Any) -> float:
    try:
        return as_float(value)
    except (TypeError, ValueError):
        raise InvalidError(f"a point consists of numbers, not {value!r}") from None


def _bound(name: str, end: str, value: Any) -> float:
    try:
        return as_float(value)
    except (TypeError, ValueError):
        raise InvalidError(
            f"the {end}{'' if end == 'step' else ' bound'} of parameter {name!r} is {value!r}; it must be a finite number"
        ) from None


def _whole(name: str, end: str, value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        whole = operator.index(value)
    except TypeError:
        whole = None
    if whole is None or abs(whole) > EXACT:
        raise InvalidError(f"the {end} of parameter {name!r} is {value!r}; it must be an integer of at most 2**53")
    return whole
