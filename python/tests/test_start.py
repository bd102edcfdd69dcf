"""A starting point, and how far the first design lies from it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import labcat

BOUNDS = [(-50.0, 50.0), (0.0, 10.0), (0.0, 1.0)]
START = [-3.0, 4.0, 0.5]


def bowl(x):
    return float(np.sum(np.square(x - np.array([1, 2, 0.3]))))


def steps(result, count=4):
    return np.abs(result.history.x[:count] - result.history.x[0])


@pytest.mark.parametrize(
    ("radius", "expected"),
    [(0.25, [0.25] * 3), ([1.5, 0.5, 0.1], [1.5, 0.5, 0.1]), (None, [0.9, 0.5, 0.05])],
)
@pytest.mark.parametrize("optimise", [labcat.minimize, labcat.maximize])
def test_the_design_lies_around_the_start(optimise, radius, expected):
    result = optimise(bowl, BOUNDS, x0=START, radius=radius, budget=8, rng=1)
    assert result.history.x[0].tolist() == START
    moved = steps(result)[1:]
    assert np.allclose(np.sort(moved.max(axis=1)), np.sort(expected))
    assert np.allclose(moved.max(axis=0), expected)
    assert ((moved > 0).sum(axis=1) == 1).all()  # one parameter at a time


def test_named_parameters_of_all_kinds():
    space = labcat.Space(
        rate=labcat.Real(1e-4, 1, scale="log"), n=labcat.Integer(1, 100), kind=labcat.Categorical(["a", "b"])
    )

    def fun(rate, n, kind):
        return abs(np.log(rate / 0.01)) + abs(n - 20) / 10 + (kind == "a")

    start = {"rate": 0.02, "n": 30, "kind": "a"}
    result = labcat.minimize(fun, space, x0=start, radius={"rate": 0.02, "n": 5}, budget=4, rng=1)
    first, *others = [evaluation.params for evaluation in result.history]
    assert first == start
    changed = {name: params[name] for params in others for name in params if params[name] != start[name]}
    assert changed["rate"] in (pytest.approx(0.04), pytest.approx(0.01))  # the radius doubles it
    assert changed["n"] in (25, 35)
    assert changed["kind"] == "b"


def test_a_boolean_has_no_radius():
    space = labcat.Space(x=labcat.Real(0, 1), flag=labcat.Boolean())
    first = {"x": 0.5, "flag": True}
    result = labcat.minimize(lambda x, flag: x + flag, space, x0=first, radius={"x": 0.1}, budget=3, rng=1)
    assert result.history[0].params == first
    assert sorted(abs(e.params["x"] - 0.5) for e in list(result.history)[1:]) == pytest.approx([0, 0.1])
    with pytest.raises(labcat.InvalidError, match="radius has 'flag'; the parameters that have one are x"):
        labcat.minimize(lambda x, flag: x, space, x0=first, radius={"x": 0.1, "flag": 1}, budget=3)


def test_several_points_are_the_design():
    points = [[1.0, 1.0, 0.1], [2.0, 2.0, 0.2], [3.0, 3.0, 0.3]]
    result = labcat.minimize(bowl, BOUNDS, x0=points, budget=12, rng=1)
    assert result.history.x[:3].tolist() == points
    with pytest.raises(labcat.InvalidError, match="it needs one starting point, x0, and there are 3"):
        labcat.minimize(bowl, BOUNDS, x0=points, radius=0.5, budget=12)


@pytest.mark.parametrize("options", [{"preset": "paper"}, {"initial_points": 9}])
def test_a_design_of_the_whole_box(options):
    result = labcat.minimize(bowl, BOUNDS, x0=START, budget=7, rng=1, **options)
    assert result.history.x[0].tolist() == START
    assert np.ptp(result.history.x[:, 0]) > 30
    near = labcat.minimize(bowl, BOUNDS, x0=START, radius=0.25, budget=4, rng=1, **options)
    assert np.allclose(steps(near)[1:].max(axis=1), 0.25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": 0.5}, "radius is 0.5: it needs one starting point, x0, and there are 0"),
        ({"x0": START, "radius": -1}, "radius is -1; allowed: a number above 0"),
        ({"x0": START, "radius": [1, 2]}, r"radius is \[1, 2\]; allowed: .* one for each of the 3 parameters"),
        ({"x0": START, "radius": {"x0": 1, "x1": 1}}, "radius lacks 'x2'"),
        ({"x0": START, "radius": {"y": 1}}, "radius has 'y'; the parameters that have one are x0, x1, x2"),
        ({"x0": START, "radius": np.nan}, "radius is nan"),
        ({"x0": 3}, r"a point has 3 numbers, shape \(3,\).*; this is 3, of shape \(\)"),
        ({"x0": START, "radius": "big"}, "radius consists of numbers, not 'big'"),
    ],
)
def test_wrong_radii(options, message):
    with pytest.raises(labcat.InvalidError, match=message):
        labcat.minimize(bowl, BOUNDS, budget=5, **options)


def test_a_radius_as_an_option_of_scipy():
    result = optimize.minimize(
        bowl, START, bounds=BOUNDS, method=labcat.scipy_method, options={"radius": 0.25, "budget": 8, "rng": 1}
    )
    assert np.allclose(steps(result)[1:].max(axis=1), 0.25)


def test_resumed_runs_begin_only_once(tmp_path):
    file = tmp_path / "state.json"
    options = {"x0": START, "radius": 0.25, "rng": 1}
    labcat.minimize(bowl, BOUNDS, budget=3, checkpoint=file, **options)
    resumed = labcat.minimize(bowl, BOUNDS, budget=12, checkpoint=file, **options)
    straight = labcat.minimize(bowl, BOUNDS, budget=12, **options)
    assert np.array_equal(resumed.history.x, straight.history.x)


def test_a_close_start_saves_evaluations_in_a_wide_box():
    def rosenbrock(x):
        return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2

    result = labcat.minimize(rosenbrock, [(-1000, 1000)] * 2, x0=[-1.2, 1], radius=0.3, budget=120, rng=1)
    assert result.fun < 1e-4


def test_ask_and_tell_from_a_start():
    optimizer = labcat.Optimizer(BOUNDS, rng=1)
    optimizer.start_at(START, radius=0.25)
    first = np.array([trial.x for trial in optimizer.ask(4)])
    assert np.allclose(np.abs(first[1:] - START).max(axis=1), 0.25)
    copy = labcat.Optimizer.from_json(optimizer.to_json())
    assert np.array_equal(copy.ask().x, optimizer.ask().x)


def test_noise_of_constraints_is_kept():
    optimizer = labcat.Optimizer([(0, 1)], constraints=2, rng=1)
    optimizer.tell(optimizer.ask(), 1.0, constraints=[-1, 2], constraint_std=[0.1, np.nan])
    copy = labcat.Optimizer.from_json(optimizer.to_json())
    for held in (optimizer, copy):
        assert held.history[0].constraint_std == pytest.approx([0.1, np.nan], nan_ok=True)
    with pytest.raises(labcat.InvalidError, match="constraint_std has length 1: it must be 2"):
        optimizer.tell(optimizer.ask(), 1.0, constraints=[-1, 2], constraint_std=[0.1])
    with pytest.raises(labcat.InvalidError, match="std = -1 is not the standard deviation"):
        optimizer.tell(optimizer.ask(), 1.0, constraints=[-1, 2], constraint_std=[-1, 0.1])
    result = labcat.minimize(
        lambda x: labcat.Outcome(x[0], constraints=[0.2 - x[0]], constraint_std=[0.01]), [(0, 1)], constraints=1, budget=12, rng=1
    )
    assert result.history[0].constraint_std.tolist() == [0.01]
