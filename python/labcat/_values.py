"""Checks of what users pass in: objective values, seeds, options."""

from __future__ import annotations

import contextlib
import difflib
import math
import operator
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ._errors import InvalidError, UnknownSwitchError
from ._labcat import switches as _switches

Rng: TypeAlias = "int | np.integer[Any] | np.random.SeedSequence | np.random.Generator | None"

Setting: TypeAlias = "bool | int | float | str | None"
"""The value of an option, as the core takes it."""

_MAX_SEED = 2**64 - 1
EXACT = 2**53
"""Up to this size every integer is a float."""


class Switch(NamedTuple):
    """An option of the algorithm: its effect and its allowed values."""

    help: str
    allowed: str
    type: str
    """The type of its values, as a Python annotation."""
    group: str
    """The part of the algorithm it belongs to."""
    paper: str
    """Its value in the preset "paper"."""
    default: str
    """Its value in the preset "default"."""


SWITCHES: Mapping[str, Switch] = {
    row.name: Switch(row.help, row.allowed, row.annotation, row.group, row.paper, row.default)
    for row in _switches()
    if row.name != "direction"
}
"""Every option that `minimize`, `maximize` and `Optimizer` take as a keyword, by name."""

STOPPING = ("budget", "target", "tolerance")
"""Options that end a run; they do not define the problem."""

_ELSEWHERE = {
    "acq_func": "acquisition",
    "disp": "progress",
    "ftol": "tolerance",
    "gtol": "tolerance",
    "iterations": "budget",
    "max_evals": "budget",
    "maxfev": "budget",
    "maxfun": "budget",
    "maxiter": "budget",
    "max_nfev": "budget",
    "max_time": "time_limit",
    "n_calls": "budget",
    "n_iter": "budget",
    "n_jobs": "workers",
    "n_trials": "budget",
    "options": "budget",
    "random_state": "rng",
    "tol": "tolerance",
    "verbose": "progress",
    "x_scale": "radius",
    "xtol": "tolerance",
}
"""Names in other packages, and the name here."""


def as_float(number: Any) -> float:
    """The number as a float; an integer that is too large for a float is infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def as_value(
    value: object,
    source: str = "the value",
    allowed: str = "one real number (NaN or infinite if the evaluation failed)",
) -> float:
    """An objective value as a float: a real number, or an array that holds exactly one.

    It may be infinite or NaN, which the core records as a failure. A masked value is missing, so it is NaN.
    """
    if isinstance(value, (float, int)):
        return as_float(value)
    shape: tuple[int, ...] = ()
    with contextlib.suppress(TypeError, ValueError):
        array = np.asanyarray(value)
        shape = array.shape
        if array.size == 1 and array.dtype.kind in "biufO":
            if np.ma.is_masked(array):
                return float("nan")
            item = array.item()
            if not isinstance(item, (str, bytes, complex)):
                return as_float(item)
    what = f"{value!r} of shape {shape}" if shape else repr(value)
    raise InvalidError(f"{source} is {what}; it must be {allowed}")


def plural(n: int, noun: str) -> str:
    """A number with its noun, such as "1 evaluation"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def seed_of(rng: Rng) -> int:
    """The seed that `rng` stands for, between 0 and 2**64 - 1."""
    if rng is None:
        rng = np.random.SeedSequence()
    if isinstance(rng, np.random.SeedSequence):
        return int(rng.generate_state(1, np.uint64)[0])
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(0, _MAX_SEED, dtype=np.uint64, endpoint=True))
    try:
        seed = operator.index(rng)
    except TypeError:
        raise InvalidError(
            f"rng is {rng!r}; allowed: an int, a numpy.random.SeedSequence, a "
            "numpy.random.Generator or None"
        ) from None
    if not 0 <= seed <= _MAX_SEED:
        raise InvalidError(f"rng is {seed}; a seed is between 0 and 2**64 - 1")
    return seed


def switch_values(switches: Mapping[str, object]) -> list[tuple[str, Setting]]:
    """Options as the core takes them: name and value."""
    return [(name, switch_value(name, value)) for name, value in switches.items()]


def check_names(names: Mapping[str, object], others: tuple[str, ...] = ()) -> None:
    """Refuses a keyword that is not an option; `others` are further keywords that may have been meant."""
    for name in names:
        if name not in SWITCHES:
            known = [*others, *SWITCHES]
            meant = _ELSEWHERE.get(name) or next(
                iter(difflib.get_close_matches(name, known, 1)), None
            )
            hint = f"did you mean {meant!r}? " if meant in known else ""
            raise UnknownSwitchError(
                f"unknown option {name!r}: {hint}labcat.SWITCHES lists them all"
            )


def _takes_word(type: str, word: str) -> bool:
    """Whether the core is to judge a word: "5" evaluations are a mistake, another word than those of a choice is for it."""
    return "Literal" in type and ("float" not in type or f'"{word}"' in type)


def switch_value(name: str, value: object) -> Setting:
    """The value of one option as the core takes it."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, (Decimal, Fraction)):
        value = as_float(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return int(value)  # 1e3 evaluations are 1000
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str) and _takes_word(SWITCHES[name].type, value):
        return value
    raise InvalidError(f"option {name!r} is {value!r}; allowed: {SWITCHES[name].allowed}")


def real_array(numbers: Any) -> npt.NDArray[np.float64]:
    """Numbers as an array; a TypeError if they are complex, because no part of them may be dropped, or text."""
    if np.iscomplexobj(numbers):
        raise TypeError("complex numbers")
    array = np.asarray(numbers)
    if array.dtype.kind in "SU":
        raise TypeError("text")
    return array.astype(np.float64, copy=False)


def as_array(numbers: object, what: str) -> npt.NDArray[np.float64]:
    """The numbers of an argument as a vector; none for None."""
    if numbers is None:
        return np.empty(0)
    try:
        array = real_array(numbers)
    except (TypeError, ValueError, OverflowError):
        raise InvalidError(f"{what}: {numbers!r}; allowed: a list of real numbers") from None
    if array.ndim > 1:
        raise InvalidError(f"{what} has shape {array.shape}; allowed: one dimension")
    return array.reshape(-1)


def as_vector(numbers: object, what: str) -> list[float]:
    """The numbers of an argument as a list; none for None."""
    vector: list[float] = as_array(numbers, what).tolist()
    return vector
