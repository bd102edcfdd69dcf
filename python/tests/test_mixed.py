"""Spaces of integers, categories, booleans, conditions and fixed values."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import labcat

SPACE = labcat.Space(
    kind=labcat.Categorical(["adam", "sgd", None, 3]),
    momentum=labcat.Real(0, 1, when={"kind": ["sgd", 3]}),
    layers=labcat.Integer(1, 64, scale="log"),
    k=labcat.Integer(0, 10, step=2),
    size=labcat.Categorical(["s", "m", "l"], ordered=True),
    shuffle=labcat.Boolean(),
    rate=labcat.Real(1e-5, 1, scale="log"),
    backend=labcat.Fixed(("a", "tuple")),
)


def loss(params):
    inner = (params["momentum"] - 0.9) ** 2 if "momentum" in params else 0.3
    return (
        inner
        + {"adam": 0.5, "sgd": 0.0, None: 1.0, 3: 2.0}[params["kind"]]
        + (math.log(params["layers"]) - 2) ** 2
        + ((params["k"] - 6) / 4) ** 2
        + {"s": 1, "m": 0.2, "l": 0}[params["size"]]
        + params["shuffle"]
        + (math.log10(params["rate"]) + 2) ** 2
    )


def test_values_are_of_their_own_type_everywhere():
    optimizer = labcat.Optimizer(SPACE, rng=1)
    for _ in range(40):
        trial = optimizer.ask()
        params = trial.params
        assert type(params["layers"]) is int and 1 <= params["layers"] <= 64
        assert type(params["k"]) is int and params["k"] in range(0, 11, 2)
        assert type(params["shuffle"]) is bool
        assert type(params["rate"]) is float
        assert params["backend"] == ("a", "tuple")
        assert ("momentum" in params) == (params["kind"] in ("sgd", 3))
        assert trial.x.shape == (8,)
        optimizer.tell(trial, loss(params))
    assert len({tuple(x) for x in optimizer.history.x.tolist()}) == 40, "nothing comes twice"
    assert optimizer.best.params == SPACE.to_dict(optimizer.best.x)
    assert SPACE.to_vector(optimizer.best.params).tolist() == pytest.approx(
        np.where(SPACE.active(optimizer.best.x), optimizer.best.x, 0).tolist()
    )
    assert optimizer.relevance.shape == (8,)
    frame = optimizer.history.to_dataframe()
    assert list(frame["kind"]) == [SPACE.to_dict(x)["kind"] for x in optimizer.history.x]


def test_minimize_calls_with_names_and_finds_the_best():
    result = labcat.minimize(loss, SPACE, budget=150, rng=2)
    assert result.params["kind"] == "sgd" and result.params["size"] == "l"
    assert result.params["layers"] in (7, 8) and result.params["k"] == 6
    assert result.params["shuffle"] is False
    assert result.fun < 0.02


def test_a_keyword_that_does_not_apply_is_none_or_left_out():
    space = labcat.Space(kind=labcat.Boolean(), x=labcat.Real(0, 1, when={"kind": True}))
    seen = []

    def required(kind, x):
        seen.append((kind, x))
        return 1.0 if x is None else x

    def with_default(kind, x=7.0):
        seen.append((kind, x))
        return x

    labcat.minimize(required, space, budget=6, rng=1)
    assert {x for kind, x in seen if not kind} <= {None}
    assert all(x is not None for kind, x in seen if kind)
    seen.clear()
    labcat.minimize(with_default, space, budget=6, rng=1)
    assert {x for kind, x in seen if not kind} <= {7.0}


def test_a_finite_space_is_exhausted():
    space = labcat.Space(
        a=labcat.Integer(1, 3), b=labcat.Categorical(["u", "v"]), c=labcat.Boolean()
    )
    result = labcat.minimize(lambda a, b, c: a + (b == "v") - c, space, budget=100, rng=1)
    assert result.nfev == 12 and result.fun == 0
    assert len({tuple(x) for x in result.history.x.tolist()}) == 12
    assert result.success and "every configuration" in result.message
    optimizer = labcat.Optimizer(space, rng=1)
    trials = optimizer.ask(20)
    assert len(trials) == 12
    with pytest.raises(labcat.BudgetOutstanding):
        optimizer.ask()
    for trial in trials:
        optimizer.tell(trial, 0.0)
    with pytest.raises(labcat.Stopped, match="exhausted"):
        optimizer.ask()


@pytest.mark.parametrize("copy", [pickle.dumps, labcat.Optimizer.to_json], ids=["pickle", "json"])
def test_a_copy_continues_bit_for_bit(copy):
    plain = labcat.Space({name: p for name, p in SPACE.items() if name != "backend"})
    optimizer = labcat.Optimizer(plain, rng=3)
    for _ in range(30):
        trial = optimizer.ask()
        optimizer.tell(trial, loss(trial.params))
    saved = copy(optimizer)
    twin = pickle.loads(saved) if isinstance(saved, bytes) else labcat.Optimizer.from_json(saved)
    assert twin.space == plain
    for _ in range(20):
        one, two = optimizer.ask(), twin.ask()
        assert one.params == two.params
        optimizer.tell(one, loss(one.params))
        twin.tell(two, loss(two.params))


def test_points_can_be_told_by_their_values():
    optimizer = labcat.Optimizer(SPACE, rng=1)
    point = {"kind": "adam", "layers": 3, "k": 4, "size": "m", "shuffle": True, "rate": 0.1}
    optimizer.tell(x=point, value=1.0)
    assert optimizer.best.params == {**point, "backend": ("a", "tuple")}
    optimizer.enqueue({**point, "kind": "sgd", "momentum": 0.5})
    assert optimizer.ask().params["momentum"] == 0.5
    with pytest.raises(labcat.InvalidError, match="lacks 'momentum'"):
        optimizer.enqueue({**point, "kind": "sgd"})
    with pytest.raises(labcat.InvalidError, match="kind: 'adamw' is not one of the choices"):
        optimizer.enqueue({**point, "kind": "adamw"})
    with pytest.raises(labcat.InvalidError, match="integer from 0 to 10 in steps of 2"):
        optimizer.enqueue({**point, "k": 3})


def test_labels_of_any_type_are_told_apart():
    choices = [1, 1.0, True, "1", None, sum, max]
    with pytest.raises(labcat.InvalidError, match="different"):
        labcat.Space(k=labcat.Categorical([1, 1]))
    kind = labcat.Categorical(choices)
    assert [kind.from_number(kind.to_number(choice)) for choice in choices] == choices
    assert [type(kind.from_number(k)) for k in range(4)] == [int, float, bool, str]
    space = labcat.Space(f=labcat.Categorical([sum, max]))
    assert labcat.minimize(lambda f: f([1, 2]), space, budget=9, rng=1).params == {"f": max}


def test_a_notebook_shows_values_of_every_type():
    space = labcat.Space(
        kind=labcat.Categorical(["<b>", None, ("a", 1), "x" * 999]), on=labcat.Boolean(), n=labcat.Integer(0, 9), x=(0, 1)
    )
    for seed in range(4):
        optimizer = labcat.Optimizer(space, rng=seed)
        point = {"kind": space["kind"].choices[seed], "on": True, "n": 7, "x": 0.123456789}
        optimizer.tell(x=point, value=1.0)
        shown = optimizer._repr_html_()
        assert "on = True" in shown and "n = 7" in shown and "x = 0.123457" in shown
        assert ["&lt;b&gt;", "None", "(&#x27;a&#x27;, 1)", "x" * 60 + "…"][seed] in shown
