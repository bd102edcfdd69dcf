"""Asking and telling."""

from __future__ import annotations

import numpy as np
import pytest
from objectives import BOX, sphere

import labcat


def test_a_trial_has_an_id_a_point_and_names():
    trial = labcat.Optimizer(BOX, rng=1).ask()
    assert trial.id == 0
    assert trial.x.shape == (2,) and trial.x.dtype == np.float64
    assert trial.params == {"x0": trial.x[0], "x1": trial.x[1]}


def test_representations_say_no_more_than_there_is():
    optimizer = labcat.Optimizer([(-1, 1)], rng=1)
    optimizer.tell(optimizer.ask(), 0.25)
    assert repr(optimizer) == "<Optimizer of 1 parameter, 1 evaluation>"
    assert repr(optimizer.best) == "Evaluation(id=0, x=array([0.]), value=0.25, run=0)"
    measured = labcat.Optimizer([(-1, 1)], rng=1, constraints=1)
    measured.tell(measured.ask(), 0.25, constraints=[-1.0])
    assert repr(measured.best).endswith("run=0, constraints=array([-1.]))")


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
    with pytest.raises(labcat.InvalidError, match="what ask returned"):
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
