"""The ask/tell interface."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from . import _labcat
from ._constraints import Constraints, Known, split
from ._errors import InvalidError, NoModelError
from ._history import (
    Evaluation,
    History,
    Prediction,
    Recommendation,
    Restart,
    Trial,
    TrustRegion,
    id_of,
)
from ._html import optimizer_html
from ._misfit import Misfit
from ._outcome import Outcome, outcome_of
from ._parameters import ParameterLike
from ._space import (
    BoundsLike,
    Point,
    Points,
    Radius,
    Space,
    Vector,
    check_point,
    plain_names,
    radius_of,
    space_of,
)
from ._state import (
    Beside,
    beside_of,
    given_of,
    jacobian_of,
    joined,
    known_of,
    misfit_of,
    parted,
    reading,
)
from ._values import STOPPING, Rng, as_vector, check_names, plural, seed_of, switch_values

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._switches import Switches

Bounds: TypeAlias = "Space | BoundsLike | Mapping[str, ParameterLike] | npt.ArrayLike"
Direction: TypeAlias = Literal["minimize", "maximize"]
Preset: TypeAlias = Literal["default", "paper"]


_MOST_ASKED = 1_000_000
_NOTHING = Beside(None, {}, [])
_OWN_KEYWORDS = ("direction", "preset", "rng")


class Optimizer:
    """The ask-and-tell interface: `ask` suggests a point, and `tell` records its value.

    Any number of trials may be pending, each with a different point. They may be told in any order
    and from any thread. When a local run has converged, the optimiser starts another one, until a
    stopping criterion ends the run (`stop_reason`). It can be pickled and copied; the copy continues
    bit for bit.

    Parameters
    ----------
    bounds
        Pairs (low, high), a `scipy.optimize.Bounds`, a dictionary of named bounds
        (``{"speed": (0, 9)}``), or a `labcat.Space` of named parameters.
    direction
        "minimize" or "maximize".
    rng
        The seed: an int (the same int gives the same points everywhere), a
        `numpy.random.SeedSequence`, a `numpy.random.Generator` (one draw is taken from it), or
        None for a random seed. The attribute `seed` has its value.
    preset
        "default", which is recommended, or "paper", the algorithm as published.
    budget
        The number of evaluations; None: no limit.
    target
        A value that is good enough; the run ends when it is reached.
    tolerance
        A local run ends when its values differ by no more than this.
    constraints
        The number of constraints that each evaluation measures; they are told with its value. Or
        known constraints, which no suggestion violates: strings such as "x0 + 2*x1 <= 1" (with the
        parameters' names; x0, x1, … if they have none), `scipy.optimize.LinearConstraint`,
        `NonlinearConstraint`, or a list of them. `to_json` saves strings and linear constraints;
        functions must be passed to `from_json` again.
    residuals
        True for least squares: the residuals of each evaluation are told, ``tell(trial, residuals=[…])``,
        and the sum of their squares is minimised. See `labcat.least_squares`.
    switches
        Other options by name; `labcat.SWITCHES` lists them.

    Examples
    --------
    >>> import labcat
    >>> optimizer = labcat.Optimizer([(-5, 10), (-5, 10)], rng=1)
    >>> for _ in range(40):
    ...     trial = optimizer.ask()
    ...     optimizer.tell(trial, (trial.x[0] - 1) ** 2 + trial.x[1] ** 2)
    >>> optimizer.best.value < 1e-3
    True
    """

    __slots__ = (
        "__weakref__", "_beside", "_core", "_given", "_jacobian", "_known", "_misfit", "_named", "_settings", "_space",
    )  # fmt: skip
    _known: Known | None
    _misfit: Misfit | None  # of least squares
    _jacobian: tuple[int, npt.NDArray[np.float64]] | None  # that of the best evaluation, and its id

    def __init__(
        self,
        bounds: Bounds,
        *,
        direction: Direction = "minimize",
        rng: Rng = None,
        preset: Preset = "default",
        budget: int | None = None,
        target: float | None = None,
        tolerance: float | None = None,
        constraints: Constraints | None = None,
        residuals: bool = False,
        **switches: Unpack[Switches],
    ) -> None:
        if residuals not in (True, False):
            raise InvalidError(f"residuals is {residuals!r}; allowed: True, if residuals are told, or False")
        if residuals and direction != "minimize":
            raise InvalidError(f'direction is {direction!r}; with residuals it is "minimize"')
        given: dict[str, Any] = {"budget": budget, "target": target, "tolerance": tolerance}
        given.update(switches)
        check_names(given, _OWN_KEYWORDS)
        if "seed" in given:
            if rng is not None:
                raise InvalidError("rng and seed are the same thing: give one of them")
            rng = given.pop("seed")
        space, named = space_of(bounds)
        count, known = split(constraints, space)
        if count:
            given["constraints"] = count
        options = switch_values(
            {
                name: value
                for name, value in given.items()
                if value is not None or name not in STOPPING
            }
        )
        options += [("direction", str(direction)), ("seed", seed_of(rng))]
        self._take(_labcat.Core(space.described(), str(preset), options), space, named)
        self._misfit = Misfit() if residuals else None
        if known is not None:
            self._constrain(known)

    def _take(self, core: _labcat.Core, space: Space, named: bool) -> None:
        self._core = core
        self._space = space
        self._named = named
        self._settings = core.config()
        self._known = None
        self._beside: dict[int, Beside] = {}
        self._given = 0  # evaluations that were told before the run began
        self._misfit = None
        self._jacobian = None

    def _constrain(self, known: Known) -> None:
        try:
            self._core.constrain(*known)
        except InvalidError as error:
            raised = next((function.raised for function in known.functions if function.raised), None)
            raise error if raised is None else InvalidError(f"{error}; the function of one raised {raised}") from None
        self._known = known

    @classmethod
    def from_json(cls, text: str | bytes, *, constraints: Constraints | None = None) -> Optimizer:
        """Restores an optimiser from `to_json`; it continues bit for bit.

        Its parameters count as named unless their names are x0, x1, … Known constraints that are
        strings or linear are restored; functions must be passed again as `constraints`.

        >>> import labcat
        >>> optimizer = labcat.Optimizer([(0, 1)] * 2, constraints="x0 + x1 <= 1", rng=1)
        >>> copy = labcat.Optimizer.from_json(optimizer.to_json())
        >>> all(trial.x.sum() <= 1 for trial in copy.ask(20))
        True
        """
        return cls._restore(text, None, constraints=constraints)

    @classmethod
    def _restore(
        cls,
        text: str | bytes,
        named: bool | None,
        space: Space | None = None,
        known: Known | None = None,
        constraints: Constraints | None = None,
    ) -> Optimizer:
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        if not isinstance(text, str):
            raise InvalidError(f"a state is {text!r}; allowed: the text that to_json gave")
        optimizer = cls.__new__(cls)
        state, part = parted(text)
        core = _labcat.Core.from_json(state)
        with reading():
            space = Space._of(core.parameters(), part.get("when", {})) if space is None else space
            if named is None:
                named = list(space) != plain_names(len(space))
            optimizer._take(core, space, named)
            optimizer._beside, optimizer._given = beside_of(part), given_of(part)
            optimizer._misfit, optimizer._jacobian = misfit_of(part), jacobian_of(part)
        if constraints is not None:
            count, known = split(constraints, space)
            if count and count != (measured := optimizer._settings["constraints"]):
                raise InvalidError(f"constraints is {count}; in the state {measured} are measured")
        known = known_of(part, known)
        if known is not None:
            optimizer._constrain(known)
        return optimizer

    def to_json(self) -> str:
        """The whole state as JSON.

        >>> import labcat
        >>> optimizer = labcat.Optimizer([(-1, 1)], rng=1)
        >>> optimizer.tell(optimizer.ask(), 0.25)
        >>> copy = labcat.Optimizer.from_json(optimizer.to_json())
        >>> bool(copy.ask().x == optimizer.ask().x)
        True
        """
        return joined(
            self._core.to_json(),
            self._known,
            dict(self._beside),
            self._given,
            self._space.several(),
            self._misfit,
            self._jacobian,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._restore, (self.to_json(), self._named, self._space, self._known)

    def __repr__(self) -> str:
        size, done = plural(len(self._space), "parameter"), plural(self.n_evaluations, "evaluation")
        return f"<Optimizer of {size}, {done}>"

    def _repr_html_(self) -> str:
        return optimizer_html(self)

    @overload
    def ask(self, n: None = None) -> Trial: ...
    @overload
    def ask(self, n: int) -> list[Trial]: ...
    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        """The next point to evaluate, or a list of the next `n`.

        The list is shorter if the budget leaves fewer, but never empty.

        Raises
        ------
        Stopped
            The run has ended.
        BudgetOutstanding
            Everything that is left of the budget, or of a finite space, is pending.
        """
        if n is None:
            return self._trial(self._core.ask())
        if not (hasattr(n, "__index__") and 1 <= operator.index(n) <= _MOST_ASKED):
            raise InvalidError(f"the number of points to ask for is {n!r}; allowed: 1 to {_MOST_ASKED}")
        return [self._trial(suggestion) for suggestion in self._core.ask_many(n)]

    def _trial(self, suggestion: tuple[int, list[float]]) -> Trial:
        return Trial(suggestion[0], np.array(suggestion[1]), self._space)

    @overload
    def tell(
        self,
        trial: Trial | int,
        value: Outcome | npt.ArrayLike | None,
        *,
        std: float | None = None,
        constraints: npt.ArrayLike | None = None,
        constraint_std: npt.ArrayLike | None = None,
        gradient: npt.ArrayLike | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None: ...
    @overload
    def tell(
        self,
        trial: Trial | int,
        *,
        residuals: npt.ArrayLike,
        jacobian: npt.ArrayLike | None = None,
        std: float | None = None,
        constraints: npt.ArrayLike | None = None,
        constraint_std: npt.ArrayLike | None = None,
        gradient: npt.ArrayLike | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None: ...
    @overload
    def tell(
        self,
        trial: None = None,
        *,
        x: Point,
        value: Outcome | npt.ArrayLike | None,
        std: float | None = None,
        constraints: npt.ArrayLike | None = None,
        constraint_std: npt.ArrayLike | None = None,
        gradient: npt.ArrayLike | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> int: ...
    @overload
    def tell(
        self,
        trial: None = None,
        *,
        x: Point,
        residuals: npt.ArrayLike,
        jacobian: npt.ArrayLike | None = None,
        std: float | None = None,
        constraints: npt.ArrayLike | None = None,
        constraint_std: npt.ArrayLike | None = None,
        gradient: npt.ArrayLike | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> int: ...
    def tell(
        self,
        trial: Trial | int | None = None,
        value: Outcome | npt.ArrayLike | None = None,
        *,
        x: Point | None = None,
        std: float | None = None,
        constraints: npt.ArrayLike | None = None,
        constraint_std: npt.ArrayLike | None = None,
        residuals: npt.ArrayLike | None = None,
        jacobian: npt.ArrayLike | None = None,
        gradient: npt.ArrayLike | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> int | None:
        """Records the value of a trial, or of any other point `x`.

        The value is a real number, an array with exactly one element, or an `Outcome`, which can hold
        everything that the keywords do. A value that is not finite counts as a failed evaluation. If a point
        `x` is told, its new id is returned. Results are accepted even after the run has ended. `std` is the
        standard deviation of the noise in this value, if known; it is used unless the option `noise` is "none".

        `constraints` are the measured constraints, satisfied when g ≤ 0, and `constraint_std` the standard
        deviation of the noise in each. The value may be None if a constraint is violated. `gradient` has the
        derivative by each parameter, NaN if unknown. With ``Optimizer(bounds, residuals=True)`` tell
        `residuals` instead of a value, optionally with a `jacobian` of shape (m, d). `extra` is
        kept in the history and in the saved state.

        >>> import labcat
        >>> optimizer = labcat.Optimizer([(-1, 1)], rng=1)
        >>> optimizer.tell(optimizer.ask(), 0.25)
        >>> optimizer.tell(x=[0.5], value=0.5, extra={"who": "Ann"})
        1
        >>> optimizer.best.value, optimizer.history[1].extra
        (0.25, {'who': 'Ann'})
        """
        if self._misfit is not None and np.ndim(value) > 0 and residuals is None:  # type: ignore[arg-type]
            raise InvalidError("least squares take residuals by name: tell(trial, residuals=[…])")
        outcome = outcome_of(
            value,
            std=std,
            constraints=constraints,
            constraint_std=constraint_std,
            residuals=residuals,
            jacobian=jacobian,
            gradient=gradient,
            extra=extra,
        )
        if x is not None:
            _only(x, trial)
            id = self._core.tell_point(self._point(x, "x").tolist(), self._to_core(outcome))
            self._keep(id, outcome)
            return id
        id = id_of(trial)
        self._core.tell(id, self._to_core(outcome))
        self._keep(id, outcome)
        return None

    def _to_core(self, outcome: Outcome) -> _labcat.Outcome:
        """The outcome as the core takes it; refused if it has a value where residuals are told, or the other way round."""
        if self._misfit is None and outcome.residuals:
            raise InvalidError("residuals are for least squares: labcat.least_squares or Optimizer(bounds, residuals=True)")
        if self._misfit is not None and not outcome.residuals and not outcome.failed:
            raise InvalidError(
                f"least squares take residuals, not the value {outcome.value:g}: tell(trial, residuals=[…]), Outcome(residuals=[…])"
            )
        return outcome.to_core(self._misfit)

    def _keep(self, id: int, outcome: Outcome) -> None:
        """Keeps the parts of an outcome that the core does not keep."""
        weighed = bool(self._misfit is not None and not self._misfit.is_plain and outcome.residuals)
        if outcome.extra or outcome.seconds is not None or weighed:
            raw = as_vector(outcome.residuals, "") if weighed else []
            self._beside[id] = Beside(outcome.seconds, dict(outcome.extra), raw)
        else:
            self._beside.pop(id, None)
        best = self._core.best() if outcome.jacobian is not None else None
        if best is not None and best.id == id:
            self._jacobian = id, np.asarray(outcome.jacobian, dtype=np.float64)

    def _point(self, x: Point, what: str) -> Vector:
        point = self._space.point(x)
        check_point(self._space, point, what, self._named)
        return point

    @overload
    def fail(self, trial: Trial | int, *, reason: str | None = None) -> None: ...
    @overload
    def fail(self, trial: None = None, *, x: Point, reason: str | None = None) -> int: ...
    def fail(
        self,
        trial: Trial | int | None = None,
        *,
        x: Point | None = None,
        reason: str | None = None,
    ) -> int | None:
        """Records that the evaluation of a trial, or of any other point `x`, failed.

        The evaluation counts against the budget, and its point is never suggested again. The `reason` is
        kept in the history and in the saved state.

        >>> import labcat
        >>> optimizer = labcat.Optimizer([(-1, 1)], rng=1)
        >>> optimizer.fail(optimizer.ask(), reason="the pump was off")
        >>> optimizer.history.reason
        ['the pump was off']
        """
        outcome = Outcome(reason=reason)
        if x is None:
            self.tell(id_of(trial), outcome)
            return None
        _only(x, trial)
        return self.tell(x=x, value=outcome)

    def cancel(self, trial: Trial | int) -> None:
        """Withdraws a pending trial that will not be evaluated; it does not count against the budget."""
        self._core.cancel(id_of(trial))

    def revise(
        self,
        trial: Trial | int,
        value: Outcome | npt.ArrayLike | None = None,
        *,
        std: float | None = None,
        constraints: npt.ArrayLike | None = None,
        constraint_std: npt.ArrayLike | None = None,
        residuals: npt.ArrayLike | None = None,
        jacobian: npt.ArrayLike | None = None,
        gradient: npt.ArrayLike | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Corrects the value of an evaluation."""
        id = id_of(trial)
        outcome = outcome_of(
            value,
            std=std,
            constraints=constraints,
            constraint_std=constraint_std,
            residuals=residuals,
            jacobian=jacobian,
            gradient=gradient,
            extra=extra,
        )
        self._core.revise(id, self._to_core(outcome))
        self._keep(id, outcome)

    def adopt(self, x: Point) -> Trial:
        """Adds a pending trial at a point that was chosen elsewhere; its value is told like any other.

        It replaces a point of the initial design that was not suggested yet.

        >>> import labcat
        >>> optimizer = labcat.Optimizer([(-1, 1)], rng=1)
        >>> trial = optimizer.adopt([0.5])
        >>> optimizer.tell(trial, 0.25)
        >>> optimizer.best.x
        array([0.5])
        """
        point = self._point(x, "x").tolist()
        return self._trial((self._core.adopt(point), point))

    def restart(self) -> None:
        """Ends the local run now; the next suggestion is the first of a new one.

        >>> import labcat
        >>> optimizer = labcat.Optimizer([(-1, 1)], rng=1)
        >>> optimizer.restart()
        >>> optimizer.restarts
        [Restart(at_evaluation=0, cause='requested')]
        """
        self._core.restart()

    def enqueue(self, x: Points) -> None:
        """Queues one or several points, which `ask` suggests next."""
        for point in self._points(x, "x"):
            self._core.enqueue(point.tolist())

    def _points(self, x: Points, what: str) -> list[Vector]:
        """The points of an argument, all of them in the space."""
        points, single = self._space.points(x)
        for i, point in enumerate(points):
            check_point(self._space, point, what if single else f"{what}[{i}]", self._named)
        return points

    def start_at(self, x: Points, radius: Radius | None = None) -> None:
        """Sets the starting point: it is suggested first, and the rest of the initial design lies around it.

        Each point of the design has one parameter changed by `radius`: in the units of the parameters, one number
        for all of them, one for each, or a dictionary by name. The default is 0.3 times the distance of the point
        from zero, but at least 1/2000 and at most 1/20 of each range (1/200 where it is zero).
        Several points are the initial design themselves. If a point was already suggested, the new points are
        simply suggested next.

        >>> import labcat
        >>> optimizer = labcat.Optimizer([(0, 10)] * 2, rng=1)
        >>> optimizer.start_at([2, 3], radius=0.5)
        >>> [float(abs(trial.x - [2, 3]).max()) for trial in optimizer.ask(3)]
        [0.0, 0.5, 0.5]
        """
        points = self._points(x, "x")
        self._core.start_at([point.tolist() for point in points], radius_of(radius, self._space, len(points)))

    def _start_new(self, points: list[Vector], radius: list[float] | None = None) -> None:
        """Begins at those of the points that were neither asked nor queued already."""
        asked = [*self.history.x.tolist(), *(trial.x.tolist() for trial in self.pending)]
        known = {tuple(x) for x in (*self._core.queued(), *asked)}
        new = [point.tolist() for point in points if tuple(point.tolist()) not in known]
        if radius is None and self._has_own_design:
            for point in new:
                self._core.enqueue(point)
        else:
            self._core.start_at(new, radius if len(new) == 1 else None)

    @property
    def _has_own_design(self) -> bool:
        """Whether the first design is the paper's, or its size was given: a starting point is then one of its points."""
        return self._settings["preset"] == "paper" or self._settings["initial_points"] is not None

    def set_stopping(
        self,
        *,
        budget: int | None = None,
        target: float | None = None,
        tolerance: float | None = None,
    ) -> None:
        """Replaces the stopping criteria; a run that has ended may continue.

        >>> import labcat
        >>> optimizer = labcat.Optimizer([(-1, 1)], budget=1, rng=1)
        >>> optimizer.tell(optimizer.ask(), 0.5)
        >>> optimizer.stop_reason
        'budget'
        >>> optimizer.set_stopping(budget=2)
        >>> optimizer.ask().id
        1
        """
        switches = {"budget": budget, "target": target, "tolerance": tolerance}
        self._core.set_stopping(switch_values(switches))
        self._settings = self._core.config()

    def predict(self, x: Points) -> Prediction:
        """Mean and standard deviation of a model of all observations, in the units of the objective.

        They are floats for one point, and arrays for several points, shape (n, d). Far from all evaluations
        the standard deviation is large.

        Raises
        ------
        NoModelError
            Too few values have been told.

        Examples
        --------
        >>> import labcat
        >>> optimizer = labcat.Optimizer([(-1, 1)], rng=1)
        >>> for trial in optimizer.ask(8):
        ...     optimizer.tell(trial, trial.x[0] ** 2)
        >>> _ = optimizer.ask()
        >>> mean, std = optimizer.predict([[0.1], [0.2]])
        >>> mean.shape, std.shape
        ((2,), (2,))
        """
        points, single = self._space.points(x)
        pairs = self._core.predict([point.tolist() for point in points])
        if pairs is None:
            raise NoModelError("there is no model yet: tell more values first")
        if single:
            return Prediction(*pairs[0])
        return Prediction(*np.array(pairs, dtype=np.float64).reshape(len(pairs), 2).T)

    @property
    def recommended(self) -> Recommendation | None:
        """The recommended point; None before the first success.

        With noise it is the point with the best posterior over all local runs, which may be a point that
        was never evaluated. Without noise it is the best point.

        >>> import labcat, random
        >>> draw = random.Random(1)
        >>> optimizer = labcat.Optimizer([(-5, 5)] * 2, noise=0.5, rng=1)
        >>> for _ in range(60):
        ...     trial = optimizer.ask()
        ...     optimizer.tell(trial, float((trial.x**2).sum()) + draw.gauss(0, 0.5))
        >>> optimizer.best.value < -0.5  # of a function that is nowhere below 0
        True
        >>> found = optimizer.recommended
        >>> float((found.x**2).sum()) < 0.3, abs(found.mean) < 3 * found.std
        (True, True)
        """
        found = self._core.recommended()
        if found is None:
            return None
        x, mean, std = found
        return Recommendation(np.array(x), mean, std, self._space)

    @property
    def noise(self) -> float:
        """Standard deviation of the noise, as given or as estimated so far.

        It is 0 while values count as exact, and if each value was told with its own standard deviation.
        """
        return self._core.noise()[1]

    @property
    def _has_noise(self) -> bool:
        return self._core.noise()[0]

    @property
    def best(self) -> Evaluation | None:
        """The best evaluation so far; None before the first success.

        With measured constraints it is the best `feasible` evaluation, or, if there is none yet, the one
        with the smallest violation.
        """
        best = self._core.best()
        return None if best is None else self._evaluation(best)

    def _newest(self) -> Evaluation | None:
        """The newest evaluation."""
        newest = self._core.newest()
        return None if newest is None else self._evaluation(newest)

    def _evaluation(self, told: _labcat.Told) -> Evaluation:
        id, outcome = told.id, told.outcome
        beside = self._beside.get(id, _NOTHING)
        return Evaluation(
            id,
            np.array(told.x),
            np.nan if outcome.value is None else outcome.value,
            told.run,
            self._space,
            np.array(outcome.constraints),
            outcome.std,
            outcome.reason,
            beside.seconds,
            beside.extra,
            np.array(beside.residuals) if beside.residuals else np.frombuffer(outcome.residuals).copy(),
            np.array(outcome.constraint_std),
        )

    @property
    def history(self) -> History:
        """Every evaluation, in the order of the results."""
        evaluations = [self._evaluation(told) for told in self._core.evaluations()]
        return History(evaluations, self._space, self.direction == "maximize")

    @property
    def pending(self) -> list[Trial]:
        """The pending trials: those without a result yet."""
        return [self._trial(suggestion) for suggestion in self._core.pending()]

    @property
    def n_evaluations(self) -> int:
        """The number of evaluations with a result, including failed ones."""
        return self._core.n_evaluations()

    @property
    def restarts(self) -> list[Restart]:
        """The restarts so far."""
        return [Restart(at, cause) for at, cause in self._core.restarts()]

    @property
    def stop_reason(self) -> str | None:
        """What ended the run: "budget", "target", "tolerance", or "exhausted" if every configuration of a
        finite space was evaluated. None while the run continues.

        With ``restarts=False``, convergence is noticed when the next point is asked for.
        """
        return self._core.stop_reason()

    @property
    def relevance(self) -> npt.NDArray[np.float64] | None:
        """How much each parameter matters, as shares that sum to 1, from a model of all evaluations.
        None if there are too few evaluations."""
        importance = self.importance
        return None if importance is None else importance.mean

    @property
    def importance(self) -> Prediction | None:
        """`relevance` with the standard deviation of each share."""
        shares = self._core.importance()
        return None if shares is None else Prediction(*np.array(shares).reshape(-1, 2).T)

    @property
    def trust_region(self) -> TrustRegion | None:
        """The current trust region; None without a model."""
        region = self._core.trust_region()
        return None if region is None else TrustRegion(*map(np.array, region))

    @property
    def report(self) -> dict[str, Any] | None:
        """Details of the newest step, as plain data; None before the first."""
        return self._core.report()

    @property
    def space(self) -> Space:
        """The parameters, named x0, x1, … if they were given without names."""
        return self._space

    @property
    def has_names(self) -> bool:
        """Whether the parameters were given with names, as a `Space`."""
        return self._named

    @property
    def config(self) -> dict[str, Any]:
        """Every option with its value."""
        return dict(self._settings)

    @property
    def direction(self) -> str:
        """ "minimize" or "maximize"."""
        return str(self._settings["direction"])

    @property
    def seed(self) -> int:
        """The seed. Pass it as `rng` to repeat the run."""
        return int(self._settings["seed"])


def _only(x: Point, trial: Trial | int | None) -> None:
    if trial is not None:
        raise InvalidError(f"give either trial {trial!r} or the point {x!r}, not both")
