"""What comes of an evaluation: `labcat.Outcome`, what is kept beside a value, and where it is found again."""

import csv
import io
import json
import pickle

import numpy as np
import pytest

import labcat

BOX = [(-5, 5)] * 2


def outcome(x):
    return labcat.Outcome(float((x**2).sum()), std=0.1, extra={"epochs": 7, "path": [1, 2.5, None]})


def test_an_objective_may_return_an_outcome():
    result = labcat.minimize(outcome, BOX, budget=12, rng=1)
    history = result.history
    assert history.extra == [{"epochs": 7, "path": [1, 2.5, None]}] * 12
    assert (history.std == 0.1).all()
    assert (history.seconds > 0).all() and history.seconds.max() < 5
    assert [evaluation.extra for evaluation in history] == history.extra


def test_an_outcome_has_constraints_and_a_gradient():
    def disc(x):
        return labcat.Outcome(x.sum(), constraints=[x @ x - 1], gradient=[1, 1])

    result = labcat.minimize(disc, BOX, budget=40, constraints=1, rng=1)
    assert result.feasible and result.fun == pytest.approx(-(2**0.5), abs=1e-2)
    assert result.optimizer._core.best().outcome.gradient == [1, 1]


def test_an_outcome_says_why_it_failed():
    def moody(x):
        return labcat.Outcome(reason="the pump was off") if x[0] < 0 else float(x @ x)

    history = labcat.minimize(moody, BOX, budget=20, rng=1).history
    assert history.failed.any()
    assert {reason for reason in history.reason if reason} == {"the pump was off"}


def test_an_outcome_crosses_to_another_process():
    result = labcat.minimize(outcome, BOX, budget=4, rng=1, workers=2)
    assert [extra["epochs"] for extra in result.history.extra] == [7] * 4
    assert (result.history.seconds > 0).all()


def test_extra_is_kept_in_the_state_the_pickle_and_the_checkpoint(tmp_path):
    path = tmp_path / "run.json"
    labcat.minimize(outcome, BOX, budget=5, rng=1, checkpoint=path)
    result = labcat.minimize(outcome, BOX, budget=7, rng=1, checkpoint=path)
    assert [extra["epochs"] for extra in result.history.extra] == [7] * 7
    optimizer = result.optimizer
    for copy in (labcat.Optimizer.from_json(optimizer.to_json()), pickle.loads(pickle.dumps(optimizer))):
        assert copy.history.extra == optimizer.history.extra
        np.testing.assert_array_equal(copy.history.seconds, optimizer.history.seconds)
        copy.set_stopping(budget=9), optimizer.set_stopping(budget=9)
        np.testing.assert_array_equal(copy.ask().x, pickle.loads(pickle.dumps(optimizer)).ask().x)


def test_a_state_that_was_written_anew_by_another_program_is_the_same():
    optimizer = labcat.Optimizer(BOX, rng=1)
    for _ in range(12):
        trial = optimizer.ask()
        optimizer.tell(trial, outcome(trial.x))
    again = labcat.Optimizer.from_json(json.dumps(json.loads(optimizer.to_json()), indent=1, sort_keys=True))
    np.testing.assert_array_equal(again.ask().x, optimizer.ask().x)


def test_extra_is_a_column_of_the_frame_and_of_the_csv(tmp_path):
    history = labcat.minimize(outcome, BOX, budget=3, rng=1).history
    frame = history.to_dataframe()
    assert frame["epochs"].tolist() == [7, 7, 7]
    rows = list(csv.DictReader(io.StringIO(history.to_csv())))
    assert list(rows[0]) == ["id", "x0", "x1", "value", "status", "seconds", "std", "epochs", "path"]
    assert [float(row["value"]) for row in rows] == history.value.tolist()  # exactly
    assert (rows[0]["status"], rows[0]["epochs"], rows[0]["path"]) == ("ok", "7", "[1, 2.5, null]")
    history.to_csv(tmp_path / "run.csv")
    assert (tmp_path / "run.csv").read_text() == history.to_csv()


def test_a_csv_of_labels_and_failures():
    space = labcat.Space(kind=["a", "b"], flag=labcat.Boolean(), n=labcat.Integer(1, 3, when={"kind": "b"}))
    optimizer = labcat.Optimizer(space, rng=1)
    optimizer.tell(x={"kind": "a", "flag": True}, value=1.5)
    optimizer.fail(x={"kind": "b", "flag": False, "n": 2}, reason="broken, again")
    assert optimizer.history.to_csv() == (
        'id,kind,flag,n,value,status,seconds,reason\n0,a,true,,1.5,ok,,\n1,b,false,2,,failed,,"broken, again"\n'
    )


def test_a_history_is_a_sequence():
    history = labcat.minimize(lambda x: float(x @ x), BOX, budget=10, rng=1).history
    assert [evaluation.id for evaluation in history] == list(range(10))
    assert history[-1].value == history.value[-1] and history[-1].status == "ok"
    part = history[2:5]
    assert isinstance(part, labcat.History) and part.id.tolist() == [2, 3, 4]
    assert part.trust_region == history.trust_region[2:5]
    assert list(history[::-1].value) == list(history.value[::-1])
    with pytest.raises(IndexError):
        history[10]


def test_telling_an_outcome_and_revising_it():
    optimizer = labcat.Optimizer(BOX, rng=1)
    trial = optimizer.ask()
    optimizer.tell(trial, 1.0, extra={"note": "warm"})
    assert optimizer.history[0].extra == {"note": "warm"}
    optimizer.revise(trial, labcat.Outcome(2.0, seconds=3.5))
    assert (optimizer.best.value, optimizer.best.extra, optimizer.best.seconds) == (2.0, {}, 3.5)
    with pytest.raises(labcat.InvalidError, match="std is a part of the Outcome"):
        optimizer.tell(optimizer.ask(), labcat.Outcome(1.0), std=0.1)


def test_numpy_is_plain_data():
    kept = labcat.Outcome(np.float32(1.5), extra={"n": np.int64(3), "v": np.arange(2.0), "ok": np.True_})
    assert kept.value == 1.5 and kept.extra == {"n": 3, "v": [0.0, 1.0], "ok": True}


@pytest.mark.parametrize("extra, named", [({"model": object()}, "object is no plain data"), ([1], "a dictionary")])
def test_what_a_file_cannot_hold_is_refused(extra, named):
    with pytest.raises(labcat.InvalidError, match=named):
        labcat.Outcome(1.0, extra=extra)


def test_a_tuple_is_met_with_what_to_return_instead():
    with pytest.raises(labcat.InvalidError, match=r"return labcat.Outcome\(value, extra="):
        labcat.minimize(lambda x: (1.0, {"epochs": 3}), BOX, budget=3)


def test_a_callback_sees_the_newest_evaluation_the_best_and_the_history():
    space = labcat.Space(kind=["a", "b"], x=(0, 1))
    seen = []

    def watch(intermediate_result):
        newest = intermediate_result.newest
        seen.append((newest.id, newest.status, newest.value, dict(newest.params)))
        assert newest.seconds > 0 and newest.x.shape == (2,)
        assert newest.id == intermediate_result.history[-1].id
        assert len(intermediate_result["history"]) == intermediate_result.nfev == len(seen)
        assert intermediate_result.best is None or intermediate_result.best.value <= newest.value or newest.failed

    def fun(kind, x):
        if kind == "a":
            raise ValueError("not that one")
        return x

    result = labcat.minimize(fun, space, budget=10, rng=1, on_error="fail", callback=watch)
    assert [id for id, *_ in seen] == list(range(10))
    assert {(status, params["kind"]) for _, status, _, params in seen} == {("ok", "b"), ("failed", "a")}
    assert result.newest.id == 9


def test_the_attributes_of_a_result_are_listed():
    result = labcat.minimize(lambda x: x @ x, BOX, budget=5, rng=1)
    assert {"plot", "x", "fun", "history", "best", "items"} <= set(dir(result))
