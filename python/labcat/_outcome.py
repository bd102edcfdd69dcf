"""What came of an evaluation."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _labcat
from ._errors import InvalidError
from ._values import as_value, as_vector

_LONGEST_REASON = 500  # characters


@dataclass(frozen=True)
class Outcome:
    """What came of an evaluation: an objective may return it, and `Optimizer.tell` takes it.

    A value that is missing, NaN or infinite is a failed evaluation, and `reason` says why; with measured
    constraints the value may be missing where one is violated.

    >>> import labcat
    >>> def train(x):
    ...     return labcat.Outcome((x[0] - 1) ** 2, std=0.1, extra={"epochs": 7})
    >>> result = labcat.minimize(train, [(-5, 5)], budget=6, rng=1)
    >>> result.history.extra[0]
    {'epochs': 7}
    """

    value: Any = None
    """The objective: one real number; None or NaN if there is none."""
    std: float | None = field(default=None, kw_only=True)
    """Standard deviation of the noise in the value."""
    constraints: npt.ArrayLike | None = field(default=None, kw_only=True)
    """The measured constraints, satisfied where not above 0."""
    gradient: npt.ArrayLike | None = field(default=None, kw_only=True)
    """The derivative by each parameter, NaN where it is not known."""
    reason: str | None = field(default=None, kw_only=True)
    """Why there is no value."""
    seconds: float | None = field(default=None, kw_only=True)
    """How long the evaluation took; `minimize` measures it."""
    extra: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    """Anything else to be kept beside it: text, numbers, booleans, None, and lists and dictionaries of them."""

    def __post_init__(self) -> None:
        limits = as_vector(self.constraints, "constraints")
        slopes = as_vector(self.gradient, "gradient")
        value = None if self.value is None else as_value(self.value)
        if value is not None and math.isnan(value) and limits:
            value = None  # only the constraints were measured
        std = None if self.std is None else as_value(self.std, "std", "a finite number of at least 0")
        reason = None if self.reason is None else str(self.reason)[:_LONGEST_REASON]
        parts = {"value": value, "std": std, "constraints": limits, "gradient": slopes, "reason": reason}
        self.__dict__.update(parts, extra=plain_extra(self.extra) if self.extra else {})

    @property
    def failed(self) -> bool:
        """Whether there is no value."""
        return self.value is None or not math.isfinite(self.value)

    def timed(self, seconds: float) -> Outcome:
        """The same with the time it took, unless it says so itself."""
        if self.seconds is not None:
            return self
        same = copy.copy(self)
        same.__dict__["seconds"] = seconds
        return same

    def to_core(self) -> _labcat.Outcome:
        """As the core takes it."""
        parts: dict[str, Any] = {"constraints": self.constraints, "gradient": self.gradient}  # lists by now
        return _labcat.Outcome(self.value, std=self.std, reason=self.reason, **parts)


def plain_extra(extra: object) -> dict[str, Any]:
    """What is kept beside a value, as plain data: it must survive in a file."""
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


def outcome_of(
    value: Any,
    std: float | None,
    constraints: npt.ArrayLike | None,
    gradient: npt.ArrayLike | None,
    extra: Mapping[str, Any] | None,
) -> Outcome:
    """What was told, as one thing."""
    parts: dict[str, Any] = {"std": std, "constraints": constraints, "gradient": gradient, "extra": extra}
    given = {name: part for name, part in parts.items() if part is not None}
    if not isinstance(value, Outcome):
        if value is None and not np.size(given.get("constraints", ())):  # nothing at all
            value = as_value(value)  # says what is allowed
        return Outcome(value, **given)
    if given:
        raise InvalidError(f"{min(given)} is a part of the Outcome: give it there")
    return value
