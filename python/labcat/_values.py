"""What may come in from users: objective values, seeds, switches."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ._errors import InvalidError, UnknownSwitchError
from ._labcat import switches as _switches

Rng: TypeAlias = "int | np.integer[Any] | np.random.SeedSequence | np.random.Generator | None"

_MAX_SEED = 2**64 - 1


class Switch(NamedTuple):
    """A switch of the algorithm: what it does and what it may be."""

    help: str
    allowed: str


SWITCHES: Mapping[str, Switch] = {
    name: Switch(help, allowed)
    for name, _, help, allowed, *_ in _switches()
    if name != "direction"
}
"""Every switch that `minimize`, `maximize` and `Optimizer` take as a keyword, by name."""


def as_value(value: object, source: str = "the value") -> float:
    """An objective value as a float: a real number, or an array that holds exactly one.

    Whether it is finite is not judged here: the core records other values as failures.
    """
    if isinstance(value, (float, int)):
        return float(value)
    shape: tuple[int, ...] = ()
    with contextlib.suppress(TypeError, ValueError):
        array = np.asarray(value)
        shape = array.shape
        if array.size == 1 and array.dtype.kind in "biufO":
            item = array.item()
            if not isinstance(item, (str, bytes, complex)):
                return float(item)
    what = f"{value!r} of shape {shape}" if shape else repr(value)
    raise InvalidError(
        f"{source} is {what}; it must be one real number (NaN or infinite if the evaluation failed)"
    )


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


def switch_texts(switches: Mapping[str, object]) -> list[tuple[str, str]]:
    """Switches as the core reads them: name and text."""
    for name in switches:
        if name not in SWITCHES:
            raise UnknownSwitchError(
                f"unknown switch {name!r}; the switches are {', '.join(SWITCHES)}"
            )
    return [(name, switch_text(name, value)) for name, value in switches.items()]


def switch_text(name: str, value: object) -> str:
    """The text of one switch's value."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return value
    raise InvalidError(f"switch {name!r} is {value!r}; allowed: {SWITCHES[name].allowed}")
