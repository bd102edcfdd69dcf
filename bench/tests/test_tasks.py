"""The tasks: what they compute, that peers are told the same, and the medians made of them."""

import importlib.util
import json
import math
import os
from contextlib import nullcontext

import numpy as np
import pytest

from labcat_bench import task_programs as programs
from labcat_bench import tasks
from labcat_bench.algorithms import Algorithm
from labcat_bench.cli import main
from labcat_bench.objective import BudgetSpent, Objective
from labcat_bench.peers import PEERS
from labcat_bench.results import ResultsFile
from labcat_bench.runner import Run, run_all
from labcat_bench.task_functions import MODAL, SMOOTH, gradient
from labcat_bench.tasks import GROUPS, TASKS, Median, TaskProblem

KNOWN = {
    "hartmann-3": -3.86278, "hartmann-6": -3.32237, "shekel-4": -10.5364, "michalewicz-2": -1.8013, "ackley-5": 0,
    "michalewicz-5": -4.687658, "styblinski-5": -39.16617 * 5, "rastrigin-2": 0, "rastrigin-4": 0, "schwefel-2": 0,
    "schwefel-4": 0, "levy-6": 0,
}  # fmt: skip


@pytest.mark.parametrize("name", MODAL)
def test_the_minimum_is_the_published_one_and_no_point_nearby_is_lower(name):
    modal = MODAL[name]
    assert modal.minimum == pytest.approx(KNOWN[name], rel=1e-5, abs=1e-9)
    rng = np.random.default_rng(3)
    width = modal.box[1] - modal.box[0]
    near = np.array(modal.minimiser) + width * rng.normal(0, 1e-3, (200, len(modal.minimiser)))
    assert min(float(modal.value(x)) for x in near) >= modal.minimum - 1e-9
    anywhere = rng.uniform(*modal.box, (500, len(modal.minimiser)))
    assert min(float(modal.value(x)) for x in anywhere) > modal.minimum


def test_the_minimiser_is_inside_a_box_that_another_run_does_not_have():
    for name, modal in MODAL.items():
        boxes = []
        for k in range(2):
            with TaskProblem(name, k).open(5) as objective:
                assert (objective.lower < modal.minimiser).all() and (objective.upper > modal.minimiser).all()
                assert (objective.lower >= modal.box[0]).all() and (objective.upper <= modal.box[1]).all()
                boxes.append(objective.bounds)
                middle = objective.from_unit(np.full(objective.dim, 0.5))
                assert np.abs(middle - modal.minimiser).max() > 0.01 * (modal.box[1] - modal.box[0])
                assert objective.f_opt == modal.minimum
        assert boxes[0] != boxes[1]


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_are_those_of_differences_and_the_minimum_is_zero(name):
    from scipy.optimize import approx_fprime, minimize

    smooth = SMOOTH[name]
    x = np.random.default_rng(2).uniform(*smooth.box, smooth.dim)
    exact = gradient(smooth.value, x)
    assert np.abs(exact - approx_fprime(x, smooth.value, 1e-7)).max() < 1e-4 * np.abs(exact).max()
    found = minimize(smooth.value, np.full(smooth.dim, 0.8), jac=lambda x: gradient(smooth.value, x), method="BFGS")
    assert found.fun == pytest.approx(0, abs=1e-7) and found.fun > -1e-12


@pytest.mark.parametrize("name", programs.CALIBRATIONS)
def test_calibrations(name):
    calibration = programs.CALIBRATIONS[name]
    truth = np.array(calibration.truth)
    residuals = programs.misfits(name, truth)
    assert np.isfinite(residuals).all() and 0.5 < np.mean(residuals**2) < 1.5  # as large as the noise is said to be
    assert programs.least_cost(name) < np.sum(residuals**2)
    lower, upper = np.array(calibration.bounds).T
    assert (lower < truth).all() and (truth < upper).all() and truth.size == int(name[-1])
    with TaskProblem(name, 0).open(3) as objective, TaskProblem(name, 1).open(3) as other:
        assert objective.x0.tolist() != other.x0.tolist()
        vector = objective.residuals(objective.x0)
        assert objective.best == pytest.approx(float(vector @ vector)) and objective.evaluations == 1


def test_an_integration_that_gives_up_is_still_a_value():
    states = programs.integrate(lambda _t, y: [y[0] ** 2], [1.0], np.linspace(0.5, 3, 6))  # infinite at t = 1
    assert not np.isfinite(states[0, -1])
    assert math.isfinite(tasks.squared(lambda x: states.ravel())(np.zeros(1)).true)


def test_the_rover():
    straight = np.linspace(programs.ROVER_START, programs.ROVER_GOAL, 30)
    assert programs.rover(straight.ravel()) > 1  # through obstacles
    corner = np.array([programs.ROVER_START, [0.02, 0.98], programs.ROVER_GOAL])
    around = np.concatenate([np.linspace(*corner[:2], 15), np.linspace(*corner[1:], 15)])
    length = np.abs(np.diff(corner, axis=0)).sum()
    assert programs.rover(around.ravel()) == pytest.approx(0.05 * length, rel=0.1)  # along the edges there are none
    straight = straight.ravel()
    assert programs.rover_from_line(np.zeros(60)) == programs.rover(straight)
    off = around + np.array([0.0, 0.01])
    assert programs.rover(off.ravel()) == pytest.approx(programs.rover(around.ravel()) + 10 * 0.02, rel=0.05)


def test_the_controller():
    usual = programs.LANDER_USUAL
    falling = [0.0, 0.1, 0.0, -1.0, 0.0, 0.0, 0, 0]
    assert programs.lander_action(falling, usual) == 2
    assert programs.lander_action([0.0, 0.1, 0.0, 0.0, 0.6, 0.0, 0, 0], usual) == 3
    assert programs.lander_action([0.0, 0.1, 0.0, 0.0, -0.6, 0.0, 0, 0], usual) == 1
    assert programs.lander_action([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1, 1], usual) == 0


def test_single_episodes_are_new_each_time_and_judged_by_fresh_ones(monkeypatch):
    seen = []

    def loss(x, episodes):
        seen.append([int(episode) for episode in episodes])
        return float(np.sum(x)) + (0.1 * (seen[-1][0] % 7) if len(seen[-1]) == 1 else 0.0)

    monkeypatch.setattr(programs, "lander_loss", loss)
    with TaskProblem("lander-episodes-12", 0).open(8) as objective:
        for k in range(8):
            objective(np.full(12, 1.0 - 0.1 * k))
        objective.recommend(np.full(12, 0.5))
    assert [len(each) for each in seen] == [1] * 8 + [tasks.FRESH]
    assert len({each[0] for each in seen[:8]}) == 8 and not {each[0] for each in seen[:8]} & set(seen[8])
    assert objective.trace == [(8, pytest.approx(6.0))]


def test_tuning():
    assert 0.01 < programs.tuned_svc(np.array([0.0, -1.5])) < 0.1 < programs.tuned_svc(np.array([-2.0, 1.0]))
    assert 40 < programs.tuned_svr(np.array([1.0, -1.5, 0.0])) < programs.tuned_svr(np.array([-2.0, 1.0, 0.0]))
    assert 0 < programs.tuned_regression(np.zeros(7)) < programs.tuned_regression(np.full(7, -2.0))


def test_medians_and_who_leads():
    even = Median((1.0, 1.0, 1.0))
    assert (even.value, even.error, str(even)) == (1, 0, "1 ± 0")
    wide = Median((0.5, 1.0, 3.0))
    assert wide.value == 1 and 0.3 < wide.error < 1.5
    assert str(Median((1.0, math.inf, math.inf))) == "∞" and math.isnan(Median((2.0,)).error)
    each = {
        "a": Median((1.0, 1.2, 0.8, 1.1, 0.9)),
        "b": Median((1.1, 0.9, 1.0, 0.8, 1.2)),
        "c": Median((3.0, 1.5, 1000.0, 2.0, 4.0)),  # a large spread is no excuse
        "d": Median((4.0, 4.1, 4.2, 4.3, 4.4)),
    }
    assert tasks.leading(each) == ["a", "b"]
    assert [tasks.is_among_last(name, each) for name in each] == [False, False, True, True]
    text = tasks.standings({"one": each}).text
    assert "- b is best or within the error of the best on 1 of 1, nowhere among the last two." in text
    assert "- d is best or within the error of the best on 0 of 1, among the last two on 1: one." in text
    tied = {**each, "e": each["d"]}
    assert [tasks.is_among_last(name, tied) for name in "cde"] == [False, True, True]


def run(folder, *arguments):
    return main(["tasks", *map(str, arguments), "--out", str(folder), "--quiet", "--workers", "1"])


@pytest.mark.filterwarnings("ignore")
def test_the_command(tmp_path, capsys):
    arguments = ["--tasks", "hartmann-3,rover-60", "--runs", 2, "--budget", 9]
    assert run(tmp_path, "default", "direct", "random", *arguments) == 0
    text = capsys.readouterr().out
    assert "Functions with many modes: regret (medians of 2 runs)" in text and " DIRECT |" in text
    assert "| hartmann-3 |      9 |" in text
    records = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()][1:]
    assert len(records) == 3 * 2 * 2 and {r["evaluations"] for r in records} == {9}
    assert run(tmp_path, "default", "direct", "random", *arguments) == 0
    assert "0 runs" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_gradients_and_residuals(tmp_path, capsys):
    arguments = ["--tasks", "ellipsoid-5", "--runs", 1]
    assert run(tmp_path / "a", "default,jac=true", "lbfgsb", *arguments) == 0
    assert "Smooth functions, gradients told" in capsys.readouterr().out
    records = [json.loads(line) for line in (tmp_path / "a/results.jsonl").read_text().splitlines()][1:]
    assert len({r["trace"][0][1] for r in records}) == 1  # both begin at the same point
    assert all(r["trace"][-1][1] < 1e-6 for r in records)
    assert run(tmp_path / "b", "lm", "random", "--tasks", "arrhenius-4", "--runs", 1, "--budget", 60) == 0
    text = capsys.readouterr().out
    assert "Simulations to 1.0001 of the least sum of squares" in text and "random 0 of 1 runs" in text


def test_each_algorithm_has_a_process_of_its_own(tmp_path):
    runs = [Run(Algorithm("random", name), ProcessProblem("p", k), 2, 1) for name in ("a", "b") for k in (0, 1)]
    records = run_all(runs, ResultsFile(tmp_path / "r.jsonl"), show_progress=False, apart=True)
    processes = [record["process"] for record in records]
    assert processes[0] == processes[1] != processes[2] == processes[3] and os.getpid() not in processes


class ProcessProblem(TaskProblem):
    def open(self, budget, seed=0):
        objective = Objective(lambda x: float(x @ x), [0.0], [1.0], budget, 0.0)
        objective.info["process"] = os.getpid()
        return nullcontext(objective)


def test_wrong_usage_and_what_is_missing(tmp_path, capsys, monkeypatch):
    assert run(tmp_path, "default", "--tasks", "chess") == 2
    assert "unknown task 'chess'. Allowed: global, gradients" in capsys.readouterr().err
    assert run(tmp_path, "default", "lbfgsb", "--tasks", "global") == 2
    assert "L-BFGS-B is not for real variables in a box" in capsys.readouterr().err
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "gymnasium" else real(name))
    assert run(tmp_path, "default", "--tasks", "lander") == 2
    message = capsys.readouterr().err
    assert "pip install 'gymnasium[box2d]'" in message and "--tasks global,gradients" in message


def test_every_group_has_tasks_and_peers_that_exist():
    assert {task.group for task in TASKS.values()} == set(GROUPS)
    for group in GROUPS.values():
        for text in group.settings:
            peer = None if text.startswith("default") else PEERS[text]
            assert peer is None or "box" in peer.kinds or group.kind in peer.kinds


def test_local_peers_are_for_problems_that_show_more_than_values():
    for name in ("lm", "lbfgsb"):
        with pytest.raises(TypeError, match="residuals or gradients"):
            PEERS[name].run(Objective(lambda x: 0.0, [0.0], [1.0], 5), 1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["direct", "direct-l", "multistart"])
def test_global_peers_stay_in_the_box_and_find_a_minimum(name):
    with TaskProblem("hartmann-3", 0).open(150) as objective:
        points = []
        inner = objective._fun
        objective._fun = lambda x: points.append(x.copy()) or inner(x)
        try:
            PEERS[name].run(objective, 3)
        except BudgetSpent:
            pass
        assert (np.array(points) >= objective.lower).all() and (np.array(points) <= objective.upper).all()
        assert 100 <= objective.evaluations <= 150 and objective.trace[-1][1] < 0.5
