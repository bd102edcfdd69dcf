"""Known constraints, as in scipy, and constraints that an evaluation measures."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ._errors import InvalidError, LabcatError
from ._outcome import Outcome
from ._parameters import Boolean, Categorical
from ._space import Space
from ._values import as_array, as_value, as_vector

Constraints: TypeAlias = "int | str | Any | Sequence[Any]"
"""A number of measured constraints, formulas of the parameters ("x + 2*y <= 1"), scipy's LinearConstraint and
NonlinearConstraint, or a list of them."""

Row: TypeAlias = "tuple[list[float], float]"


class Known(NamedTuple):
    """Known constraints as the core takes them."""

    linear: list[Row]
    equal: list[Row]
    functions: list[_Excess]
    formulas: list[str]


def split(constraints: Constraints | None, space: Space) -> tuple[int, Known | None]:
    """The number of measured constraints, and the known constraints."""
    known = Known([], [], [], [])
    if constraints is None:
        return 0, None
    count = 0
    for constraint in constraints if isinstance(constraints, (list, tuple)) else [constraints]:
        if hasattr(constraint, "__index__") and not isinstance(constraint, bool) and operator.index(constraint) >= 0:
            count += operator.index(constraint)
        elif isinstance(constraint, str):
            known.formulas.append(constraint)
        else:
            _add(known, constraint, space)
    return count, known if any(known) else None


def _allowed(found: object) -> str:
    return (
        f"constraints is {found!r}; allowed: how many each evaluation measures, or known ones as text such as "
        "'x + 2*y <= 1' or as scipy.optimize.LinearConstraint and NonlinearConstraint, or {'type': 'ineq', 'fun': f}"
    )


def _add(known: Known, constraint: Any, space: Space) -> None:
    dim = len(space)
    if all(hasattr(constraint, name) for name in ("A", "lb", "ub")):
        matrix = constraint.A.toarray() if hasattr(constraint.A, "toarray") else constraint.A
        rows = np.atleast_2d(np.asarray(matrix, dtype=np.float64))
        if rows.shape[1] != dim:
            raise InvalidError(f"a LinearConstraint has {rows.shape[1]} columns; allowed: {dim}, one per parameter")
        lower, upper = (np.broadcast_to(bound, len(rows)) for bound in _bounds(constraint))
        for row, low, high in zip(rows, lower.tolist(), upper.tolist()):
            if low == high:
                known.equal.append((row.tolist(), low))
                continue
            if high < np.inf:
                known.linear.append((row.tolist(), high))
            if low > -np.inf:
                known.linear.append(((-row).tolist(), -low))
    elif all(hasattr(constraint, name) for name in ("fun", "lb", "ub")):
        known.functions.append(_Excess(constraint.fun, *_bounds(constraint), space))
    elif isinstance(constraint, Mapping) and callable(constraint.get("fun")):
        _add_dictionary(known, constraint, space)
    else:
        raise InvalidError(_allowed(constraint))


def _bounds(constraint: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The lower and the upper bounds of a constraint in scipy's form."""
    return _bound(constraint.lb), _bound(constraint.ub)


def _bound(bound: Any) -> npt.NDArray[np.float64]:
    numbers = np.empty(0) if bound is None else as_array(bound, "a bound of a constraint")
    if not numbers.size or np.isnan(numbers).any():
        raise InvalidError(f"a bound of a constraint is {bound!r}; allowed: numbers, infinite where there is no bound")
    return numbers


def _add_dictionary(known: Known, constraint: Mapping[str, Any], space: Space) -> None:
    """A constraint in the form of scipy's SLSQP and COBYLA: fun(x, *args) ≥ 0."""
    kind = constraint.get("type")
    if kind != "ineq":
        raise InvalidError(
            f"the type of a constraint is {kind!r}; allowed: 'ineq', fun(x) ≥ 0. An equation must be linear: text such as "
            "'x + 2*y = 1', or a LinearConstraint with lb = ub"
        )
    args = tuple(constraint.get("args", ()))
    known.functions.append(_Excess(_Bound(constraint["fun"], args), 0.0, np.inf, space))


class _Bound:
    """A function with its further arguments."""

    def __init__(self, fun: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._fun, self._args = fun, args

    def __call__(self, x: Any) -> Any:
        return self._fun(x, *self._args)


class _Excess:
    """The largest distance of a function from its bounds; not above 0 if it is inside.

    It takes the vector of the parameters or, in a space with categories or booleans, their values by name. Where it
    raises an exception, the constraint is violated; `raised` is the newest exception.
    """

    def __init__(self, fun: Callable[[Any], Any], lower: Any, upper: Any, space: Space) -> None:
        choices = any(isinstance(parameter, (Categorical, Boolean)) for parameter in space.values())
        self._space = space if choices else None
        self._fun = fun
        self._lower = np.asarray(lower, dtype=np.float64)
        self._upper = np.asarray(upper, dtype=np.float64)
        self.raised = ""

    def __call__(self, x: list[float]) -> float:
        point = np.array(x) if self._space is None else self._space.to_dict(x)
        try:
            value = np.atleast_1d(np.asarray(self._fun(point), dtype=np.float64))
            outside = np.concatenate([np.atleast_1d(self._lower - value), np.atleast_1d(value - self._upper)])
        except LabcatError:
            raise  # it may have used the optimizer that calls it
        except Exception as exception:
            self.raised = f"{type(exception).__name__}: {exception}"
            return float("nan")  # not met
        return float(np.max(outside[outside > -np.inf], initial=-np.inf)) if not np.isnan(value).any() else np.nan


def measured(returned: Any, count: int, jac: bool) -> Outcome:
    """What the objective returned: a value, with its gradient (`jac`) and its constraints (`count` of them).

    An `Outcome`; ``value``; ``(value, gradient)``; ``(value, constraints)``; ``(value, gradient, constraints)``;
    or a dictionary with "value" and "gradient", "constraints". The value may be None where a constraint is violated.
    """
    what = "the return value of the objective"
    if isinstance(returned, Outcome):
        return returned
    if not (count or jac):
        try:
            return Outcome(as_value(returned, what))
        except InvalidError as error:
            if not isinstance(returned, (tuple, Mapping)):
                raise
            raise InvalidError(
                f"{error}; with measured constraints say how many, constraints=1, with a gradient jac=True, and "
                "to keep more than a number return labcat.Outcome(value, extra={…})"
            ) from None
    if isinstance(returned, Mapping):
        parts: dict[str, Any] = dict(returned)
        if unknown := set(parts) - {"value", "gradient", "constraints"}:
            raise InvalidError(f"{what} has {min(unknown)!r}; allowed: value, gradient, constraints")
    else:
        names = ["value"] + ["gradient"] * jac + ["constraints"] * bool(count)
        if not isinstance(returned, (tuple, list)) or len(returned) != len(names):
            raise InvalidError(f"{what} is {returned!r}; allowed: ({', '.join(names)}) or a dictionary of them")
        parts = dict(zip(names, returned))
    limits = as_vector(parts.get("constraints"), "constraints")
    value = parts.get("value")
    number = None if value is None and limits else as_value(value, what)
    return Outcome(number, constraints=limits, gradient=parts.get("gradient"))


def measured_residuals(returned: Any, count: int, jac: bool) -> Outcome:
    """What a function of least squares returned: residuals, with their Jacobian (`jac`) and constraints (`count` of them).

    As in `measured`: an `Outcome`, one thing, a tuple, or a dictionary with "residuals" and "jacobian", "constraints".
    """
    if isinstance(returned, Outcome):
        return returned
    names = ["residuals"] + ["jacobian"] * jac + ["constraints"] * bool(count)
    parts: dict[str, Any]
    if isinstance(returned, Mapping):
        parts = dict(returned)
        if unknown := set(parts) - {"residuals", "jacobian", "constraints"}:
            raise InvalidError(f"the function returned {min(unknown)!r}; allowed: residuals, jacobian, constraints")
    elif len(names) == 1:
        parts = {"residuals": returned}
    elif isinstance(returned, (tuple, list)) and len(returned) == len(names):
        parts = dict(zip(names, returned))
    else:
        raise InvalidError(f"the function returned {returned!r}; allowed: ({', '.join(names)}) or a dictionary of them")
    limits = as_vector(parts.get("constraints"), "constraints")
    residuals = parts.get("residuals")
    if residuals is None and limits:
        return Outcome(constraints=limits)
    return Outcome(residuals=_vector_of(residuals), constraints=limits, jacobian=parts.get("jacobian"))


def _vector_of(residuals: Any) -> npt.NDArray[np.float64]:
    """The residuals, if they are a vector."""
    if residuals is None or np.ndim(residuals) == 0:
        raise InvalidError(
            f"the residuals are {residuals!r}; allowed: a vector, [r1, r2, …], whose sum of squares is minimised "
            "(a function of one value is for labcat.minimize)"
        )
    vector = as_array(np.ma.filled(residuals, np.nan) if np.ma.isMaskedArray(residuals) else residuals, "residuals")
    if not vector.size:
        raise InvalidError("the residuals are empty; allowed: a vector of one number or more")
    return vector
