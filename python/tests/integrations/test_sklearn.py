"""The search in the manner of scikit-learn."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest
import scipy.stats
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.model_selection import RandomizedSearchCV
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import labcat
from labcat.integrations.sklearn import LabcatSearchCV, _space

X, y = load_iris(return_X_y=True)
TREE = {
    "max_depth": labcat.Integer(1, 9),
    "min_samples_leaf": labcat.Integer(1, 50, scale="log"),
    "criterion": ["gini", "entropy"],
}


# As scikit-learn checks RandomizedSearchCV, with the two failures that it expects of it.
SETTINGS = {"cv": 2, "error_score": "raise", "n_iter": 2, "random_state": 0}
EXPECTED = {
    "check_supervised_y_2d": "the warning of the fit inside is not seen outside",
    "check_requires_y_none": "the complaint is that of the estimator inside",
}


@pytest.mark.filterwarnings("default")
@parametrize_with_checks(
    [
        LabcatSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, **SETTINGS),
        LabcatSearchCV(Ridge(), {"alpha": labcat.Real(0.1, 1.0)}, **SETTINGS),
    ],
    expected_failed_checks=lambda search: EXPECTED if isinstance(search.estimator, Ridge) else {},
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_it_has_the_interface_of_the_randomised_search():
    ours = set(LabcatSearchCV(Ridge(), {}).get_params(deep=False))
    theirs = set(RandomizedSearchCV(Ridge(), {}).get_params(deep=False))
    assert theirs <= ours


def test_it_finds_good_parameters_and_keeps_the_results():
    search = LabcatSearchCV(DecisionTreeClassifier(random_state=0), TREE, n_iter=25, cv=3, random_state=1)
    search.fit(X, y)
    assert search.best_score_ > 0.95
    assert len(search.cv_results_["params"]) == 25
    assert len({tuple(p.values()) for p in search.cv_results_["params"]}) == 25, "none comes twice"
    assert type(search.best_params_["max_depth"]) is int
    assert search.predict(X).shape == y.shape
    again = clone(search).fit(X, y)
    assert again.cv_results_["params"] == search.cv_results_["params"], "one seed, one search"


def test_conditions_leave_the_estimators_own_values():
    space = labcat.Space(
        kernel=labcat.Categorical(["linear", "rbf"]),
        gamma=labcat.Real(1e-4, 1e2, "log", when={"kernel": "rbf"}),
    )
    search = LabcatSearchCV(SVC(), space, n_iter=12, cv=3, random_state=0, batch=3).fit(X, y)
    for params in search.cv_results_["params"]:
        assert ("gamma" in params) == (params["kernel"] == "rbf")


def test_a_finite_space_ends_the_search():
    search = LabcatSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]}, n_iter=50)
    assert len(search.fit(X, y).cv_results_["params"]) == 3


def test_several_scores_need_a_name():
    scoring = ["accuracy", "f1_macro"]
    search = LabcatSearchCV(
        DecisionTreeClassifier(random_state=0), TREE, n_iter=4, scoring=scoring, refit="f1_macro", random_state=0
    )
    assert search.fit(X, y).best_score_ == max(search.cv_results_["mean_test_f1_macro"])
    with pytest.raises(labcat.InvalidError, match="accuracy, f1_macro"):
        clone(search).set_params(refit=False).fit(X, y)


@pytest.mark.parametrize(
    "change, complaint",
    [({"n_iter": 0}, "n_iter is 0"), ({"batch": 0}, "batch is 0"), ({"param_distributions": [1]}, "dictionary")],
)
def test_what_is_wrong_is_named(change, complaint):
    search = LabcatSearchCV(DecisionTreeClassifier(), TREE).set_params(**change)
    with pytest.raises(labcat.InvalidError, match=complaint):
        search.fit(X, y)


class Picky(DecisionTreeClassifier):
    """A tree that refuses some depths."""

    def fit(self, X, y, sample_weight=None):
        if self.max_depth is not None and self.max_depth % 2:
            raise RuntimeError(f"depth {self.max_depth} is odd")
        return super().fit(X, y, sample_weight)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:One or more of the test scores:UserWarning")
@pytest.mark.parametrize("batch, depths", [(1, [1, 2, 3, 4]), (4, [1, 2, 3, 4]), (1, [2, 3, 5, 7])])
def test_a_setting_that_fails_does_not_end_the_search(batch, depths):
    search = LabcatSearchCV(Picky(random_state=0), {"max_depth": depths}, n_iter=9, cv=3, random_state=1, batch=batch)
    search.fit(X, y)
    tried = [params["max_depth"] for params in search.cv_results_["params"]]
    assert sorted(tried) == depths
    assert search.history_.failed.tolist() == [depth % 2 == 1 for depth in tried]
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == search.history_.failed.tolist()
    assert search.best_params_["max_depth"] % 2 == 0


def test_failures_are_said_once():
    search = LabcatSearchCV(Picky(random_state=0), {"max_depth": [1, 2, 3, 4, 5, 6]}, n_iter=9, cv=3, random_state=1)
    with pytest.warns() as said:
        search.fit(X, y)
    (one,) = said
    assert "3 of 6 settings have no score" in str(one.message) and "is odd" in str(one.message)


@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
def test_if_every_setting_fails_the_error_says_why():
    search = LabcatSearchCV(Picky(), {"max_depth": [1, 3]}, n_iter=4, cv=2)
    with pytest.raises(ValueError, match=r"(?s)All the fits failed.*depth \d is odd"):
        search.fit(X, y)
    with pytest.raises(RuntimeError, match="is odd"):
        search.set_params(error_score="raise").fit(X, y)


def test_other_searches_complain_as_they_did():
    with pytest.raises(ValueError, match="All the 2 fits failed"):
        RandomizedSearchCV(Picky(), {"max_depth": [1]}, n_iter=1, cv=2).fit(X, y)


@pytest.mark.parametrize(
    "distribution, parameter",
    [
        (scipy.stats.loguniform(1e-3, 1e2), labcat.Real(1e-3, 1e2, "log")),
        (scipy.stats.uniform(2, 3), labcat.Real(2, 5)),
        (scipy.stats.uniform(0.001, 1), labcat.Real(0.001, 1.001)),
        (scipy.stats.randint(1, 9), labcat.Integer(1, 8)),
        (scipy.stats.expon(scale=10), labcat.Real(10 * 0.0050125418235442, 10 * 5.298317366548, "log")),
        (scipy.stats.norm(0, 1), labcat.Real(-2.575829303548, 2.575829303548)),
    ],
)
def test_scipys_distributions_are_ranges(distribution, parameter):
    found = _space({"p": distribution})["p"]
    assert type(found) is type(parameter)
    assert (found.low, found.high) == pytest.approx((parameter.low, parameter.high))
    assert found.scale == parameter.scale


def test_distributions_of_scipy_are_searched():
    space = {"C": scipy.stats.loguniform(1e-3, 1e3), "kernel": ["linear", "rbf"]}
    search = LabcatSearchCV(SVC(), space, n_iter=10, cv=3, random_state=0).fit(X, y)
    assert all(1e-3 <= params["C"] <= 1e3 for params in search.cv_results_["params"])
    assert search.best_score_ > 0.95


def test_settings_to_begin_with_and_the_history():
    first = [{"max_depth": 7, "min_samples_leaf": 30, "criterion": "gini"}, {"max_depth": 1, "min_samples_leaf": 1, "criterion": "entropy"}]
    search = LabcatSearchCV(DecisionTreeClassifier(random_state=0), TREE, n_iter=6, x0=first, random_state=0).fit(X, y)
    assert search.cv_results_["params"][:2] == first
    assert search.history_.value.tolist() == search.cv_results_["mean_test_score"].tolist()
    assert search.optimizer_.best.params == search.best_params_
    assert (search.history_.seconds > 0).all() and "std_test_score" in search.history_.extra[0]


def test_the_time_limit_ends_the_search():
    search = LabcatSearchCV(DecisionTreeClassifier(random_state=0), TREE, n_iter=10_000, time_limit=0.5, random_state=0)
    begun = time.monotonic()
    search.fit(X, y)
    assert time.monotonic() - begun < 120 and 1 <= len(search.history_) < 10_000


def test_the_search_goes_on_from_its_checkpoint(tmp_path):
    options = {"random_state": 0, "cv": 3, "checkpoint": tmp_path / "search.json"}
    tree = DecisionTreeClassifier(random_state=0)
    first = LabcatSearchCV(tree, TREE, n_iter=8, **options).fit(X, y)
    second = LabcatSearchCV(tree, TREE, n_iter=12, **options).fit(X, y)
    whole = LabcatSearchCV(tree, TREE, n_iter=12, random_state=0, cv=3).fit(X, y)
    np.testing.assert_array_equal(second.history_.x, whole.history_.x)
    assert second.cv_results_["params"][0] == first.best_params_
    assert second.best_score_ == whole.best_score_


def test_noise_reaches_the_optimizer():
    search = LabcatSearchCV(DecisionTreeClassifier(random_state=0), TREE, n_iter=4, noise=0.05, random_state=0)
    assert search.fit(X, y).optimizer_.config["noise"] == 0.05


def test_a_fitted_search_can_be_pickled():
    search = LabcatSearchCV(DecisionTreeClassifier(random_state=0), TREE, n_iter=4, random_state=0).fit(X, y)
    assert pickle.loads(pickle.dumps(search)).history_[0].params == search.history_[0].params


def test_the_search_begins_around_a_setting():
    space = {"alpha": labcat.Real(0.1, 1.0), "l1_ratio": labcat.Real(0.1, 1.0)}
    start = {"alpha": 0.5, "l1_ratio": 0.4}
    search = LabcatSearchCV(ElasticNet(), space, n_iter=4, x0=start, radius=0.1, random_state=1, cv=2).fit(X, y)
    moved = np.abs(search.history_.x - [0.5, 0.4])
    assert np.allclose(moved[0], 0)
    assert np.allclose(np.sort(moved[1:3], axis=1), [[0, 0.1], [0, 0.1]])
    with pytest.raises(labcat.InvalidError, match="one starting point"):
        LabcatSearchCV(ElasticNet(), space, radius=0.1).fit(X, y)
