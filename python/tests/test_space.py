"""Bounds and spaces of named parameters."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from objectives import named, sphere
from scipy.optimize import Bounds

import labcat

SPACE = labcat.Space(rate=labcat.Real(1e-6, 1, scale="log"), momentum=(0, 1))


@pytest.mark.parametrize(
    "bounds",
    [
        [(-1, 2), (-3, 4)],
        ((-1, 2), (-3, 4)),
        np.array([[-1, 2], [-3, 4]]),
        zip([-1, -3], [2, 4]),
        Bounds([-1, -3], [2, 4]),
        {"x0": (-1, 2), "x1": labcat.Real(-3, 4)},
    ],
)
def test_bounds_in_every_form(bounds):
    space = labcat.Optimizer(bounds, rng=1).space
    assert dict(space) == {"x0": labcat.Real(-1.0, 2.0), "x1": labcat.Real(-3.0, 4.0)}


def test_one_number_of_a_bounds_object_stands_for_every_parameter():
    space = labcat.Optimizer(Bounds(-1, [1, 2, 3]), rng=1).space
    assert [(p.low, p.high) for p in space.values()] == [(-1, 1), (-1, 2), (-1, 3)]


def test_a_name_is_text_and_not_empty():
    for name in ("", 3, None):
        with pytest.raises(labcat.InvalidError, match=f"name of a parameter must be a string that is not empty, not {name!r}"):
            labcat.Optimizer({name: (0, 1)})


@pytest.mark.parametrize(
    "bounds, named_in_message",
    [
        ([], "no parameters"),
        ([(1, 0)], "x0"),
        ([(0, 1), (2, 1)], "x1"),
        ([(0, np.inf)], "finite"),
        ([(np.nan, 1)], "finite"),
        ([(None, 1)], "low bound of parameter 'x0' is None"),
        ([(0, "a")], "high bound"),
        ([0, 1], "pairs"),
        ([(0, 1, 2)], "pairs"),
        (None, "pairs"),
        (7, "pairs"),
        ("ab", "pairs"),
        (np.zeros((2, 2, 2)), "bound"),
        (Bounds([0, 0], [np.inf, 1]), "finite"),
    ],
)
def test_wrong_bounds_are_errors_that_name_the_parameter(bounds, named_in_message):
    with pytest.raises(labcat.InvalidError, match=named_in_message):
        labcat.Optimizer(bounds)


@pytest.mark.parametrize(
    "make, named_in_message",
    [
        (lambda: labcat.Space(), "no parameters"),
        (lambda: labcat.Space(a=(1, 0)), "a"),
        (lambda: labcat.Space(a=labcat.Real(0, 1, scale="log")), "low > 0"),
        (lambda: labcat.Space(a=labcat.Real(0, 1, scale="cubic")), "cubic.*linear"),
        (lambda: labcat.Space(a=3), "'a' is 3"),
        (lambda: labcat.Space([("a", (0, 1))]), "mapping"),
        (lambda: labcat.Space({"a": (0, 1)}, a=(0, 1)), "twice"),
        (lambda: labcat.Space({1: (0, 1)}), "string"),
        (lambda: labcat.Space(n=labcat.Integer(1.5, 3)), "low of parameter 'n' is 1.5.*integer"),
        (lambda: labcat.Space(n=labcat.Integer(0, 9, step=2)), "multiple of the step"),
        (lambda: labcat.Space(n=labcat.Integer(0, 9, step=0)), "at least 1"),
        (lambda: labcat.Space(n=labcat.Integer(0, 9, scale="log")), "low > 0"),
        (lambda: labcat.Categorical("abc"), "list of labels"),
        (lambda: labcat.Space(k=labcat.Categorical([])), "at least one"),
        (lambda: labcat.Space(k=labcat.Categorical(["a", "a"])), "all different"),
        (lambda: labcat.Space(x=labcat.Real(0, 1, when={"k": 1})), "'x' depends on 'k'.*before it"),
        (lambda: labcat.Space(k=labcat.Boolean(), x=labcat.Real(0, 1, when={"k": 7})), "False or True"),
        (
            lambda: labcat.Space(k=labcat.Categorical(["a", "b"]), x=labcat.Real(0, 1, when={"k": "c"})),
            "'x' depends on 'k' being 'c', which it never is: it must be one of 'a', 'b'",
        ),
        (lambda: labcat.Space(k=["lu", 3]), "high|low"),
        (lambda: labcat.Space(k=(1, 2, 3)), r"a pair \(low, high\) of numbers or a list of labels"),
        (lambda: labcat.Space(k=labcat.Boolean(), x=labcat.Real(0, 1, when="k")), "condition of 'x'"),
    ],
)
def test_wrong_spaces_are_errors_where_they_are_written(make, named_in_message):
    with pytest.raises(labcat.InvalidError, match=named_in_message):
        make()


@pytest.mark.parametrize("labels", [["gini", "entropy"], ("gini", "entropy"), [True, False], [None, "balanced"], [16, 32, 64], ["lu"]])
def test_a_list_of_labels_is_a_categorical(labels):
    assert labcat.Space(k=labels)["k"] == labcat.Categorical(labels)


def test_a_pair_of_numbers_is_a_range_of_reals():
    for pair in ((1, 8), [1, 8], (1.0, 8)):
        assert labcat.Space(k=pair)["k"] == labcat.Real(1.0, 8.0)


def test_a_space_translates_between_dictionaries_and_vectors():
    assert SPACE.to_vector({"momentum": 0.5, "rate": 0.1}).tolist() == [0.1, 0.5]
    assert SPACE.to_dict(np.array([0.1, 0.5])) == {"rate": 0.1, "momentum": 0.5}
    assert all(type(value) is float for value in SPACE.to_dict([1, 0]).values())
    with pytest.raises(labcat.InvalidError, match="lacks 'momentum'"):
        SPACE.to_vector({"rate": 0.1})
    with pytest.raises(labcat.InvalidError, match="unknown parameter 'speed'"):
        SPACE.to_vector({"rate": 0.1, "momentum": 0.2, "speed": 3})
    with pytest.raises(labcat.InvalidError, match="2 values"):
        SPACE.to_dict([1.0])


def test_a_space_is_a_value():
    for twin in (pickle.loads(pickle.dumps(SPACE)), copy.deepcopy(SPACE)):
        assert twin == SPACE and list(twin) == list(SPACE)
    assert repr(SPACE).startswith("Space({'rate': Real(low=1e-06")


def test_a_function_that_takes_the_parameters_in_no_way_is_an_error_before_it_is_called():
    calls = []

    def misspelt(rate, momentun):
        calls.append(rate)
        return 0.0

    message = r"called with the parameters rate, momentum.*takes \(rate, momentun\).*missing.*'momentun'"
    with pytest.raises(labcat.InvalidError, match=message):
        labcat.minimize(misspelt, SPACE, budget=5, on_error="fail")
    assert not calls


def test_keywords_if_they_fit_the_signature():
    result = labcat.minimize(named, SPACE, budget=60, rng=1)
    assert result.fun < 1e-2
    assert result.params == {"rate": result.x[0], "momentum": result.x[1]}
    assert named(**result.params) == result.fun


def test_a_dictionary_if_they_do_not():
    seen = []

    def fun(params):
        seen.append(params)
        return named(**params)

    result = labcat.minimize(fun, SPACE, budget=10, rng=1)
    assert list(seen[0]) == ["rate", "momentum"]
    assert [named(**params) for params in seen] == result.history.value.tolist()


def test_both_ways_are_the_same_run():
    by_keyword = labcat.minimize(named, SPACE, budget=20, rng=1)
    by_dictionary = labcat.minimize(lambda params: named(**params), SPACE, budget=20, rng=1)
    collected = labcat.minimize(lambda **params: named(**params), SPACE, budget=20, rng=1)
    assert np.array_equal(by_keyword.history.x, by_dictionary.history.x)
    assert np.array_equal(by_keyword.history.x, collected.history.x)


def test_args_come_before_keywords_and_after_a_dictionary():
    def by_keyword(offset, rate, momentum):
        return offset + named(rate, momentum)

    def by_dictionary(params, offset):
        return offset + named(**params)

    one = labcat.minimize(by_keyword, SPACE, args=(100,), budget=10, rng=1)
    two = labcat.minimize(by_dictionary, SPACE, args=(100,), budget=10, rng=1)
    assert one.fun == two.fun > 99


def test_a_function_without_a_signature_gets_a_dictionary():
    result = labcat.minimize(max, labcat.Space(a=(0, 1)), budget=3, rng=1, on_error="fail")
    # max({"a": …}) is "a", which is no number
    assert result.history.failed.all()


def test_trials_and_the_best_carry_names():
    optimizer = labcat.Optimizer(SPACE, rng=1)
    trial = optimizer.ask()
    assert trial.params == SPACE.to_dict(trial.x)
    optimizer.tell(trial, 1.0)
    assert optimizer.best.params == trial.params
    optimizer.tell(x={"rate": 0.1, "momentum": 0.5}, value=0.5)
    assert optimizer.best.params == {"rate": 0.1, "momentum": 0.5}


def test_without_a_space_a_result_has_no_params():
    assert "params" not in labcat.minimize(sphere, [(0, 1)], budget=3, rng=1)


def test_a_log_scale_spreads_the_design_over_the_magnitudes():
    optimizer = labcat.Optimizer(SPACE, rng=1)
    rates = [trial.params["rate"] for trial in optimizer.ask(50)]
    assert 15 < sum(rate < 1e-3 for rate in rates) < 35


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([(0, 10**400)], r"x0 are \(0, inf\): both must be finite"),
        ({"n": labcat.Integer(0, 2**60)}, r"the high of parameter 'n' is 1152921504606846976; .* at most 2\*\*53"),
        ({"n": labcat.Integer(-(10**400), 0)}, r"the low of parameter 'n' .* at most 2\*\*53"),
        ({"n": labcat.Integer(0.5, 3)}, r"the low of parameter 'n' is 0\.5; it must be an integer"),
        ({"\ud800": (0, 1)}, "not Unicode text"),
        ({"b": labcat.Boolean(), "a": labcat.Real(0, 1, when={"b": []})}, "being none of its values: it must be False or True"),
    ],
)
def test_what_no_space_can_have_is_named(bounds, message):
    with pytest.raises(labcat.InvalidError, match=message):
        labcat.Optimizer(bounds)


def test_a_point_beyond_every_float_is_outside():
    optimizer = labcat.Optimizer([(0, 1)] * 2, rng=1)
    for x in ([0, 10**400], {"x0": 0, "x1": 10**400}):
        with pytest.raises(labcat.InvalidError):
            optimizer.tell(x=x, value=1.0)
