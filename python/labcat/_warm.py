"""Warm start with evaluations of earlier runs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ._errors import InvalidError
from ._history import Evaluation, History
from ._optimizer import Optimizer
from ._outcome import Outcome
from ._parameters import Parameter
from ._space import Vector, is_frame, rows_of
from ._values import plural

HistoryLike: TypeAlias = "Any"
"""An earlier result or its history, a pandas data frame, or a pair (X, y)."""

_NAMED = ("value", "std", "reason", "seconds")


class _Row(NamedTuple):
    """An evaluation: parameters by name, and its result."""

    params: Mapping[str, Any]
    outcome: Outcome


def tell_history(optimizer: Optimizer, history: HistoryLike) -> list[Vector]:
    """Tells known evaluations as far as possible; returns points to evaluate first in place of those that could not be told.

    Evaluations that lack a parameter or lie outside the bounds are left out. The best of them is moved into the space,
    with a parameter that it lacks in the middle of its range, and evaluated first.
    """
    left_out: list[tuple[_Row, str]] = []
    told = 0
    for row in _rows(optimizer, history):
        unfit = _why_unfit(optimizer, row.params)
        if unfit is None:
            used = {name: row.params[name] for name in optimizer.space if name in row.params}
            optimizer.tell(x=used, value=row.outcome)
            told += 1
        else:
            left_out.append((row, unfit))
    optimizer._given = told
    if not left_out:
        return []
    why = min(unfit for _, unfit in left_out)
    best = _best([row for row, _ in left_out], optimizer.direction == "maximize")
    instead = "" if best is None else "; the best of them is evaluated first, moved into the space"
    warnings.warn(
        f"history: {plural(len(left_out), 'evaluation')} of {told + len(left_out)} cannot be used ({why}){instead}",
        stacklevel=4,
    )
    return [] if best is None else [_moved(optimizer, best.params)]


def _rows(optimizer: Optimizer, history: HistoryLike) -> Iterator[_Row]:
    if isinstance(history, Mapping) and "history" in history:
        history = history["history"]  # an OptimizeResult
    if isinstance(history, History):
        for evaluation in history:
            yield _Row(evaluation.params, _outcome_of(evaluation, optimizer._misfit is not None))
    elif is_frame(history):
        yield from _rows_of_frame(optimizer, history)
    elif isinstance(history, tuple) and len(history) == 2:
        yield from _rows_of_pair(optimizer, *history)
    else:
        raise InvalidError(
            f"history is of type {type(history).__name__}; allowed: an earlier result, its history, a pandas data frame with the "
            "parameters and 'value' as columns, or a pair (X, y)"
        )


def _outcome_of(evaluation: Evaluation, least_squares: bool) -> Outcome:
    residuals = evaluation.residuals if least_squares and len(evaluation.residuals) else None
    return Outcome(
        None if evaluation.failed or residuals is not None else evaluation.value,
        std=evaluation.std,
        constraints=evaluation.constraints,
        constraint_std=evaluation.constraint_std,
        residuals=residuals,
        reason=evaluation.reason,
        seconds=evaluation.seconds,
        extra=evaluation.extra,
    )


def _rows_of_frame(optimizer: Optimizer, frame: Any) -> Iterator[_Row]:
    columns = list(frame.columns)
    if "value" not in columns:
        raise InvalidError(
            f"history has no column 'value'; its columns are {', '.join(map(str, columns))}"
        )
    count = optimizer.config["constraints"]
    limits = [f"constraint{k}" for k in range(count)]
    for row in rows_of(frame):
        parts = {name: row[name] for name in _NAMED if name in row}
        measured = [row[name] for name in limits if name in row]
        constraints = measured if measured and len(measured) == count else None
        yield _Row(row, Outcome(parts.pop("value", None), constraints=constraints, **parts))


def _rows_of_pair(optimizer: Optimizer, points: Any, values: Any) -> Iterator[_Row]:
    names = list(optimizer.space)
    rows: Sequence[Mapping[str, Any]]
    if is_frame(points):
        rows = rows_of(points)
    elif len(points) and isinstance(points[0], Mapping):
        rows = points
    else:
        array = np.asarray(points, dtype=object)
        if array.ndim != 2 or array.shape[1] != len(names):
            raise InvalidError(
                f"X of history has shape {array.shape}; allowed: (n, {len(names)}), a row per evaluation"
            )
        rows = [_by_name(optimizer, row) for row in array]
    results = list(values)
    if len(rows) != len(results):
        raise InvalidError(f"history has {plural(len(rows), 'point')} and {plural(len(results), 'value')}")
    for row, value in zip(rows, results):
        if not isinstance(value, Outcome):
            value = Outcome(value) if optimizer._misfit is None else Outcome(residuals=value)
        yield _Row(row, value)


def _by_name(optimizer: Optimizer, row: Sequence[Any]) -> dict[str, Any]:
    """A row of values in the order of the parameters; those that are numbers stand for labels as in a vector."""
    space = optimizer.space
    try:
        numbers = np.asarray(row, dtype=np.float64)
    except (TypeError, ValueError):
        return dict(zip(space, row))
    named = zip(space.items(), numbers.tolist())
    return {name: p.from_number(n) if p.allows(n) else n for (name, p), n in named if n == n}


def _why_unfit(optimizer: Optimizer, params: Mapping[str, Any]) -> str | None:
    """Why an evaluation cannot be told; None if it can."""
    space = optimizer.space
    lacking = [name for name in space if name not in params]
    try:
        x = space.to_vector({name: params[name] for name in space if name in params})
    except InvalidError:
        if lacking:
            return f"without {lacking[0]!r}"
        x = None
    inside = x is not None and all(
        parameter.allows(number)
        for parameter, number, active in zip(space.values(), x, space.active(x))
        if active
    )
    if inside:
        return None
    outside = [name for name, parameter in space.items() if not _allows(parameter, params.get(name))]
    return f"{outside[0]!r} outside its range" if outside else "outside the space"


def _allows(parameter: Parameter, value: Any) -> bool:
    try:
        return parameter.allows(parameter.to_number(value))
    except InvalidError:
        return False


def _best(rows: list[_Row], maximize: bool) -> _Row | None:
    """The best of evaluations; None if all failed."""
    worth = [row for row in rows if not row.outcome.failed]
    sign = -1.0 if maximize else 1.0
    return min(worth, key=lambda row: sign * float(row.outcome.value), default=None)


def _moved(optimizer: Optimizer, params: Mapping[str, Any]) -> Vector:
    """The point of the space that is nearest to some parameters; an unknown parameter is in the middle of its range."""
    x = []
    for name, parameter, row in zip(optimizer.space, optimizer.space.values(), optimizer.space.described()):
        try:
            number = parameter.to_number(params[name])
        except (KeyError, InvalidError):
            number = float(np.sqrt(row.low * row.high)) if row.scale == "log" else (row.low + row.high) / 2
        x.append(row.nearest(number))
    return np.array(x)
