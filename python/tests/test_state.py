"""The state: what is saved continues bit for bit."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
import random
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from objectives import BOX, advance, rosenbrock, sphere

import labcat


def test_a_cancelled_point_is_not_suggested_again_after_resuming():
    optimizer = labcat.Optimizer(BOX, rng=1)
    advance(optimizer, 20)
    optimizer.cancel(optimizer.ask())
    again = labcat.Optimizer.from_json(optimizer.to_json())
    assert np.array_equal(advance(again, 20), advance(optimizer, 20))


@pytest.mark.parametrize("told", [0, 1, 3, 12, 40])
def test_json_continues_bit_for_bit(told):
    optimizer = labcat.Optimizer(BOX, rng=3)
    advance(optimizer, told)
    pending = optimizer.ask(2)
    again = labcat.Optimizer.from_json(optimizer.to_json())
    assert [trial.id for trial in again.pending] == [trial.id for trial in pending]
    for one in (optimizer, again):
        for trial in pending:
            one.tell(trial, rosenbrock(trial.x))
    assert np.array_equal(advance(optimizer, 25), advance(again, 25))
    assert optimizer.to_json() == again.to_json()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_any_history_continues_bit_for_bit(seed, preset):
    """One optimiser lives on, the other goes through JSON after every call: they stay the same."""
    rng = random.Random(seed)
    through = labcat.Optimizer(BOX[:1] if seed % 3 == 0 else BOX, rng=seed, preset=preset)
    saved = labcat.Optimizer.from_json(through.to_json())
    d = len(through.space)

    def both(act):
        """What the call gives, or raises, in both."""
        nonlocal saved
        outcomes = []
        for optimizer in (through, saved):
            try:
                outcomes.append(act(optimizer))
            except labcat.LabcatError as error:
                outcomes.append(repr(error))
        saved = labcat.Optimizer.from_json(saved.to_json())
        assert outcomes[0] == outcomes[1]
        assert through.to_json() == saved.to_json()

    def ask(optimizer):
        trial = optimizer.ask()
        return trial.id, trial.x.tolist()

    for _ in range(120):
        kind = rng.random()
        ids = [trial.id for trial in through.pending]
        id = rng.choice(ids) if ids else rng.randrange(50)
        point = [rng.uniform(-5, 10) for _ in range(d)]
        value = rng.choice([sphere(point), sphere(point), float("nan"), 1e3 * rng.random()])
        if kind < 0.45:
            both(ask)
        elif kind < 0.8:
            both(lambda o, id=id, value=value: o.tell(id, value))
        elif kind < 0.85:
            both(lambda o, id=id: o.fail(id))
        elif kind < 0.9:
            both(lambda o, id=id: o.cancel(id))
        elif kind < 0.95:
            told = rng.randrange(60)
            both(lambda o, told=told, value=value: o.revise(told, value))
        elif kind < 0.98:
            both(lambda o, point=point, value=value: o.tell(x=point, value=value))
        else:
            both(lambda o, point=point: o.enqueue(point))
    assert through.n_evaluations > 20


def test_json_that_is_not_ours_is_refused():
    for text in ("", "{}", "[1]", "null", '{"config": {}}', "\x00", "{" * 10_000):
        with pytest.raises(labcat.InvalidError):
            labcat.Optimizer.from_json(text)


def test_json_that_was_tampered_with_never_ends_the_interpreter():
    optimizer = labcat.Optimizer(BOX, rng=3)
    advance(optimizer, 12)
    optimizer.ask()
    state = json.loads(optimizer.to_json())

    def variants(node, put):
        """The state with one leaf replaced, for every leaf."""
        if isinstance(node, dict):
            for key in node:
                yield from variants(node[key], lambda value, key=key: node.__setitem__(key, value))
        elif isinstance(node, list):
            for i in range(min(len(node), 2)):
                yield from variants(node[i], lambda value, i=i: node.__setitem__(i, value))
        else:
            for value in (None, -1, 10**9, "text", [], 1e308):
                put(value)
                yield json.dumps(state)
            put(node)

    tried = 0
    for text in variants(state, lambda value: None):
        tried += 1
        try:
            advance(labcat.Optimizer.from_json(text), 2, lambda x: np.tanh(x).sum())
        except labcat.LabcatError as error:
            assert "internal" not in str(error), text
    assert tried > 100


def test_pickles_and_copies_continue_bit_for_bit():
    optimizer = labcat.Optimizer(BOX, rng=3)
    advance(optimizer, 15)
    twins = [
        pickle.loads(pickle.dumps(optimizer)),
        copy.copy(optimizer),
        copy.deepcopy(optimizer),
    ]
    expected = advance(optimizer, 20)
    for twin in twins:
        assert np.array_equal(advance(twin, 20), expected)


def test_another_process_continues_bit_for_bit():
    optimizer = labcat.Optimizer(BOX, rng=3)
    advance(optimizer, 15)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        points, continued = pool.submit(_continue, optimizer, 20).result()
    assert np.array_equal(advance(optimizer, 20), points)
    assert np.array_equal(advance(optimizer, 10), advance(continued, 10))


def _continue(optimizer, n):
    return advance(optimizer, n), optimizer


def test_subclasses_survive_pickling():
    optimizer = Subclass(BOX, rng=1)
    assert type(pickle.loads(pickle.dumps(optimizer))) is Subclass
    assert type(Subclass.from_json(optimizer.to_json())) is Subclass


class Subclass(labcat.Optimizer):
    pass


def test_names_survive_json_and_pickling():
    space = labcat.Space(rate=labcat.Real(1e-6, 1, scale="log"), momentum=(0, 1))
    optimizer = labcat.Optimizer(space, rng=1)
    for twin in (
        pickle.loads(pickle.dumps(optimizer)),
        labcat.Optimizer.from_json(optimizer.to_json()),
    ):
        assert twin.has_names and twin.space == space
    plain = labcat.Optimizer(BOX, rng=1)
    assert not labcat.Optimizer.from_json(plain.to_json()).has_names
    confusing = labcat.Optimizer(labcat.Space(x0=(0, 1)), rng=1)
    assert pickle.loads(pickle.dumps(confusing)).has_names


@pytest.mark.parametrize("junk", [None, True, 1, 1e300, 10**30, "x", [], [None], [[1]], {}, {"x": 1}])
@pytest.mark.parametrize("name", ["evaluations", "when", "constraints", "misfit", "jacobian", "given"])
def test_whatever_stands_beside_the_state_of_the_core_is_read_or_refused(name, junk):
    space = labcat.Space(c=["a", "b"], d=labcat.Boolean(), x=labcat.Real(0, 1, when=[{"c": "a"}, {"d": True}]))
    optimizer = labcat.Optimizer(space, residuals=True, constraints="d <= 1", rng=1)
    optimizer.tell(optimizer.ask(), residuals=[1.0, 2.0], jacobian=np.ones((2, 3)), extra={"who": "Ann"})
    state = json.loads(optimizer.to_json())
    held = state["python"].get(name)
    for wrong in [junk, *([dict.fromkeys(held, junk)] if isinstance(held, dict) else [])]:
        state["python"][name] = wrong
        try:
            copy = labcat.Optimizer.from_json(json.dumps(state))
        except labcat.InvalidError:
            continue
        assert len(copy.history) == 1 and copy.ask().id == 1
