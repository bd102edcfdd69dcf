"""A sampler for Optuna, ``pip install '.[optuna]'`` in a clone.

>>> import optuna
>>> from labcat.integrations.optuna import LabcatSampler
>>> optuna.logging.set_verbosity(optuna.logging.WARNING)
>>> def objective(trial):
...     x = trial.suggest_float("x", -5, 5)
...     y = trial.suggest_float("y", -5, 5)
...     return (x - 1) ** 2 + (x + y) ** 2
>>> study = optuna.create_study(sampler=LabcatSampler(seed=1))
>>> study.optimize(objective, n_trials=40)
>>> study.best_value < 1e-4
True
"""

from __future__ import annotations

import contextlib
import copy
import threading
import warnings
import weakref
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from labcat import BudgetOutstanding, InvalidError, NoModelError, Optimizer, Space, Stopped
from labcat._space import radius_of
from labcat.integrations._optuna_space import Conditional, Grid, Point, StudySpace, clipped

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from labcat._switches import Switches

__all__ = ["LabcatSampler", "recommended_trial"]

_ATTRIBUTE = "labcat"
"""System attribute of a trial: the local run it belongs to, and what was suggested for it."""

_TRIES = 5
"""Suggestions in a row that other processes make at the same moment; then one comes twice."""

_LEAST_CACHE, _MOST_RECOMMENDED = 7.0, 400
"""Of `recommended_trial`: observations of its model, at least per parameter and at most in all."""

_STATES = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL, TrialState.RUNNING)
_NOT_FOR_STUDIES = ("budget", "target", "restarts", "seed", "direction")

_ENQUEUED = "fixed_params"  # of the system attributes of a trial that was enqueued
_CONSTRAINTS = "constraints"  # of the system attributes, as Optuna's own samplers have it


class LabcatSampler(BaseSampler):
    """Suggests points with labcat.

    The trials of the study are the only state. Any number of processes may share a study, each with
    its own sampler, and a process that joins later continues from the trials it finds. Running trials
    of other processes are taken into account. When a local run has converged, the
    next one begins in all processes.

    Floats, integers and categories are optimised together, on a logarithmic scale with ``log=True``,
    on a grid with ``step``. No point is repeated while others are left. Conditional parameters, which are
    suggested only for some values of another (a category or an integer), are recognised from the trials and
    optimised like labcat's own ``when=``. If a range has changed, the newest range counts, with the earlier trials
    inside it. Parameters that no trial has had yet are sampled independently. So are all parameters of
    a study with several objectives, with a warning.

    Constraints, from `constraints_func` or `trial.set_constraint`, are satisfied when g ≤ 0. All trials must
    have the same number of them. Pruned and failed trials, and infinite values, are failed evaluations: the
    model assumes that they are no better than the best point.

    Parameters
    ----------
    seed
        Makes a study repeatable if its trials run one after another. Samplers of several
        processes may have the same seed; they still suggest different points.
    preset
        "default", which is recommended, or "paper", the algorithm as published.
    independent_sampler
        The sampler for independent sampling; by default a random one.
    warn_independent_sampling
        Whether to warn about parameters that are sampled independently.
    tolerance
        Ends a local run when its values differ by no more than this.
    radius
        If the first trial of the study was enqueued (`study.enqueue_trial`), the search begins there, and
        `radius` is the distance of the initial design from it: a number, in the units of the parameters, or a
        dictionary by name. The default is 0.3 times the distance of the trial from zero, but at least 1/2000 and at
        most 1/20 of each range (1/200 where it is zero).
    constraints_func
        A function of a finished trial that returns a sequence of numbers. The trial is feasible if none is
        above 0, as in Optuna's own samplers.
    switches
        Any other option of `labcat.SWITCHES`. The study decides the direction and when to end, so
        `direction`, `budget`, `target` and `restarts` are not accepted.
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        preset: Literal["default", "paper"] = "default",
        independent_sampler: BaseSampler | None = None,
        warn_independent_sampling: bool = True,
        tolerance: float | None = None,
        radius: float | Mapping[str, float] | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        **switches: Unpack[Switches],
    ) -> None:
        for name in _NOT_FOR_STUDIES:
            if name in switches:
                raise InvalidError(f"{name} is not an option of the sampler: it is decided by the study")
        self._options: dict[str, Any] = {"preset": preset, "tolerance": tolerance, **switches}
        Optimizer([(0.0, 1.0)], rng=seed, **self._options)  # refuses wrong options now
        if not isinstance(radius, Mapping):
            radius_of(radius, Space(x=(0.0, 1.0)), 1)
        self._radius = radius
        self._constraints_func = constraints_func
        self._entropy = _entropy(seed)
        self._independent_sampler = independent_sampler
        self._warn_independent_sampling = warn_independent_sampling
        self._start_anew()

    def _start_anew(self) -> None:
        self._lock = threading.RLock()
        self._followers: weakref.WeakKeyDictionary[Study, _Follower] = weakref.WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        rebuilt = ("_lock", "_followers")
        return {name: value for name, value in vars(self).items() if name not in rebuilt}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start_anew()

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Records the constraints of a trial."""
        if self._constraints_func is not None and state in (TrialState.COMPLETE, TrialState.PRUNED):
            found = tuple(float(g) for g in self._constraints_func(trial))
            study._storage.set_trial_system_attr(trial._trial_id, _CONSTRAINTS, found)
        if self._independent_sampler is not None:
            self._independent_sampler.after_trial(study, trial, state, values)

    def reseed_rng(self) -> None:
        """Draws a new seed."""
        with self._lock:
            self._entropy = _entropy(None)
            self._followers.clear()
        if self._independent_sampler is not None:
            self._independent_sampler.reseed_rng()

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """The parameters that finished trials have, in their newest ranges."""
        if len(study.directions) > 1:
            return {}
        with self._lock:
            space = self._follower(study).search_space().distributions
        return {
            name: distribution for name, distribution in space.items() if not distribution.single()
        }

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The next point of the optimiser."""
        chosen: dict[str, BaseDistribution] = {}
        params: dict[str, Any] = {}
        for name, distribution in search_space.items():
            if distribution.single():
                params[name] = self.sample_independent(study, trial, name, distribution)
            else:
                chosen[name] = distribution
        if chosen:
            with self._lock:
                suggested = self._follower(study).suggest(trial, chosen, self._entropy)
            if suggested is None:  # every configuration was tried: any of them again
                suggested = {
                    name: self._independently(study, trial, name, distribution)
                    for name, distribution in chosen.items()
                }
            params.update(suggested)
        return params

    def _follower(self, study: Study) -> _Follower:
        follower = self._followers.get(study)
        if follower is None:
            follower = self._followers[study] = _Follower(study, self._options, self._radius)
        return follower

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """A value of one parameter, with no regard to the others."""
        if self._warn_independent_sampling and len(study.directions) > 1 and not param_distribution.single():
            warnings.warn(
                f"parameter {param_name!r} is sampled independently, not optimised: labcat optimises one objective",
                stacklevel=2,
            )
        suggested = trial.system_attrs.get(_ATTRIBUTE, {}).get("params", {})
        if param_name in suggested:  # in the range that the parameter had before
            near = clipped(param_distribution, suggested[param_name])
            if near is not None:
                return near
        return self._independently(study, trial, param_name, param_distribution)

    def _independently(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        sampler = self._independent_sampler
        if sampler is None:
            # The trial's number makes the values of several processes differ.
            name = zlib.crc32(param_name.encode())
            seed = np.random.SeedSequence((self._entropy, trial.number, name))
            sampler = RandomSampler(seed=int(seed.generate_state(1)[0]))
        return sampler.sample_independent(study, trial, param_name, param_distribution)


def recommended_trial(study: Study, noise: float | Literal["auto", "none"] = "auto") -> FrozenTrial:
    """The recommended trial of a study with noisy values: the best one by a model of all trials.

    `study.best_trial` is the trial with the best single value, which is partly luck. The model uses all
    complete trials, whichever sampler suggested them.

    Parameters
    ----------
    study
        A study with one objective.
    noise
        The standard deviation of the noise in a value. Or "auto": it is estimated from repeated trials of
        a point, which `LabcatSampler(noise="auto")` suggests. Without noise the result is
        `study.best_trial`.

    Examples
    --------
    >>> import optuna, random
    >>> from labcat.integrations.optuna import LabcatSampler, recommended_trial
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> draw = random.Random(1)
    >>> def objective(trial):
    ...     return trial.suggest_float("x", -5, 5) ** 2 + draw.gauss(0, 1)
    >>> study = optuna.create_study(sampler=LabcatSampler(seed=1, noise=1.0))
    >>> study.optimize(objective, n_trials=40)
    >>> abs(recommended_trial(study, noise=1.0).params["x"]) < 1
    True
    """
    best = study.best_trial  # an error of Optuna for several objectives and for none complete
    maximize = study.direction == StudyDirection.MAXIMIZE
    trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    known = StudySpace()
    known.add(trials)
    free = [name for name, distribution in known.now().distributions.items() if not distribution.single()]
    if not free:
        return best
    grid, told = Grid(known.now().restricted(free)), []
    optimizer = Optimizer(
        grid.space,
        direction="maximize" if maximize else "minimize",
        rng=0,
        noise=noise,
        cache_factor=max(_LEAST_CACHE, min(len(trials), _MOST_RECOMMENDED) / len(free)),
    )
    for trial in trials:
        x = grid.point(trial.params)
        if x is not None and trial.value is not None and np.isfinite(trial.value):
            optimizer.tell(optimizer.adopt(x), trial.value)  # in place of a design
            told.append((x, trial))
    with contextlib.suppress(Stopped):  # nothing is left of a finite space
        optimizer.ask()  # makes the model
    if not optimizer._has_noise:
        return best
    try:
        mean, std = optimizer.predict([x for x, _ in told])
    except NoModelError:
        return best
    worst = mean - std if maximize else mean + std  # one standard deviation on the wrong side
    index = int(np.argmax(worst) if maximize else np.argmin(worst))
    return copy.deepcopy(told[index][1])


def _entropy(seed: int | None) -> int:
    entropy = np.random.SeedSequence(seed).entropy
    assert isinstance(entropy, int)
    return entropy


class _Follower:
    """What a process knows of a study. All of it can be rebuilt from the trials."""

    def __init__(self, study: Study, options: dict[str, Any], radius: float | Mapping[str, float] | None) -> None:
        self._study = weakref.proxy(study)
        self._options = options
        self._radius = radius
        self._space = StudySpace()
        self._spaced: set[int] = set()  # numbers of the trials that it knows
        self._finished: set[int] = set()  # numbers of the trials that will not change any more
        self._mirror: _Mirror | None = None

    def search_space(self) -> Conditional:
        """What is known of the parameters."""
        ended = (TrialState.COMPLETE, TrialState.PRUNED)
        trials = self._study.get_trials(deepcopy=False, states=ended)
        if len(trials) > len(self._spaced):
            news = [trial for trial in trials if trial.number not in self._spaced]
            self._spaced.update(trial.number for trial in news)
            self._space.add(sorted(news, key=lambda trial: trial.number))
        return self._space.now()

    def suggest(
        self, trial: FrozenTrial, chosen: dict[str, BaseDistribution], entropy: int
    ) -> dict[str, Any] | None:
        """The parameters of a trial; None if all there are were tried."""
        for _ in range(_TRIES):
            mirror = self._up_to_date(trial, chosen, entropy)
            try:
                x = mirror.suggest(trial.number)
            except (BudgetOutstanding, Stopped):
                return None
            params = mirror.grid.params(x)
            self._study._storage.set_trial_system_attr(
                trial._trial_id, _ATTRIBUTE, {"run": mirror.run, "params": params}
            )
            if not self._is_taken(x, trial, mirror.grid):
                break
        return params

    def _up_to_date(
        self, trial: FrozenTrial, chosen: dict[str, BaseDistribution], entropy: int
    ) -> _Mirror:
        mirror = self._mirror
        finished = (t for t in self._unfinished() if t.state == TrialState.COMPLETE)
        count = max((len(_constraints_of(t)) for t in finished), default=0)
        count = max(count, 0 if mirror is None else mirror.constraints)
        conditional = self.search_space().restricted(chosen)
        if conditional.distributions != chosen:  # it became known since the trial began
            conditional = Conditional(chosen, {}, frozenset(chosen))
        if mirror is None or mirror.grid.conditional != conditional or mirror.constraints != count:
            maximize = self._study.direction == StudyDirection.MAXIMIZE
            seed = np.random.SeedSequence((entropy, trial.number))
            options = {**self._options, "direction": "maximize" if maximize else "minimize"}
            mirror = self._mirror = _Mirror(Grid(conditional), seed, options, count, self._radius)
            news = self._trials()
        else:
            news = self._unfinished()
        self._finished.update(t.number for t in news if t.state.is_finished())
        mirror.follow(news)
        return mirror

    def _trials(self) -> list[FrozenTrial]:
        trials: list[FrozenTrial] = self._study.get_trials(deepcopy=False, states=_STATES)
        return trials

    def _unfinished(self) -> list[FrozenTrial]:
        """The trials that had not finished at the last look."""
        return [trial for trial in self._trials() if trial.number not in self._finished]

    def _is_taken(self, x: Point, trial: FrozenTrial, grid: Grid) -> bool:
        """Whether another process has suggested the same point at the same moment."""
        others = (grid.point(_params_of(other)) for other in self._unfinished() if other.number != trial.number)
        return any(other is not None and grid.same(other, x) for other in others)


def _run_of(trial: FrozenTrial) -> int:
    attribute = trial.system_attrs.get(_ATTRIBUTE)
    return 0 if attribute is None else int(attribute["run"])


class _Mirror:
    """An optimiser that follows the trials of a study, whoever suggested them."""

    def __init__(
        self,
        grid: Grid,
        seed: np.random.SeedSequence,
        options: dict[str, Any],
        constraints: int,
        radius: float | Mapping[str, float] | None,
    ) -> None:
        self.grid = grid
        self.constraints = constraints
        self._radius = radius
        self.run = 0  # the local run of the study, in which the next point is suggested
        self._optimizer = Optimizer(grid.space, rng=seed, constraints=constraints, **options)
        self._pending: dict[int, tuple[int, Point]] = {}  # by the trial's number: id, point asked
        self._told: set[int] = set()  # numbers of trials

    def follow(self, trials: Iterable[FrozenTrial]) -> None:
        """Tells the optimiser what is new in trials."""
        for trial in sorted(trials, key=lambda trial: (_run_of(trial), trial.number)):
            if trial.number not in self._told:
                self._take(trial)

    def _take(self, trial: FrozenTrial) -> None:
        running = trial.state == TrialState.RUNNING
        x = self.grid.point(_params_of(trial))
        if x is None:
            if not running:
                self._forget(trial.number)
            return
        if trial.number not in self._pending:
            while _run_of(trial) > self.run:  # another process has begun it
                self._begin_next_run()
            if _run_of(trial) < self.run:
                return  # a late result of a run that is over
            self._pending[trial.number] = (self._adopted(trial, x), x)
        if not running:
            self._finish(trial, x)

    def _adopted(self, trial: FrozenTrial, x: Point) -> int:
        """The id of a point that is told by a trial; the first one of a study, if it was enqueued, is where the search begins."""
        if trial.number or _ENQUEUED not in trial.system_attrs:
            return self._optimizer.adopt(x).id
        if self._radius is None and self._optimizer._has_own_design:
            return self._optimizer.adopt(x).id
        self._optimizer.start_at(x, self.grid.radius(self._radius))
        return self._optimizer.ask().id

    def _finish(self, trial: FrozenTrial, x: Point) -> None:
        self._told.add(trial.number)
        id, asked = self._pending.pop(trial.number)
        value = trial.value if trial.state == TrialState.COMPLETE else None
        limits = _constraints_of(trial)
        if len(limits) != self.constraints:  # it was not measured: nothing is known of it
            value, limits = None, []
        if not self.grid.same(x, asked):  # it was moved by the user
            self._optimizer.cancel(id)
            if value is None:
                self._optimizer.fail(x=x, reason=trial.state.name.lower())
            else:
                self._optimizer.tell(x=x, value=value, constraints=limits)
        elif value is None:
            self._optimizer.fail(id, reason=trial.state.name.lower())
        else:
            self._optimizer.tell(id, value, constraints=limits)

    def _forget(self, number: int) -> None:
        """Withdraws what was suggested for a trial."""
        if number in self._pending:
            self._optimizer.cancel(self._pending.pop(number)[0])

    def _begin_next_run(self) -> None:
        """Ends the local run, as another process has."""
        self._optimizer.restart()
        self.run += 1

    def suggest(self, number: int) -> Point:
        """The point of a trial; it may be the first of a new local run."""
        self._forget(number)
        restarts = len(self._optimizer.restarts)
        asked = self._optimizer.ask()
        self.run += len(self._optimizer.restarts) - restarts
        point = tuple(asked.x.tolist())
        self._pending[number] = (asked.id, point)
        return point


def _params_of(trial: FrozenTrial) -> Mapping[str, Any]:
    """The parameters of a trial; those of a running one are complete once it has used them all."""
    suggested = trial.system_attrs.get(_ATTRIBUTE)
    return trial.params if suggested is None else {**suggested["params"], **trial.params}


def _constraints_of(trial: FrozenTrial) -> list[float]:
    """Those of a `constraints_func`, then those that the trial set by name."""
    attributes = trial.system_attrs
    named = sorted(key for key in attributes if key.startswith(f"{_CONSTRAINTS}:"))
    return [*(attributes.get(_CONSTRAINTS) or ()), *(float(attributes[key]) for key in named)]
