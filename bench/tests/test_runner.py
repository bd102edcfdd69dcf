"""Runs: the budget, restarts, resuming, processes, a cluster."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from labcat_bench import algorithms, runner
from labcat_bench.algorithms import Algorithm, Peer, algorithm, labcat_algorithm
from labcat_bench.coco_problems import CocoProblem
from labcat_bench.objective import ObjectiveError
from labcat_bench.problems import SyntheticProblem, UserProblem
from labcat_bench.results import ResultsFile, metadata
from labcat_bench.runner import Run, dask_executor, execute, run_all

RUNS = [
    Run(algorithm(name), SyntheticProblem(function, run), 30, 1)
    for name in ("labcat-paper", "random")
    for function in ("sphere", "branin")
    for run in range(2)
]


def without_time(record):
    return {name: value for name, value in record.items() if name != "seconds"}


def test_a_finished_run_is_never_repeated(tmp_path, monkeypatch):
    path = tmp_path / "results.jsonl"
    made = []
    monkeypatch.setattr(runner, "execute", lambda run: made.append(run.key) or execute(run))
    first = run_all(RUNS[:5], ResultsFile(path), show_progress=False)
    assert made == [run.key for run in RUNS[:5]]
    made.clear()
    second = run_all(RUNS, ResultsFile(path), show_progress=False)
    assert made == [run.key for run in RUNS[5:]]
    assert second[:5] == first


def test_a_line_cut_off_by_a_crash_is_made_again(tmp_path, monkeypatch):
    path = tmp_path / "results.jsonl"
    whole = run_all(RUNS[:3], ResultsFile(path), show_progress=False)
    text = path.read_text()
    path.write_text(text[:-40])
    made = []
    monkeypatch.setattr(runner, "execute", lambda run: made.append(run.key) or execute(run))
    again = run_all(RUNS[:3], ResultsFile(path), show_progress=False)
    assert made == [RUNS[2].key]
    assert list(map(without_time, again)) == list(map(without_time, whole))
    assert set(ResultsFile(path).records) == {run.key for run in RUNS[:3]}


def test_processes_give_what_one_process_gives(tmp_path):
    alone = run_all(RUNS, ResultsFile(tmp_path / "a.jsonl"), show_progress=False)
    shared = run_all(RUNS, ResultsFile(tmp_path / "b.jsonl"), workers=2, show_progress=False)
    assert list(map(without_time, alone)) == list(map(without_time, shared))


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_gives_the_same(tmp_path):
    from distributed import LocalCluster

    alone = run_all(RUNS, ResultsFile(tmp_path / "a.jsonl"), show_progress=False)
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        address = "dask://" + cluster.scheduler_address.removeprefix("tcp://")
        shared = run_all(RUNS, ResultsFile(tmp_path / "b.jsonl"), cluster=address, show_progress=False)
    assert list(map(without_time, alone)) == list(map(without_time, shared))


def test_executors_are_named():
    with pytest.raises(ValueError, match="dask://HOST:PORT"), dask_executor("spark://host:1"):
        pass


def test_every_algorithm_and_problem_has_its_own_key():
    variants = [
        algorithm("labcat"),
        algorithm("labcat-paper"),
        labcat_algorithm("paper", beta=0.3),
        algorithm("random"),
    ]
    problems = [
        SyntheticProblem("sphere", 0),
        SyntheticProblem("sphere", 0, shifted=True),
        SyntheticProblem("sphere", 1),
        CocoProblem("bbob", 1, 1, 2),
        CocoProblem("bbob", 1, 1, 2, observer="somewhere"),
        UserProblem(len, ((0.0, 1.0),), 0),
        UserProblem(len, ((0.0, 2.0),), 0),
        UserProblem(len, ((0.0, 2.0),), 0, f_opt=1.0),
    ]
    keys = {Run(a, p, budget, seed).key for a in variants for p in problems for budget in (5, 6) for seed in (1, 2)}
    assert len(keys) == len(variants) * len(problems) * 4


def test_a_seed_fixes_a_run_and_another_changes_it():
    run = Run(labcat_algorithm("paper"), CocoProblem("bbob", 8, 1, 2), 60, 1)
    other = Run(labcat_algorithm("paper"), CocoProblem("bbob", 8, 1, 2), 60, 2)
    assert without_time(execute(run)) == without_time(execute(run))
    assert execute(run)["trace"] != execute(other)["trace"]


def with_peer(monkeypatch, run):
    """An algorithm made of this function."""
    monkeypatch.setattr(algorithms, "peers", lambda: [Peer("toy", "toy", run)])
    return Run(Algorithm("toy", "toy"), SyntheticProblem("sphere", 0), 10, 1)


def test_an_algorithm_that_stops_early_is_started_again(monkeypatch):
    seeds = []

    def three_points(objective, seed):
        seeds.append(seed)
        for u in (0.1, 0.2, 0.3):
            objective.in_unit([u, u])

    record = execute(with_peer(monkeypatch, three_points))
    assert (record["evaluations"], record["starts"], len(set(seeds))) == (10, 4, 4)


def test_errors_of_a_peer_end_a_start_and_are_recorded(monkeypatch):
    def fails_after_two(objective, seed):
        objective.in_unit([0.5, 0.1])
        objective.in_unit([0.5, 0.2])
        raise RuntimeError("matrix not positive definite")

    record = execute(with_peer(monkeypatch, fails_after_two))
    assert record["evaluations"] == 10
    assert record["errors"] == ["RuntimeError: matrix not positive definite"] * 5


def test_a_peer_that_never_evaluates_does_not_loop(monkeypatch):
    record = execute(with_peer(monkeypatch, lambda objective, seed: None))
    assert (record["evaluations"], record["errors"]) == (0, ["start 1 made no evaluation"])


def test_a_peer_that_swallows_the_error_of_the_objective_does_not_hide_it(monkeypatch):
    def swallows(objective, seed):
        try:
            objective([0.0, 0.0])
        except Exception:
            pass

    monkeypatch.setattr(algorithms, "peers", lambda: [Peer("toy", "toy", swallows)])
    run = Run(Algorithm("toy", "toy"), UserProblem(lambda x: 1 / 0, ((0.0, 1.0),) * 2, 0), 10, 1)
    with pytest.raises(ObjectiveError, match="ZeroDivisionError"):
        execute(run)


def test_metadata_says_where_a_result_comes_from(tmp_path):
    results = ResultsFile(tmp_path / "r.jsonl")
    results.start(metadata("a command"))
    meta = json.loads((tmp_path / "r.jsonl").read_text())["meta"]
    assert meta["command"] == "a command"
    assert all(meta[name] for name in ("commit", "build", "machine", "python", "started"))
    assert meta["build"] != "none"
    assert results.other_builds == []


def test_results_of_another_build_are_noticed(tmp_path):
    results = ResultsFile(tmp_path / "r.jsonl")
    results.start({**metadata("a command"), "build": "0123456789ab"})
    assert ResultsFile(tmp_path / "r.jsonl").other_builds == ["0123456789ab"]


def start_benchmark(path, workers):
    """A benchmark in a session of its own, which has finished its first runs."""
    options = ["--preset", "default", "--dims", "5", "--workers", workers, "--out", str(path.parent), "--no-figures"]
    command = [sys.executable, "-m", "labcat.bench", "coco", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 600
    while not (path.exists() and len(path.read_text().splitlines()) > 2):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    return process


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupt_keeps_what_is_done(tmp_path, workers):
    path = tmp_path / "results.jsonl"
    process = start_benchmark(path, workers)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 130, errors
    assert "the same command goes on from here" in errors
    lines = path.read_text().splitlines()
    assert len(lines) > 2
    assert all(json.loads(line) for line in lines)


def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    process = start_benchmark(tmp_path / "results.jsonl", "2")
    process.kill()
    process.communicate(timeout=600)
    deadline = time.monotonic() + 600
    while True:  # until the session has no process left
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.1)
