"""What an objective may do wrong, and what comes of it."""

from __future__ import annotations

import numpy as np
import pytest
from objectives import sphere

import labcat

BOX = [(-1, 1)] * 2

NO_NUMBERS = {
    "none": None,
    "text": "3.0",
    "complex": 1 + 2j,
    "two values": np.array([1.0, 2.0]),
    "no value": np.array([]),
    "matrix": np.eye(2),
    "dictionary": {"value": 1.0},
    "ragged": [[1.0], [2.0, 3.0]],
}


def every_third(odd):
    """An objective that returns `odd` at every third call."""
    calls = 0

    def fun(x):
        nonlocal calls
        calls += 1
        return odd if calls % 3 == 0 else sphere(x)

    return fun


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, np.float32("nan"), np.array([np.inf])])
@pytest.mark.parametrize("on_error", ["raise", "fail"])
def test_values_that_are_not_finite_are_failed_evaluations(value, on_error):
    result = labcat.minimize(every_third(value), BOX, budget=30, rng=1, on_error=on_error)
    assert result.nfev == 30 and result.success
    assert result.history.failed.sum() == 10
    assert result.fun == sphere(result.x)


@pytest.mark.parametrize("value", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_a_return_that_is_no_number_is_raised(value):
    with pytest.raises(labcat.InvalidError, match="what the objective returned is") as caught:
        labcat.minimize(every_third(value), BOX, budget=30, rng=1)
    result = caught.value.labcat_result
    assert result.nfev == 2 and result.fun == sphere(result.x)


@pytest.mark.parametrize("value", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_a_return_that_is_no_number_is_recorded_if_asked_for(value):
    result = labcat.minimize(every_third(value), BOX, budget=30, rng=1, on_error="fail")
    assert result.nfev == 30 and result.history.failed.sum() == 10


@pytest.mark.parametrize("value", [1, True, np.float32(1), np.array(1.0), np.array([[1.0]]), [1.0]])
def test_numbers_and_arrays_that_hold_one_are_values(value):
    assert labcat.minimize(lambda x: value, BOX, budget=3, rng=1).fun == 1.0


class Broken(Exception):
    pass


def test_an_exception_reaches_the_user_unchanged_with_the_result_so_far():
    error = Broken("at the fifth")
    calls = 0

    def fun(x):
        nonlocal calls
        calls += 1
        if calls == 5:
            raise error
        return sphere(x)

    with pytest.raises(Broken) as caught:
        labcat.minimize(fun, BOX, budget=30, rng=1)
    assert caught.value is error and error.__cause__ is None
    result = error.labcat_result
    assert result.nfev == 4 and result.status == 5 and not result.success
    assert result.fun == result.history.value.min()
    assert result.message == "the run ended with Broken: at the fifth"
    assert caught.traceback[-1].name == "fun"


def test_an_exception_is_a_failed_evaluation_if_asked_for():
    def fun(x):
        if x[0] > 0.5:
            raise Broken
        return sphere(x)

    result = labcat.minimize(fun, BOX, budget=40, rng=1, on_error="fail")
    assert result.nfev == 40 and result.success
    assert np.array_equal(result.history.failed, result.history.x[:, 0] > 0.5)


@pytest.mark.parametrize("kind", [StopIteration, GeneratorExit, SystemExit, KeyboardInterrupt])
def test_special_exceptions_pass_through(kind):
    calls = 0

    def fun(x):
        nonlocal calls
        calls += 1
        if calls == 3:
            raise kind
        return sphere(x)

    with pytest.raises(kind) as caught:
        labcat.minimize(fun, BOX, budget=30, rng=1)
    assert caught.value.labcat_result.nfev == 2


@pytest.mark.parametrize("kind", [GeneratorExit, SystemExit, KeyboardInterrupt])
def test_an_order_to_exit_is_never_recorded_as_a_failure(kind):
    def fun(x):
        raise kind

    with pytest.raises(kind):
        labcat.minimize(fun, BOX, budget=30, rng=1, on_error="fail")


def test_an_exception_that_refuses_attributes_is_raised_all_the_same():
    class Stubborn(Exception):
        def __setattr__(self, name, value):
            raise AttributeError(name)

    def fun(x):
        raise Stubborn

    with pytest.raises(Stubborn):
        labcat.minimize(fun, BOX, budget=30, rng=1)


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_a_run_in_which_everything_fails_ends_cleanly(preset):
    result = labcat.minimize(lambda x: np.nan, BOX, budget=50, rng=1, preset=preset)
    assert result.nfev == 50 and not result.success and result.status == 0
    assert np.isnan(result.fun) and np.isnan(result.x).all() and result.x.shape == (2,)
    assert result.message.endswith("no evaluation succeeded")
    assert len({tuple(x) for x in result.history.x}) == 50


@pytest.mark.parametrize(
    "fun",
    [
        lambda x: 1e308 * np.sign(x[0]),
        lambda x: -1e308 * x[0],
        lambda x: 5e-324 * round(x[0]),
        lambda x: 0.0,
        lambda x: 1e300 if x[0] > 0 else -1e300,
        lambda x: float(np.round(x[0], 1)),
        lambda x: np.nan if x[0] < 0.9 else 1.0,
        lambda x: np.random.default_rng(int(1e6 * abs(x[0]))).standard_cauchy(),
    ],
)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_awkward_objectives_do_not_end_the_run(fun, preset):
    result = labcat.minimize(fun, BOX, budget=120, rng=1, preset=preset)
    assert result.nfev == 120


@pytest.mark.parametrize(
    "bounds",
    [
        [(-1e308, 1e308)] * 2,
        [(0, 5e-324 * 2**60)] * 2,
        [(1, 1 + 1e-12)],
        [(1e15, 1e15 + 64)],
        [(-1, 1)] * 30,
    ],
)
def test_awkward_bounds_do_not_end_the_run(bounds):
    result = labcat.minimize(lambda x: float(np.sum(np.tanh(x))), bounds, budget=80, rng=1)
    assert result.nfev == 80
    low, high = np.array(bounds, dtype=float).T
    assert ((result.history.x >= low) & (result.history.x <= high)).all()
