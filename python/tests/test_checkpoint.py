"""Resuming from a file."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from objectives import rosenbrock, sphere

import labcat

BOX = [(-5, 10)] * 2


class Crash(Exception):
    pass


def crash_after(n, fun=rosenbrock):
    calls = 0

    def crashing(x):
        nonlocal calls
        calls += 1
        if calls > n:
            raise Crash
        return fun(x)

    return crashing


def test_a_run_that_was_broken_off_continues_bit_for_bit(tmp_path):
    path = tmp_path / "run.json"
    whole = labcat.minimize(rosenbrock, BOX, budget=60, rng=1)
    for _ in range(3):
        with pytest.raises(Crash):
            labcat.minimize(crash_after(13), BOX, budget=60, rng=1, checkpoint=path)
    resumed = labcat.minimize(rosenbrock, BOX, budget=60, rng=1, checkpoint=path)
    assert np.array_equal(resumed.history.x, whole.history.x)
    assert np.array_equal(resumed.history.value, whole.history.value)
    assert resumed.nfev == 60
    assert os.listdir(tmp_path) == ["run.json"]


def test_a_killed_process_loses_at_most_the_evaluation_it_was_in(tmp_path):
    path, log = tmp_path / "run.json", tmp_path / "log"
    script = f"""
import labcat, sys, time
begun = 0
def fun(x):
    global begun
    begun += 1
    with open({str(log)!r}, "a") as file:
        print(*x, file=file, flush=True)
    time.sleep(600 if [str(begun)] == sys.argv[1:] else 0.01)   # one that is to be killed does not end before
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
result = labcat.minimize(fun, [(-5, 10)] * 2, budget=60, rng=1, checkpoint={str(path)!r})
print("done", result.nfev)
"""
    kills = 0
    while kills < 3:
        process = subprocess.Popen([sys.executable, "-c", script, "20"])
        before = len(log.read_text().splitlines()) if log.exists() else 0
        while (
            process.poll() is None
            and len(log.read_text().splitlines() if log.exists() else ()) < before + 12
        ):
            time.sleep(0.005)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        kills += 1
    output = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert output.stdout == "done 60\n"
    evaluated = [tuple(map(float, line.split())) for line in log.read_text().splitlines()]
    assert 60 <= len(evaluated) <= 60 + kills
    whole = labcat.minimize(rosenbrock, BOX, budget=60, rng=1)
    resumed = labcat.Optimizer.from_json(path.read_text())
    assert np.array_equal(resumed.history.x, whole.history.x)
    assert set(evaluated) == {tuple(x) for x in whole.history.x}


def test_a_run_that_had_ended_is_returned_without_evaluating(tmp_path):
    path = tmp_path / "run.json"
    first = labcat.minimize(rosenbrock, BOX, budget=20, rng=1, checkpoint=path)
    again = labcat.minimize(crash_after(0), BOX, budget=20, rng=1, checkpoint=str(path))
    assert again.fun == first.fun and again.nfev == 20 and again.message == first.message


def test_the_file_is_written_after_each_evaluation_and_is_a_state(tmp_path):
    path = tmp_path / "run.json"
    counts = []

    def callback(intermediate_result):
        counts.append(labcat.Optimizer.from_json(path.read_text()).n_evaluations)

    result = labcat.minimize(rosenbrock, BOX, budget=10, rng=1, checkpoint=path, callback=callback)
    assert counts == list(range(1, 11))
    assert path.read_text() == result.optimizer.to_json()


def test_evaluations_that_were_running_are_repeated(tmp_path):
    path = tmp_path / "run.json"
    ended = threading.Event()
    counter = itertools.count(1)

    def fun(x):
        if next(counter) <= 2:  # still running when the run ends
            assert ended.wait(30)
        return sphere(x)

    def callback(intermediate_result):
        if intermediate_result.nfev == 10:
            raise StopIteration

    with ThreadPoolExecutor(3) as pool:
        options = {"budget": 40, "rng": 1, "workers": pool, "checkpoint": path}
        broken_off = labcat.minimize(fun, BOX, callback=callback, **options)
        ended.set()
        running = {trial.id: tuple(trial.x) for trial in broken_off.optimizer.pending}
        assert len(running) == 2
        resumed = labcat.minimize(sphere, BOX, **options)
    assert resumed.nfev == 40 and sorted(resumed.history.id.tolist()) == list(range(40))
    assert {id: tuple(resumed.history.x[resumed.history.id == id][0]) for id in running} == running


def test_x0_is_not_evaluated_again(tmp_path):
    path = tmp_path / "run.json"
    with pytest.raises(Crash):
        labcat.minimize(crash_after(3), BOX, x0=[2, 2], budget=10, rng=1, checkpoint=path)
    result = labcat.minimize(rosenbrock, BOX, x0=[2, 2], budget=10, rng=1, checkpoint=path)
    assert (result.history.x == [2, 2]).all(axis=1).sum() == 1


def test_x0_that_is_new_when_a_run_is_resumed_is_evaluated_next(tmp_path):
    path = tmp_path / "run.json"
    options = {"budget": 10, "rng": 1, "checkpoint": path}
    x0 = [[2, 2], [3, 3], [4, 4]]
    with pytest.raises(Crash):
        labcat.minimize(crash_after(1), BOX, x0=x0, **options)
    result = labcat.minimize(rosenbrock, BOX, x0=[*x0, [5, 5]], **options)
    assert result.history.x[:4].tolist() == [[2, 2], [3, 3], [4, 4], [5, 5]]
    assert len({tuple(x) for x in result.history.x}) == 10


HOLDER = """
import sys, labcat
def fun(x):
    print("evaluating", flush=True)
    sys.stdin.readline()
    return float(x[0] ** 2)
labcat.minimize(fun, [(-5, 10)] * 2, budget=3, rng=1, checkpoint=sys.argv[1])
"""


def test_two_processes_do_not_share_a_checkpoint(tmp_path):
    path = tmp_path / "run.json"
    command = [sys.executable, "-c", HOLDER, str(path)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "evaluating\n"
    refused = f"run.json is in use by process {holder.pid} on .*a file of its own"
    with pytest.raises(labcat.CheckpointError, match=refused):
        labcat.minimize(crash_after(0), BOX, budget=3, rng=1, checkpoint=path)
    holder.communicate("\n\n\n")
    assert holder.returncode == 0
    assert os.listdir(tmp_path) == ["run.json"]
    assert labcat.minimize(crash_after(0), BOX, budget=3, rng=1, checkpoint=path).nfev == 3


def test_a_killed_run_leaves_no_lock(tmp_path):
    path = tmp_path / "run.json"
    command = [sys.executable, "-c", HOLDER, str(path)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "evaluating\n"
    holder.kill()
    holder.communicate()
    assert labcat.minimize(rosenbrock, BOX, budget=3, rng=1, checkpoint=path).nfev == 3
    assert os.listdir(tmp_path) == ["run.json"]


def test_two_runs_of_a_process_do_not_share_a_checkpoint(tmp_path):
    path = tmp_path / "run.json"

    def fun(x):
        with pytest.raises(labcat.CheckpointError, match="in use by another run of this process"):
            labcat.minimize(
                rosenbrock, BOX, budget=3, rng=1, checkpoint=tmp_path / "." / "run.json"
            )
        return rosenbrock(x)

    assert labcat.minimize(fun, BOX, budget=3, rng=1, checkpoint=path).nfev == 3


def test_of_many_processes_one_gets_the_checkpoint_at_a_time(tmp_path):
    """They start together, and start again when they are refused: no evaluation is lost."""
    script = """
import sys, time, labcat
while True:
    try:
        result = labcat.minimize(lambda x: float(x[0] ** 2), [(-5, 10)] * 2, budget=12, rng=1,
            checkpoint=sys.argv[1], callback=lambda xk: time.sleep(0.002))
        break
    except labcat.CheckpointError as error:
        assert "in use" in str(error), error
        time.sleep(0.01)
assert result.nfev == 12
"""
    command = [sys.executable, "-c", script, str(tmp_path / "run.json")]
    runs = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [run.communicate(timeout=600)[1] for run in runs] == [""] * 4
    assert os.listdir(tmp_path) == ["run.json"]


def test_a_longer_budget_extends_the_run(tmp_path):
    path = tmp_path / "run.json"
    labcat.minimize(rosenbrock, BOX, budget=20, rng=1, checkpoint=path)
    extended = labcat.minimize(rosenbrock, BOX, budget=50, rng=1, checkpoint=path)
    whole = labcat.minimize(rosenbrock, BOX, budget=50, rng=1)
    assert np.array_equal(extended.history.x, whole.history.x)
    assert extended.message == "the budget of 50 evaluations is used up"
    target = float(extended.fun) + 1e-12
    assert labcat.minimize(crash_after(0), BOX, target=target, rng=1, checkpoint=path).status == 1


def test_any_seed_resumes_if_none_was_given(tmp_path):
    path = tmp_path / "run.json"
    with pytest.raises(Crash):
        labcat.minimize(crash_after(5), BOX, budget=10, checkpoint=path)
    held = labcat.Optimizer.from_json(path.read_text())
    resumed = labcat.minimize(rosenbrock, BOX, budget=10, checkpoint=path)
    assert resumed.optimizer.seed == held.seed
    assert np.array_equal(resumed.history.x[:5], held.history.x)


@pytest.mark.parametrize(
    "bounds, options, named",
    [
        ([(-5, 11)] * 2, {}, "bounds"),
        ([(-5, 10)] * 3, {}, "bounds"),
        (labcat.Space(a=(-5, 10), b=(-5, 10)), {}, "bounds"),
        (BOX, {"rng": 2}, "seed is 1, in this call it is 2"),
        (BOX, {"preset": "paper"}, "preset is 'default'"),
        (BOX, {"beta": 0.25}, "beta is None, in this call it is 0.25"),
    ],
)
def test_a_checkpoint_of_another_problem_is_refused_and_kept(tmp_path, bounds, options, named):
    path = tmp_path / "run.json"
    labcat.minimize(rosenbrock, BOX, budget=6, rng=1, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(labcat.CheckpointError, match=f"another problem: its {named}"):
        labcat.minimize(
            lambda *x: 0.0, bounds, **{"budget": 6, "rng": 1, "checkpoint": path, **options}
        )
    assert path.read_bytes() == before


def test_of_other_bounds_only_those_that_differ_are_told(tmp_path):
    path = tmp_path / "run.json"
    labcat.minimize(rosenbrock, BOX, budget=6, rng=1, checkpoint=path)
    with pytest.raises(labcat.CheckpointError) as refused:
        labcat.minimize(rosenbrock, [BOX[0], (-5, 11)], budget=6, rng=1, checkpoint=path)
    was, now = (f"{{'x1': {labcat.Real(-5.0, high)!r}}}" for high in (10.0, 11.0))
    assert f"its bounds are {was}, in this call they are {now};" in str(refused.value)


def test_the_direction_belongs_to_the_problem(tmp_path):
    path = tmp_path / "run.json"
    labcat.minimize(rosenbrock, BOX, budget=6, rng=1, checkpoint=path)
    with pytest.raises(labcat.CheckpointError, match="its direction is 'minimize'"):
        labcat.maximize(rosenbrock, BOX, budget=6, rng=1, checkpoint=path)


@pytest.mark.parametrize(
    "content", [b"", b"not json", b"{}", b"\xff\xfe", json.dumps([1]).encode()]
)
def test_a_file_that_is_no_checkpoint_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(labcat.CheckpointError, match="run.json"):
        labcat.minimize(rosenbrock, BOX, budget=6, rng=1, checkpoint=path)
    assert path.read_bytes() == content


def test_a_missing_directory_is_an_error_before_anything_is_evaluated(tmp_path):
    with pytest.raises(labcat.CheckpointError, match="no directory"):
        labcat.minimize(crash_after(0), BOX, budget=6, checkpoint=tmp_path / "no" / "run.json")


def test_a_file_that_can_no_longer_be_written_is_reported_with_the_result(tmp_path):
    def callback(intermediate_result):
        if intermediate_result.nfev == 3:
            shutil.rmtree(tmp_path)

    with pytest.raises(OSError, match=r"the checkpoint cannot be written: .*run\.json") as caught:
        labcat.minimize(
            rosenbrock, BOX, budget=6, rng=1, checkpoint=tmp_path / "run.json", callback=callback
        )
    assert caught.value.labcat_result.nfev == 4


def test_a_directory_is_no_checkpoint(tmp_path):
    with pytest.raises(labcat.CheckpointError, match="cannot be read"):
        labcat.minimize(rosenbrock, BOX, budget=6, rng=1, checkpoint=tmp_path)


@pytest.mark.parametrize("path", ["", "/", 5])
def test_what_names_no_file_is_no_checkpoint(path):
    with pytest.raises(labcat.InvalidError, match=f"checkpoint is .*{path}"):
        labcat.minimize(rosenbrock, BOX, budget=6, rng=1, checkpoint=path)
