"""The classic problems against published values, and the data profiles made of them."""

import json
import math

import numpy as np
import pytest

from labcat_bench.classic_functions import CASES, CLASSICS
from labcat_bench.classics import MINIMA, VARIANTS, ClassicProblem, Solved, best_values, evaluations_to, oscillation
from labcat_bench.cli import main
from labcat_bench.objective import BudgetSpent

# f(x0) as printed by Moré, Garbow and Hillstrom, or by Moré and Wild.
STARTS = {
    "linear-full-rank-9": 72, "linear-full-rank-9-x10": 1125, "linear-rank-one-7": 1.165420e7, "rosenbrock-2": 24.2,
    "linear-rank-one-7-x10": 1.168591e9, "linear-rank-one-zero-7": 4.989195e6, "linear-rank-one-zero-7-x10": 5.009356e8,
    "rosenbrock-2-x10": 1.795769e6, "helical-valley-3": 2500, "helical-valley-3-x10": 10600, "powell-singular-4": 215,
    "powell-singular-4-x10": 1.615400e6, "freudenstein-roth-2": 400.5, "freudenstein-roth-2-x10": 1.545754e8,
    "bard-3": 41.68170, "bard-3-x10": 1306.234, "kowalik-osborne-4": 5.313172e-3, "meyer-3": 1.693608e9,
    "watson-6": 16.43083, "watson-6-x10": 2.323367e6, "watson-9": 26.90417, "watson-9-x10": 8.158877e6,
    "watson-12": 73.67821, "watson-12-x10": 2.059384e7, "box-3d-3": 1031.154, "jennrich-sampson-2": 4171.306,
    "brown-dennis-4": 7.926693e6, "brown-dennis-4-x10": 3.081064e11, "chebyquad-6": 4.642817e-2,
    "chebyquad-7": 3.377064e-2, "chebyquad-8": 3.861770e-2, "chebyquad-9": 2.888298e-2, "chebyquad-10": 3.376327e-2,
    "chebyquad-11": 2.674060e-2, "brown-almost-linear-10": 273.2480, "osborne-1-5": 0.8790263, "osborne-2-11": 2.093420,
    "osborne-2-11-x10": 199.6847, "bdqrtic-8": 904, "bdqrtic-10": 1356, "bdqrtic-11": 1582, "bdqrtic-12": 1808,
    "cube-5": 56.5, "cube-6": 70.5625, "cube-8": 98.6875, "mancino-5": 2.539084e9, "mancino-5-x10": 6.873795e12,
    "mancino-8": 3.367961e9, "mancino-10": 3.735127e9, "mancino-12": 3.991072e9, "mancino-12-x10": 1.130015e13,
    "heart-8-8": 9.385672, "heart-8-8-x10": 3.365815e10,
}  # fmt: skip


def value(case, x):
    return float(np.sum(CASES[case].residuals(np.asarray(x, dtype=float)) ** 2))


def test_the_set_has_53_problems_of_22_functions():
    assert len(CASES) == 53 == len(STARTS) and len(CLASSICS) == 22
    assert {case.function for case in CASES.values()} == set(CLASSICS)
    assert (min(c.n for c in CASES.values()), max(c.n for c in CASES.values())) == (2, 12)


@pytest.mark.parametrize("name", CASES)
def test_the_value_at_the_start_is_the_published_one(name):
    case = CASES[name]
    residuals = case.residuals(case.start)
    assert residuals.shape == (case.m,) and case.start.shape == (case.n,)
    assert np.sum(residuals**2) == pytest.approx(STARTS[name], rel=1e-6)


def solved_in_the_box(name, x0):
    from scipy.optimize import least_squares

    with ClassicProblem(name).open(1) as objective:
        bounds, scale = (objective.lower, objective.upper), np.maximum(1, np.abs(CASES[name].start))
    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "max_nfev": 1000}
    return 2 * least_squares(CASES[name].residuals, x0, bounds=bounds, x_scale=scale, **tight).cost


# Where the slope from the start leads to a minimum that is not the least one.
LOCAL = {
    "freudenstein-roth-2": 49.32432,  # 48.98425 lies outside the box
    "freudenstein-roth-2-x10": 48.98425,
    "chebyquad-10": 6.503955e-3,
    "osborne-2-11-x10": 1.789814,
    "watson-12": 4.848219e-10,  # the least one lies outside the box
}


@pytest.mark.parametrize("name", CASES)
def test_the_least_value_is_reached_from_the_start_and_not_undercut(name):
    least = MINIMA.get(name.removesuffix("-x10"), 0.0)
    found = solved_in_the_box(name, CASES[name].start)
    assert found == pytest.approx(LOCAL.get(name, least), rel=1e-3 if name.startswith("watson-12") else 1e-5, abs=1e-12)
    assert found >= least * (1 - 1e-6)


def test_minima_that_the_slope_from_the_start_does_not_lead_to():
    assert value("freudenstein-roth-2", [5, 4]) == 0
    starts = np.random.default_rng(1).random((20, 10))
    assert min(solved_in_the_box("chebyquad-10", x0) for x0 in starts) == pytest.approx(MINIMA["chebyquad-10"])


def test_known_solutions():
    assert value("helical-valley-3", [1, 0, 0]) == 0
    assert value("box-3d-3", [1, 10, 1]) == pytest.approx(0, abs=1e-30)
    assert value("brown-almost-linear-10", np.ones(10)) == 0
    assert value("powell-singular-4", np.zeros(4)) == 0
    assert value("cube-5", np.ones(5)) == 0
    assert value("watson-6", np.zeros(6)) == 30  # the start of the original collection
    assert value("jennrich-sampson-2", [0.2578252, 0.2578252]) == pytest.approx(124.3622, rel=1e-6)


def test_the_box_lies_around_the_start_and_every_view_of_a_point_is_one_evaluation():
    with ClassicProblem("meyer-3", box_factor=10).open(3) as objective:
        assert np.allclose(objective.from_unit(objective.start(1)), [0.02, 4000, 250])
        assert np.allclose(objective.upper - objective.lower, [20, 80000, 5000])
        assert objective.first_step == 0.05
        residuals = objective.residuals(objective.x0)
        assert objective(objective.x0) == pytest.approx(float(residuals @ residuals))
        assert math.isfinite(objective([0.02, 4000, -50.0]))  # where the formula divides by zero
        assert objective.evaluations == 3
        with pytest.raises(BudgetSpent):
            objective.residuals(objective.x0)


def test_variants_show_something_else_and_judge_by_the_truth():
    x0 = CASES["bard-3"].start
    truth = STARTS["bard-3"]
    shown = {}
    for variant in VARIANTS:
        with ClassicProblem("bard-3", variant, level=1e-3).open(9, seed=4) as objective:
            shown[variant] = objective(x0)
            judged = objective.trace[-1][1]
        if variant == "nonsmooth":
            assert shown[variant] == judged == pytest.approx(float(np.abs(CASES["bard-3"].residuals(x0)).sum()))
        else:
            assert judged == pytest.approx(truth)
    assert shown["smooth"] == pytest.approx(truth)
    assert shown["oscillating"] == pytest.approx(truth * (1 + 1e-3 * oscillation(x0)))
    for variant in ("oscillating", "relative", "absolute"):
        assert 0 < abs(shown[variant] / truth - 1) < 1e-2
    again = []
    for _ in range(2):
        with ClassicProblem("bard-3", "relative", level=1e-3).open(9, seed=4) as objective:
            again.append([objective(x0), objective(x0)])
    assert again[0] == again[1] and again[0][0] != again[0][1]  # noise: new at each evaluation, the same in each run


def record(algorithm, case, *trace):
    return {"key": f"{algorithm}|{case}", "algorithm": algorithm, "function": case, "variant": "smooth", "trace": trace}


def test_data_profiles_by_hand():
    records = [
        record("a", "rosenbrock-2", (1, 24.2), (6, 2.0), (30, 1e-5)),
        record("b", "rosenbrock-2", (1, 24.2), (15, 1e-5)),
        record("a", "powell-singular-4", (1, 215.0), (10, 1e-3)),
        record("b", "powell-singular-4", (1, 215.0), (20, 100.0)),
    ]
    problems = {r["key"]: ClassicProblem(r["function"]) for r in records}
    solved = Solved.of(records, problems, [1e-1, 1e-5])
    assert solved.best == {"rosenbrock-2": 0.0, "powell-singular-4": 0.0}
    assert evaluations_to(records[0], 2.42) == 6 and evaluations_to(records[0], 0) == math.inf
    assert solved.gradients["a"][1e-1] == {("rosenbrock-2", 0): 2.0, ("powell-singular-4", 0): 2.0}
    assert [solved.share("a", 1e-1, k) for k in (1, 2)] == [0, 1]
    assert [solved.share("b", 1e-1, k) for k in (4, 5, 100)] == [0, 0.5, 0.5]
    assert solved.difference("b", "a", 1e-1, 5) == (-0.5, pytest.approx(0.5))
    assert solved.ratio("b", "a", 1e-1, both=False)[::2] == (math.inf, 2)  # the median of 2.5 and infinity
    assert solved.ratio("b", "a", 1e-1, both=True) == (2.5, 0.0, 1)
    median, error, count = solved.ratio("a", "b", 1e-5, both=False)
    assert (median, count) == (pytest.approx((2 + 0) / 2), 2)
    # Of two problems, with 2 and 0, both are drawn, or the one or the other twice: 1, 2, 0.
    assert error == pytest.approx(math.sqrt(0.5), abs=0.05)


def test_the_least_value_of_any_run_takes_the_place_of_a_known_one():
    low = record("a", "meyer-3", (1, 1e9), (2, 80.0))
    assert best_values([record("b", "meyer-3", (1, 1e9)), low]) == {"meyer-3": 80.0}
    rough = {**record("a", "meyer-3", (1, 1e9), (2, 200.0)), "variant": "nonsmooth"}
    assert best_values([rough]) == {"meyer-3": 200.0}


def run(tmp_path, *arguments):
    return main(["classics", *arguments, "--out", str(tmp_path), "--quiet", "--workers", "1"])


@pytest.mark.filterwarnings("ignore")
def test_the_command(tmp_path, capsys):
    chosen = ["--problems", "rosenbrock,bard", "--gradients", "5,10"]
    assert run(tmp_path, "default", "newuoa", *chosen) == 0
    text = capsys.readouterr().out
    assert "Solved to τ = 1e-05 within k simplex gradients (4 problems, smooth" in text and "| NEWUOA " in text
    records = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    records = [r for r in records if "key" in r]
    assert {(r["d"], r["budget"], r["evaluations"]) for r in records} == {(2, 30, 30), (3, 40, 40)}
    firsts = {(r["function"], r["trace"][0][0], round(r["trace"][0][1], 3)) for r in records}
    assert firsts == {(n, 1, round(STARTS[n], 3)) for n in ("bard-3",)} | {
        (r["function"], 1, round(ClassicProblem(r["function"]).first_value, 3)) for r in records
    }  # all begin at x0
    assert run(tmp_path, "default", "newuoa", *chosen) == 0
    assert "0 runs" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_residuals(tmp_path, capsys):
    arguments = ["default", "lm", "dfo-ls", "dfo-ls-noisy", "--residuals", "--problems", "rosenbrock-2,bard-3"]
    assert run(tmp_path, *arguments, "--gradients", "20", "--taus", "1e-3") == 0
    text = capsys.readouterr().out
    assert "as a multiple of those of default" in text
    rows = [line.split("|") for line in text.partition("Evaluations, as")[0].splitlines() if line.startswith("| ")]
    shares = {row[1].strip(): row[2].split()[0] for row in rows}
    assert shares["DFO-LS"] == shares["Levenberg–Marquardt (differences)"] == "1.000"
    assert run(tmp_path, "default", "dfo-ls-noisy", "--residuals", "--problems", "bard-3", "--variant", "absolute") == 0
    assert "each residual plus level" in capsys.readouterr().out


def test_wrong_usage(tmp_path, capsys):
    for arguments, message in (
        (["default", "lm"], "is not for real variables in a box"),
        (["default", "--problems", "sphere"], "unknown problem 'sphere'. Allowed: linear-full-rank-9"),
        (["default", "--residuals", "--variant", "nonsmooth"], "--residuals is for sums of squares"),
        (["default", "--box-factor", "0"], "--box-factor 0 is not above 0"),
        (["default,no_such_option=1"], "no_such_option"),
    ):
        assert run(tmp_path, *arguments) == 2
        assert message in capsys.readouterr().err


def test_a_build_without_least_squares_is_told(tmp_path, capsys, monkeypatch):
    import labcat

    monkeypatch.delattr(labcat, "least_squares", raising=False)
    assert run(tmp_path, "default,least_squares=true", "--residuals") == 2
    assert "has no `labcat.least_squares`" in capsys.readouterr().err
