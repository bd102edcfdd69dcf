"""Noise, integers and categories, constraints, several evaluations at a time: problems, peers, commands."""

import math
import sys
import types
from types import MappingProxyType

import numpy as np
import pytest

import labcat
from labcat_bench import adapters, choices, discrete, engineering, medians, parallel
from labcat_bench.algorithms import UnknownAlgorithm, labcat_algorithm, peer_algorithm
from labcat_bench.cli import main
from labcat_bench.coco_problems import UNDERLYING, CocoProblem, Noise, UnknownProblem, coco_problems, noiseless
from labcat_bench.objective import (
    BudgetSpent,
    ConstrainedObjective,
    MixedObjective,
    NoisyObjective,
    Parameter,
)
from labcat_bench.peers import PEERS
from labcat_bench.peers import noisy as noisy_peers
from labcat_bench.runner import Run, execute
from labcat_bench.scoring import Runtimes, record_score
from labcat_bench.suites import SUITES

pytestmark = pytest.mark.filterwarnings("ignore")  # of the peers


def run(tmp_path, *arguments):
    return main([*map(str, arguments), "--out", str(tmp_path), "--workers", "1", "--quiet", "--no-figures"])


# ---- noise


def noisy_objective(budget=10):
    draws = iter([3.0, 1.0, 2.0, 0.5])
    return NoisyObjective(lambda x: next(draws), [0.0], [1.0], budget, 0.0, lambda x: float(x[0]))


def test_a_recommendation_is_judged_without_noise_and_may_get_worse():
    objective = noisy_objective()
    for x in (0.5, 0.2, 0.1, 0.9):  # the lowest draws are at 0.5, 0.2 and 0.9
        objective([x])
    assert objective.trace == [(1, 0.5), (2, 0.2), (4, 0.9)]
    objective.recommend([0.05])
    assert objective.trace[-1] == (4, 0.05)
    record = {"suite": "bbob-boxed", "f": 1, "d": 1, "trace": [[1, 1e-9], [2, 1e9]]}
    auc, met = record_score(record, 4)
    assert 0 < auc < 1 and met == 0.0  # all targets were met once, and none is at the end


def test_levels_are_shares_of_the_interquartile_range_and_each_run_has_its_own_noise():
    with CocoProblem("bbob", 1, 1, 2, noise=Noise("gaussian", 0.1)).open(4000, 1) as objective:
        x = np.zeros(2)
        values = np.array([objective(x) for _ in range(2000)])
        assert np.std(values) == pytest.approx(objective.sigma, rel=0.1)
        points = np.random.default_rng(0).uniform(-5, 5, (2000, 2))
        width = np.subtract(*np.quantile([objective._true(x) for x in points], [0.75, 0.25]))
        assert objective.sigma == pytest.approx(0.1 * width, rel=0.1)
    with CocoProblem("bbob", 1, 1, 2, noise=Noise("gaussian", 0.1)).open(10, 1) as again:
        assert [again(x) for _ in range(3)] == values[:3].tolist()
    with CocoProblem("bbob", 1, 1, 2, noise=Noise("gaussian", 0.1)).open(10, 2) as other:
        assert other(x) != values[0]


@pytest.mark.parametrize("kind", Noise.KINDS)
def test_noise_is_of_its_kind(kind):
    with CocoProblem("bbob", 8, 1, 2, noise=Noise(kind, 0.1)).open(4000, 1) as objective:
        x = np.array([1.0, 2.0])
        true = objective._true(x)
        values = np.array([objective(x) for _ in range(1000)]) - true
        heights = {"multiplicative": 0.1 * (true - objective.f_opt)}
        spread = np.subtract(*np.quantile(values, [0.75, 0.25]))
        expected = heights.get(kind, math.nan)
        if kind == "multiplicative":
            assert spread == pytest.approx(1.35 * expected, rel=0.15)
        tails = np.abs(values).max() / spread
        assert (tails > 5) == (kind == "heavy")


def test_noise_is_for_dimensions_that_the_suite_does_not_have():
    (problem,) = coco_problems("bbob", [12], [8], [3], noise=Noise("gaussian", 0.1))
    with problem.open(10, 1) as objective:
        assert len(objective.lower) == 12 and objective.sigma > 0
        values = [objective(np.zeros(12)) for _ in range(2)]
        assert values[0] != values[1] and objective._true(np.zeros(12)) > objective.f_opt
    record = execute(Run(peer_algorithm("random", "noisy"), problem, 24, 1))
    assert 0 <= record_score(record, 2)[0] <= 1  # by the targets of ten dimensions
    for suite, dim, message in (("bbob", 41, "2 to 40"), ("bbob-largescale", 20, "as given")):
        with pytest.raises(UnknownProblem, match=message):
            coco_problems(suite, [dim], [1], [1], noise=Noise("gaussian", 0.1))


def test_the_noisy_suite_without_its_noise():
    assert set(UNDERLYING) == set(SUITES["bbob-noisy"].functions)
    for function in (101, 104, 107, 110, 113, 119, 122, 125, 128):  # Gaussian: the median is the value
        f_opt, true = noiseless(function, 2, 2)
        with CocoProblem("bbob-noisy", function, 2, 2).open(400) as objective:
            x = np.array([1.5, -2.0])
            values = [objective(x) for _ in range(301)]
            assert np.median(values) - f_opt == pytest.approx(true(x) - f_opt, rel=0.35)


def test_labcat_recommends_what_it_says_it_would(monkeypatch):
    class Found:
        x = np.array([0.25, 0.5])

    monkeypatch.setattr(labcat.Optimizer, "recommended", property(lambda self: Found), raising=False)
    objective = NoisyObjective(lambda x: float(x @ x), [0.0, 0.0], [1.0, 1.0], 6, 0.0, lambda x: float(x @ x))
    adapters.noisy(objective, 1, {})
    # From the first budget that is scored, d, what it recommends; before, what it has evaluated.
    assert objective.trace == [(1, 0.5), (2, 0.3125)]


@pytest.mark.parametrize("name", ["cma-favourite", "cma-noise", "bads-noisy", "random"])
def test_noisy_peers_recommend(name):
    problem = CocoProblem("bbob", 1, 1, 2, noise=Noise("gaussian", 0.05))
    record = execute(Run(peer_algorithm(name, "noisy"), problem, 60, 1))
    assert record["evaluations"] == 60 and "errors" not in record
    assert record["trace"][-1][1] < 30
    assert record["noise"] == "gaussian0.05"


def test_bads_started_again_keeps_the_better_of_its_incumbents(monkeypatch):
    # What it says of its incumbent after 2, 4 and 6 evaluations, in each of three runs.
    told = iter([[(0.5, 4.0, 1.0), (0.2, 2.0, 1.0), (0.3, 1.0, 0.1)], [(0.0, -9.0, 0.0), (0.1, 2.0, 0.0), (0.4, 1.2, 0.1)],
                 [(0.6, -9.0, 0.0), (0.1, 0.5, 0.2), (0.05, 0.6, 0.1)]])  # fmt: skip

    class Bads:
        def __init__(self, fun, start, *box, options):
            self.fun, self.say, self.told = fun, options["output_fcn"], next(told)

        def optimize(self):
            for stage, (x, mean, std) in zip(("init", "iter", "done"), self.told, strict=True):
                self.fun(np.array([0.9])), self.fun(np.array([0.9]))
                self.say(np.array([[x]]), {"fval": np.array([mean]), "fsd": std}, stage)

    monkeypatch.setitem(sys.modules, "pybads", types.SimpleNamespace(BADS=Bads))
    objective = NoisyObjective(lambda x: float(x[0]), [0.0], [1.0], 18, 0.0, lambda x: float(x[0]))
    for seed in range(3):
        noisy_peers.bads_noisy(objective, seed)
    assert objective.trace == [(1, 0.9), (2, 0.5), (4, 0.2), (6, 0.3), (16, 0.1), (18, 0.05)]


def test_noisy_command(tmp_path, capsys):
    arguments = ["--functions", "1,8", "--instances", "1-2", "--budget", "20", "--levels", "0.1"]
    assert run(tmp_path, "noisy", *arguments, "--noise", "gaussian,multiplicative,heavy") == 0
    text = capsys.readouterr().out
    for kind in Noise.KINDS:
        assert f"bbob with {kind}0.1 noise, d = 2" in text
    assert text.count("| default ") == 3 and text.count("| CMA-ES (noise handler) ") == 3
    assert (
        run(tmp_path, "noisy", "default", "random", "--suite", "bbob-noisy", "--functions", "101,130", *arguments[2:])
        == 0
    )
    assert "bbob-noisy, d = 2: AUC / met at the end, budget 20·d" in capsys.readouterr().out


# ---- integers and categories


def test_parameters_from_the_unit_cube():
    whole = Parameter(1, 4, integer=True)
    values = [whole.from_unit(u) for u in np.linspace(0, 1, 4001)]
    assert [round(values.count(v) / 1000) for v in (1.0, 2.0, 3.0, 4.0)] == [1, 1, 1, 1]
    log = Parameter(1e-4, 1, log=True)
    assert [log.from_unit(u) for u in (0.0, 0.5, 1.0)] == pytest.approx([1e-4, 1e-2, 1])
    choice = Parameter.choice("a", "b", "c")
    assert (choice.levels, choice.from_unit(1.0), choice.from_unit(0.0)) == (3, 2.0, 0.0)
    assert Parameter(1, 64, integer=True, log=True).from_unit(0.0) == 1.0


MIXED = [Parameter.choice("a", "b", "c"), Parameter(0, 5, integer=True), Parameter(0.01, 1, log=True)]


def mixed(budget):
    points = []

    def value(v):
        points.append(v.tolist())
        return float((v[0] != 1) + abs(v[1] - 3) + abs(math.log10(v[2]) + 1))

    return MixedObjective(value, MIXED, budget, 0.0), points


MIXED_PEERS = [p.name for p in PEERS.values() if "mixed" in p.kinds and p.name != "smac-mixed"]


@pytest.mark.parametrize("name", MIXED_PEERS)
def test_mixed_peers_evaluate_points_of_the_space_and_repeat_themselves(name):
    streams = []
    for _ in range(2):
        objective, points = mixed(40)
        try:
            PEERS[name].run(objective, 5)
        except BudgetSpent:
            pass
        streams.append(points)
        assert 8 <= len(points) <= 40
        for v, p in zip(np.array(points).T, MIXED, strict=True):
            assert ((v >= p.low) & (v <= p.high)).all()
            assert not p.integer or (v == np.round(v)).all()
        assert objective.best < 2.5
    assert streams[0] == streams[1]


def test_labcat_gets_the_space_and_gives_labels(monkeypatch):
    given = {}

    class Trial:
        params = MappingProxyType({"x0": "b", "x1": 3, "x2": 0.1})

    class Optimizer:
        restarts = ()

        def __init__(self, space, **options):
            given.update(space)

        def ask(self):
            return Trial

        def tell(self, trial, value):
            assert value == 0.0

    monkeypatch.setattr(labcat, "Space", dict)
    monkeypatch.setattr(labcat, "Optimizer", Optimizer)
    objective, points = mixed(3)
    adapters.mixed(objective, 1, {})
    assert points == [[1.0, 3.0, 0.1]] * 3
    assert given["x0"] == labcat.Categorical(["a", "b", "c"])
    assert given["x1"] == labcat.Integer(0, 5)
    assert given["x2"] == labcat.Real(0.01, 1, scale="log")


def test_mixint_command(tmp_path, capsys):
    peers = "labcat-rounded,tpe,optuna-cma-margin,cma-int,cmawm,catcmawm,random"
    arguments = ["--functions", "1", "--instances", "1", "--budget", "8", "--preset", "none", "--peers", peers]
    assert run(tmp_path, "coco", "--suite", "bbob-mixint", *arguments) == 0
    text = capsys.readouterr().out
    assert "bbob-mixint, d = 5: AUC / Solved, budget 8·d" in text and "errors" not in text
    assert all(f"| {PEERS[name].label} " in text for name in peers.split(","))


def test_the_functions_with_categories():
    assert choices.func2c([0, 0, 0.5, 0.5]) == pytest.approx(0.0)  # both Rosenbrock's function, at (1, 1)
    assert choices.func2c([1, 1, 0.0898 / 2, -0.7126 / 2]) == pytest.approx(-2 * 0.10316, abs=1e-4)
    assert choices.func3c([1, 1, 0, 0.0898 / 2, -0.7126 / 2]) == pytest.approx(-7 * 0.10316, abs=1e-4)
    assert choices.func3c([2, 4, 3, 1.5, 0.25]) == pytest.approx(0.0)  # Beale's function, at (3, 0.5)
    for name in ("svr-diabetes", "models-cancer"):
        task = choices.TASKS[name]
        for label in range(task.parameters[0].levels):
            objective = MixedObjective(task.fun, task.parameters, 2)
            middle, low = ([label, *(p.from_unit(u) for p in task.parameters[1:])] for u in (0.4, 0.1))
            assert 0 < objective(middle) < 10
            # What means nothing changes nothing.
            mixed = [
                a if p.is_active(middle, task.parameters) else b
                for p, a, b in zip(task.parameters, middle, low, strict=True)
            ]
            assert objective(mixed) == objective.best


def test_choices_command(tmp_path, capsys):
    arguments = ["--tasks", "func2C", "--runs", "2", "--budgets", "10,20", "--preset", "none"]
    assert run(tmp_path, "choices", *arguments, "--peers", "labcat-rounded,catcmawm,random") == 0
    text = capsys.readouterr().out
    assert "after 10 evaluations, median of 2 runs" in text and "after 20 evaluations" in text
    assert "**" in text and "- CatCMAwM is best, or equal, on " in text


def test_the_discrete_spaces():
    points = [math.prod(p.levels for p in task.parameters) for task in discrete.TASKS.values()]
    assert min(points) == 2 and max(points) == 10**6
    assert discrete.switch([1]) == discrete.grid([21, 6]) == discrete.whole([2, 7, 4, 8, 1, 5]) == 0
    right = discrete.drawn("leading", discrete.BITS) > 0
    wrong_from_three = np.where(np.arange(discrete.BITS) == 3, ~right, right)
    assert discrete.leading(right) == 0 and discrete.leading(wrong_from_three) == discrete.BITS - 3
    assert discrete.bits(np.zeros(discrete.BITS)) == 0
    one = [0, 0, 0, 0, 0]
    others = [discrete.labels([*one[:k], 1, *one[k + 1 :]]) for k in range(5)]
    assert len({discrete.labels(one), *others}) == 6


def test_discrete_command(tmp_path, capsys):
    arguments = ["--tasks", "switch,twelve", "--runs", "2", "--budgets", "3,12", "--peers", "random"]
    assert run(tmp_path, "discrete", *arguments) == 0
    text = capsys.readouterr().out
    assert "## Discrete" in text and "after 3 evaluations, median of 2 runs" in text
    # Twelve evaluations are every point of the larger space.
    assert text.count("- LABCAT (default) is best, or equal, on 2: switch, twelve.") >= 1


# ---- constraints

OPTIMA = {
    "welded-beam": [0.205730, 3.470489, 9.036624, 0.205730],
    "pressure-vessel": [0.7781686, 0.3846492, 40.3196187, 200.0],
    "tension-spring": [0.051689, 0.356718, 11.288966],
    "speed-reducer": [3.5, 0.7, 17, 7.3, 7.715320, 3.350215, 5.286654],
    "G4": [78, 33, 29.995256, 45, 36.775813],
    "G6": [14.095, 0.84296],
    "G7": [2.171996, 2.363683, 8.773926, 5.095984, 0.9906548, 1.430574, 1.321644, 9.828726, 8.280092, 8.375927],
    "G8": [1.2279713, 4.2453733],
    "G9": [2.330499, 1.951372, -0.4775414, 4.365726, -0.6244870, 1.038131, 1.594227],
}


@pytest.mark.parametrize("name", engineering.DESIGNS)
def test_the_designs_of_the_literature(name):
    design = engineering.DESIGNS[name]
    value, constraints = design.measure(OPTIMA[name])
    assert value == pytest.approx(design.best, rel=1e-5)
    assert len(constraints) == design.constraints
    assert (np.array(constraints) <= 1e-4 * engineering.constraint_sizes(name)).all()
    assert all(low <= v <= high for v, (low, high) in zip(OPTIMA[name], design.bounds, strict=True))


def test_only_feasible_points_count():
    objective = ConstrainedObjective(lambda x: (x[0], [0.5 - x[0], -1.0]), [0.0], [1.0], 9, 0.0, 2, tolerance=1e-3)
    for x in (0.1, 0.9, 0.4995, 0.4):
        objective.measure([x])
    assert objective.trace == [(2, 0.9), (3, 0.4995)]
    assert objective.once([0.4])[0] == 0.4 and objective.evaluations == 4  # the last point costs nothing
    objective([0.6])
    assert objective.evaluations == 5


def constrained(budget, initial=None):
    """x + y ≥ 1, and the optimum at (0.5, 0.5)."""
    return ConstrainedObjective(
        lambda x: (float(x @ x), [1 - x[0] - x[1]]), [-1.0, -1.0], [2.0, 2.0], budget, 0.5, 1, initial, 1e-9
    )


CONSTRAINED_PEERS = [p.name for p in PEERS.values() if "constrained" in p.kinds and "gp" not in p.name]


@pytest.mark.parametrize("name", CONSTRAINED_PEERS)
def test_constrained_peers_find_feasible_points_and_begin_where_told(name):
    objective = constrained(30, [1.0, 0.9])
    points = []
    fun = objective._fun
    objective._fun = lambda x: points.append(x.tolist()) or fun(x)
    try:
        PEERS[name].run(objective, 3)
    except BudgetSpent:
        pass
    assert objective.trace and objective.trace[-1][1] < 1.5
    if name != "random":
        assert points[0] == pytest.approx([1.0, 0.9])
    if name.startswith("coby"):
        assert objective.trace[-1][1] < 1e-3


def test_labcat_is_told_the_constraints_and_the_start(monkeypatch):
    calls = []

    class Trial:
        x = np.array([1.0, 0.5])

    class Optimizer:
        restarts = ()

        def __init__(self, bounds, **options):
            calls.append(options)

        def enqueue(self, x):
            calls.append(x.tolist())

        def ask(self):
            return Trial

        def tell(self, trial, value, *, constraints):
            calls.append((value, constraints.tolist()))

    monkeypatch.setattr(labcat, "Optimizer", Optimizer)
    adapters.constrained(constrained(1, [1.0, 0.9]), 7, {"preset": "default"})
    assert calls == [{"constraints": 1, "rng": 7, "preset": "default"}, [1.0, 0.9], (1.25, [-0.5])]


def test_constrained_command(tmp_path, capsys):
    peers = "labcat-nan,cobyla,cobyqa-constrained,random"
    arguments = ["--functions", "1,8", "--instances", "1", "--budget", "20", "--preset", "none", "--peers", peers]
    assert run(tmp_path, "coco", "--suite", "bbob-constrained", *arguments) == 0
    text = capsys.readouterr().out
    assert "bbob-constrained, d = 2: AUC / Solved, budget 20·d" in text and "| rastrigin " in text
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("| ")}
    assert {"COBYLA", "COBYQA", "random"} <= set(rows)


def test_engineering_command(tmp_path, capsys):
    arguments = ["--problems", "G8,pressure-vessel", "--runs", "2", "--budget", "30", "--preset", "none"]
    assert run(tmp_path, "engineering", *arguments, "--peers", "cobyla,random") == 0
    text = capsys.readouterr().out
    assert "after 30 evaluations, median of 2 runs" in text and "Best known: G8 -0.095825" in text


def test_another_build_takes_part_beside_this_one(tmp_path, capsys):
    both = f"default,default@{sys.executable}"
    arguments = ["--problems", "G8", "--runs", "2", "--budget", "8", "--preset", both, "--peers", "random"]
    assert run(tmp_path, "engineering", *arguments) == 0
    line = (
        f"- LABCAT (default)@{sys.executable} against LABCAT (default): lower in 0, higher in 0 of 2 runs, +.000 ± .000"
    )
    assert line in capsys.readouterr().out
    assert run(tmp_path, "choices", "--tasks", "func2C", "--runs", "1", "--preset", "default@/no/such/python") == 2
    assert "cannot be started" in capsys.readouterr().err


def test_runs_of_one_seed_are_compared():
    values = {"a": [1.0, 1.0, 1.0, 1.0], "b": [2.0, 2.0, 1.0 + 1e-12, math.inf], "c": [0.5, 2.0, 1.0, 1.0]}
    records = [
        {"function": problem, "algorithm": name, "run": k, "trace": [[1, v]] if math.isfinite(v) else []}
        for problem in ("f", "g")
        for name, found in values.items()
        for k, v in enumerate(found)
    ]
    said = medians.against(records, 1, "a", "b")
    assert said == (
        "- b against a: lower in 0, higher in 6 of 8 runs, +.750 ± .177 a run; beyond two standard errors:"
        " f +.750 ± .250, g +.750 ± .250."
    )
    assert (
        "lower in 2, higher in 2 of 8 runs, +.000 ± .289 a run; beyond two standard errors: none."
        in medians.against(records, 1, "a", "c")
    )


def test_medians():
    records = [
        {"function": "f", "algorithm": name, "trace": [[1, 5.0], [3, value]]}
        for name, value in (("a", 1.0), ("a", 2.0), ("a", 9.0), ("b", 3.0), ("b", 3.0), ("b", 3.0))
    ]
    records.append({"function": "f", "algorithm": "c", "trace": []})
    assert medians.value_at(records[0], 2) == 5.0 and medians.value_at(records[-1], 2) == math.inf
    ((_, a, b, c),) = medians.median_table("t", records, 3).rows
    assert (a, b, c) == ("**2**", "3", "– (0/1)")
    assert medians.wins(records, 3, "a") == ["f"] and medians.wins(records, 3, "c") == []
    assert medians.is_least(-2.0 + 1e-10, [-2.0, 5.0]) and not medians.is_least(-2.0 + 1e-6, [-2.0, 5.0])
    assert not medians.is_least(math.inf, [math.inf])


# ---- several evaluations at a time


def test_the_late_run_is_the_same_run_later():
    sequential = Runtimes("a", 1, 1, 2, (3.0, 10.0, math.inf))
    assert parallel.late(sequential, 4).evaluations == (6.0, 13.0, math.inf)
    assert parallel.late(sequential, 1) == sequential


def test_the_clock():
    problem = CocoProblem("bbob", 1, 1, 2)
    records = {}
    for q in (1, 4):
        algorithm = parallel.at_a_time(labcat_algorithm("default"), q)
        records[q] = execute(Run(algorithm, problem, 40, 1))
        assert records[q]["evaluations"] == 40 and records[q]["outstanding"] == q
        times = records[q]["times"]
        assert times == sorted(times) and len(times) == len(records[q]["trace"])
    assert records[1]["trace"] == execute(Run(labcat_algorithm("default"), problem, 40, 1))["trace"]
    # 40 durations of mean exp(1/8), one after the other and four at a time.
    assert records[1]["end"] == pytest.approx(40 * 1.13, rel=0.3)
    assert records[4]["end"] == pytest.approx(10 * 1.13, rel=0.35)
    assert parallel.time_to(records[4], math.inf) == records[4]["times"][0]
    assert parallel.time_to(records[4], -1.0) == math.inf


def test_parallel_command(tmp_path, capsys):
    arguments = ["--functions", "1", "--instances", "1", "--dims", "2", "--pending", "2,16", "--budget", "20"]
    assert run(tmp_path, "parallel", *arguments, "--rounds-runs", "1") == 0
    text = capsys.readouterr().out
    assert "bbob, d = 2, budget 20·d: q pending evaluations" in text
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")]
    assert rows[2:5] == ["1", "2", "16"]
    assert "Rounds to 1e-06, d = 5" in text and "Bowl, d = 5, after 640 evaluations" in text


def test_parallel_settings_are_compared(tmp_path, capsys):
    arguments = ["--functions", "1", "--instances", "1-2", "--dims", "2", "--pending", "2", "--budget", "10"]
    other = f"default@{sys.executable}"
    assert run(tmp_path, "parallel", "default", other, *arguments, "--rounds-runs", "1") == 0
    text = capsys.readouterr().out
    assert f"{other}: bbob, d = 2, budget 10·d: q pending evaluations" in text
    assert text.count("Rounds to 1e-06") == 1  # those of this interpreter
    _, compared = text.split(f"A = default, B = {other}: B − A")
    assert compared.count("+.000 ± .000") == 4  # the same build


def test_large_command(tmp_path, capsys):
    arguments = ["--runs", "1", "--budgets", "30", "--peers", "cma@centre,random"]
    assert run(tmp_path, "large", *arguments) == 0
    text = capsys.readouterr().out
    assert "Regret after 30 evaluations" in text and "| rosenbrock-60 " in text and "| quadratic-50 " in text


def test_a_peer_for_another_kind_of_problem_is_refused():
    with pytest.raises(UnknownAlgorithm, match=r"COBYLA is not for noisy values. Allowed: .*cma-favourite"):
        peer_algorithm("cobyla", "noisy")
