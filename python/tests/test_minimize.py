"""`minimize` and `maximize`: results, stopping, callbacks."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest
import scipy.optimize
from objectives import rosenbrock, shifted, slow_sphere, sphere

import labcat

BOX = [(-5, 10)] * 2


def test_rosenbrock_to_a_millionth_the_same_every_time():
    results = [
        labcat.minimize(
            lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2,
            [(-5, 10)] * 2,
            budget=150,
            rng=1,
        )
        for _ in range(3)
    ]
    assert results[0].fun < 1e-6
    for result in results[1:]:
        assert np.array_equal(result.history.x, results[0].history.x)
        assert np.array_equal(result.history.value, results[0].history.value)


def test_the_result_follows_scipy():
    result = labcat.minimize(rosenbrock, BOX, budget=40, rng=1)
    assert isinstance(result, scipy.optimize.OptimizeResult)
    assert isinstance(result, labcat.OptimizeResult)
    assert result.x.shape == (2,) and result.fun == rosenbrock(result.x) == result["fun"]
    assert result.success is False and result.status == 0  # as scipy: the budget ran out
    assert result.message == "the budget of 40 evaluations is used up"
    assert result.nfev == result.nit == len(result.history) == 40
    assert result.restarts == result.optimizer.restarts
    assert "message" in repr(result) and "History of 40 evaluations" in repr(result)
    twin = pickle.loads(pickle.dumps(result))
    assert twin.fun == result.fun and np.array_equal(twin.history.x, result.history.x)


def test_the_history_holds_every_evaluation_as_arrays():
    values = []

    def fun(x):
        values.append(rosenbrock(x) if len(values) % 5 else np.nan)
        return values[-1]

    history = labcat.minimize(fun, BOX, budget=30, rng=1).history
    assert history.x.shape == (30, 2) and len(history) == 30
    assert history.id.tolist() == list(range(30))
    assert np.array_equal(history.value, values, equal_nan=True)
    assert np.array_equal(history.failed, np.isnan(values))
    assert np.isnan(history.best[0])
    assert np.array_equal(history.best[1:], np.fmin.accumulate(values[1:]))
    frame = history.to_dataframe()
    assert list(frame.columns) == ["id", "x0", "x1", "value", "failed", "run", "best", "reason", "seconds"]
    assert len(frame) == 30 and frame["x1"].tolist() == history.x[:, 1].tolist()


def test_an_empty_history_has_the_same_shapes():
    history = labcat.Optimizer(BOX, rng=1).history
    assert history.x.shape == (0, 2) and history.best.shape == (0,)
    assert len(history.to_dataframe()) == 0


def test_maximize_keeps_the_sign():
    result = labcat.maximize(lambda x: 5 - sphere(x), BOX, budget=60, rng=1)
    mirrored = labcat.minimize(lambda x: sphere(x) - 5, BOX, budget=60, rng=1)
    assert result.fun == pytest.approx(5, abs=1e-3)
    assert np.array_equal(result.history.x, mirrored.history.x)
    assert result.history.best[-1] == result.fun == result.history.value.max()


def test_args_are_passed_on():
    result = labcat.minimize(shifted, BOX, args=(2.0, 3.0), budget=10, rng=1)
    assert result.fun == shifted(result.x, 2.0, 3.0)
    alone = labcat.minimize(lambda x, a: a, BOX, args=4.0, budget=3, rng=1)
    assert alone.fun == 4.0


def test_x0_is_evaluated_first():
    one = labcat.minimize(rosenbrock, BOX, x0=[1, 1], budget=5, rng=1)
    assert one.history.x[0].tolist() == [1, 1] and one.fun == 0
    several = labcat.minimize(rosenbrock, BOX, x0=[[0, 1], [2, 3]], budget=5, rng=1)
    assert several.history.x[:2].tolist() == [[0, 1], [2, 3]]
    space = labcat.Space(a=(0, 1), b=(0, 1))
    named = labcat.minimize(lambda a, b: a, space, x0=[{"b": 1, "a": 0.5}], budget=5, rng=1)
    assert named.history.x[0].tolist() == [0.5, 1]


@pytest.mark.parametrize(
    "x0, named",
    [
        ([0, 50], r"x0\[1\] = 50 is not allowed: it must lie in \[-5, 10\]"),
        ([[0, 1], [np.nan, 1]], r"x0\[1\]\[0\] = nan"),
        ([0, 1, 2], "x0 has 3 values: there are 2 parameters"),
    ],
)
def test_a_wrong_x0_is_named_as_the_user_wrote_it(x0, named):
    with pytest.raises(labcat.InvalidError, match=named):
        labcat.minimize(rosenbrock, BOX, x0=x0, budget=5)


def test_a_wrong_x0_is_named_by_its_parameter_if_it_has_a_name():
    with pytest.raises(labcat.InvalidError, match=r"x0\['b'\] = 2 is not allowed"):
        labcat.minimize(lambda a, b: a, {"a": (0, 1), "b": (0, 1)}, x0={"a": 0, "b": 2}, budget=5)


def test_a_dictionary_of_bounds_names_the_parameters():
    bounds = {"a": (0, 1), "b": labcat.Real(1e-3, 1, scale="log")}
    result = labcat.minimize(lambda a, b: a + b, bounds, budget=5, rng=1)
    assert set(result.params) == {"a", "b"}


def test_the_objective_cannot_disturb_the_run_through_its_argument():
    def vandal(x):
        value = rosenbrock(x)
        x[:] = np.nan
        return value

    result = labcat.minimize(vandal, BOX, budget=30, rng=1)
    assert np.array_equal(
        result.history.x, labcat.minimize(rosenbrock, BOX, budget=30, rng=1).history.x
    )


# --- stopping


@pytest.mark.parametrize("bounds", [[(-1, 1)], [(-1, 1)] * 3])
def test_without_stopping_options_the_budget_is_200_per_parameter(bounds):
    result = labcat.minimize(sphere, bounds, rng=1)
    budget = 200 * len(bounds)
    assert result.nfev == budget
    assert result.message == (
        f"the budget of {budget} evaluations is used up "
        f"(no budget was given: it was 200 per parameter, {budget})"
    )


def test_a_tolerance_alone_means_one_local_run():
    result = labcat.minimize(sphere, [(-1, 1)], rng=1, tolerance=1e-3)
    assert result.status == 2 and result.success and result.restarts == []
    assert result.message == "the local run has converged to the tolerance 0.001"
    assert result.nfev < 40 and result.fun < 1e-2
    same = labcat.minimize(sphere, [(-1, 1)], rng=1, tolerance=1e-3, restarts=False)
    assert np.array_equal(same.history.x, result.history.x)


@pytest.mark.parametrize("options", [{"target": -1.0}, {"tolerance": 0, "restarts": True}])
def test_what_never_comes_true_leaves_the_default_budget(options):
    def noisy(x):
        return sphere(x) + 1 + np.random.default_rng(abs(hash(float(x[0])))).uniform()

    result = labcat.minimize(noisy, [(-1, 1)], rng=1, **options)
    assert result.nfev == 200 and not result.success
    assert result.message.endswith("(no budget was given: it was 200 per parameter, 200)")


def test_beside_a_budget_a_tolerance_ends_local_runs():
    result = labcat.minimize(sphere, [(-1, 1)], rng=1, tolerance=1e-3, budget=100)
    assert result.nfev == 100 and len(result.restarts) > 1


def test_target():
    result = labcat.minimize(sphere, BOX, rng=1, target=0.01)
    assert result.fun <= 0.01 and result.success and result.status == 1
    assert result.message == "the target 0.01 is reached"
    assert (result.history.value[:-1] > 0.01).all()


def test_tolerance_without_restarts():
    result = labcat.minimize(sphere, BOX, rng=1, tolerance=1e-6, restarts=False)
    assert result.success and result.status == 2 and "converged" in result.message
    assert result.fun < 1e-3


@pytest.mark.parametrize("workers", [1, 2])
def test_time_limit(workers):
    for limit in (0.5, 2.0, 8.0, 32.0, 128.0):  # processes need some time to start
        start = time.monotonic()
        result = labcat.minimize(slow_sphere, BOX, rng=1, time_limit=limit, workers=workers)
        assert limit <= time.monotonic() - start < limit + 60
        assert not result.success and result.status == 3
        assert result.message == f"the time limit of {limit} s is reached"
        if result.nfev > 2:
            return
    raise AssertionError(f"{result.nfev} evaluations in {limit} s")


# --- callbacks


def test_a_callback_gets_the_best_point_after_each_evaluation():
    seen = []
    result = labcat.minimize(rosenbrock, BOX, budget=25, rng=1, callback=lambda xk: seen.append(xk))
    assert [rosenbrock(x) for x in seen] == result.history.best.tolist()


def test_a_callback_gets_an_intermediate_result_if_it_asks_for_it():
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result)

    result = labcat.minimize(rosenbrock, BOX, budget=25, rng=1, callback=callback)
    assert [r.nfev for r in seen] == list(range(1, 26))
    assert [r.fun for r in seen] == result.history.best.tolist()
    assert isinstance(seen[0], scipy.optimize.OptimizeResult)
    assert rosenbrock(seen[7].x) == seen[7].fun


def test_a_callback_named_otherwise_gets_the_point():
    def callback(intermediate_result, more=None):
        assert isinstance(intermediate_result, np.ndarray)

    labcat.minimize(rosenbrock, BOX, budget=3, rng=1, callback=callback)


def test_stop_iteration_ends_the_run():
    def callback(intermediate_result):
        if intermediate_result.nfev == 7:
            raise StopIteration

    result = labcat.minimize(rosenbrock, BOX, budget=25, rng=1, callback=callback)
    assert result.nfev == 7 and result.status == 99 and not result.success
    assert result.message == "the callback raised StopIteration"


def test_an_exception_of_the_callback_reaches_the_user():
    def callback(xk):
        raise ZeroDivisionError("in the callback")

    with pytest.raises(ZeroDivisionError, match="in the callback") as caught:
        labcat.minimize(rosenbrock, BOX, budget=25, rng=1, callback=callback)
    assert caught.value.labcat_result.nfev == 1


def test_before_the_first_success_the_callback_sees_nan():
    seen = []
    labcat.minimize(lambda x: np.nan, BOX, budget=2, rng=1, callback=lambda xk: seen.append(xk))
    assert np.isnan(seen).all() and np.shape(seen) == (2, 2)


# --- arguments


@pytest.mark.parametrize(
    "options, named",
    [
        ({"on_error": "ignore"}, "ignore.*fail"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"time_limit": float("nan")}, "time_limit"),
        ({"direction": "maximize"}, "labcat.maximize"),
        ({"betta": 1}, "betta.*did you mean 'beta'"),
        ({"time_limt": 1}, "did you mean 'time_limit'"),
        ({"maxiter": 1}, "did you mean 'budget'"),
        ({"n_jobs": 1}, "did you mean 'workers'"),
        ({"xyzzy": 1}, "unknown option 'xyzzy': labcat.SWITCHES"),
        ({"timeout": 0}, "timeout is 0"),
        ({"timeout": "5"}, "timeout is '5'; allowed: seconds"),
        ({"time_limit": "5"}, "time_limit is '5'; allowed: seconds"),
        ({"max_first_failures": "all"}, "max_first_failures is 'all'"),
        ({"timeout": 1, "workers": map}, "timeout=1 needs worker processes"),
        ({"max_first_failures": 0}, "max_first_failures is 0"),
        ({"callback": 3}, "callback must be callable, not 3"),
        ({"callback": lambda: None}, "callback .* cannot be called with one argument"),
        ({"jac": lambda x: x}, "jac is .*; allowed: True"),
        ({"constraints": -1}, "constraints is -1"),
        ({"constraints": [{"type": "ineq"}]}, "constraints is .*LinearConstraint"),
        ({"budget": "5"}, "budget.*'5'.*integer"),
        ({"beta": "0.5"}, "beta.*'0.5'.*number"),
        ({"rotation": "false"}, "rotation.*'false'.*true or false"),
        ({"x0": [0, 50]}, "x0"),
        ({"budget": 0}, "budget"),
        ({"budget": 1.5}, "budget"),
        ({"target": "low"}, "target"),
        ({"preset": "best"}, "best"),
        ({"workers": 0}, "workers is 0"),
        ({"workers": -2}, "workers is -2"),
        ({"workers": 1.5}, "workers is 1.5"),
        ({"workers": True}, "workers is True"),
        ({"workers": "all"}, "workers is 'all'"),
        ({"workers": (map, 0)}, "at once"),
        ({"workers": (4, 2)}, "workers is 4"),
        ({"rng": "now"}, "rng is 'now'"),
    ],
)
def test_wrong_arguments_are_errors_before_anything_is_evaluated(options, named):
    def fun(x):
        raise AssertionError("evaluated")

    with pytest.raises(labcat.InvalidError, match=named):
        labcat.minimize(fun, BOX, **options)


def test_the_objective_must_be_callable():
    with pytest.raises(labcat.InvalidError, match="callable"):
        labcat.minimize(3, BOX)


def test_presets_differ():
    runs = {
        preset: labcat.minimize(rosenbrock, BOX, budget=60, rng=1, preset=preset)
        for preset in ("default", "paper")
    }
    assert runs["paper"].optimizer.config["preset"] == "paper"
    assert not np.array_equal(runs["paper"].history.x, runs["default"].history.x)


def test_a_fixed_parameter_has_no_part_in_the_default_budget():
    space = labcat.Space(x=(0, 1), a=labcat.Fixed("a"), n=labcat.Integer(3, 3))
    result = labcat.minimize(lambda p: p["x"], space, rng=1, target=-1)
    assert result.nfev == 200 and result.message.endswith("200 per parameter, 200)")
