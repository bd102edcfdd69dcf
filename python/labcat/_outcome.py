"""The result of an evaluation."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _labcat
from ._errors import InvalidError
from ._misfit import Misfit
from ._values import as_array, as_value, as_vector, real_array

_LONGEST_REASON = 500  # characters


@dataclass(frozen=True)
class Outcome:
    """The result of an evaluation. An objective may return it, and `Optimizer.tell` takes it.

    If the value or a residual is missing, NaN or infinite, the evaluation has failed, and `reason` may say why. With
    measured constraints the value may be missing if a constraint is violated.

    >>> import labcat
    >>> def train(x):
    ...     return labcat.Outcome((x[0] - 1) ** 2, std=0.1, extra={"epochs": 7})
    >>> result = labcat.minimize(train, [(-5, 5)], budget=6, rng=1)
    >>> result.history.extra[0]
    {'epochs': 7}
    """

    value: Any = None
    """The value of the objective: one real number; None or NaN if there is none."""
    std: float | None = field(default=None, kw_only=True)
    """Standard deviation of the noise in the value."""
    constraints: npt.ArrayLike | None = field(default=None, kw_only=True)
    """The measured constraints, satisfied when ≤ 0."""
    constraint_std: npt.ArrayLike | None = field(default=None, kw_only=True)
    """Standard deviation of the noise in each constraint; NaN if unknown."""
    residuals: npt.ArrayLike | None = field(default=None, kw_only=True)
    """The residuals of least squares, instead of a value. The value is the sum of their squares."""
    jacobian: npt.ArrayLike | None = field(default=None, kw_only=True)
    """The derivative of each residual by each parameter, shape (m, d); NaN if unknown."""
    gradient: npt.ArrayLike | None = field(default=None, kw_only=True)
    """The derivative of the value by each parameter; NaN if unknown."""
    reason: str | None = field(default=None, kw_only=True)
    """Why there is no value."""
    seconds: float | None = field(default=None, kw_only=True)
    """How long the evaluation took; `minimize` measures it."""
    extra: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    """Other data to keep: text, numbers, booleans, None, and lists and dictionaries of these."""

    def __post_init__(self) -> None:
        limits = as_vector(self.constraints, "constraints")
        spreads = as_vector(self.constraint_std, "constraint_std")
        slopes = as_vector(self.gradient, "gradient")
        residuals: array[float] = array("d")
        residuals.frombytes(np.ascontiguousarray(as_array(self.residuals, "residuals")).data.cast("B"))
        value = None if self.value is None else as_value(self.value)
        if residuals:
            value = _sum_of_squares(residuals, value)
        if value is not None and math.isnan(value) and limits:
            value = None  # only the constraints were measured
        std = None if self.std is None else as_value(self.std, "std", "a finite number of at least 0")
        # Half of a pair of surrogates is no text that could be saved.
        reason = None if self.reason is None else str(self.reason)[:_LONGEST_REASON].encode("utf-8", "replace").decode()
        for name, part in (
            ("value", value),
            ("std", std),
            ("constraints", limits),
            ("constraint_std", spreads),
            ("residuals", residuals),
            ("jacobian", _matrix(self.jacobian, len(residuals))),
            ("gradient", slopes),
            ("reason", reason),
            ("extra", plain_extra(self.extra)),
        ):
            object.__setattr__(self, name, part)

    @property
    def failed(self) -> bool:
        """Whether there is no value."""
        return self.value is None or not math.isfinite(self.value)

    def timed(self, seconds: float) -> Outcome:
        """The same outcome with the time it took, unless it has a time already."""
        if self.seconds is not None:
            return self
        timed = copy(self)
        object.__setattr__(timed, "seconds", seconds)
        return timed

    def to_core(self, misfit: Misfit | None = None) -> _labcat.Outcome:
        """The outcome as the core takes it; a misfit transforms its residuals."""
        limits, spreads, slopes = (
            as_vector(part, "") for part in (self.constraints, self.constraint_std, self.gradient)
        )
        told, jacobian = np.empty(0), np.empty(0)
        if misfit is not None and self.residuals:
            residuals = np.asarray(self.residuals, dtype=np.float64)
            told = misfit.told(residuals)
            if self.jacobian is not None and np.isfinite(told).all():
                jacobian = misfit.told_jacobian(residuals, np.asarray(self.jacobian))
        return _labcat.Outcome(
            self.value,
            std=self.std,
            constraints=limits,
            constraint_std=spreads,
            gradient=slopes,
            residuals=told.tobytes(),
            jacobian=jacobian.tobytes("F"),
            reason=self.reason,
        )


def outcome_of(value: Any, **parts: Any) -> Outcome:
    """The arguments of `tell` as one outcome: a value with its parts, or an outcome that has all parts itself."""
    given = {name: part for name, part in parts.items() if part is not None}
    if isinstance(value, Outcome):
        if given:
            raise InvalidError(f"{min(given)} is a part of the Outcome: pass it there")
        return value
    if value is None and not any(np.size(given.get(part, ())) for part in ("constraints", "residuals")):
        value = as_value(value)  # says what is allowed
    return Outcome(value, **given)


def _sum_of_squares(residuals: array[float], value: float | None) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        vector = np.asarray(residuals)
        total = float(vector @ vector)
    if value is not None and value != total and not math.isnan(total):
        raise InvalidError(f"the value is {value:g}, and there are residuals, whose squares sum to {total:g}: give one of them")
    return total


def _matrix(numbers: object, rows: int) -> npt.NDArray[np.float64] | None:
    if numbers is None:
        return None
    try:
        matrix = real_array(numbers)
    except (TypeError, ValueError):
        raise InvalidError(f"jacobian: {numbers!r}; allowed: a matrix of real numbers, a row for each residual") from None
    if matrix.ndim != 2 or len(matrix) != rows:
        raise InvalidError(f"jacobian has shape {matrix.shape}; allowed: a row for each of {rows} residuals, a column for each parameter")
    return matrix


def plain_extra(extra: object) -> dict[str, Any]:
    """Extra data as plain data, because they must survive in a file."""
    if not isinstance(extra, Mapping):
        raise InvalidError(f"extra is {extra!r}; allowed: a dictionary")
    if not extra:
        return {}
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(extra), default=_plain))
    except (TypeError, ValueError) as error:
        raise InvalidError(
            f"extra is {extra!r}: {error}; allowed: text, numbers, booleans, None, and lists and dictionaries of them"
        ) from None
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no plain data")
