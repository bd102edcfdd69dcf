"""Known and measured constraints, and gradients."""

import math
import pickle

import numpy as np
import pytest

import labcat

scipy_optimize = pytest.importorskip("scipy.optimize")
BOX = [(-2, 2), (-2, 2)]
LEAST = 0.72


def bowl(x):
    return (x[0] - 1) ** 2 + (x[1] - 1.2) ** 2


def line(x):
    return x[0] + x[1] - 1


@pytest.mark.parametrize("seed", range(3))
def test_a_known_constraint_is_never_violated(seed):
    known = scipy_optimize.LinearConstraint([[1, 1]], -np.inf, 1)
    result = labcat.minimize(bowl, BOX, constraints=known, budget=40, rng=seed)
    assert (result.history.x.sum(axis=1) <= 1).all()
    assert result.fun - LEAST < 1e-6


@pytest.mark.parametrize("bounds", [{"x": (-2, 2), "y": (-2, 2)}, labcat.Space(x=(-2, 2), y=(-2, 2))])
def test_a_constraint_as_text_names_the_parameters(bounds):
    def fun(x):
        return bowl([x["x"], x["y"]])

    optimizer = labcat.Optimizer(bounds, constraints=["x + y <= 1", "x^2 + y^2 >= 0.01"], rng=1)
    for _ in range(40):
        trial = optimizer.ask()
        assert trial.params["x"] + trial.params["y"] <= 1
        optimizer.tell(trial, fun(trial.params))
    assert optimizer.best.value - LEAST < 1e-6
    copy = pickle.loads(pickle.dumps(optimizer))
    assert (copy.ask().x == optimizer.ask().x).all()


def test_a_constraint_as_text_is_checked():
    for text, part in {
        "x0 + 2x1 <= 1": "column 7: an operator is missing before `x1`",
        "x0 + y <= 1": "`y` is not a parameter: the parameters are x0, x1",
        "x0 < 1": "write <=, >= or ==",
        "x0 + x1 >= 9": "no point within the bounds satisfies",
    }.items():
        with pytest.raises(labcat.InvalidError) as error:
            labcat.Optimizer(BOX, constraints=text)
        assert part in str(error.value)


def test_known_functions_equations_and_x0():
    known = [
        scipy_optimize.NonlinearConstraint(lambda x: x[0] ** 2 + x[1] ** 2, 0.25, 1),
        scipy_optimize.LinearConstraint([[1, -2]], 0.5, 0.5),
    ]
    result = labcat.minimize(bowl, BOX, constraints=known, budget=30, rng=1)
    x = result.history.x
    radius = (x**2).sum(axis=1)
    assert ((0.25 <= radius) & (radius <= 1)).all()
    assert np.allclose(x @ [1, -2], 0.5, atol=1e-12)
    with pytest.raises(labcat.InvalidError, match="violates a known constraint"):
        labcat.minimize(bowl, BOX, constraints=known, x0=[0, 0], budget=5, rng=1)


def test_an_empty_set_is_an_error_before_the_first_evaluation():
    for known in (
        scipy_optimize.LinearConstraint([[1, 1]], 5, np.inf),
        scipy_optimize.NonlinearConstraint(lambda x: 1.0, 2, 3),
    ):
        with pytest.raises(labcat.InvalidError, match="satisfies the"):
            labcat.minimize(lambda x: pytest.fail("evaluated"), BOX, constraints=known, budget=5)


def test_measured_constraints():
    result = labcat.minimize(lambda x: (bowl(x), [line(x)]), BOX, constraints=1, budget=60, rng=1)
    assert result.feasible and result.constraints[0] <= 0
    assert result.fun - LEAST < 1e-6
    history = result.history
    assert history.constraints.shape == (60, 1)
    assert (history.feasible == (history.constraints[:, 0] <= 0)).all()
    assert np.nanmin(history.value[history.feasible]) == result.fun == history.best[-1]


def test_a_dictionary_and_a_missing_value():
    def simulate(x):
        g = line(x)
        return {"value": None if g > 0 else bowl(x), "constraints": [g]}

    result = labcat.minimize(simulate, BOX, constraints=1, budget=40, rng=1)
    assert result.feasible and result.fun < LEAST + 0.05
    assert np.isnan(result.history.value[~result.history.feasible]).all()


def test_without_a_feasible_point_the_result_says_so():
    result = labcat.minimize(lambda x: (bowl(x), [1 + abs(x[0])]), BOX, constraints=1, budget=12, rng=1)
    assert not result.feasible
    assert "no evaluation satisfied the constraints: x has the smallest violation" in result.message
    assert result.constraints[0] == result.history.constraints.min()
    failed = labcat.minimize(lambda x: (None, [-1.0]), BOX, constraints=1, budget=5, rng=1)
    assert "no evaluation that satisfied the constraints gave a value" in failed.message and not failed.feasible


def test_known_and_measured_together():
    known = scipy_optimize.LinearConstraint([[1, 0]], -np.inf, 0)
    result = labcat.minimize(lambda x: (bowl(x), [line(x)]), BOX, constraints=[1, known], budget=40, rng=1)
    assert (result.history.x[:, 0] <= 0).all()
    assert result.fun < bowl([0, 1]) + 1e-6


def test_ask_and_tell():
    optimizer = labcat.Optimizer(BOX, constraints=2, rng=1)
    trial = optimizer.ask()
    for wrong in ({}, {"constraints": [1.0]}, {"constraints": [[1.0, 2.0]]}):
        with pytest.raises(labcat.InvalidError, match="constraints"):
            optimizer.tell(trial, 1.0, **wrong)
    with pytest.raises(labcat.InvalidError, match="gradient has length 3"):
        optimizer.tell(trial, 1.0, constraints=[-1, -1], gradient=[1, 2, 3])
    optimizer.tell(trial, 1.0, constraints=[-1, 1], gradient=[1, math.nan])
    assert not optimizer.best.feasible
    optimizer.tell(optimizer.ask(), 2.0, constraints=[0, -1])
    assert optimizer.best.feasible and optimizer.best.value == 2
    optimizer.tell(optimizer.ask(), 0.0, constraints=[math.nan, -1])
    assert optimizer.history.reason[-1] == "constraint 0 is NaN"


def test_known_constraints_are_pickled():
    known = scipy_optimize.LinearConstraint([[1, 1]], -np.inf, -3)
    optimizer = pickle.loads(pickle.dumps(labcat.Optimizer(BOX, constraints=known, rng=1)))
    assert all(trial.x.sum() <= -3 for trial in optimizer.ask(8))


def rosenbrock(x):
    a, b = x[1:] - x[:-1] ** 2, 1 - x[:-1]
    gradient = np.zeros_like(x)
    gradient[:-1] = -400 * x[:-1] * a - 2 * b
    gradient[1:] += 200 * a
    return float(np.sum(100 * a**2 + b**2)), gradient


def test_gradients_of_the_wrong_sign_are_left_out_and_that_is_said():
    def wrong(x):
        value, gradient = rosenbrock(x)
        return value, -gradient

    options = {"budget": 40, "rng": 1}
    box = [(-5, 10)] * 3
    result = labcat.minimize(wrong, box, jac=True, **options)
    assert "gradients do not agree" in result.message
    assert result.fun == labcat.minimize(lambda x: rosenbrock(x)[0], box, **options).fun
    assert "gradients" not in labcat.minimize(rosenbrock, box, jac=True, **options).message


def test_gradients_save_evaluations():
    box = [(-5, 10)] * 3
    options = {"target": 1e-8, "budget": 300, "rng": 1, "quartic": False}  # a quartic solves this one without derivatives, too
    with_gradient = labcat.minimize(rosenbrock, box, jac=True, **options)
    without = labcat.minimize(lambda x: rosenbrock(x)[0], box, **options)
    assert with_gradient.fun <= 1e-8
    assert 3 * with_gradient.nfev <= 2 * without.nfev


def test_an_objective_that_returns_a_pair_is_told_of_constraints_and_gradients():
    with pytest.raises(labcat.InvalidError, match=r"\(1.0, \[0.5\]\); it must be one.*constraints=1.*jac=True"):
        labcat.minimize(lambda x: (1.0, [0.5]), [(-1, 1)], budget=5)
    with pytest.raises(labcat.InvalidError, match="one real number [^;]*$"):
        labcat.minimize(lambda x: None, [(-1, 1)], budget=5)


def test_an_objective_that_returns_something_else_is_told():
    with pytest.raises(labcat.InvalidError, match=r"allowed: \(value, constraints\)"):
        labcat.minimize(bowl, BOX, constraints=1, budget=5, rng=1)
    with pytest.raises(labcat.InvalidError, match="'mass'; allowed: value"):
        labcat.minimize(lambda x: {"value": 1, "mass": 2}, BOX, constraints=1, budget=5, rng=1)


MIXED = {
    "n": labcat.Integer(0, 20),
    "kind": labcat.Categorical(["a", "b", "c"]),
    "x": labcat.Real(0, 2),
}


def mixed_value(p):
    return 0.25 * (p["n"] - 4) ** 2 + {"a": 1, "b": 0, "c": 0.5}[p["kind"]] + 13 * (p["x"] - 1) ** 2


def mixed_least():
    best = [mixed_value({"n": n, "kind": "b", "x": min((6 - n) / 4, 1)}) for n in range(7)]
    return min(best)


def test_known_constraints_with_integers_and_categories():
    known = [
        scipy_optimize.LinearConstraint([[1, 0, 4]], ub=6),
        # In a space with choices a function takes the values by name.
        scipy_optimize.NonlinearConstraint(lambda p: p["n"] - 2 if p["kind"] == "c" else 0, -np.inf, 0),
    ]
    result = labcat.minimize(mixed_value, MIXED, constraints=known, budget=60, rng=1)
    for x in result.history.x:
        p = result.optimizer.space.to_dict(x)
        assert p["n"] + 4 * p["x"] <= 6 and (p["kind"] != "c" or p["n"] <= 2)
    assert result.fun - mixed_least() < 1e-3
    with pytest.raises(labcat.InvalidError, match="factor for `kind`, a category"):
        labcat.Optimizer(MIXED, constraints=scipy_optimize.LinearConstraint([[0, 1, 0]], ub=1))


def test_measured_constraints_with_integers_and_categories():
    def simulate(p):
        return mixed_value(p), [p["n"] + 4 * p["x"] - 6]

    result = labcat.minimize(simulate, MIXED, constraints=1, budget=80, rng=1)
    assert result.feasible and result.fun - mixed_least() < 1e-2


def test_a_warm_start_that_violates_a_known_constraint_is_only_learned_from():
    known = scipy_optimize.LinearConstraint([[1, 1]], ub=1)
    optimizer = labcat.Optimizer(BOX, constraints=known, rng=1)
    for x in ([1.5, 1.5], [1, 1.2], [-1, -1]):
        optimizer.tell(x=x, value=bowl(x))
    for _ in range(20):
        trial = optimizer.ask()
        assert trial.x.sum() <= 1
        optimizer.tell(trial, bowl(trial.x))


def test_under_noise_the_recommended_point_meets_measured_constraints():
    rng = np.random.default_rng(1)
    optimizer = labcat.Optimizer(BOX, constraints=1, noise=0.05, rng=1)
    for _ in range(80):
        trial = optimizer.ask()
        value = bowl(trial.x) + 0.05 * rng.standard_normal()
        optimizer.tell(trial, value, constraints=[line(trial.x)])
    x = optimizer.recommended.x
    assert line(x) <= 1e-3 and bowl(x) - LEAST < 0.06


def test_feasible_is_there_when_every_evaluation_failed():
    result = labcat.minimize(lambda x: (math.nan, [math.nan, 1]), BOX, constraints=2, budget=5, rng=1)
    assert result.feasible is False and np.isnan(result.constraints).tolist() == [True, True]
    assert "constraints" not in labcat.minimize(bowl, BOX, budget=5, rng=1)


def test_a_function_that_raises_is_named_where_nothing_meets_it():
    broken = scipy_optimize.NonlinearConstraint(lambda x: x[9], 0, 1)
    with pytest.raises(labcat.InvalidError, match=r"none of 2000 points .* raised IndexError: index 9 is out of bounds"):
        labcat.minimize(bowl, BOX, constraints=broken, budget=9, rng=1)

    def sometimes(x):
        if x[0] > 1:
            raise ArithmeticError("too far")
        return x[1]

    result = labcat.minimize(bowl, BOX, constraints=scipy_optimize.NonlinearConstraint(sometimes, -2, 2), budget=20, rng=1)
    assert (result.history.x[:, 0] <= 1).all(), "where it raises it is not met"
    pickle.loads(pickle.dumps(labcat.Optimizer(BOX, constraints=broken.__class__(line, -1, 1))))


def test_text_and_linear_constraints_come_back_with_the_state():
    from scipy.optimize import LinearConstraint

    for known in ("x0 + x1 <= 1", LinearConstraint([[1, 1]], -np.inf, 1), ["x0 + x1 <= 1", "x0 >= 0.1"]):
        optimizer = labcat.Optimizer([(0, 1)] * 2, constraints=known, rng=1)
        for _ in range(10):
            trial = optimizer.ask()
            optimizer.tell(trial, -float(trial.x.sum()))
        copy = labcat.Optimizer.from_json(optimizer.to_json())
        asked = np.array([trial.x for trial in copy.ask(20)])
        assert (asked.sum(axis=1) <= 1).all()
        np.testing.assert_array_equal(asked, [trial.x for trial in optimizer.ask(20)])


def test_constraints_that_are_functions_are_asked_for_again():
    from scipy.optimize import NonlinearConstraint

    disc = NonlinearConstraint(lambda x: x @ x, -np.inf, 1)
    optimizer = labcat.Optimizer([(0, 1)] * 2, constraints=[disc, "x0 <= x1"], rng=1)
    state = optimizer.to_json()
    with pytest.raises(labcat.InvalidError, match="made with a function that is a constraint.* and 0 are given"):
        labcat.Optimizer.from_json(state)
    with pytest.raises(labcat.InvalidError, match="and 2 are given"):
        labcat.Optimizer.from_json(state, constraints=[disc, disc])
    for again in (disc, [disc, "x0 <= x1"]):
        copy = labcat.Optimizer.from_json(state, constraints=again)
        asked = [trial.x for trial in copy.ask(20)]
        assert all(x @ x <= 1 and x[0] <= x[1] for x in asked)
        assert labcat.Optimizer.from_json(copy.to_json(), constraints=disc).ask().x.shape == (2,)


def test_a_state_keeps_how_many_constraints_are_measured():
    state = labcat.Optimizer([(0, 1)], constraints=2, rng=1).to_json()
    assert labcat.Optimizer.from_json(state, constraints=2).config["constraints"] == 2
    with pytest.raises(labcat.InvalidError, match="constraints is 3; in the state 2 are measured"):
        labcat.Optimizer.from_json(state, constraints=3)


def at_most_one(x):
    return x.sum()


def test_a_pickle_keeps_every_known_constraint():
    from scipy.optimize import NonlinearConstraint

    optimizer = labcat.Optimizer(
        [(0, 1)] * 2, constraints=[NonlinearConstraint(at_most_one, -np.inf, 1), "x0 >= 0.1"], rng=1
    )
    copy = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(optimizer))))
    assert all(trial.x.sum() <= 1 and trial.x[0] >= 0.1 for trial in copy.ask(20))


def test_a_checkpoint_with_other_constraints_belongs_to_another_problem(tmp_path):
    path = tmp_path / "run.json"
    options = {"budget": 6, "rng": 1, "checkpoint": path}
    labcat.minimize(lambda x: -x.sum(), [(0, 1)] * 2, constraints="x0 + x1 <= 1", **options)
    for other in ("x0 + x1 <= 2", None):
        with pytest.raises(labcat.CheckpointError, match="another problem: its known constraints are"):
            labcat.minimize(lambda x: -x.sum(), [(0, 1)] * 2, constraints=other, **options)
    options["budget"] = 30
    result = labcat.minimize(lambda x: -x.sum(), [(0, 1)] * 2, constraints="x0 + x1 <= 1", **options)
    assert (result.history.x.sum(axis=1) <= 1).all()


@pytest.mark.parametrize("bound", [math.nan, None])
def test_a_bound_that_is_no_number_is_refused(bound):
    known = scipy_optimize.NonlinearConstraint(line, bound, 1)
    with pytest.raises(labcat.InvalidError, match=r"a bound of a constraint is .*; allowed: numbers"):
        labcat.Optimizer(BOX, constraints=known)
    if bound is not None:
        with pytest.raises(labcat.InvalidError, match=r"a bound of a constraint is .*nan"):
            labcat.Optimizer(BOX, constraints=scipy_optimize.LinearConstraint([[1, 1]], ub=bound))


def test_an_error_says_that_the_bounds_do_not_fit_the_function():
    known = scipy_optimize.NonlinearConstraint(lambda x: x, [0, 0, 0], 1)
    with pytest.raises(labcat.InvalidError, match="could not be broadcast"):
        labcat.Optimizer(BOX, constraints=known)


def disc(x):
    return x @ x


def test_an_interrupted_constraint_ends_the_call_and_changes_nothing():
    calls, last = 0, math.inf

    def interrupted(x):
        nonlocal calls
        calls += 1
        if calls > last:
            raise KeyboardInterrupt
        return disc(x)

    same = scipy_optimize.NonlinearConstraint(disc, -math.inf, 1)
    optimizer = labcat.Optimizer(
        BOX, constraints=scipy_optimize.NonlinearConstraint(interrupted, -math.inf, 1), rng=1
    )
    for n in range(20):
        state = optimizer.to_json()
        last = calls + 7 * (n - 4) if n > 4 else calls
        with pytest.raises(KeyboardInterrupt):
            optimizer.ask()
        assert optimizer.to_json() == state and calls == last + 1
        last = math.inf
        trial = optimizer.ask()
        assert (trial.x == labcat.Optimizer.from_json(state, constraints=same).ask().x).all()
        optimizer.tell(trial, bowl(trial.x))


def test_a_constraint_that_uses_its_own_optimizer_is_told_so():
    own = []

    def far(x):
        return min((abs(x - told.x).max() for told in own[0].history), default=1.0) if own else 1.0

    optimizer = labcat.Optimizer(BOX, constraints=scipy_optimize.NonlinearConstraint(far, 0.1, math.inf))
    own.append(optimizer)
    with pytest.raises(labcat.InvalidError, match="must not use the optimizer that calls it"):
        optimizer.ask()
    own.clear()
    assert optimizer.ask().id == 0
