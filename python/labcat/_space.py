"""Spaces of parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _labcat
from ._errors import InvalidError
from ._parameters import (
    Numbers,
    Parameter,
    ParameterLike,
    checked,
    conditions,
    describe,
    parameter_of,
)
from ._values import plural

Vector: TypeAlias = npt.NDArray[np.float64]


class BoundsLike(Protocol):
    """`scipy.optimize.Bounds`, or anything else with its `lb` and `ub`."""

    @property
    def lb(self) -> Any: ...
    @property
    def ub(self) -> Any: ...


Point: TypeAlias = "npt.ArrayLike | Mapping[str, Any]"
Points: TypeAlias = "Point | Sequence[Mapping[str, Any]]"
Radius: TypeAlias = "float | npt.ArrayLike | Mapping[str, float]"


class Space(Mapping[str, Parameter]):
    """Named parameters, in order.

    They are given as a mapping, as keywords, or as both. A pair of numbers ``(low, high)`` stands for a
    `Real`, even if both are integers: ``(1, 8)`` may give 3.7, and `labcat.Integer(1, 8)` gives 3 or 4. A list
    of labels, ``["gini", "entropy"]``, or of more than two numbers stands for a `Categorical`.

    With a space the objective is called with named values. If ``fun(*args, **params)`` fits the
    signature of the function, it gets keywords. Otherwise it gets a dictionary, ``fun(params, *args)``.
    A parameter whose condition (`when`) does not hold is not in the dictionary. As a keyword it
    is left out if the function has a default for it; otherwise it is None.

    Values have their own type: an `Integer` gives an int, a `Categorical` one of its choices, a
    `Boolean` a bool. In a vector they are numbers: a choice is its index in the list, starting at 0.

    >>> import labcat
    >>> space = labcat.Space(
    ...     layers=labcat.Integer(1, 8),
    ...     solver=labcat.Categorical(["adam", "sgd"]),
    ...     momentum=labcat.Real(0, 1, when={"solver": "sgd"}),
    ... )
    >>> space.to_dict([3, 1, 0.9])
    {'layers': 3, 'solver': 'sgd', 'momentum': 0.9}
    >>> space.to_dict([3, 0, 0.5])
    {'layers': 3, 'solver': 'adam'}

    >>> space = labcat.Space(rate=labcat.Real(1e-5, 1e-1, scale="log"), momentum=(0, 1))
    >>> list(space)
    ['rate', 'momentum']
    >>> space["momentum"]
    Real(low=0.0, high=1.0, scale='linear')
    >>> space.to_vector({"momentum": 0.9, "rate": 1e-3})
    array([0.001, 0.9  ])
    >>> space.to_dict([0.001, 0.9])
    {'rate': 0.001, 'momentum': 0.9}
    """

    __slots__ = ("_conditions", "_described", "_free", "_parameters")

    def __init__(
        self,
        parameters: Mapping[str, ParameterLike] = {},
        /,
        **named: ParameterLike,
    ) -> None:
        if not isinstance(parameters, Mapping):
            raise InvalidError(
                f"a Space takes a mapping from names to parameters, not {parameters!r}"
            )
        twice = sorted(set(parameters) & set(named))
        if twice:
            raise InvalidError(f"parameter {twice[0]!r} is given twice")
        self._parameters = {
            name: checked(name, parameter) for name, parameter in {**parameters, **named}.items()
        }
        self._described: list[_labcat.Parameter] = []
        self._conditions: dict[str, list[Numbers]] = {}
        before: dict[str, Parameter] = {}
        for name, parameter in self._parameters.items():
            self._described.append(describe(name, parameter, before))
            self._conditions[name] = conditions(name, parameter.when, before)
            before[name] = parameter
        self._free = _labcat.check_domain(self._described)

    def __getitem__(self, name: str) -> Parameter:
        return self._parameters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def __repr__(self) -> str:
        return f"Space({self._parameters!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Space, (self._parameters,)

    @classmethod
    def _of(cls, described: list[_labcat.Parameter], several: Mapping[str, list[Numbers]] = {}) -> Space:
        """The space that `described` describes; `several` are conditions that are more than one value of one other."""
        parameters: dict[str, Parameter] = {}
        for row in described:
            parameters[row.name] = parameter_of(row, parameters)
            if row.name in several:
                when = [
                    {other: [parameters[other].from_number(n) for n in numbers] for other, numbers in one.items()}
                    for one in several[row.name]
                ]
                parameters[row.name] = replace(parameters[row.name], when=when)
        return cls(parameters)

    def several(self) -> dict[str, list[Numbers]]:
        """The conditions that are more than one value of one other parameter: the core does not know all of them."""
        return {name: found for name, found in self._conditions.items() if len(found) > 1 or (found and len(found[0]) > 1)}

    def _holds(self, name: str, holds: Mapping[str, bool], numbers: Mapping[str, float]) -> bool:
        """Whether a parameter applies, given the values of those before it."""
        alternatives = self._conditions[name]
        return not alternatives or any(
            all(holds[other] and numbers[other] in allowed for other, allowed in one.items()) for one in alternatives
        )

    def described(self) -> list[_labcat.Parameter]:
        """The parameters as the core takes them."""
        return list(self._described)

    @property
    def n_free(self) -> int:
        """The number of parameters that are not fixed, at least 1; the default budget depends on it."""
        return self._free

    @property
    def is_plain(self) -> bool:
        """Whether every parameter is a real number without steps, not fixed, and always there."""
        return all(row.kind == "real" and not row.step and row.low < row.high and row.when is None for row in self._described)

    def active(self, x: npt.ArrayLike) -> list[bool]:
        """Which parameters' conditions hold at a point."""
        vector = _vector(x).tolist()
        holds: dict[str, bool] = {}
        values = dict(zip(self, vector))
        for name in self:
            holds[name] = self._holds(name, holds, values)
        return list(holds.values())

    def to_dict(self, x: npt.ArrayLike) -> dict[str, Any]:
        """The values of a vector by name, each of its own type, without parameters that do not apply."""
        vector = _vector(x)
        if len(vector) != len(self):
            raise InvalidError(
                f"a point has {len(self)} values, one per parameter, not {len(vector)}"
            )
        named = zip(self._parameters.items(), vector.tolist(), self.active(vector))
        return {name: p.from_number(number) for (name, p), number, active in named if active}

    def to_vector(self, params: Mapping[str, Any]) -> Vector:
        """The values of a dictionary in the order of the parameters."""
        unknown = [name for name in params if name not in self]
        if unknown:
            raise InvalidError(
                f"a point has the unknown parameter {unknown[0]!r}; the parameters are {', '.join(self)}"
            )
        numbers: dict[str, float] = {}
        holds: dict[str, bool] = {}
        for row, (name, parameter) in zip(self._described, self._parameters.items()):
            holds[name] = self._holds(name, holds, numbers)
            if name in params:
                numbers[name] = self._number(name, parameter, params[name])
            elif holds[name] and len(row.labels) != 1:
                raise InvalidError(f"a point lacks {name!r}; the parameters are {', '.join(self)}")
            else:
                numbers[name] = float(row.low)
        return np.array(list(numbers.values()))

    @staticmethod
    def _number(name: str, parameter: Parameter, value: Any) -> float:
        try:
            return parameter.to_number(value)
        except InvalidError as error:
            raise InvalidError(f"{name}: {error}") from None

    def point(self, x: Point) -> Vector:
        """A point, given as a vector, as a dictionary or as a row of a pandas data frame, as a vector."""
        if hasattr(x, "to_dict") and hasattr(x, "index"):
            x = _known(x.to_dict())
            x = {name: x[name] for name in self if name in x}
        return self.to_vector(x) if isinstance(x, Mapping) else _vector(x)

    def points(self, x: Points) -> tuple[list[Vector], bool]:
        """One point or several as vectors, and whether it was one."""
        if is_frame(x):
            rows = [{name: row[name] for name in self if name in row} for row in rows_of(x)]
            return [self.to_vector(row) for row in rows], False
        if isinstance(x, Mapping) or hasattr(x, "to_dict"):
            return [self.point(x)], True  # type: ignore[arg-type]
        if isinstance(x, Sequence) and any(isinstance(row, Mapping) for row in x):
            return [self.point(row) for row in x], False
        array = _array(x)
        if array.ndim not in (1, 2):
            raise InvalidError(
                f"a point has {len(self)} numbers, shape ({len(self)},), and n points have shape (n, {len(self)}); this is {x!r}, of shape {array.shape}"
            )
        return ([array], True) if array.ndim == 1 else (list(array), False)


def is_frame(x: object) -> bool:
    """Whether it is a pandas data frame, or looks like one."""
    return hasattr(x, "columns") and hasattr(x, "to_dict")


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows of a data frame by the names of its columns, without what is missing."""
    return [_known(row) for row in frame.to_dict("records")]


def _known(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row without missing values, which are None and NaN."""
    return {str(name): value for name, value in row.items() if value is not None and value == value}


def check_point(space: Space, x: Vector, what: str, named: bool) -> None:
    """Refuses a point that is not in the space; `what` is the name of the argument it came as."""
    if len(x) != len(space):
        raise InvalidError(f"{what} has {plural(len(x), 'value')}: there are {plural(len(space), 'parameter')}")
    for i, ((name, parameter), active) in enumerate(zip(space.items(), space.active(x))):
        if active and not parameter.allows(x[i]):
            raise InvalidError(
                f"{what}[{repr(name) if named else i}] = {x[i]:.15g} is not allowed: {parameter.allowed}"
            )


def radius_of(radius: Radius | None, space: Space, points: int) -> list[float] | None:
    """The reach of the first design along each parameter, as the core takes it; `points` is the number of starting points."""
    if radius is None:
        return None
    if points != 1:
        raise InvalidError(f"radius is {radius!r}: it needs one starting point, x0, and there are {points}")
    names = [row.name for row in space.described() if not row.labels and row.kind != "boolean"]
    if isinstance(radius, Mapping):
        if unknown := [name for name in radius if name not in names]:
            raise InvalidError(f"radius has {unknown[0]!r}; the parameters that have one are {', '.join(names)}")
        if lacking := [name for name in names if name not in radius]:
            raise InvalidError(f"radius lacks {lacking[0]!r}; the parameters that have one are {', '.join(names)}")
        each = _array([radius.get(name, 1.0) for name in space], "radius")
    else:
        each = _array(radius, "radius")
    if each.ndim > 1 or (each.ndim == 1 and len(each) != len(space)) or not (np.isfinite(each) & (each > 0)).all():
        raise InvalidError(
            f"radius is {radius!r}; allowed: a number above 0, in the units of the parameters, or one for each of the {len(space)} parameters"
        )
    found: list[float] = np.broadcast_to(each, len(space)).tolist()
    return found


def space_of(bounds: object) -> tuple[Space, bool]:
    """The space that `bounds` describes, and whether its parameters were named by the user."""
    if isinstance(bounds, Space):
        return bounds, True
    if isinstance(bounds, Mapping):
        return Space(bounds), True
    pairs = _pairs(bounds)
    return Space(dict(zip(plain_names(len(pairs)), pairs))), False


def plain_names(n: int) -> list[str]:
    """The names of parameters that were given without names."""
    return [f"x{i}" for i in range(n)]


def _pairs(bounds: Any) -> list[tuple[float, float]]:
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        low, high = np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub))
        return list(zip(low.tolist(), high.tolist()))
    if hasattr(bounds, "to_numpy"):
        bounds = bounds.to_numpy()  # a data frame, which iterates over the names of its columns
    elif isinstance(bounds, Iterator):
        bounds = list(bounds)
    try:
        pairs = [(low, high) for low, high in bounds]
    except (TypeError, ValueError):
        raise InvalidError(
            "bounds are pairs (low, high), one per parameter, a scipy.optimize.Bounds, a dictionary "
            f"of named bounds or a labcat.Space, not {bounds!r}{_transposed(bounds)}"
        ) from None
    if len(pairs) == 2 and all(np.ndim(end) == 0 for pair in pairs for end in pair):
        if all(low == high for low, high in pairs):
            raise InvalidError(f"bounds are {bounds!r}: no parameter can change{_transposed(bounds)}")
        for i, (low, high) in enumerate(pairs if (hint := _transposed(bounds)) else []):
            if low > high:
                raise InvalidError(f"bounds of x{i} are ({low}, {high}): low must be below high{hint}")
    return pairs


def _transposed(bounds: Any) -> str:
    """A hint, if all lower bounds were given first and then all upper bounds."""
    try:
        low, high = (np.asarray(part, dtype=np.float64) for part in bounds)
    except (TypeError, ValueError):
        return ""
    if low.ndim != 1 or low.shape != high.shape or not (low <= high).all():
        return ""
    return "; of all lower and all upper bounds make scipy.optimize.Bounds(low, high) or list(zip(low, high))"


def _array(x: Any, what: str = "a point") -> Vector:
    try:
        return np.array(x, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidError(f"{what} consists of numbers, not {x!r}") from error


def _vector(x: Any) -> Vector:
    array = _array(x)
    if array.ndim != 1:
        raise InvalidError(f"a point has shape (d,), not {array.shape}")
    return array
