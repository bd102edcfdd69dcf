"""What people try first, and how they are told what to write."""

import pickle
from decimal import Decimal
from fractions import Fraction

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


@pytest.mark.parametrize("bounds", [([-5, -5, -5], [10, 10, 10]), ([-5, -5], [10, 10]), ([-1, -2], [1, 2]), np.array([[-5.0] * 4, [10.0] * 4])])
def test_all_lower_and_all_upper_bounds(bounds):
    with pytest.raises(labcat.InvalidError, match=r"scipy.optimize.Bounds\(low, high\) or list\(zip\(low, high\)\)"):
        labcat.minimize(bowl, bounds, budget=5)


def test_inverted_bounds_that_are_no_lower_and_upper_ones():
    with pytest.raises(labcat.InvalidError, match=r"bounds of x0 are \(1, -1\): low must be below high, by more"):
        labcat.minimize(bowl, [(1, -1), (0, 1)], budget=5)


@pytest.mark.parametrize(
    "name, ours", [("n_iter", "budget"), ("options", "budget"), ("verbose", "progress"), ("disp", "progress"), ("max_time", "time_limit")]
)
def test_options_by_other_names(name, ours):
    with pytest.raises(labcat.InvalidError, match=f"unknown option '{name}': did you mean '{ours}'?"):
        labcat.minimize(bowl, BOX, **{name: 5})


def test_a_condition_is_shown():
    space = labcat.Space(
        kind=["a", "b"],
        x=labcat.Real(0, 1, when={"kind": "a"}),
        n=labcat.Integer(0, 3, when=[{"kind": "b"}]),
        flag=labcat.Boolean(when={"kind": "b"}),
        one=labcat.Fixed(1, when={"kind": "b"}),
    )
    assert repr(space) == (
        "Space({'kind': Categorical(choices=('a', 'b'), ordered=False), "
        "'x': Real(low=0.0, high=1.0, scale='linear', when={'kind': 'a'}), "
        "'n': Integer(low=0, high=3, scale='linear', step=1, when=[{'kind': 'b'}]), "
        "'flag': Boolean(when={'kind': 'b'}), 'one': Fixed(1, when={'kind': 'b'})})"
    )
    assert eval(repr(space), {name: getattr(labcat, name) for name in labcat.__all__}) == space


def test_points_of_named_parameters_are_shown_by_name():
    optimizer = labcat.Optimizer(labcat.Space(kind=["a", "b"], x=labcat.Real(0, 1, when={"kind": "a"})), rng=1)
    optimizer.tell(x={"kind": "a", "x": 0.25}, value=1.0)
    shown = "params={'kind': 'a', 'x': 0.25}"
    assert repr(optimizer.best) == f"Evaluation(id=0, {shown}, value=1.0, run=0)"
    assert repr(optimizer.recommended) == f"Recommendation({shown}, mean=1.0, std=0.0)"
    assert repr(labcat.Optimizer({"a": (0, 1)}, rng=1).ask()) == "Trial(id=0, params={'a': 0.5})"
    assert repr(labcat.Optimizer([(0, 1)], rng=1).ask()) == "Trial(id=0, x=array([0.5]))"


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


@pytest.mark.parametrize("value", [0.5, -1e-300, 1e300, 3.0, 0.0])
def test_equal_bounds_need_not_be_integers(value):
    result = labcat.minimize(lambda x: (x[0] - 1) ** 2 + (x[2] + 1) ** 2, [(-5, 5), (value, value), (-5, 5)], budget=30, rng=1)
    assert (result.history.x[:, 1] == value).all() and result.fun < 1e-6
    copy = labcat.Optimizer.from_json(result.optimizer.to_json())
    assert copy.space == result.optimizer.space and copy.space["x1"] == labcat.Real(value, value)
    with pytest.raises(labcat.InvalidError, match=rf"must lie in \[{value:.15g}".replace("+", r"\+")):
        labcat.Optimizer([(0, 1), (value, value)]).tell(x=[0.5, value + 1 + abs(value)], value=1)


def test_fixed_parameters_with_everything_else():
    space = labcat.Space(kind=["a", "b"], c=labcat.Real(0.25, 0.25, "log"), x=(0, 1), y=labcat.Real(0.1, 0.1, step=0.5, when={"kind": "b"}))
    result = labcat.minimize(lambda p: p["x"] + p["c"] - p.get("y", 0), space, budget=25, rng=1, constraints=["x >= c"])
    assert result.params == {"kind": "b", "c": 0.25, "x": pytest.approx(0.25, abs=1e-3), "y": 0.1}
    assert all(e.params["x"] >= 0.25 for e in result.history)
    assert labcat.minimize(lambda x: x[0], [(0.5, 0.5)], budget=5).fun == 0.5  # nothing to choose


def test_a_real_number_in_steps():
    space = labcat.Space(dose=labcat.Real(0, 0.5, step=0.1), rate=labcat.Real(0.5, 8, "log", 0.5), x=(0, 1))
    seen = []

    def fun(params):
        seen.append(params)
        return (params["dose"] - 0.3) ** 2 + abs(params["rate"] - 2.5) + params["x"]

    result = labcat.minimize(fun, space, budget=40, rng=1)
    assert {p["dose"] for p in seen} <= {0.0, 0.1, 0.2, 0.3, 0.4, 0.5} and all(p["rate"] % 0.5 == 0 for p in seen)
    assert result.params == {"dose": 0.3, "rate": 2.5, "x": pytest.approx(0, abs=1e-3)}
    assert repr(space["dose"]) == "Real(low=0.0, high=0.5, scale='linear', step=0.1)"
    copy = labcat.Optimizer.from_json(result.optimizer.to_json())
    assert copy.space == space and pickle.loads(pickle.dumps(result.optimizer)).space == space
    copy.set_stopping(budget=50)
    copy.tell(x={"dose": 0.1 + 0.2, "rate": 1, "x": 0.5}, value=1.0)  # 0.30000000000000004
    assert copy.history[-1].params["dose"] == 0.3
    with pytest.warns(UserWarning, match="moved into the space"):
        warm = labcat.minimize(fun, space, budget=5, rng=1, history=([{"dose": 0.34, "rate": 2, "x": 0.5}], [1.0]))
    assert warm.history[0].params == {"dose": 0.3, "rate": 2.0, "x": 0.5}
    assert labcat.minimize(lambda p: p["k"], labcat.Space(k=labcat.Real(1, 2, step=0.25)), budget=50).nfev == 5


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: labcat.Real(0, 1, step=0.3), "low plus a multiple of the step, such as 0.9 or 1.2"),
        (lambda: labcat.Real(0, 1, step=0), "step of parameter 'a' is 0.0; it must be above 0"),
        (lambda: labcat.Real(0, 1, step=-0.5), "step of parameter 'a' is -0.5"),
        (lambda: labcat.Real(0, 1, step="x"), "step of parameter 'a' is 'x'; it must be a finite number"),
        (lambda: labcat.Real(0, 1, step=float("nan")), "step of parameter 'a' is nan"),
    ],
)
def test_steps_that_are_none(make, says):
    with pytest.raises(labcat.InvalidError, match=says):
        labcat.Space(a=make())


def test_a_value_between_steps():
    optimizer = labcat.Optimizer(labcat.Space(dose=labcat.Real(0, 0.5, step=0.1)))
    with pytest.raises(labcat.InvalidError, match=r"0.25 is not allowed: it must lie in \[0, 0.5\], in steps of 0.1"):
        optimizer.tell(x={"dose": 0.25}, value=1.0)


def test_two_integers_are_a_range_of_reals_and_said_so():
    assert isinstance(labcat.Space(a=(1, 8))["a"], labcat.Real)
    assert "labcat.Integer(1, 8)` gives 3 or 4" in labcat.Space.__doc__
    space = labcat.Space(criterion=["gini", "entropy"], deep=[True, False], n=[10, 100, 1000], x=[0.5, 2])
    assert [type(p).__name__ for p in space.values()] == ["Categorical", "Categorical", "Categorical", "Real"]


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


@pytest.mark.parametrize("make", [lambda: zip([0, -1], [1, 1]), lambda: ((0, 1) for _ in range(2)), lambda: iter(BOX)])
def test_bounds_that_can_be_read_once(make):
    assert labcat.minimize(bowl, make(), budget=5, rng=1).x.shape == (2,)
    assert len(labcat.Optimizer(make()).space) == 2


def test_bounds_in_a_data_frame():
    pd = pytest.importorskip("pandas")
    space = labcat.Optimizer(pd.DataFrame({"low": [0, 1], "high": [2, 3]})).space
    assert [(p.low, p.high) for p in space.values()] == [(0, 2), (1, 3)]


@pytest.mark.parametrize("number", [Decimal("0.5"), Fraction(1, 2), np.array(0.5), np.float32(0.5)])
def test_options_are_numbers_of_any_type(number):
    assert labcat.Optimizer(BOX, noise=number, target=number).config["noise"] == 0.5


def test_text_is_no_number():
    optimizer = labcat.Optimizer(BOX, constraints=1, rng=1)
    with pytest.raises(labcat.InvalidError, match=r"constraints: \['1'\]; allowed: a list of real numbers"):
        optimizer.tell(optimizer.ask(), 1.0, constraints=["1"])


@pytest.mark.parametrize("text", [None, 3, []])
def test_a_state_is_text(text):
    with pytest.raises(labcat.InvalidError, match="a state is .*; allowed: the text that to_json gave"):
        labcat.Optimizer.from_json(text)
    state = labcat.Optimizer(BOX, rng=1).to_json()
    assert labcat.Optimizer.from_json(state.encode()).to_json() == state


def test_half_a_pair_of_surrogates_in_a_reason():
    optimizer = labcat.Optimizer(BOX, rng=1)
    optimizer.fail(optimizer.ask(), reason="caf\u00e9 \ud800")
    assert labcat.Optimizer.from_json(optimizer.to_json()).history.reason == ["caf\u00e9 ?"]


@pytest.mark.parametrize("noise, said", [("none", True), ("auto", False)])
def test_standard_deviations_that_are_not_used_are_in_the_message(noise, said):
    result = labcat.minimize(lambda x: labcat.Outcome(bowl(x), std=0.1), BOX, budget=5, rng=1, noise=noise)
    assert ('standard deviations of the values were not used: say noise="auto"' in result.message) is said


def test_a_function_of_several_numbers_with_bounds_without_names():
    match = r"called with one vector of all parameters, and takes \(a, b\) \(missing .*'b'\); with named bounds, such as"
    with pytest.raises(labcat.InvalidError, match=match):
        labcat.minimize(lambda a, b: a + b, BOX, budget=5)
    with pytest.raises(labcat.InvalidError, match=r"one vector of all parameters and 1 further argument, and takes \(x\)"):
        labcat.least_squares(lambda x: x, BOX, args=(1,), budget=5)
    labcat.minimize(lambda a, b=0: bowl(a) + b, BOX, budget=2)
