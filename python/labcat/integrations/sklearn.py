"""A search of parameters in the manner of scikit-learn; needs scikit-learn.

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

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state

from labcat import Categorical, InvalidError, Optimizer, Space, Stopped

__all__ = ["LabcatSearchCV"]


class LabcatSearchCV(BaseSearchCV):  # type: ignore[misc, unused-ignore]
    """Looks for good parameters of an estimator by cross-validation, as `RandomizedSearchCV` does.

    The next parameters follow from the scores of the others. Its interface, attributes and results
    (`best_params_`, `cv_results_`, …) are those of `sklearn.model_selection.RandomizedSearchCV`.

    Parameters
    ----------
    estimator
        What to tune.
    param_distributions
        A `labcat.Space`, or a dictionary from names to `labcat.Real`, `Integer`, `Categorical`,
        `Boolean` and `Fixed`; a list stands for a `Categorical`, a pair ``(low, high)`` for a `Real`.
        A parameter whose condition (`when`) does not hold is left as the estimator has it.
    n_iter
        How many settings are tried; fewer if there are no more.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in `RandomizedSearchCV`. With several scores the one that `refit` names is optimised.
    random_state
        The seed.
    batch
        How many settings are tried at a time: with `n_jobs` above the number of folds, more of them
        keep all processors at work.
    preset
        "default" or "paper".
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

    def _run_search(self, evaluate_candidates: Callable[[Iterable[Any]], Mapping[str, Any]]) -> None:
        for name in ("n_iter", "batch"):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < 1:
                raise InvalidError(f"{name} is {value!r}; it must be a whole number, at least 1")
        seed = int(check_random_state(self.random_state).randint(2**31))
        optimizer = Optimizer(
            _space(self.param_distributions),
            direction="maximize",
            rng=seed,
            preset=self.preset,  # type: ignore[arg-type]
            budget=int(self.n_iter),
        )
        try:
            while True:
                trials = optimizer.ask(int(self.batch))
                results = evaluate_candidates([trial.params for trial in trials])
                scores = results[self._optimised(results)][-len(trials) :]
                for trial, score in zip(trials, scores):
                    optimizer.tell(trial, float(score))
        except Stopped:
            pass

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


def _space(given: Any) -> Space:
    if isinstance(given, Space):
        return given
    if not isinstance(given, Mapping):
        raise InvalidError(f"param_distributions is a labcat.Space or a dictionary, not {given!r}")
    return Space({name: Categorical(p) if isinstance(p, list) else p for name, p in given.items()})
