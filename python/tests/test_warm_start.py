"""Warm starts: what earlier runs, tables and arrays know, and what of it can be used."""

import numpy as np
import pytest

import labcat

pandas = pytest.importorskip("pandas")
BOX = [(-5, 5)] * 2
SPACE = labcat.Space(x=(-5, 5), y=(-5, 5))
MIXED = labcat.Space(kind=["a", "b"], n=labcat.Integer(1, 9), x=labcat.Real(0, 1, when={"kind": "b"}))


def bowl(x):
    return float((x[0] - 1) ** 2 + (x[1] + 2) ** 2)


def named(x, y):
    return bowl([x, y])


def mixed(kind, n, x=0.5):
    return (kind == "a") + (n - 4) ** 2 + (x - 0.3) ** 2


EARLIER = labcat.minimize(bowl, BOX, budget=20, rng=1)


@pytest.mark.parametrize(
    "history",
    [
        EARLIER,
        EARLIER.history,
        EARLIER.history.to_dataframe(),
        (EARLIER.history.x, EARLIER.history.value),
        (EARLIER.history.to_dataframe()[["x0", "x1"]], EARLIER.history.value.tolist()),
        ([{"x0": float(a), "x1": float(b)} for a, b in EARLIER.history.x], EARLIER.history.value),
    ],
    ids=["result", "history", "frame", "arrays", "frame and list", "dictionaries"],
)
def test_what_is_known_is_told_and_does_not_count_against_the_budget(history):
    calls = []

    def counted(x):
        calls.append(x)
        return bowl(x)

    result = labcat.minimize(counted, BOX, budget=5, rng=2, history=history)
    assert len(calls) == result.nfev == 5
    assert result.message == "the budget of 5 evaluations is used up"
    assert len(result.history) == 25
    np.testing.assert_array_equal(result.history.x[:20], EARLIER.history.x)
    assert result.fun <= EARLIER.fun


def test_a_warm_start_helps():
    cold = np.median([labcat.minimize(bowl, BOX, budget=4, rng=seed).fun for seed in range(5)])
    warm = np.median([labcat.minimize(bowl, BOX, budget=4, rng=seed, history=EARLIER).fun for seed in range(5)])
    assert warm < 1e-3 * cold


def test_a_mixed_run_goes_on_from_its_frame():
    earlier = labcat.minimize(mixed, MIXED, budget=12, rng=1, on_error="fail")
    frame = earlier.history.to_dataframe()
    result = labcat.minimize(mixed, MIXED, budget=3, rng=1, history=frame)
    assert [e.params for e in result.history][:12] == [e.params for e in earlier.history]


def test_failures_noise_constraints_and_extra_are_told_too():
    def measured(x):
        if x[0] < -4:
            raise RuntimeError("too cold")
        return labcat.Outcome(bowl(x), std=0.1, constraints=[x[1]], extra={"epochs": 3})

    options = {"constraints": 1, "on_error": "fail", "rng": 1}
    earlier = labcat.minimize(measured, BOX, budget=20, x0=[-4.5, 0], **options)
    assert earlier.history.failed.any()
    later = labcat.minimize(measured, BOX, budget=1, history=earlier, **options).history[:20]
    np.testing.assert_array_equal(later.constraints, earlier.history.constraints)
    np.testing.assert_array_equal(later.std, earlier.history.std)
    assert (later.extra, later.reason) == (earlier.history.extra, earlier.history.reason)
    frame = labcat.minimize(measured, BOX, budget=1, history=earlier.history.to_dataframe(), **options).history[:20]
    np.testing.assert_array_equal(frame.constraints, earlier.history.constraints)


def test_what_lies_outside_narrowed_bounds_is_left_out_and_said():
    inside = (np.abs(EARLIER.history.x) <= 1.5).all(axis=1)
    with pytest.warns(UserWarning, match=rf"{20 - inside.sum()} evaluations of 20 cannot be used \('x\d' outside its range\)"):
        result = labcat.minimize(bowl, [(-1.5, 1.5)] * 2, budget=3, rng=1, history=EARLIER)
    assert len(result.history) == inside.sum() + 3
    # The best of what is outside, (1, -2), is moved to the bound and evaluated first.
    np.testing.assert_allclose(result.history.x[inside.sum()], [1, -1.5], atol=0.1)


def test_what_lacks_a_new_parameter_leads_to_where_it_was_good():
    wider = labcat.Space(x=(-5, 5), y=(-5, 5), rate=labcat.Real(1e-4, 1, scale="log"))
    earlier = labcat.minimize(named, SPACE, budget=20, rng=1)
    with pytest.warns(UserWarning, match="20 evaluations of 20 cannot be used .without 'rate'.; the best of them is evaluated first"):
        result = labcat.minimize(lambda x, y, rate: named(x, y) + rate, wider, budget=3, rng=1, history=earlier)
    assert result.history[0].params == {"x": earlier.x[0], "y": earlier.x[1], "rate": pytest.approx(1e-2)}
    assert result.nfev == 3


def test_a_parameter_that_is_gone_is_left_out_and_a_fixed_one_is_not_missed():
    earlier = labcat.minimize(named, SPACE, budget=10, rng=1)
    narrower = labcat.Space(x=(-5, 5), solver=labcat.Fixed("lu"))
    result = labcat.minimize(lambda x, solver: x**2, narrower, budget=1, rng=1, history=earlier)
    assert len(result.history) == 11


def test_a_resumed_run_has_its_warm_start_already(tmp_path):
    options = {"rng": 1, "history": EARLIER, "checkpoint": tmp_path / "run.json"}
    labcat.minimize(bowl, BOX, budget=4, **options)
    result = labcat.minimize(bowl, BOX, budget=9, **options)
    assert (len(result.history), result.nfev) == (29, 9)


@pytest.mark.parametrize(
    "history, named",
    [
        (3, "history is of type int; allowed: an earlier result"),
        (pandas.DataFrame({"x0": [1.0]}), "no column 'value'; its columns are x0"),
        ((np.zeros((3, 2)), [1.0]), "3 points and 1 value$"),
        ((np.zeros((3, 1)), [1.0]), r"shape \(3, 1\); allowed: \(n, 2\)"),
    ],
)
def test_a_history_that_is_none_is_refused(history, named):
    with pytest.raises(labcat.InvalidError, match=named):
        labcat.minimize(bowl, BOX, budget=3, history=history)


def test_a_pandas_row_is_a_point_and_a_frame_several():
    frame = pandas.DataFrame({"id": [7, 8, 9], "kind": ["a", "b", "b"], "n": [1, 2, 3], "x": [None, 0.5, 0.25]})
    optimizer = labcat.Optimizer(MIXED, rng=1)
    optimizer.enqueue(frame)
    assert optimizer.ask().params == {"kind": "a", "n": 1}
    assert [trial.params["n"] for trial in optimizer.ask(2)] == [2, 3]
    for _, row in frame.iterrows():
        optimizer.tell(x=row, value=float(row["n"]))
    assert optimizer.best.params == {"kind": "a", "n": 1}
    reals = pandas.DataFrame({"x": [1.0, 2.0], "y": [0.0, 1.0]})
    result = labcat.minimize(named, SPACE, x0=reals, budget=8, rng=1)
    np.testing.assert_array_equal(result.history.x[:2], reals.to_numpy())
    mean, _ = result.optimizer.predict(reals)
    assert mean.shape == (2,)
    assert isinstance(result.optimizer.predict(reals.iloc[0]).mean, float)


def test_a_table_of_the_command_line_or_of_to_csv_is_a_history(tmp_path):
    earlier = labcat.minimize(mixed, MIXED, budget=10, rng=1)
    earlier.history.to_csv(tmp_path / "run.csv")
    table = pandas.read_csv(tmp_path / "run.csv")
    assert list(table.columns) == ["id", "kind", "n", "x", "value", "status", "seconds"]
    later = labcat.minimize(mixed, MIXED, budget=1, rng=1, history=table).history[:10]
    assert [e.params for e in later] == [e.params for e in earlier.history]
    np.testing.assert_allclose(later.value, earlier.history.value)
    np.testing.assert_allclose(later.seconds, earlier.history.seconds)
