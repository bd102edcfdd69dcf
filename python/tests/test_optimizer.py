"""Asking and telling."""

from __future__ import annotations

import copy
import importlib.util
import json
import multiprocessing
import pickle
import random
import threading
from concurrent.futures import ProcessPoolExecutor
from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np
import pytest
from objectives import rosenbrock, sphere

import labcat

BOX = [(-5.0, 10.0), (-5.0, 10.0)]


def advance(optimizer, n, fun=rosenbrock):
    """Asks and tells `n` times; returns the points."""
    points = []
    for _ in range(n):
        trial = optimizer.ask()
        points.append(trial.x)
        optimizer.tell(trial, fun(trial.x))
    return np.array(points)


def test_a_trial_has_an_id_a_point_and_names():
    trial = labcat.Optimizer(BOX, rng=1).ask()
    assert trial.id == 0
    assert trial.x.shape == (2,) and trial.x.dtype == np.float64
    assert trial.params == {"x0": trial.x[0], "x1": trial.x[1]}


def test_several_asks_give_distinct_points():
    optimizer = labcat.Optimizer(BOX, rng=1)
    trials = optimizer.ask(40)
    assert [trial.id for trial in trials] == list(range(40))
    assert len({tuple(trial.x) for trial in trials}) == 40
    assert [trial.id for trial in optimizer.pending] == list(range(40))


def test_ask_gives_no_more_than_the_budget_leaves():
    optimizer = labcat.Optimizer(BOX, rng=1, budget=5)
    assert len(optimizer.ask(3)) == 3
    assert len(optimizer.ask(3)) == 2
    with pytest.raises(labcat.BudgetOutstanding) as caught:
        optimizer.ask()
    assert caught.value.pending == 5


@pytest.mark.parametrize("n", [0, -1, 2**70, 1.5, "2"])
def test_ask_refuses_a_number_of_points_that_makes_no_sense(n):
    with pytest.raises(labcat.InvalidError, match="1 to 1000000"):
        labcat.Optimizer(BOX, rng=1).ask(n)


def test_values_are_told_by_trial_by_id_and_in_any_order():
    optimizer = labcat.Optimizer(BOX, rng=1)
    first, second, third = optimizer.ask(3)
    optimizer.tell(third, 3.0)
    optimizer.tell(first.id, 1.0)
    optimizer.tell(np.int64(second.id), 2)
    assert optimizer.history.id.tolist() == [2, 0, 1]
    assert optimizer.history.value.tolist() == [3.0, 1.0, 2.0]
    assert optimizer.best.id == first.id and optimizer.best.value == 1.0
    assert np.array_equal(optimizer.best.x, first.x)
    assert optimizer.pending == []


@pytest.mark.parametrize(
    "value", [1, 1.5, True, np.float32(2), np.array(3.0), np.array([4.0]), [[5]]]
)
def test_values_may_be_numbers_or_arrays_that_hold_one(value):
    optimizer = labcat.Optimizer(BOX, rng=1)
    optimizer.tell(optimizer.ask(), value)
    assert optimizer.best.value == float(np.asarray(value).item())


@pytest.mark.parametrize("value", [None, "1.0", b"1", 1j, [1.0, 2.0], [], {}, object()])
def test_other_values_are_refused_and_the_trial_stays_pending(value):
    optimizer = labcat.Optimizer(BOX, rng=1)
    trial = optimizer.ask()
    with pytest.raises(labcat.InvalidError, match="must be one real number"):
        optimizer.tell(trial, value)
    assert len(optimizer.pending) == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_value_that_is_not_finite_is_a_failure(value):
    optimizer = labcat.Optimizer(BOX, rng=1)
    optimizer.tell(optimizer.ask(), value)
    assert optimizer.n_evaluations == 1
    assert optimizer.history.failed.tolist() == [True]
    assert optimizer.best is None


def test_failures_count_against_the_budget_and_are_never_suggested_again():
    optimizer = labcat.Optimizer(BOX, rng=1, budget=60)
    points = set()
    while optimizer.stop_reason is None:
        trial = optimizer.ask()
        points.add(tuple(trial.x))
        if trial.x[0] > 1:
            optimizer.fail(trial)
        else:
            optimizer.tell(trial, sphere(trial.x))
    assert len(points) == optimizer.n_evaluations == 60
    assert 0 < optimizer.history.failed.sum() < 60


def test_points_never_asked_may_be_told_or_failed():
    optimizer = labcat.Optimizer(BOX, rng=1)
    assert optimizer.tell(x=[1, 1], value=0.5) == 0
    assert optimizer.fail(x=[2, 2]) == 1
    assert optimizer.history.failed.tolist() == [False, True]
    assert optimizer.best.x.tolist() == [1, 1]
    with pytest.raises(labcat.InvalidError, match=r"x\[0\] = 11 is not allowed"):
        optimizer.tell(x=[11, 0], value=1)
    with pytest.raises(labcat.InvalidError, match="2 parameters"):
        optimizer.tell(x=[1, 2, 3], value=1)
    with pytest.raises(labcat.InvalidError, match="not both"):
        optimizer.tell(optimizer.ask(), x=[1, 2], value=1)
    with pytest.raises(labcat.InvalidError, match="what ask gave"):
        optimizer.tell(value=1)
    with pytest.raises(labcat.InvalidError, match="shape"):
        optimizer.tell(x=3.0, value=1)
    with pytest.raises(labcat.InvalidError, match="numbers"):
        optimizer.tell(x=["a", "b"], value=1)


def test_a_cancelled_trial_gives_its_budget_back():
    optimizer = labcat.Optimizer(BOX, rng=1, budget=1)
    trial = optimizer.ask()
    optimizer.cancel(trial)
    again = optimizer.ask()
    assert again.id != trial.id
    optimizer.tell(again, 1.0)
    assert optimizer.stop_reason == "budget"
    with pytest.raises(labcat.UnknownTrialError):
        optimizer.tell(trial, 1.0)


def test_a_value_can_be_revised():
    optimizer = labcat.Optimizer(BOX, rng=1)
    first, second = optimizer.ask(2)
    optimizer.tell(first, 100.0)
    optimizer.tell(second, 20.0)
    optimizer.revise(first, 10.0)
    assert optimizer.best.value == 10.0
    assert optimizer.n_evaluations == 2


def test_enqueued_points_come_first():
    optimizer = labcat.Optimizer(BOX, rng=1)
    optimizer.enqueue([[1, 2], [3, 4]])
    optimizer.enqueue({"x1": 6, "x0": 5})
    assert [optimizer.ask().x.tolist() for _ in range(3)] == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(labcat.InvalidError):
        optimizer.enqueue([100, 0])


@pytest.mark.parametrize("id", [7, -1, 2**64, 2**80])
def test_an_unknown_id_is_a_key_error(id):
    optimizer = labcat.Optimizer(BOX, rng=1)
    for act in (
        lambda: optimizer.tell(id, 1.0),
        lambda: optimizer.fail(id),
        lambda: optimizer.cancel(id),
        lambda: optimizer.revise(id, 1.0),
    ):
        with pytest.raises(KeyError, match=str(id)) as caught:
            act()
        assert isinstance(caught.value, labcat.LabcatError)
        assert caught.value.id == id


def test_telling_twice_is_an_error_that_changes_nothing():
    optimizer = labcat.Optimizer(BOX, rng=1)
    trial = optimizer.ask()
    optimizer.tell(trial, 1.0)
    with pytest.raises(labcat.LabcatError):
        optimizer.tell(trial, 2.0)
    assert optimizer.history.value.tolist() == [1.0]


@pytest.mark.parametrize(
    "switches, reason, n",
    [({"budget": 3}, "budget", 3), ({"target": 50.0}, "target", 1)],
)
def test_after_a_stop_ask_raises_and_late_results_are_kept(switches, reason, n):
    optimizer = labcat.Optimizer(BOX, rng=1, **switches)
    late = optimizer.ask() if reason == "target" else None
    for _ in range(n):
        optimizer.tell(optimizer.ask(), 1.0)
    assert optimizer.stop_reason == reason
    with pytest.raises(labcat.Stopped) as caught:
        optimizer.ask()
    assert caught.value.reason == reason
    if late is not None:
        optimizer.tell(late, 0.5)
        assert optimizer.best.value == 0.5


def test_maximisation_is_a_direction():
    optimizer = labcat.Optimizer(BOX, rng=1, direction="maximize", target=-1e-3, budget=200)
    while optimizer.stop_reason is None:
        trial = optimizer.ask()
        optimizer.tell(trial, -sphere(trial.x))
    assert optimizer.stop_reason == "target"
    assert -1e-3 <= optimizer.best.value <= 0
    assert (np.diff(optimizer.history.best) >= 0).all()


def test_the_model_predicts_in_user_units():
    optimizer = labcat.Optimizer(BOX, rng=1)
    with pytest.raises(labcat.NoModelError):
        optimizer.predict([1, 1])
    advance(optimizer, 30, lambda x: 1000 + sphere(x))
    optimizer.ask()
    best = optimizer.best
    mean, std = optimizer.predict(best.x)
    assert isinstance(mean, float) and isinstance(std, float)
    assert mean == pytest.approx(best.value, abs=0.05) and 0 <= std < 1
    means, stds = optimizer.predict(np.array([best.x, [10, 10]]))
    assert means.shape == stds.shape == (2,)
    assert means[0] == mean and stds[1] > stds[0]
    assert optimizer.predict({"x0": best.x[0], "x1": best.x[1]}) == (mean, std)
    with pytest.raises(labcat.InvalidError, match="shape"):
        optimizer.predict(np.zeros((2, 2, 2)))
    with pytest.raises(labcat.InvalidError):
        optimizer.predict([0.0, np.nan])


def test_relevance_names_the_parameter_that_matters():
    optimizer = labcat.Optimizer(BOX, rng=1, rotation=False)
    assert optimizer.relevance is None
    advance(optimizer, 40, lambda x: 100 * (x[0] - 1) ** 2 + 1e-3 * (x[1] - 1) ** 2)
    optimizer.ask()
    relevance = optimizer.relevance
    assert relevance.shape == (2,) and relevance.sum() == pytest.approx(1)
    assert relevance[0] > relevance[1]


def test_what_can_be_seen_of_the_model():
    optimizer = labcat.Optimizer(BOX, rng=1)
    assert optimizer.trust_region is None
    advance(optimizer, 30)
    optimizer.ask()
    region = optimizer.trust_region
    assert region.centre.tolist() == optimizer.best.x.tolist()
    assert region.half_axes.shape == (2, 2)
    assert optimizer.report["evaluations"] == 30


def test_restarts_carry_their_cause():
    optimizer = labcat.Optimizer([(-1, 1)], rng=1, budget=400)
    while optimizer.stop_reason is None:
        trial = optimizer.ask()
        optimizer.tell(trial, sphere(trial.x))
    restarts = optimizer.restarts
    assert restarts and all(isinstance(restart, labcat.Restart) for restart in restarts)
    assert all(restart.cause and 0 < restart.at_evaluation <= 400 for restart in restarts)
    assert optimizer.history.run.max() >= 1


def test_without_restarts_the_run_ends_when_it_has_converged():
    optimizer = labcat.Optimizer([(-1, 1)], rng=1, restarts=False, tolerance=1e-6)
    with pytest.raises(labcat.Stopped):
        advance(optimizer, 400, sphere)
    assert optimizer.stop_reason == "tolerance"


def test_the_stopping_switches_can_be_replaced():
    optimizer = labcat.Optimizer(BOX, rng=1, budget=3)
    advance(optimizer, 3)
    optimizer.set_stopping(budget=5)
    assert optimizer.stop_reason is None and optimizer.config["budget"] == 5
    advance(optimizer, 2)
    assert optimizer.stop_reason == "budget"
    optimizer.set_stopping(target=optimizer.best.value)
    assert optimizer.stop_reason == "target" and optimizer.config["budget"] is None
    for wrong in ({"budget": -1}, {"budget": "many"}, {"target": np.inf}, {"tolerance": -1.0}):
        with pytest.raises(labcat.InvalidError, match=next(iter(wrong))):
            optimizer.set_stopping(**wrong)
    assert optimizer.stop_reason == "target"


def test_a_cancelled_point_is_not_suggested_again_after_resuming():
    optimizer = labcat.Optimizer(BOX, rng=1)
    advance(optimizer, 20)
    optimizer.cancel(optimizer.ask())
    again = labcat.Optimizer.from_json(optimizer.to_json())
    assert np.array_equal(advance(again, 20), advance(optimizer, 20))


# --- the state


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


# --- seeds and switches


def test_seeds():
    first = labcat.Optimizer(BOX, rng=7).ask().x
    assert np.array_equal(labcat.Optimizer(BOX, rng=np.uint64(7)).ask().x, first)
    assert np.array_equal(labcat.Optimizer(BOX, seed=7).ask().x, first)
    assert labcat.Optimizer(BOX, rng=2**64 - 1).seed == 2**64 - 1
    sequence = np.random.SeedSequence(5)
    assert labcat.Optimizer(BOX, rng=sequence).seed == labcat.Optimizer(BOX, rng=sequence).seed
    one, two = (labcat.Optimizer(BOX, rng=np.random.default_rng(5)).seed for _ in range(2))
    assert one == two
    generator = np.random.default_rng(5)
    assert labcat.Optimizer(BOX, rng=generator).seed != labcat.Optimizer(BOX, rng=generator).seed
    fresh = labcat.Optimizer(BOX)
    assert fresh.seed != labcat.Optimizer(BOX).seed
    assert np.array_equal(labcat.Optimizer(BOX, rng=fresh.seed).ask(20)[19].x, fresh.ask(20)[19].x)


@pytest.mark.parametrize("rng", [-1, 2**64, 1.5, "1", np.random.RandomState(1), [1]])
def test_other_seeds_are_refused(rng):
    with pytest.raises(labcat.InvalidError, match="rng is"):
        labcat.Optimizer(BOX, rng=rng)


def test_seed_and_rng_together_are_refused():
    with pytest.raises(labcat.InvalidError, match="give one"):
        labcat.Optimizer(BOX, rng=1, seed=1)


def test_switches_reach_the_core():
    optimizer = labcat.Optimizer(
        BOX,
        rng=1,
        preset="paper",
        beta=0.5,
        cache_factor=20,
        prior_sigma=None,
        rotation=False,
        newton_steps=np.int64(10),
        initial_points=8,
        candidates=33,
        restarts=False,
        budget=77,
        target=-1.5,
        tolerance=np.float64(1e-7),
    )
    config = optimizer.config
    expected = {
        "preset": "paper",
        "beta": 0.5,
        "cache_factor": 20.0,
        "prior_sigma": None,
        "rotation": False,
        "newton_steps": 10,
        "initial_points": 8,
        "candidates": 33,
        "restarts": False,
        "budget": 77,
        "target": -1.5,
        "tolerance": 1e-7,
        "direction": "minimize",
        "seed": 1,
    }
    assert {name: config[name] for name in expected} == expected


def test_whole_floats_are_whole_numbers():
    assert labcat.Optimizer(BOX, budget=1e3).config["budget"] == 1000
    assert labcat.Optimizer(BOX, budget=np.float64(50)).config["budget"] == 50
    assert labcat.Optimizer(BOX, beta=1.0).config["beta"] == 1.0


def test_the_typed_switches_are_the_switches():
    """scripts/python-switches writes them."""
    root = Path(__file__).parents[2]
    script = SourceFileLoader("python_switches", str(root / "scripts" / "python-switches"))
    spec = importlib.util.spec_from_loader("python_switches", script)
    module = importlib.util.module_from_spec(spec)
    script.exec_module(module)
    assert module.written() == (root / "python" / "labcat" / "_switches.py").read_text()


def test_every_switch_is_described():
    assert {"beta", "budget", "rotation", "seed"} <= set(labcat.SWITCHES)
    assert all(switch.help and switch.allowed for switch in labcat.SWITCHES.values())


@pytest.mark.parametrize(
    "switches, named",
    [
        ({"betta": 1}, "unknown switch 'betta': did you mean 'beta'"),
        ({"budget": "5"}, "budget.*'5'.*whole number"),
        ({"time_limit": 1}, "time_limit"),
        ({"beta": -1}, "beta"),
        ({"beta": "wide"}, "wide"),
        ({"beta": float("nan")}, "beta"),
        ({"rotation": 2}, "rotation"),
        ({"budget": 0}, "budget"),
        ({"budget": 1.5}, "budget"),
        ({"budget": -3}, "budget"),
        ({"newton_steps": [1]}, "newton_steps"),
        ({"preset": "best"}, "best.*default"),
        ({"direction": "up"}, "up.*maximize"),
    ],
)
def test_wrong_switches_are_errors_that_name_them(switches, named):
    with pytest.raises(labcat.InvalidError, match=named) as caught:
        labcat.Optimizer(BOX, rng=1, **switches)
    assert isinstance(caught.value, ValueError)


def test_an_unknown_switch_is_also_a_type_error():
    with pytest.raises(TypeError):
        labcat.Optimizer(BOX, betta=1)


# --- threads


def test_eight_threads_asking_and_telling_at_random():
    """Two asks in flight per thread: nothing is lost, nothing comes twice, nothing waits for ever."""
    optimizer = labcat.Optimizer(BOX, rng=1, budget=400)
    told: list[int] = []
    points: list[tuple[float, ...]] = []
    errors: list[BaseException] = []
    start = threading.Barrier(8)

    def work(number):
        rng = random.Random(number)
        start.wait()
        try:
            held = []
            while True:
                try:
                    while len(held) < 2:
                        held.append(optimizer.ask())
                        points.append(tuple(held[-1].x))
                except (labcat.Stopped, labcat.BudgetOutstanding):
                    if not held:
                        return
                trial = held.pop(rng.randrange(len(held)))
                draw = rng.random()
                if draw < 0.1:
                    optimizer.fail(trial)
                else:
                    optimizer.tell(trial, rosenbrock(trial.x))
                told.append(trial.id)
                if draw > 0.95:
                    _ = optimizer.best, optimizer.to_json(), optimizer.pending, optimizer.history
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads), "deadlock"
    assert errors == []
    assert len(told) == len(set(told)) == 400
    assert sorted(told) == sorted(optimizer.history.id.tolist())
    assert len(set(points)) == len(points)
    assert optimizer.stop_reason == "budget" and optimizer.pending == []


def test_other_threads_run_while_the_core_computes():
    optimizer = labcat.Optimizer([(-5, 5)] * 20, rng=1)
    advance(optimizer, 60, sphere)
    done = threading.Event()
    ticks = 0

    def compute():
        advance(optimizer, 20, sphere)
        done.set()

    thread = threading.Thread(target=compute)
    thread.start()
    while not done.wait(1e-4):
        ticks += 1
    thread.join()
    assert ticks > 10
