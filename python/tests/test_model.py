"""What can be seen of the model, restarts, and what ends a run."""

from __future__ import annotations

import numpy as np
import pytest
from objectives import BOX, advance, sphere

import labcat


def test_the_model_predicts_in_user_units():
    optimizer = labcat.Optimizer(BOX, rng=1)
    with pytest.raises(labcat.NoModelError):
        optimizer.predict([1, 1])
    # Not a quadratic: that is known everywhere once it is known.
    advance(optimizer, 30, lambda x: 1000 + sphere(x) + np.sin(2 * x[0]))
    optimizer.ask()
    best = optimizer.best
    mean, std = optimizer.predict(best.x)
    assert isinstance(mean, float) and isinstance(std, float)
    assert mean == pytest.approx(best.value, abs=0.05) and 0 <= std < 1
    means, stds = optimizer.predict(np.array([best.x, [10, 10]]))
    assert means.shape == stds.shape == (2,)
    assert means[0] == mean and stds[1] > stds[0]
    assert optimizer.predict({"x0": best.x[0], "x1": best.x[1]}) == (mean, std)
    with pytest.raises(labcat.InvalidError, match="shape"):
        optimizer.predict(np.zeros((2, 2, 2)))
    with pytest.raises(labcat.InvalidError):
        optimizer.predict([0.0, np.nan])


def test_relevance_names_the_parameter_that_matters():
    optimizer = labcat.Optimizer(BOX, rng=1, rotation=False)
    assert optimizer.relevance is None and optimizer.importance is None
    advance(optimizer, 40, lambda x: 100 * (x[0] - 1) ** 2 + 1e-3 * (x[1] - 1) ** 2)
    optimizer.ask()
    relevance = optimizer.relevance
    assert relevance.shape == (2,) and relevance.sum() == pytest.approx(1)
    assert relevance[0] > relevance[1]


def test_importance_says_how_sure_it_is():
    draws = np.random.default_rng(1)
    optimizer = labcat.Optimizer(BOX, rng=1, noise="auto")
    advance(optimizer, 60, lambda x: (x[0] - 1) ** 2 + 0.3 * (x[1] - 1) ** 2 + draws.normal())
    importance = optimizer.importance
    assert (importance.mean == optimizer.relevance).all()
    assert (importance.std > 0).all() and (importance.std < 0.4).all()


def test_what_can_be_seen_of_the_model():
    optimizer = labcat.Optimizer(BOX, rng=1)
    assert optimizer.trust_region is None
    advance(optimizer, 30)
    optimizer.ask()
    region = optimizer.trust_region
    assert region.centre.tolist() == optimizer.best.x.tolist()
    assert region.half_axes.shape == (2, 2)
    assert optimizer.report["evaluations"] == 30


def test_restarts_carry_their_cause():
    optimizer = labcat.Optimizer([(-1, 1)], rng=1, budget=400)
    while optimizer.stop_reason is None:
        trial = optimizer.ask()
        optimizer.tell(trial, sphere(trial.x))
    restarts = optimizer.restarts
    assert restarts and all(isinstance(restart, labcat.Restart) for restart in restarts)
    assert all(restart.cause and 0 < restart.at_evaluation <= 400 for restart in restarts)
    assert optimizer.history.run.max() >= 1


def test_without_restarts_the_run_ends_when_it_has_converged():
    optimizer = labcat.Optimizer([(-1, 1)], rng=1, restarts=False, tolerance=1e-6)
    with pytest.raises(labcat.Stopped):
        advance(optimizer, 400, sphere)
    assert optimizer.stop_reason == "tolerance"


def test_the_stopping_options_can_be_replaced():
    optimizer = labcat.Optimizer(BOX, rng=1, budget=3)
    advance(optimizer, 3)
    optimizer.set_stopping(budget=5)
    assert optimizer.stop_reason is None and optimizer.config["budget"] == 5
    advance(optimizer, 2)
    assert optimizer.stop_reason == "budget"
    optimizer.set_stopping(target=optimizer.best.value)
    assert optimizer.stop_reason == "target" and optimizer.config["budget"] is None
    for wrong in ({"budget": -1}, {"budget": "many"}, {"target": np.inf}, {"tolerance": -1.0}):
        with pytest.raises(labcat.InvalidError, match=next(iter(wrong))):
            optimizer.set_stopping(**wrong)
    assert optimizer.stop_reason == "target"
