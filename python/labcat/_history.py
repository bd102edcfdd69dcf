"""Trials, evaluations and the history of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._errors import missing
from ._space import Space, Vector

if TYPE_CHECKING:
    import pandas


class _Named:
    """What has a point of a space."""

    __slots__ = ()
    x: Vector
    space: Space

    @property
    def params(self) -> dict[str, Any]:
        """The values by the names of the parameters (x0, x1, … if they were given without), each of its
        own type; those whose condition holds."""
        return self.space.to_dict(self.x)


@dataclass(frozen=True, eq=False, slots=True)
class Trial(_Named):
    """A point to evaluate, as `Optimizer.ask` gives it."""

    id: int
    """Names the trial when its value is told."""
    x: Vector
    """The point, shape (d,)."""
    space: Space = field(repr=False)
    """The parameters."""


@dataclass(frozen=True, eq=False, slots=True)
class Evaluation(_Named):
    """A point and what came of it."""

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
    """The measured constraints, met where not above 0; empty if there are none."""

    def __repr__(self) -> str:
        limits = f", constraints={self.constraints!r}" if len(self.constraints) else ""
        return f"Evaluation(id={self.id}, x={self.x!r}, value={self.value!r}, run={self.run}{limits})"

    @property
    def feasible(self) -> bool:
        """Whether there is a value, and every measured constraint is met."""
        return not self.failed and bool((self.constraints <= 0).all())

    @property
    def failed(self) -> bool:
        """Whether the evaluation failed."""
        return bool(np.isnan(self.value))


@dataclass(frozen=True, eq=False, slots=True)
class Recommendation(_Named):
    """The point to use, and what is known of it."""

    x: Vector
    """The point, shape (d,)."""
    mean: float
    """The value expected there."""
    std: float
    """Standard deviation of that; 0 if values are exact."""
    space: Space = field(repr=False)
    """The parameters."""


class Restart(NamedTuple):
    """The end of a local run and the start of the next."""

    at_evaluation: int
    """How many evaluations had been told."""
    cause: str
    """Why the local run ended."""


class TrustRegion(NamedTuple):
    """The region that is searched: a box around the best point of the local run, rotated."""

    centre: npt.NDArray[np.float64]
    """Shape (d,)."""
    half_axes: npt.NDArray[np.float64]
    """Shape (d, d): in each row the way from the centre to the middle of a face."""


class Prediction(NamedTuple):
    """What the local model predicts, in the units of the objective."""

    mean: Any
    """A float for one point, an array for several."""
    std: Any
    """The standard deviation, likewise."""


class History:
    """Every evaluation of a run, in the order told, as arrays.

    >>> import labcat
    >>> result = labcat.minimize(lambda x: x[0] ** 2, [(-1, 2)], budget=8, rng=1)
    >>> history = result.history
    >>> history.x.shape, history.value.shape, len(history)
    ((8, 1), (8,), 8)
    >>> bool(history.best[-1] == result.fun)
    True
    """

    __slots__ = (
        "best",
        "constraints",
        "failed",
        "feasible",
        "id",
        "names",
        "reason",
        "run",
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
    """Where the evaluation failed."""
    reason: list[str | None]
    """Why each evaluation failed; None where it did not, or where nobody said why."""
    run: npt.NDArray[np.int64]
    """Number of the local run: 0, and one more after each restart."""
    best: npt.NDArray[np.float64]
    """The best value so far, of the evaluations that meet the constraints; NaN before the first."""
    constraints: npt.NDArray[np.float64]
    """The measured constraints, shape (n, k); NaN where they were not told."""
    feasible: npt.NDArray[np.bool_]
    """Where there is a value, and every measured constraint is met."""
    names: list[str]
    """Names of the parameters."""
    space: Space
    """The parameters."""
    trust_region: list[TrustRegion | None]
    """The region in which each point was searched for; None for points of an initial design. Kept
    by `minimize` and `maximize`, for two parameters only, and for evaluations since the start or
    resumption; else None throughout."""

    def __init__(
        self,
        evaluations: list[tuple[int, list[float], float, int]],
        space: Space,
        maximize: bool,
        reasons: Mapping[int, str] = {},
        stds: Mapping[int, float] = {},
        measured: Sequence[Sequence[float]] = (),
    ) -> None:
        names = list(space)
        ids, xs, values, runs = zip(*evaluations) if evaluations else ((), (), (), ())
        self.id = np.array(ids, dtype=np.int64)
        self.x = np.array(xs, dtype=np.float64).reshape(len(ids), len(names))
        self.value = np.array(values, dtype=np.float64)
        self.std = np.array([stds.get(id, np.nan) for id in ids], dtype=np.float64)
        self.failed = np.isnan(self.value)
        self.reason = [reasons.get(id) for id in ids]
        self.run = np.array(runs, dtype=np.int64)
        k = max(map(len, measured), default=0)
        rows = [row if len(row) == k else [np.nan] * k for row in measured] if k else [[]] * len(ids)
        self.constraints = np.array(rows, dtype=np.float64).reshape(len(ids), k)
        self.feasible = ~self.failed & (self.constraints <= 0).all(axis=1)
        counted = np.where(self.feasible, self.value, np.nan)
        self.best = (np.fmax if maximize else np.fmin).accumulate(counted)
        self.names = names
        self.space = space
        self.trust_region = [None] * len(ids)

    def __len__(self) -> int:
        return len(self.id)

    def __repr__(self) -> str:
        return f"<History of {len(self)} evaluations, {int(self.failed.sum())} failed>"

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas data frame with a row per evaluation.

        Its columns are id, the parameters, value, failed, run, best and reason. Values are of their own
        types, and None where a parameter's condition does not hold.

        >>> import labcat
        >>> result = labcat.minimize(lambda x: x[0] ** 2, [(-1, 2)], budget=8, rng=1)
        >>> list(result.history.to_dataframe().columns)
        ['id', 'x0', 'value', 'failed', 'run', 'best', 'reason']
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
        for column in ("value", "failed", "run", "best", "reason"):
            values = pandas.Series(
                getattr(self, column), dtype=object if column == "reason" else None
            )
            frame.insert(frame.shape[1], column, values, allow_duplicates=True)
        if self.constraints.shape[1]:
            frame.insert(frame.shape[1], "feasible", self.feasible, allow_duplicates=True)
            for k in range(self.constraints.shape[1]):
                frame.insert(frame.shape[1], f"constraint{k}", self.constraints[:, k], allow_duplicates=True)
        return frame
