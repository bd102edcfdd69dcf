"""Least squares: residuals instead of their sum."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy import optimize

import labcat

TIMES = np.linspace(0, 5, 40)
TRUTH = np.array([2.0, 0.8, 0.5])
BOUNDS = [(0.1, 10.0), (0.05, 5.0), (-2.0, 2.0)]
START = [1.0, 1.0, 0.0]


def decay(p, t=TIMES):
    return p[0] * np.exp(-p[1] * t) + p[2]


def noisy_data(seed, sigma=0.05):
    return decay(TRUTH) + sigma * np.random.default_rng(seed).standard_normal(len(TIMES))


DATA = noisy_data(0)


def misfit(p):
    return decay(np.asarray(p)) - DATA


def rosenbrock(x):
    return [10 * (x[1] - x[0] ** 2), 1 - x[0]]


def curve(t, a, b, c):
    return decay((a, b, c), t)


def fitted(data=DATA, **options):
    """What scipy's `curve_fit` finds: parameters and standard errors."""
    x, covariance = optimize.curve_fit(curve, TIMES, data, START, **options)
    return x, np.sqrt(np.diag(covariance))


def test_rosenbrock_takes_few_evaluations():
    result = labcat.least_squares(rosenbrock, [(-5, 10)] * 2, x0=[-1.2, 1], budget=40, rng=1)
    assert result.cost < 1e-12
    assert np.allclose(result.x, 1, atol=1e-5)
    assert result.fun == pytest.approx(rosenbrock(result.x))
    assert result.history.value[0] == pytest.approx(np.sum(np.square(rosenbrock([-1.2, 1]))))
    assert result.history.residuals.shape == (40, 2)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("budget", [25, 60, 150])
def test_standard_errors_are_those_of_curve_fit(seed, budget):
    data = noisy_data(seed)
    result = labcat.least_squares(lambda p: decay(p) - data, BOUNDS, x0=START, budget=budget, rng=seed)
    x, errors = fitted(data)
    assert np.all(np.abs(result.x - x) < 0.01 * errors)
    assert np.allclose(result.stderr, errors, rtol=0.05)
    assert np.allclose(result.jac, optimize.approx_fprime(result.x, lambda p: decay(p) - data), atol=1e-2)
    assert np.allclose(result.stderr, np.sqrt(np.diag(result.cov_x)))
    assert np.allclose(np.diag(result.correlation), 1)
    assert result.optimality < 1e-4
    assert not result.active_mask.any()


def test_without_a_start_and_on_a_logarithmic_scale():
    space = labcat.Space(a=(0.1, 10), rate=labcat.Real(0.05, 5, scale="log"), offset=(-2, 2))

    def residuals(a, rate, offset):
        return decay((a, rate, offset)) - DATA

    result = labcat.least_squares(residuals, space, budget=120, rng=1)
    x, errors = fitted()
    assert np.allclose(list(result.params.values()), x, rtol=1e-3)
    assert np.allclose(result.stderr, errors, rtol=0.05)


def test_few_evaluations_make_no_claims():
    """Each standard error is right within a tenth, or it is not there and the message says so."""
    told = 0
    for budget in range(4, 24):
        result = labcat.least_squares(misfit, BOUNDS, x0=START, budget=budget, rng=budget)
        jacobian = optimize.approx_fprime(result.x, misfit)
        scale = 2 * result.cost / (len(DATA) - 3)
        errors = np.sqrt(scale * np.diag(np.linalg.inv(jacobian.T @ jacobian)))
        assert np.isnan(result.stderr).all() == ("no standard errors" in result.message)
        if np.isfinite(result.stderr).all():
            told += 1
            assert np.allclose(result.stderr, errors, rtol=0.1), budget
    assert 5 < told < 20
    assert "no standard errors" in labcat.least_squares(misfit, BOUNDS, x0=START, budget=4, rng=1).message


@pytest.mark.parametrize("absolute", [False, True])
def test_weights_are_those_of_curve_fit(absolute):
    sigma = np.linspace(0.02, 0.2, len(TIMES))
    data = decay(TRUTH) + sigma * np.random.default_rng(1).standard_normal(len(TIMES))
    result = labcat.least_squares(
        lambda p: decay(p) - data, BOUNDS, x0=START, sigma=sigma, absolute_sigma=absolute, budget=60, rng=1
    )
    x, errors = fitted(data, sigma=sigma, absolute_sigma=absolute)
    assert np.allclose(result.x, x, rtol=1e-4)
    assert np.allclose(result.stderr, errors, rtol=0.05)
    assert np.allclose(result.fun, decay(result.x) - data)  # without weights
    assert result.cost == pytest.approx(0.5 * np.sum((result.fun / sigma) ** 2))


@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy", "arctan"])
def test_losses_are_those_of_scipy(loss):
    data = DATA.copy()
    data[::7] += 3  # outliers
    options = {"loss": loss, "f_scale": 0.1}
    result = labcat.least_squares(lambda p: decay(p) - data, BOUNDS, x0=START, budget=150, rng=1, **options)
    theirs = optimize.least_squares(
        lambda p: decay(p) - data, TRUTH, bounds=np.transpose(BOUNDS), xtol=1e-12, ftol=1e-12, gtol=1e-12, **options
    )
    assert result.cost == pytest.approx(theirs.cost, rel=1e-5)
    assert np.allclose(result.x, theirs.x, rtol=1e-3)
    assert np.all(np.abs(result.x - TRUTH) < 0.3)
    assert np.allclose(result.fun, theirs.fun, atol=1e-3)  # without the loss
    assert np.allclose(result.grad, 0, atol=1e-3)
    expected = np.sqrt(2 * theirs.cost / 37 * np.diag(np.linalg.inv(theirs.jac.T @ theirs.jac)))
    assert np.allclose(result.stderr, expected, rtol=0.1)
    plain = labcat.least_squares(lambda p: decay(p) - data, BOUNDS, x0=START, budget=60, rng=1)
    assert np.abs(plain.x - TRUTH).max() > 0.3


def test_failures_in_half_of_the_box():
    def residuals(p):
        if p[0] < 1.9:
            raise RuntimeError("the solver diverged")
        return np.full(len(TIMES), np.nan) if p[2] < -1 else misfit(p)

    result = labcat.least_squares(residuals, BOUNDS, budget=150, rng=2, on_error="fail")
    x, errors = fitted()
    assert np.allclose(result.x, x, atol=0.1 * errors.max())
    assert np.allclose(result.stderr, errors, rtol=0.1)
    reasons = {reason for reason in result.history.reason if reason}
    assert any("the solver diverged" in reason for reason in reasons)
    assert reasons & {"residual 0 is NaN", "residual 0 is nan"} or not (result.history.x[:, 2] < -1).any()
    assert np.isnan(result.history.residuals[result.history.failed]).all()


def test_everything_fails():
    result = labcat.least_squares(lambda p: [np.nan, 1.0], BOUNDS, budget=5, rng=1)
    assert not result.success
    assert np.isnan(result.x).all() and np.isnan(result.cost) and np.isnan(result.stderr).all()
    assert "no evaluation succeeded" in result.message


def test_two_workers():
    result = labcat.least_squares(misfit, BOUNDS, x0=START, budget=60, rng=1, workers=2)
    x, errors = fitted()
    assert np.all(np.abs(result.x - x) < 0.05 * errors)
    assert np.allclose(result.stderr, errors, rtol=0.1)


KILLED = """
    import os, sys
    sys.path.insert(0, {tests!r})
    import labcat
    from test_least_squares import BOUNDS, START, misfit
    calls = 0
    def dies(p):
        global calls
        calls += 1
        if calls == {dies}:
            os._exit(9)
        return misfit(p)
    labcat.least_squares(dies, BOUNDS, x0=START, budget=40, rng=3, loss="soft_l1", sigma=0.1, checkpoint={file!r})
"""


def test_killed_and_resumed(tmp_path):
    file = str(tmp_path / "state.json")
    script = textwrap.dedent(KILLED).format(tests=os.path.dirname(__file__), dies=21, file=file)
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    options = {"x0": START, "budget": 40, "rng": 3, "loss": "soft_l1", "sigma": 0.1}
    resumed = labcat.least_squares(misfit, BOUNDS, checkpoint=file, **options)
    straight = labcat.least_squares(misfit, BOUNDS, **options)
    for name in ("x", "fun", "jac", "cov_x"):
        assert np.array_equal(resumed[name], straight[name]), name
    assert np.array_equal(resumed.history.x, straight.history.x)
    assert np.array_equal(resumed.history.residuals, straight.history.residuals)
    with pytest.raises(labcat.CheckpointError, match="its loss is 'soft_l1', in this call it is 'huber'"):
        labcat.least_squares(misfit, BOUNDS, checkpoint=file, **{**options, "loss": "huber"})
    with pytest.raises(labcat.CheckpointError, match="its sigma is 0.1, in this call it is 0.2"):
        labcat.least_squares(misfit, BOUNDS, checkpoint=file, **{**options, "sigma": 0.2})
    with pytest.raises(labcat.CheckpointError, match="its outcome is 'residuals', in this call it is 'a value'"):
        labcat.minimize(lambda p: 0.0, BOUNDS, checkpoint=file, rng=3)


def with_steps(a, rate, steps):
    return decay((a, rate, 0.5 * steps)) - DATA


def test_integers_are_found_together_with_the_reals():
    """Without any offset the best fit is a local minimum: one more step is worth it only with other reals."""
    space = labcat.Space(a=(0.1, 10), rate=(0.05, 5), steps=labcat.Integer(0, 6))
    found = [labcat.least_squares(with_steps, space, budget=150, rng=seed).params["steps"] for seed in range(8)]
    assert found.count(1) >= 7, found


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_integers_among_the_parameters(seed):
    space = labcat.Space(a=(0.1, 10), rate=(0.05, 5), steps=labcat.Integer(0, 6))
    result = labcat.least_squares(with_steps, space, budget=150, rng=seed)
    x, covariance = optimize.curve_fit(lambda t, a, rate: decay((a, rate, 0.5), t), TIMES, DATA, [1, 1])
    assert result.params["steps"] == 1
    assert np.allclose(result.x[:2], x, rtol=5e-3)
    # Seed 2 comes to it with its last evaluations: what they do not determine is not said.
    close = np.allclose(result.stderr[:2], np.sqrt(np.diag(covariance)), rtol=0.1)
    assert close or (seed == 2 and np.isnan(result.stderr).all())
    assert np.isnan(result.stderr[2]) and np.isnan(result.jac[:, 2]).all()


def test_known_constraints():
    result = labcat.least_squares(misfit, BOUNDS, x0=[1, 1, 0], constraints="x0 + x2 <= 2", budget=80, rng=1)
    theirs = optimize.minimize(
        lambda p: 0.5 * np.sum(misfit(p) ** 2), [1, 1, 0], bounds=BOUNDS, method="SLSQP", options={"ftol": 1e-14},
        constraints={"type": "ineq", "fun": lambda p: 2 - p[0] - p[2]},
    )  # fmt: skip
    assert (result.history.x[:, 0] + result.history.x[:, 2] <= 2 + 1e-9).all()
    assert result.cost == pytest.approx(theirs.fun, rel=1e-3)


def test_measured_constraints():
    def residuals(p):
        return {"residuals": misfit(p), "constraints": [p[0] + p[2] - 2]}

    result = labcat.least_squares(residuals, BOUNDS, x0=[1, 1, 0], constraints=1, budget=100, rng=1)
    assert result.feasible
    assert result.x[0] + result.x[2] <= 2


def test_residuals_that_are_missing_where_a_constraint_is_violated():
    def residuals(p):
        return {"residuals": None if p[0] > limit else misfit(p), "constraints": [p[0] - limit]}

    limit = 3.0
    sigma = np.full(len(TIMES), 0.1)
    result = labcat.least_squares(residuals, BOUNDS, constraints=1, sigma=sigma, budget=150, rng=1)
    assert np.allclose(result.x, fitted()[0], rtol=0.05)
    limit = 0.0  # nowhere
    result = labcat.least_squares(residuals, BOUNDS, constraints=1, sigma=sigma, budget=20, rng=1)
    assert np.isnan(result.cost) and np.isnan(result.stderr).all() and not result.feasible


def test_an_active_bound():
    result = labcat.least_squares(misfit, [(0.1, 1.5), (0.05, 5), (-2, 2)], x0=[1, 1, 0], budget=80, rng=1)
    theirs = optimize.least_squares(misfit, [1, 1, 0], bounds=([0.1, 0.05, -2], [1.5, 5, 2]), xtol=1e-12)
    assert result.active_mask.tolist() == [1, 0, 0] == theirs.active_mask.tolist()
    assert result.cost == pytest.approx(theirs.cost, rel=1e-5)
    assert result.optimality < 1e-2 < abs(result.grad[0])


def jacobian(p):
    e = np.exp(-p[1] * TIMES)
    return np.column_stack([e, -p[0] * TIMES * e, np.ones_like(TIMES)])


@pytest.mark.parametrize("together", [False, True])
def test_the_jacobian_of_the_user(together, tmp_path):
    file = tmp_path / "state.json"
    if together:
        options = {"jac": True}
        function = lambda p: (misfit(p), jacobian(p))  # noqa: E731
    else:
        options, function = {"jac": jacobian}, misfit
    result = labcat.least_squares(function, BOUNDS, x0=START, budget=40, rng=1, checkpoint=file, **options)
    assert np.array_equal(result.jac, jacobian(result.x))
    assert np.allclose(result.stderr, fitted()[1], rtol=1e-3)
    again = labcat.least_squares(function, BOUNDS, x0=START, budget=40, rng=1, checkpoint=file, **options)
    assert np.array_equal(again.jac, result.jac)


def evaluations_to_the_optimum(**options):
    goal = 1.0001 * 2 * optimize.least_squares(misfit, START).cost
    result = labcat.least_squares(misfit, BOUNDS, x0=START, budget=60, rng=1, **options)
    return int(np.argmax(result.history.value <= goal)) + 1


@pytest.mark.parametrize("options", [{}, {"sigma": 0.1}, {"loss": "soft_l1", "f_scale": 100.0}])
def test_a_jacobian_saves_evaluations(options):
    def with_a_gap(p):
        slopes = jacobian(p)
        slopes[3, 0] = np.nan
        return slopes

    if "sigma" in options or "loss" in options:  # the goal is that of plain squares
        values = [
            labcat.least_squares(misfit, BOUNDS, x0=START, budget=9, rng=1, jac=jac, **options).cost for jac in (jacobian, None)
        ]
        assert values[0] < values[1]
        return
    told, gap, without = (evaluations_to_the_optimum(jac=jac) for jac in (jacobian, with_a_gap, None))
    theirs = optimize.least_squares(misfit, START, jac=jacobian).nfev
    assert told <= gap < without
    assert told <= theirs + 1


def test_noise_in_the_residuals():
    x, errors = fitted()
    found = []
    for seed in range(1, 9):
        draw = np.random.default_rng(5)

        def noisy(p, draw=draw):
            return misfit(p) + 1e-3 * draw.standard_normal(len(TIMES))

        result = labcat.least_squares(noisy, BOUNDS, x0=START, budget=100, rng=seed, noise="auto")
        found.append(np.all(np.abs(result.x - x) < errors) and np.allclose(result.stderr, errors, rtol=0.15))
    assert sum(found) >= 7, found


@pytest.mark.parametrize("noise", ["auto", 1e-3])
@pytest.mark.parametrize("level", [0.0, 1e-3])
def test_under_noise_the_point_is_one_whose_residuals_are_known(noise, level):
    """The posterior of their sum alone recommended points with ten times the least sum."""
    least = 2 * optimize.least_squares(misfit, START).cost
    for seed in range(1, 9):
        draw = np.random.default_rng(5)

        def noisy(p, draw=draw):
            return misfit(p) + level * draw.standard_normal(len(TIMES))

        result = labcat.least_squares(noisy, BOUNDS, x0=START, budget=60, rng=seed, noise=noise)
        there = np.sum(misfit(result.x) ** 2)
        assert there < 1.05 * least
        assert 2 * result.cost == pytest.approx(there, rel=0.05) == pytest.approx(np.sum(result.fun**2), rel=0.05)
        assert result.optimizer.recommended is not None


def test_ask_and_tell():
    optimizer = labcat.Optimizer(BOUNDS, residuals=True, rng=1)
    optimizer.start_at(START, radius=0.1)
    for _ in range(40):
        trial = optimizer.ask()
        optimizer.tell(trial, residuals=misfit(trial.x))
    assert np.allclose(optimizer.best.x, fitted()[0], rtol=1e-4)
    assert np.array_equal(optimizer.best.residuals, misfit(optimizer.best.x))
    copy = labcat.Optimizer.from_json(optimizer.to_json())
    assert np.array_equal(copy.ask().x, optimizer.ask().x)
    with pytest.raises(labcat.InvalidError, match="tell\\(trial, residuals="):
        copy.tell(x=START, value=3.0)
    with pytest.raises(labcat.InvalidError, match="residuals by name: tell\\(trial, residuals="):
        copy.tell(x=START, value=misfit(START))
    copy.tell(x=START, value=labcat.Outcome(residuals=misfit(START)))
    with pytest.raises(labcat.InvalidError, match="number of residuals told is 3: it must be 40"):
        copy.tell(x=START, residuals=[1, 2, 3])
    with pytest.raises(labcat.InvalidError, match="Optimizer\\(bounds, residuals=True\\)"):
        labcat.Optimizer(BOUNDS).tell(x=START, residuals=[1, 2])
    with pytest.raises(labcat.InvalidError, match="give one of them"):
        labcat.Outcome(3.0, residuals=[1, 2])
    assert labcat.Outcome(residuals=[3, 4]).value == 25


def test_an_earlier_run_is_the_start_of_another():
    first = labcat.least_squares(misfit, BOUNDS, x0=START, budget=20, rng=1, loss="huber", f_scale=0.1)
    second = labcat.least_squares(misfit, BOUNDS, history=first, budget=20, rng=1)
    assert second.nfev == 20 and len(second.history) == 40
    assert np.allclose(second.x, fitted()[0], rtol=1e-3)
    pair = first.history.x, first.history.residuals
    third = labcat.least_squares(misfit, BOUNDS, history=pair, budget=20, rng=1)
    assert np.array_equal(third.history.x, second.history.x)
    scalar = labcat.minimize(lambda p: float(np.sum(misfit(p) ** 2)), BOUNDS, history=second, budget=5, rng=1)
    assert len(scalar.history) == 45
    with pytest.raises(labcat.InvalidError, match="least squares take residuals, not the value"):
        labcat.least_squares(misfit, BOUNDS, history=scalar, budget=5)


def test_results_travel_and_are_shown():
    result = labcat.least_squares(misfit, BOUNDS, x0=START, budget=30, rng=1)
    copy = pickle.loads(pickle.dumps(result))
    assert isinstance(copy, labcat.LeastSquaresResult)
    assert np.array_equal(copy.cov_x, result.cov_x)
    assert "standard errors" in result._repr_html_()
    assert "cov_x" in repr(result)


def test_residuals_of_very_different_size():
    def residuals(p):
        return np.append(misfit(p), 1e60 * max(0.0, p[0] - 5))

    result = labcat.least_squares(residuals, BOUNDS, x0=START, budget=80, rng=1)
    assert np.allclose(result.x, fitted()[0], rtol=1e-3)
    assert np.allclose(result.stderr, fitted()[1] * np.sqrt(37 / 38), rtol=0.1)


def test_the_preset_of_the_paper():
    result = labcat.least_squares(misfit, BOUNDS, x0=START, budget=80, rng=1, preset="paper")
    assert np.allclose(result.x, fitted()[0], rtol=1e-2)


def changes_length(p):
    changes_length.calls += 1
    return misfit(p)[: 30 if changes_length.calls > 5 else None]


def test_another_length():
    changes_length.calls = 0
    with pytest.raises(labcat.InvalidError, match="number of residuals told is 30: it must be 40") as raised:
        labcat.least_squares(changes_length, BOUNDS, budget=20, rng=1)
    assert len(raised.value.labcat_result.history) == 5
    changes_length.calls = 0
    result = labcat.least_squares(changes_length, BOUNDS, budget=20, rng=1, on_error="fail")
    assert result.history.failed.sum() == 15
    assert "number of residuals told is 30" in result.message


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (3.2, r"the residuals are 3\.2; allowed: a vector.*labcat\.minimize"),
        (None, "the residuals are None"),
        ([], "the residuals are empty"),
        ([[1, 2], [3, 4]], r"residuals has shape \(2, 2\)"),
        (["a"], "a list of real numbers"),
        (np.array([1 + 2j, 3]), "a list of real numbers"),
    ],
)
def test_what_is_no_vector(returned, message):
    with pytest.raises(labcat.InvalidError, match=message):
        labcat.least_squares(lambda p: returned, BOUNDS, budget=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "l1"}, "loss is 'l1'; allowed: 'linear', 'soft_l1', 'huber', 'cauchy', 'arctan'"),
        ({"f_scale": 0}, "f_scale is 0; allowed: a number above 0"),
        ({"sigma": [1, -1]}, "sigma has -1.0; allowed: numbers above 0"),
        ({"sigma": [1, 1]}, "sigma has 2 numbers: there are 40 residuals"),
        ({"jac": "2-point"}, "jac is '2-point'; allowed: a function that returns the Jacobian"),
        ({"jac": lambda p: np.ones((40, 2))}, "the Jacobian has 2 columns: there are 3 parameters"),
        ({"jac": lambda p: np.ones((4, 3))}, r"jacobian has shape \(4, 3\)"),
        ({"jac": lambda p: np.ones((40, 3), complex)}, "a matrix of real numbers"),
        ({"los": "huber"}, "did you mean 'loss'"),
        ({"max_nfev": 5}, "did you mean 'budget'"),
        ({"xtol": 1e-8}, "did you mean 'tolerance'"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(labcat.InvalidError, match=message):
        labcat.least_squares(misfit, BOUNDS, budget=5, **options)


def test_the_callback_sees_residuals():
    seen = []

    def callback(intermediate_result):
        seen.append((intermediate_result.cost, intermediate_result.fun.shape))

    result = labcat.least_squares(misfit, BOUNDS, x0=START, budget=10, rng=1, callback=callback)
    assert len(seen) == 10
    assert seen[-1] == (result.cost, (40,))


def test_what_the_residuals_do_not_determine():
    result = labcat.least_squares(lambda p: p[0] + p[1] - np.arange(3.0), [(-5, 5)] * 2, x0=[0.7, 0.5], budget=30, rng=1)
    assert np.isnan(result.stderr).all()
    assert np.allclose(result.jac, 1, atol=1e-3)
    assert "no standard errors: the residuals do not determine all parameters" in result.message
    square = labcat.least_squares(rosenbrock, [(-5, 10)] * 2, x0=[-1.2, 1], budget=30, rng=1)
    assert np.isnan(square.stderr).all() and np.isfinite(square.jac).all()
    assert "there must be more residuals than parameters" in square.message


def test_ten_thousand_residuals():
    t = np.linspace(0, 5, 10_000)
    data = decay(TRUTH, t) + 0.05 * np.random.default_rng(0).standard_normal(len(t))
    result = labcat.least_squares(lambda p: decay(p, t) - data, BOUNDS, x0=START, budget=40, rng=1)
    _, covariance = optimize.curve_fit(curve, t, data, START)
    assert np.allclose(result.stderr, np.sqrt(np.diag(covariance)), rtol=0.05)


def test_on_a_log_scale_a_small_number_is_not_at_its_bound():
    space = labcat.Space(rate=labcat.Real(1e-12, 1, scale="log"), x=(-1, 1))
    result = labcat.least_squares(lambda rate, x: [np.log10(rate) + 10.3, 0.1 * x - 1, 0.2], space, budget=25, rng=1)
    assert result.params["rate"] == pytest.approx(10**-10.3, rel=1e-3)
    assert result.active_mask.tolist() == [0, 1]


@pytest.mark.filterwarnings("error")
def test_a_huge_residual_beside_a_jacobian_warns_of_nothing():
    optimizer = labcat.Optimizer([(-1, 1)], residuals=True, rng=1)
    for residual in (1e200, 1.0):
        optimizer.tell(optimizer.ask(), residuals=[residual, 2.0], jacobian=[[1.0], [0.0]])
    assert optimizer.history.failed.tolist() == [True, False]
