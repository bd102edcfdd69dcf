"""A hyperparameter search with the interface of scikit-learn; needs scikit-learn.

>>> from sklearn.datasets import load_iris
>>> from sklearn.tree import DecisionTreeClassifier
>>> import labcat
>>> from labcat.integrations.sklearn import LabcatSearchCV
>>> X, y = load_iris(return_X_y=True)
>>> space = {"max_depth": labcat.Integer(1, 9), "criterion": ["gini", "entropy"]}
>>> search = LabcatSearchCV(DecisionTreeClassifier(random_state=0), space, n_iter=12, random_state=1)
>>> search.fit(X, y).best_score_ > 0.95
True
"""

from __future__ import annotations

import contextlib
import contextvars
import math
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import _search
from sklearn.utils import check_random_state

from labcat import (
    BudgetOutstanding,
    Categorical,
    Fixed,
    Integer,
    InvalidError,
    Optimizer,
    Outcome,
    Real,
    Space,
    Stopped,
    Trial,
)
from labcat._checkpoint import locked, resume, save
from labcat._space import radius_of

__all__ = ["LabcatSearchCV"]

_TAIL = 0.005
"""Of a distribution without bounds: what is left out at either end."""

_RATIO = 100
"""Positive bounds further apart than this are searched by their logarithm, if a distribution does not say."""

_failing: contextvars.ContextVar[list[str] | None] = contextvars.ContextVar("failing", default=None)
_complain = _search._warn_or_raise_about_fit_failures


def _note_failures(results: Any, error_score: Any) -> None:
    """In a search of ours, one candidate at a time: that all its fits failed is no fault of the search."""
    failing = _failing.get()
    if failing is None:
        _complain(results, error_score)
        return
    errors = [result["fit_error"] for result in results if result["fit_error"] is not None]
    failing.extend(errors)
    if len(errors) < len(results):
        _complain(results, error_score)  # a warning


_search._warn_or_raise_about_fit_failures = _note_failures


class LabcatSearchCV(_search.BaseSearchCV):  # type: ignore[misc, unused-ignore]
    """Tunes the parameters of an estimator by cross-validation; a replacement for `RandomizedSearchCV`.

    Each setting is chosen from the scores of the earlier ones. The interface, attributes and results
    (`best_params_`, `cv_results_`, …) are those of `sklearn.model_selection.RandomizedSearchCV`. In addition,
    `optimizer_` is the optimiser in its final state, and `history_` has every evaluation.

    Parameters
    ----------
    estimator
        The estimator to tune.
    param_distributions
        A `labcat.Space`, or a dictionary from names to `labcat.Real`, `Integer`, `Categorical`,
        `Boolean` and `Fixed`. A list stands for a `Categorical`, a pair ``(low, high)`` for a `Real`. A
        distribution of scipy stands for its range: `loguniform` on a logarithmic scale, `randint` for
        integers. A distribution without bounds is cut by half a percent at either end.
        A parameter whose condition (`when`) does not hold keeps the estimator's value.
    n_iter
        The number of settings to try; fewer if the space has fewer.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in `RandomizedSearchCV`. With several scores, `refit` names the one to optimise. If the score is
        NaN because a fit failed, the setting counts as a failed evaluation, and the search continues.
    random_state
        The seed.
    batch
        The number of settings to try at a time. If `n_jobs` exceeds the number of folds, a larger batch
        keeps all processors busy.
    preset
        "default" or "paper".
    noise
        "none", "auto", or the standard deviation of a score. None: the value in the preset. With noise
        `optimizer_.recommended` is the setting to use; `best_params_` is the one with the best single score.
    x0
        A setting to try first, or several, as dictionaries. If it is a single one, the search begins there: the
        first settings lie around it.
    radius
        The distance of the first settings from a single `x0`: a number, in the units of the parameters, or a
        dictionary by name. The default is 0.3 times the distance of `x0` from zero, but at least 1/2000 and at most
        1/20 of each range (1/200 where it is zero).
    time_limit
        Seconds after which no further setting is tried.
    checkpoint
        A file to which the state is written after each setting. The same search resumes from it. Then `history_`
        has all settings, and `cv_results_` has those of this call and the earlier best setting, which is tried
        again.
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 10,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        batch: int = 1,
        preset: str = "default",
        noise: Any = None,
        x0: Any = None,
        radius: Any = None,
        time_limit: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.random_state = random_state
        self.batch = batch
        self.preset = preset
        self.noise = noise
        self.x0 = x0
        self.radius = radius
        self.time_limit = time_limit
        self.checkpoint = checkpoint

    def _run_search(self, evaluate_candidates: Callable[[Iterable[Any]], Mapping[str, Any]]) -> None:
        for name in ("n_iter", "batch"):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < 1:
                raise InvalidError(f"{name} is {value!r}; it must be an integer, at least 1")
        limit = math.inf if self.time_limit is None else float(self.time_limit)
        if not limit > 0:
            raise InvalidError(f"time_limit is {self.time_limit!r}; allowed: seconds above 0")
        path = None if self.checkpoint is None else Path(self.checkpoint)
        with contextlib.nullcontext() if path is None else locked(path):
            optimizer = self._begun(path)
            self.optimizer_ = optimizer
            failures = _Failures(evaluate_candidates)
            if optimizer.best is not None:
                failures.evaluate([optimizer.best.params])  # of an earlier call: it shall be in the results
            deadline = time.monotonic() + limit
            for trials in _asked(optimizer, int(self.batch), deadline):
                results = failures.evaluate([trial.params for trial in trials])
                self._tell(optimizer, trials, results)
                if path is not None:
                    save(path, optimizer.to_json())
            self.history_ = optimizer.history
        if self.history_.failed.all():
            raise ValueError(f"All the fits failed, the last one with\n{failures.newest}")
        if self.history_.failed.any():
            warnings.warn(
                f"{int(self.history_.failed.sum())} of {len(self.history_)} settings have no score, because a fit or its score failed; "
                f"the last one with\n{failures.newest}",
                FitFailedWarning,
                stacklevel=2,
            )

    def _begun(self, path: Path | None) -> Optimizer:
        """The optimiser of the search, from the checkpoint if there is one."""
        state = self.random_state
        options: dict[str, Any] = {} if self.noise is None else {"noise": self.noise}
        fresh = Optimizer(
            _space(self.param_distributions),
            direction="maximize",
            rng=int(check_random_state(state).randint(2**31)),
            preset=self.preset,  # type: ignore[arg-type]
            budget=int(self.n_iter),
            **options,
        )
        first = [] if self.x0 is None else fresh._points(self.x0, "x0")
        radius = radius_of(self.radius, fresh.space, len(first))
        held = None if path is None else resume(path, fresh, isinstance(state, (int, np.integer)))
        optimizer = held or fresh
        optimizer._start_new(first, radius)
        return optimizer

    def _tell(self, optimizer: Optimizer, trials: list[Trial], results: Mapping[str, Any]) -> None:
        column = self._optimised(results)
        for row, trial in enumerate(trials, len(results["params"]) - len(trials)):
            score, seconds = float(results[column][row]), results["mean_fit_time"][row] * self.n_splits_
            spread = float(results[column.replace("mean_", "std_", 1)][row])
            extra = {} if math.isnan(spread) else {"std_test_score": spread}
            reason = "a fit or its score failed" if math.isnan(score) else None
            value = None if math.isnan(score) else score
            optimizer.tell(trial, Outcome(value, reason=reason, seconds=float(seconds), extra=extra))

    def _optimised(self, results: Mapping[str, Any]) -> str:
        """The column of the score that is optimised."""
        if "mean_test_score" in results:
            return "mean_test_score"
        if isinstance(self.refit, str):
            return f"mean_test_{self.refit}"
        known = [key.removeprefix("mean_test_") for key in results if key.startswith("mean_test_")]
        raise InvalidError(
            f"there are several scores, and refit is {self.refit!r}; name the one to optimise: {', '.join(known)}"
        )


class _Failures:
    """Evaluates settings, and keeps what went wrong."""

    def __init__(self, evaluate: Callable[[Iterable[Any]], Mapping[str, Any]]) -> None:
        self._evaluate = evaluate
        self.newest = ""

    def evaluate(self, settings: list[dict[str, Any]]) -> Mapping[str, Any]:
        errors: list[str] = []
        token = _failing.set(errors)
        try:
            with warnings.catch_warnings():
                # After every batch, each time with all scores so far: said once, at the end.
                warnings.filterwarnings("ignore", "One or more of the .* scores are non-finite", UserWarning)
                return self._evaluate(settings)
        finally:
            _failing.reset(token)
            self.newest = errors[-1] if errors else self.newest


def _asked(optimizer: Optimizer, batch: int, deadline: float) -> Iterator[list[Trial]]:
    """Batches of trials until the search ends; first those that were running when a checkpoint was written."""
    pending = optimizer.pending
    while time.monotonic() < deadline:
        try:
            trials, pending = (pending, []) if pending else (optimizer.ask(batch), [])
        except (Stopped, BudgetOutstanding):
            return
        yield trials


def _space(given: Any) -> Space:
    if isinstance(given, Space):
        return given
    if not isinstance(given, Mapping):
        raise InvalidError(
            f"param_distributions is a labcat.Space or a dictionary, not {given!r}; where some parameters belong to "
            "others, say so: labcat.Real(…, when={'kernel': 'rbf'})"
        )
    return Space({name: _parameter(name, p) for name, p in given.items()})


def _parameter(name: str, given: Any) -> Any:
    """A parameter as `Space` takes it; a list of any length is one of labels here, as in scikit-learn."""
    if isinstance(given, list) or (isinstance(given, np.ndarray) and given.ndim == 1):
        labels = list(given)
        return Fixed(labels[0]) if len(labels) == 1 else Categorical(labels)
    if not (hasattr(given, "rvs") and hasattr(given, "support")):
        return given
    low, high = (float(bound) for bound in given.support())
    low = low if math.isfinite(low) else float(given.ppf(_TAIL))
    high = high if math.isfinite(high) else float(given.ppf(1 - _TAIL))
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InvalidError(f"the distribution of {name!r} has no range; give a labcat.Real(low, high) instead")
    kind = getattr(getattr(given, "dist", given), "name", "") or type(given).__name__.lower()
    if hasattr(given, "pmf") or hasattr(getattr(given, "dist", None), "pmf"):
        return Integer(round(low), round(high))
    if low <= 0 < high and "uniform" not in kind:  # of a scale: the smallest value that matters
        low = max(low, float(given.ppf(_TAIL)))
    log = kind in ("loguniform", "reciprocal") or ("uniform" not in kind and 0 < low * _RATIO < high)
    return Real(low, high, "log" if log else "linear")
