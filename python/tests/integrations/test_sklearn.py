"""The search in the manner of scikit-learn."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import RandomizedSearchCV
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import labcat
from labcat.integrations.sklearn import LabcatSearchCV

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
