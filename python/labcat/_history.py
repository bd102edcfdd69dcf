"""Trials, evaluations and the history of a run."""

from __future__ import annotations

import csv
import io
import json
import operator
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from ._errors import InvalidError, UnknownTrialError, missing
from ._space import Space, Vector, plain_names

if TYPE_CHECKING:
    import pandas


class _Named:
    """Base class of everything that has a point of a space."""

    __slots__ = ()
    x: Vector
    space: Space

    @property
    def params(self) -> dict[str, Any]:
        """The values by the names of the parameters (x0, x1, … if they were given without), each of its
        own type; those whose condition holds."""
        return self.space.to_dict(self.x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._parts())})"

    def _parts(self) -> list[str]:
        """The fields to show: all of them, and the values by name if the parameters have names."""
        named = list(self.space) != plain_names(len(self.space))
        point = f"params={self.params!r}" if named else f"x={self.x!r}"
        shown = (f.name for f in fields(self) if f.repr)  # type: ignore[arg-type]
        return [point if name == "x" else f"{name}={getattr(self, name)!r}" for name in shown]


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Trial(_Named):
    """A point to evaluate, as returned by `Optimizer.ask`."""

    id: int
    """The number of the trial; `tell` takes it."""
    x: Vector
    """The point, shape (d,)."""
    space: Space = field(repr=False)
    """The parameters."""


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Evaluation(_Named):
    """A point and its result."""

    id: int
    """The id of the trial."""
    x: Vector
    """The point, shape (d,)."""
    value: float
    """The value told; NaN if the evaluation failed."""
    run: int
    """The local run it belongs to: 0, and one more after each restart."""
    space: Space = field(repr=False)
    """The parameters."""
    constraints: Vector = field(default_factory=lambda: np.empty(0))
    """The measured constraints, satisfied when ≤ 0; empty if there are none."""
    std: float | None = None
    """Standard deviation of the noise in the value, if it was told."""
    reason: str | None = None
    """Why the evaluation failed; None if no reason was given."""
    seconds: float | None = None
    """How long the evaluation took; None if unknown."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Extra data told with the value, see `Outcome.extra`."""
    residuals: Vector = field(default_factory=lambda: np.empty(0))
    """The residuals of least squares; empty if there are none."""
    constraint_std: Vector = field(default_factory=lambda: np.empty(0))
    """Standard deviation of the noise in each measured constraint; empty if none was told."""

    def _parts(self) -> list[str]:
        parts = _Named._parts(self)[:4]
        if len(self.constraints):
            parts.append(f"constraints={self.constraints!r}")
        if len(self.residuals):
            parts.append(f"residuals: {len(self.residuals)}")
        parts += [
            f"{name}={getattr(self, name)!r}" for name in ("std", "reason", "extra") if getattr(self, name)
        ]
        return parts

    @property
    def status(self) -> str:
        """ "ok" or "failed", as in the command line."""
        return "failed" if self.failed else "ok"

    @property
    def feasible(self) -> bool:
        """Whether there is a value, and every measured constraint is satisfied."""
        return not self.failed and bool((self.constraints <= 0).all())

    @property
    def failed(self) -> bool:
        """Whether the evaluation failed."""
        return bool(np.isnan(self.value))


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Recommendation(_Named):
    """The recommended point, with its expected value."""

    x: Vector
    """The point, shape (d,)."""
    mean: float
    """The expected value at the point."""
    std: float
    """Standard deviation of the expected value; 0 if values are exact."""
    space: Space = field(repr=False)
    """The parameters."""


class Restart(NamedTuple):
    """The end of a local run and the start of the next."""

    at_evaluation: int
    """The number of evaluations before the restart."""
    cause: str
    """Why the local run ended."""


class TrustRegion(NamedTuple):
    """The region in which the next point is searched: a rotated box around the best point of the local run."""

    centre: npt.NDArray[np.float64]
    """Shape (d,)."""
    half_axes: npt.NDArray[np.float64]
    """Shape (d, d): each row is the vector from the centre to the middle of a face."""


class Prediction(NamedTuple):
    """The prediction of a model of all observations, in the units of the objective."""

    mean: Any
    """A float for one point, an array for several."""
    std: Any
    """The standard deviation, in the same form."""


_COLUMNS = ("value", "failed", "run", "best", "reason")


class History(Sequence[Evaluation]):
    """Every evaluation of a run as arrays, in the order of the results; also a sequence of `Evaluation`.

    >>> import labcat
    >>> result = labcat.minimize(lambda x: x[0] ** 2, [(-1, 2)], budget=8, rng=1)
    >>> history = result.history
    >>> history.x.shape, history.value.shape, len(history)
    ((8, 1), (8,), 8)
    >>> bool(history.best[-1] == result.fun)
    True
    >>> history[-1].id, [evaluation.status for evaluation in history[:2]]
    (7, ['ok', 'ok'])
    """

    __slots__ = (
        "_evaluations",
        "_maximize",
        "best",
        "constraints",
        "extra",
        "failed",
        "feasible",
        "id",
        "names",
        "reason",
        "residuals",
        "run",
        "seconds",
        "space",
        "std",
        "trust_region",
        "value",
        "x",
    )

    id: npt.NDArray[np.int64]
    """Ids of the trials, shape (n,)."""
    x: npt.NDArray[np.float64]
    """Points, shape (n, d)."""
    value: npt.NDArray[np.float64]
    """Values; NaN where the evaluation failed."""
    std: npt.NDArray[np.float64]
    """Standard deviations of the values; NaN where none was told."""
    failed: npt.NDArray[np.bool_]
    """Whether each evaluation failed."""
    reason: list[str | None]
    """Why each evaluation failed; None where it did not, or where no reason was given."""
    run: npt.NDArray[np.int64]
    """Number of the local run: 0, and one more after each restart."""
    best: npt.NDArray[np.float64]
    """The best value so far among evaluations that satisfy the constraints; NaN before the first of them."""
    constraints: npt.NDArray[np.float64]
    """The measured constraints, shape (n, k); NaN where they were not told."""
    feasible: npt.NDArray[np.bool_]
    """Whether each evaluation has a value and satisfies every measured constraint."""
    residuals: npt.NDArray[np.float64]
    """The residuals of least squares, shape (n, m); NaN where the evaluation failed."""
    seconds: npt.NDArray[np.float64]
    """How long each evaluation took; NaN where unknown."""
    extra: list[dict[str, Any]]
    """Extra data told with each value, see `Outcome.extra`."""
    names: list[str]
    """Names of the parameters."""
    space: Space
    """The parameters."""
    trust_region: list[TrustRegion | None]
    """The region in which each point was searched; None for points of an initial design. Kept
    by `minimize` and `maximize`, for two parameters only, and for evaluations since the start or
    resumption; else None throughout."""

    def __init__(self, evaluations: Sequence[Evaluation], space: Space, maximize: bool) -> None:
        n, d = len(evaluations), len(space)
        self._evaluations = tuple(evaluations)
        self._maximize = maximize
        self.id = np.array([e.id for e in evaluations], dtype=np.int64)
        self.x = np.array([e.x for e in evaluations], dtype=np.float64).reshape(n, d)
        self.value = np.array([e.value for e in evaluations], dtype=np.float64)
        self.std = _numbers(e.std for e in evaluations)
        self.failed = np.isnan(self.value)
        self.reason = [e.reason for e in evaluations]
        self.run = np.array([e.run for e in evaluations], dtype=np.int64)
        self.constraints = _rows([e.constraints for e in evaluations])
        self.residuals = _rows([e.residuals for e in evaluations])
        self.feasible = ~self.failed & (self.constraints <= 0).all(axis=1)
        counted = np.where(self.feasible, self.value, np.nan)
        self.best = (np.fmax if maximize else np.fmin).accumulate(counted)
        self.seconds = _numbers(e.seconds for e in evaluations)
        self.extra = [e.extra for e in evaluations]
        self.names = list(space)
        self.space = space
        self.trust_region = [None] * n

    def __len__(self) -> int:
        return len(self._evaluations)

    @overload
    def __getitem__(self, index: int) -> Evaluation: ...
    @overload
    def __getitem__(self, index: slice) -> History: ...
    def __getitem__(self, index: int | slice) -> Evaluation | History:
        """One evaluation; for a slice the history of these evaluations, whose `best` starts at the first of them."""
        if not isinstance(index, slice):
            return self._evaluations[operator.index(index)]
        part = History(self._evaluations[index], self.space, self._maximize)
        part.trust_region = self.trust_region[index]
        return part

    def __iter__(self) -> Iterator[Evaluation]:
        return iter(self._evaluations)

    def __repr__(self) -> str:
        return f"<History of {len(self)} evaluations, {int(self.failed.sum())} failed>"

    def _extra_names(self) -> list[str]:
        """The names of all extra data, in the order in which they first appeared."""
        return list(dict.fromkeys(name for extra in self.extra for name in extra))

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with one row per evaluation.

        Its columns are id, the parameters, value, failed, run, best and reason; std and seconds if any are known;
        feasible and the measured constraints if there are any; and one for each name in `extra`. Parameters keep
        their own types, and are None where their condition does not hold.

        >>> import labcat
        >>> optimizer = labcat.Optimizer([(-1, 2)], rng=1)
        >>> optimizer.tell(optimizer.ask(), labcat.Outcome(0.5, extra={"epochs": 3}))
        >>> list(optimizer.history.to_dataframe().columns)
        ['id', 'x0', 'value', 'failed', 'run', 'best', 'reason', 'epochs']
        """
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise missing("a data frame", "pandas", "pandas") from error
        frame = pandas.DataFrame(self.x, columns=self.names)
        if not self.space.is_plain:
            rows = [self.space.to_dict(x) for x in self.x]
            frame = pandas.DataFrame(
                {name: pandas.Series([row.get(name) for row in rows], dtype=object) for name in self.names}
            ).infer_objects()
        # A parameter may have the name of one of these columns: both are kept.
        frame.insert(0, "id", self.id, allow_duplicates=True)
        for column, values in self._columns():
            if isinstance(values, list):
                series = pandas.Series(values, dtype=object)
                values = series if column == "reason" else series.infer_objects()
            frame.insert(frame.shape[1], column, values, allow_duplicates=True)
        return frame

    def _columns(self) -> list[tuple[str, Any]]:
        """The columns besides the parameters, by name."""
        columns: list[tuple[str, Any]] = [(name, getattr(self, name)) for name in _COLUMNS]
        optional = (("std", self.std), ("seconds", self.seconds))
        columns += [(name, column) for name, column in optional if not np.isnan(column).all()]
        if self.constraints.shape[1]:
            columns.append(("feasible", self.feasible))
            columns += [(f"constraint{k}", column) for k, column in enumerate(self.constraints.T)]
        return columns + [(name, [extra.get(name) for extra in self.extra]) for name in self._extra_names()]

    @overload
    def to_csv(self, file: None = None) -> str: ...
    @overload
    def to_csv(self, file: str | os.PathLike[str]) -> None: ...
    def to_csv(self, file: str | os.PathLike[str] | None = None) -> str | None:
        """Writes one row per evaluation to a file, or returns the text. It does not need pandas.

        The columns are those of the command line's `export`: id, the parameters, value, status, seconds;
        then std and reason if there are any, the measured constraints, and one for each name in
        `extra`. Unknown cells are empty; lists and dictionaries are written as JSON.

        >>> import labcat
        >>> result = labcat.minimize(lambda x: x[0] ** 2, [(-1, 2)], budget=4, rng=1)
        >>> result.history.to_csv().splitlines()[0]
        'id,x0,value,status,seconds'
        """
        optional = dict(self._columns()[len(_COLUMNS) :])
        seconds = optional.pop("seconds", self.seconds)
        if any(self.reason):
            optional["reason"] = self.reason
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["id", *self.names, "value", "status", "seconds", *optional])
        for i, evaluation in enumerate(self):
            params = evaluation.params
            row = [params.get(name) for name in self.names]
            row += [evaluation.value, evaluation.status, seconds[i], *(column[i] for column in optional.values())]
            writer.writerow([evaluation.id, *map(_cell, row)])
        if file is None:
            return text.getvalue()
        with open(file, "w", encoding="utf-8", newline="") as out:
            out.write(text.getvalue())
        return None


def _rows(vectors: Sequence[Vector]) -> npt.NDArray[np.float64]:
    """Vectors of equal length as a matrix; NaN where one is missing."""
    k = max(map(len, vectors), default=0)
    unknown = np.full(k, np.nan)
    rows = [vector if len(vector) == k else unknown for vector in vectors]
    return np.array(rows, dtype=np.float64).reshape(len(vectors), k)


def _numbers(values: Iterable[float | None]) -> npt.NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _cell(value: Any) -> Any:
    """A value as a cell: empty if unknown, JSON for lists and dictionaries."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    return json.dumps(value) if isinstance(value, (bool, list, dict)) else value


def id_of(trial: Trial | int | None) -> int:
    """The id of a trial, given as a number or as a `Trial`."""
    if isinstance(trial, Trial):
        return trial.id
    try:
        id = operator.index(trial)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidError(f"a trial must be what ask returned, or its id, not {trial!r}") from None
    if not 0 <= id < 2**64:
        raise UnknownTrialError(f"there is no trial {id}", id)
    return id
