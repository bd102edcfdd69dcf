"""What people try first, and how they are told what to write."""

import pickle

import numpy as np
import pytest

import labcat

BOX = [(-5, 5)] * 2


def bowl(x):
    return float(np.sum(np.square(x)))


@pytest.mark.parametrize("kind", [labcat.Real, labcat.Integer])
def test_a_logarithmic_scale_by_another_name(kind):
    with pytest.raises(labcat.InvalidError, match=f"{kind.__name__} has no keyword 'log'; write scale=\"log\""):
        kind(1, 10, log=True)
    with pytest.raises(TypeError):
        kind(1, 10, log=True)


@pytest.mark.parametrize("name, ours", [("Float", "Real"), ("Int", "Integer"), ("Choice", "Categorical"), ("Bool", "Boolean")])
def test_parameters_by_other_names(name, ours):
    with pytest.raises(AttributeError, match=f"it is called labcat.{ours} here"):
        getattr(labcat, name)


@pytest.mark.parametrize("optimise", [labcat.minimize, labcat.maximize])
def test_a_budget_without_its_name(optimise):
    with pytest.raises(TypeError, match=rf"{optimise.__name__} takes the function and its bounds.* budget=50"):
        optimise(bowl, BOX, 50)


@pytest.mark.parametrize(
    "fun", [lambda x: x[0] ** 2, lambda x: x**2, lambda x: np.sum(np.square(x)), lambda x: 2 * x, lambda x: x @ x, lambda x: float(x)]
)
def test_a_function_of_a_vector_with_named_bounds(fun):
    with pytest.raises(labcat.InvalidError, match=r"gets a dictionary, x\['a'\], or takes them by name, def fun\(a, b\); to get a vector"):
        labcat.minimize(fun, {"a": (0, 1), "b": (0, 1)}, budget=5)


def test_named_parameters_are_a_dictionary():
    seen = []

    def fun(params):
        seen.append(params)
        with pytest.raises(KeyError, match="speed"):
            params["speed"]
        return params["a"] + params.get("c", 1.0)

    labcat.minimize(fun, {"a": (0, 1), "b": (0, 1)}, budget=2)
    assert isinstance(seen[0], dict) and dict(pickle.loads(pickle.dumps(seen[0]))) == seen[0]


@pytest.mark.parametrize("bounds", [([-5, -5, -5], [10, 10, 10]), ([-5, -5], [10, 10]), np.array([[-5.0] * 4, [10.0] * 4])])
def test_all_lower_and_all_upper_bounds(bounds):
    with pytest.raises(labcat.InvalidError, match=r"scipy.optimize.Bounds\(low, high\) or list\(zip\(low, high\)\)"):
        labcat.minimize(bowl, bounds, budget=5)


def test_equal_bounds_fix_a_parameter():
    result = labcat.minimize(lambda x: bowl(x) + x[1], [(-5, 5), (2, 2), (-1, 3)], budget=40, rng=1)
    assert (result.history.x[:, 1] == 2.0).all() and result.fun == pytest.approx(6, abs=1e-3)
    copy = labcat.Optimizer.from_json(result.optimizer.to_json())
    assert copy.space == result.optimizer.space
    space = labcat.Space(a=(0, 1), b=labcat.Real(3, 3), n=labcat.Integer(3, 3))
    params = labcat.Optimizer(space, rng=1).ask().params
    assert (params["b"], params["n"]) == (3.0, 3) and (type(params["b"]), type(params["n"])) == (float, int)
    again = labcat.Optimizer.from_json(labcat.Optimizer(space, rng=1).to_json()).ask().params
    assert again == params and type(again["n"]) is int
    with pytest.raises(labcat.InvalidError, match=r"bounds of parameter 'b' are both 0.5; .* labcat.Fixed\(0.5\)"):
        labcat.Space(a=(0, 1), b=(0.5, 0.5))


def test_a_condition_on_what_never_changes():
    space = labcat.Space(kind=labcat.Fixed("a"), n=labcat.Integer(2, 2), x=labcat.Real(0, 1, when={"kind": "a"}), y=labcat.Real(0, 1, when={"n": 2}), z=labcat.Real(1, 1, when={"kind": "a"}))
    result = labcat.minimize(lambda kind, n, x, y, z: x + y + z, space, budget=20, rng=1)
    assert sorted(result.history[0].params) == ["kind", "n", "x", "y", "z"]


def test_constraints_of_slsqp_and_cobyla():
    inside = {"type": "ineq", "fun": lambda x, radius: radius**2 - x @ x, "args": (1.0,)}
    result = labcat.minimize(lambda x: x.sum(), BOX, constraints=inside, budget=40, rng=1)
    assert result.fun == pytest.approx(-(2**0.5), abs=1e-2)
    assert (np.sum(result.history.x**2, axis=1) <= 1).all()
    both = [inside, {"type": "ineq", "fun": lambda x: x[0]}]
    assert (labcat.minimize(lambda x: x.sum(), BOX, constraints=both, budget=15, rng=1).history.x[:, 0] >= 0).all()
    with pytest.raises(labcat.InvalidError, match="type of a constraint is 'eq'.*An equation must be linear"):
        labcat.minimize(bowl, BOX, constraints={"type": "eq", "fun": bowl}, budget=5)


AND = labcat.Space(
    kind=["a", "b"],
    deep=labcat.Boolean(),
    both=labcat.Real(0, 1, when={"kind": "b", "deep": True}),
    either=labcat.Real(0, 1, when=[{"kind": "b"}, {"deep": True}]),
)


def holds(params):
    kind, deep = params["kind"] == "b", params["deep"]
    return ("both" in params) == (kind and deep) and ("either" in params) == (kind or deep)


def test_conditions_of_several_parameters():
    def fun(params):
        assert holds(params)
        return (params["kind"] == "a") + (not params["deep"]) + abs(params.get("both", 1) - 0.3) + abs(params.get("either", 1) - 0.6)

    result = labcat.minimize(fun, AND, budget=60, rng=1)
    assert result.fun < 0.02
    assert {(e.params["kind"], e.params["deep"]) for e in result.history} == {(k, d) for k in "ab" for d in (True, False)}
    for copy in (labcat.Optimizer.from_json(result.optimizer.to_json()), pickle.loads(pickle.dumps(result.optimizer))):
        copy.set_stopping(budget=80)
        assert all(holds(trial.params) for trial in copy.ask(20))
        assert [e.params for e in copy.history] == [e.params for e in result.history]
    assert AND.to_vector({"kind": "a", "deep": False}).shape == (4,)


@pytest.mark.parametrize("when", [[], {}, [{}], "kind", [{"kind": "a"}, 3]])
def test_conditions_that_are_none(when):
    with pytest.raises(labcat.InvalidError, match="condition of 'x' is"):
        labcat.Space(kind=["a", "b"], x=labcat.Real(0, 1, when=when))
