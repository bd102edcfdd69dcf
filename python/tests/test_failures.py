"""What an objective may do wrong, and what comes of it."""

from __future__ import annotations

import json
import pickle

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
    assert result.nfev == 30
    assert result.history.failed.sum() == 10
    name = {"nan": "NaN"}.get(str(float(np.squeeze(value))), str(float(np.squeeze(value))))
    assert result.message.endswith(f"10 evaluations failed (the value is {name})")
    assert result.fun == sphere(result.x)


@pytest.mark.parametrize("value", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_a_return_that_is_no_number_is_raised(value):
    with pytest.raises(labcat.InvalidError, match="the return value of the objective is") as caught:
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
    assert result.nfev == 40
    assert np.array_equal(result.history.failed, result.history.x[:, 0] > 0.5)


def test_failures_carry_their_reason_everywhere(tmp_path):
    def fun(x):
        if x[0] > 0.1:
            raise Broken("too far\nright")
        return sphere(x) if x[1] < 0.1 else np.nan

    path = tmp_path / "run.json"
    result = labcat.minimize(fun, BOX, budget=60, rng=1, on_error="fail", checkpoint=path)
    line = fun.__code__.co_firstlineno + 2
    for x, failed, reason in zip(result.history.x, result.history.failed, result.history.reason):
        expected = "the value is NaN" if x[1] >= 0.1 else None
        if x[0] > 0.1:
            expected = f"Broken: too far right (test_failures.py, line {line})"
        assert reason == expected and failed == (reason is not None)
    reasons = {r for r in result.history.reason if r is not None}
    assert len(reasons) == 2
    assert list(result.history.to_dataframe()["reason"]) == result.history.reason
    assert all(json.dumps(reason) in path.read_text() for reason in reasons)
    for copy in (
        labcat.Optimizer.from_json(path.read_text()),
        pickle.loads(pickle.dumps(result.optimizer)),
    ):
        assert copy.history.reason == result.history.reason
        assert copy.to_json() == result.optimizer.to_json()
    most = max(reasons, key=result.history.reason.count)
    n = result.history.failed.sum()
    assert (
        f"{n} evaluations failed ({result.history.reason.count(most)} times {most})"
        in result.message
    )


def test_a_reason_follows_what_is_told():
    optimizer = labcat.Optimizer(BOX, rng=1)
    optimizer.tell(optimizer.ask(), np.inf)
    optimizer.fail(optimizer.ask(), reason="r" * 10_000)
    optimizer.fail(x=[0.1, 0.2], reason="a leak")
    optimizer.fail(x=[0.3, 0.2])
    assert optimizer.history.reason == ["the value is inf", "r" * 500, "a leak", None]
    optimizer.revise(0, 1.0)
    assert optimizer.history.reason[0] is None
    optimizer.revise(0, np.nan)
    assert optimizer.history.reason[0] == "the value is NaN"


@pytest.mark.parametrize("limit", [None, 3, "default"])
def test_a_bug_does_not_spend_the_budget(limit):
    def fun(x):
        return undefined_name + x[0]  # noqa: F821

    options = {} if limit == "default" else {"max_first_failures": limit}
    if limit is None:
        result = labcat.minimize(fun, BOX, budget=50, rng=1, on_error="fail", **options)
        assert result.nfev == 50 and "name 'undefined_name' is not defined" in result.message
        return
    n = 10 if limit == "default" else limit
    with pytest.raises(
        labcat.SystematicFailure, match=f"first {n} .*'undefined_name'.*line"
    ) as caught:
        labcat.minimize(fun, BOX, budget=50, rng=1, on_error="fail", **options)
    assert type(caught.value.__cause__) is NameError
    assert caught.value.labcat_result.nfev == n and caught.value.labcat_result.status == 5


@pytest.mark.parametrize("other", ["value", "nan", "exception"])
def test_failures_that_differ_do_not_end_the_run(other):
    calls = 0

    def fun(x):
        nonlocal calls
        calls += 1
        if calls == 9 and other == "value":
            return sphere(x)
        if calls == 9 and other == "nan":
            return np.nan
        raise (KeyError if calls == 9 else Broken)(f"call {calls}")

    result = labcat.minimize(fun, BOX, budget=30, rng=1, on_error="fail")
    assert result.nfev == 30


def test_failures_after_a_success_of_an_earlier_run_do_not_end_the_run(tmp_path):
    path = tmp_path / "run.json"
    labcat.minimize(sphere, BOX, budget=5, rng=1, checkpoint=path)

    def fun(x):
        raise Broken

    result = labcat.minimize(fun, BOX, budget=30, rng=1, checkpoint=path, on_error="fail")
    assert result.nfev == 30


@pytest.mark.parametrize("value", [np.ma.masked, np.ma.array([1.0], mask=[True])])
def test_a_masked_value_is_missing_and_not_zero(value):
    result = labcat.minimize(every_third(value), BOX, budget=9, rng=1)
    assert result.history.failed.sum() == 3
    assert labcat.minimize(lambda x: np.ma.array([1.0]), BOX, budget=1).fun == 1.0


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
    assert result.message.endswith("no evaluation succeeded (the value is NaN)")
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


@pytest.mark.parametrize("value", [10**400, -(10**5000), np.array(10**400, dtype=object)], ids=["400", "5000", "array"])
def test_an_integer_beyond_every_float_is_an_infinite_value(value):
    result = labcat.minimize(every_third(value), BOX, budget=9, rng=1)
    assert result.nfev == 9 and result.history.failed.sum() == 3
    assert {reason for reason in result.history.reason if reason} <= {"the value is inf", "the value is -inf"}


def test_the_message_counts_one_and_many():
    ran = labcat.minimize(every_third(np.nan), BOX, budget=3, rng=1)
    assert ran.message == "the budget of 3 evaluations is used up; 1 evaluation failed (the value is NaN)"
    assert labcat.minimize(sphere, BOX, budget=1, rng=1).message == "the budget of 1 evaluation is used up"


def test_a_std_that_is_no_number_says_what_a_std_may_be():
    optimizer = labcat.Optimizer(BOX, rng=1)
    with pytest.raises(labcat.InvalidError, match=r"^std is 'a'; it must be a finite number of at least 0$"):
        optimizer.tell(optimizer.ask(), 1.0, std="a")
