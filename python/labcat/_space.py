"""Parameters, and the spaces they make up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ._errors import InvalidError, LabcatError
from ._labcat import check_domain

Vector: TypeAlias = npt.NDArray[np.float64]
Scale: TypeAlias = Literal["linear", "log"]


@dataclass(frozen=True)
class Real:
    """A real parameter between `low` and `high`.

    With ``scale="log"`` its logarithm is searched: right for parameters such as a learning rate,
    whose order of magnitude is unknown. `low` must then be above 0.

    >>> import labcat
    >>> labcat.Real(1e-5, 1e-1, scale="log")
    Real(low=1e-05, high=0.1, scale='log')
    """

    low: float
    high: float
    scale: Scale = "linear"


@dataclass(frozen=True)
class Integer:
    """A whole-numbered parameter between `low` and `high`, both included. Not supported yet."""

    low: int
    high: int
    scale: Scale = "linear"


@dataclass(frozen=True)
class Categorical:
    """A parameter that is one of `choices`. Not supported yet."""

    choices: Sequence[Any]


class BoundsLike(Protocol):
    """`scipy.optimize.Bounds`, or anything else with its `lb` and `ub`."""

    @property
    def lb(self) -> Any: ...
    @property
    def ub(self) -> Any: ...


ParameterLike: TypeAlias = "Real | Integer | Categorical | tuple[float, float]"
Point: TypeAlias = "npt.ArrayLike | Mapping[str, float]"
Points: TypeAlias = "Point | Sequence[Mapping[str, float]]"


class Space(Mapping[str, Real]):
    """Named parameters, in order.

    Given as a mapping, as keywords, or as both; a pair ``(low, high)`` stands for a `Real`.

    With a space the objective is called with named values. If ``fun(*args, **params)`` fits the
    signature of the function it is called so, with keywords; otherwise it is called with a
    dictionary, ``fun(params, *args)``.

    `Integer` and `Categorical` parameters are not supported yet: a space with one of them is a
    `LabcatError`.

    >>> import labcat
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

    __slots__ = ("_parameters",)

    def __init__(
        self,
        parameters: Mapping[str, ParameterLike] = {},
        /,
        **named: ParameterLike,
    ) -> None:
        if not isinstance(parameters, Mapping):
            raise InvalidError(
                f"a Space is made of a mapping from names to parameters, not of {parameters!r}"
            )
        twice = sorted(set(parameters) & set(named))
        if twice:
            raise InvalidError(f"parameter {twice[0]!r} is given twice")
        self._parameters = {
            name: _real(name, parameter) for name, parameter in {**parameters, **named}.items()
        }
        check_domain(self.described())

    def __getitem__(self, name: str) -> Real:
        return self._parameters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def __repr__(self) -> str:
        return f"Space({self._parameters!r})"

    @classmethod
    def _of(cls, parameters: list[tuple[str, float, float, str]]) -> Space:
        """The space that `described` describes."""
        return cls({name: Real(low, high, scale) for name, low, high, scale in parameters})  # type: ignore[arg-type]

    def described(self) -> list[tuple[str, float, float, str]]:
        """The parameters as tuples (name, low, high, scale)."""
        return [(name, p.low, p.high, p.scale) for name, p in self._parameters.items()]

    def to_dict(self, x: npt.ArrayLike) -> dict[str, float]:
        """The values of a vector by their names."""
        vector = _vector(x)
        if len(vector) != len(self):
            raise InvalidError(
                f"a point has {len(self)} values, one per parameter, not {len(vector)}"
            )
        return dict(zip(self, vector.tolist()))

    def to_vector(self, params: Mapping[str, float]) -> Vector:
        """The values of a dictionary in the order of the parameters."""
        missing = [name for name in self if name not in params]
        unknown = [name for name in params if name not in self]
        if missing or unknown:
            what = f"lacks {missing[0]!r}" if missing else f"has the unknown {unknown[0]!r}"
            raise InvalidError(f"a point {what}; the parameters are {', '.join(self)}")
        return _vector([params[name] for name in self])

    def point(self, x: Point) -> Vector:
        """A point, given as a vector or as a dictionary, as a vector."""
        return self.to_vector(x) if isinstance(x, Mapping) else _vector(x)

    def points(self, x: Points) -> tuple[list[Vector], bool]:
        """One point or several as vectors, and whether it was one."""
        if isinstance(x, Mapping):
            return [self.to_vector(x)], True
        if isinstance(x, Sequence) and any(isinstance(row, Mapping) for row in x):
            return [self.point(row) for row in x], False
        array = _array(x)
        if array.ndim not in (1, 2):
            raise InvalidError(
                f"points have shape (d,) for one or (n, d) for several, not {array.shape}"
            )
        return ([array], True) if array.ndim == 1 else (list(array), False)


def check_point(space: Space, x: Vector, what: str, named: bool) -> None:
    """Refuses a point that is not in the space; `what` is the name of the argument it came as."""
    if len(x) != len(space):
        raise InvalidError(f"{what} has {len(x)} values: there are {len(space)} parameters")
    for i, (name, parameter) in enumerate(space.items()):
        if not parameter.low <= x[i] <= parameter.high:
            raise InvalidError(
                f"{what}[{repr(name) if named else i}] = {x[i]:.15g} is not allowed: it must lie in "
                f"[{parameter.low:.15g}, {parameter.high:.15g}]"
            )


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
    try:
        return [(low, high) for low, high in bounds]
    except (TypeError, ValueError):
        raise InvalidError(
            "bounds are pairs (low, high), one per parameter, a scipy.optimize.Bounds, a dictionary "
            f"of named bounds or a labcat.Space, not {bounds!r}"
        ) from None


def _real(name: str, parameter: object) -> Real:
    if not isinstance(name, str):
        raise InvalidError(f"the name of a parameter is a string, not {name!r}")
    if isinstance(parameter, (Integer, Categorical)):
        raise LabcatError(
            f"parameter {name!r} is {type(parameter).__name__}, which labcat cannot optimise yet; "
            'what works now is labcat.Real(low, high), with scale="log" if its magnitude varies'
        )
    if isinstance(parameter, Real):
        low, high, scale = parameter.low, parameter.high, parameter.scale
    elif isinstance(parameter, (tuple, list)) and len(parameter) == 2:
        (low, high), scale = parameter, "linear"
    else:
        raise InvalidError(
            f"parameter {name!r} is {parameter!r}; allowed: labcat.Real or a pair (low, high)"
        )
    return Real(_bound(name, "low", low), _bound(name, "high", high), scale)


def _bound(name: str, end: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidError(
            f"the {end} bound of parameter {name!r} is {value!r}; it must be a finite number"
        ) from None


def _array(x: Any) -> Vector:
    try:
        return np.array(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidError(f"a point is made of numbers, not {x!r}") from error


def _vector(x: Any) -> Vector:
    array = _array(x)
    if array.ndim != 1:
        raise InvalidError(f"a point has shape (d,), not {array.shape}")
    return array
