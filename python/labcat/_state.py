"""The data that Python keeps beside the state of the core, in the same JSON."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._constraints import Known
from ._errors import InvalidError, LabcatError
from ._misfit import Misfit
from ._parameters import Numbers

_KEY = "python"


class Beside(NamedTuple):
    """The data of an evaluation that the core does not keep."""

    seconds: float | None
    extra: dict[str, Any]
    residuals: list[float]
    """The residuals as they were told, if they have weights or a loss: the core has the transformed ones."""


def joined(
    state: str,
    known: Known | None,
    beside: dict[int, Beside],
    given: int,
    several: dict[str, list[Numbers]],
    misfit: Misfit | None,
    jacobian: tuple[int, npt.NDArray[np.float64]] | None,
) -> str:
    """The state of the core with the data beside it; without such data it is the core's own state."""
    part: dict[str, Any] = {}
    if known is not None:
        part["constraints"] = {
            "formulas": known.formulas,
            "linear": known.linear,
            "equal": known.equal,
            "functions": len(known.functions),
        }
    if beside:
        part["evaluations"] = {id: _row(entry) for id, entry in beside.items()}
    if several:
        part["when"] = several
    if given:
        part["given"] = given
    if misfit is not None:
        part["misfit"] = misfit.described()
    if jacobian is not None:
        id, matrix = jacobian
        part["jacobian"] = [id, [_with_gaps(row) for row in matrix.tolist()]]
    return f'{{"{_KEY}":{json.dumps(part)},{state[1:]}' if part else state


def _row(entry: Beside) -> list[Any]:
    row: list[Any] = [entry.seconds, entry.extra]
    return [*row, _with_gaps(entry.residuals)] if entry.residuals else row


def _with_gaps(row: list[float]) -> list[float | None]:
    return [number if math.isfinite(number) else None for number in row]  # JSON has no NaN


def _numbers(row: list[Any]) -> list[float]:
    return [np.nan if r is None else float(r) for r in row]


def parted(text: str) -> tuple[str, dict[str, Any]]:
    """The state of the core, and the data beside it."""
    if f'"{_KEY}"' not in text:
        return text, {}
    try:
        state = json.loads(text)
    except ValueError:
        return text, {}  # the core says what is wrong with it
    part = state.pop(_KEY, {}) if isinstance(state, dict) else {}
    return (json.dumps(state), part) if part else (text, {})


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """Says of data that cannot be read that they are no state."""
    try:
        yield
    except LabcatError:
        raise
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise InvalidError(f"this is not the saved state of an optimizer: {error}") from None


def beside_of(part: dict[str, Any]) -> dict[int, Beside]:
    """The data kept for each evaluation."""

    def beside(seconds: Any, extra: Any, residuals: Any = ()) -> Beside:
        return Beside(None if seconds is None else float(seconds), dict(extra), _numbers(residuals))

    return {int(id): beside(*row) for id, row in part.get("evaluations", {}).items()}


def given_of(part: dict[str, Any]) -> int:
    """How many evaluations were told before the run began."""
    given = part.get("given", 0)
    return given if isinstance(given, int) else 0


def misfit_of(part: dict[str, Any]) -> Misfit | None:
    """The weights and the loss of residuals, if residuals are told."""
    held = part.get("misfit")
    if held is None:
        return None
    return Misfit.checked(**held)


def jacobian_of(part: dict[str, Any]) -> tuple[int, npt.NDArray[np.float64]] | None:
    """The Jacobian of the best evaluation, and its id, if one was told."""
    held = part.get("jacobian")
    if held is None:
        return None
    id, rows = held
    return int(id), np.array([_numbers(row) for row in rows])


def known_of(part: dict[str, Any], given: Known | None) -> Known | None:
    """The known constraints of a state, whose functions are `given` again."""
    held = part.get("constraints")
    if held is None:
        return given
    with reading():
        rows = [[([*map(float, factors)], float(bound)) for factors, bound in held[name]] for name in ("linear", "equal")]
        formulas, count = [str(formula) for formula in held["formulas"]], int(held["functions"])
    known = Known(rows[0], rows[1], [], formulas)
    if given is not None:
        for ours, theirs in zip((known.linear, known.equal, known.formulas), (given.linear, given.equal, given.formulas)):
            ours.extend(entry for entry in theirs if entry not in ours)  # type: ignore[attr-defined, operator]
        known.functions.extend(given.functions)
    if len(known.functions) != count:
        functions = "a function that is a constraint" if count == 1 else f"{count} functions that are constraints"
        raise InvalidError(
            f"the state was made with {functions}, which JSON cannot hold, and {len(known.functions)} are given: "
            "Optimizer.from_json(text, constraints=[NonlinearConstraint(…), …])"
        )
    return known
