"""`versus`: the same problems and seeds, paired differences and their errors."""

import json
import math
import sys

import numpy as np
import pytest

from labcat_bench import versus
from labcat_bench.algorithms import labcat_algorithm, peer_algorithm
from labcat_bench.cli import main
from labcat_bench.coco_problems import CocoProblem, View, coco_problems
from labcat_bench.runner import Run, execute
from labcat_bench.scoring import run_score, runtimes_of

SMALL = ["--functions", "1,8,15", "--instances", "1-2", "--budget", "20", "--jobs", "1", "--quiet"]


def run(tmp_path, *arguments):
    return main(["versus", *arguments, *SMALL, "--out", str(tmp_path)])


def test_a_setting_against_another_and_itself_in_another_interpreter(tmp_path, capsys):
    assert run(tmp_path, "default", "paper", f"default@{sys.executable}") == 0
    first, second = capsys.readouterr().out.split("A = default, B = default@")
    assert "A = default, B = paper: d = 2, 2 instances, budget 20·d" in first
    assert "Decided by: f" in first
    assert all(f"| {group} " in first for group in ("all", "sep", "lcond", "multi")) and "| hcond" not in first
    assert second.count("+.000 ± .000 (the same)") == 2  # this interpreter's build, by way of another process
    # What was run before is kept, as long as it is the same build.
    assert run(tmp_path, "default", "paper", "default,beta=0.3") == 0
    assert "6 runs in" in (again := capsys.readouterr()).err and "12 kept" in again.err


def test_results_of_another_build_are_run_again(tmp_path, capsys):
    assert run(tmp_path, "default", "paper") == 0
    path = tmp_path / "results.jsonl"
    build = versus.build()
    path.write_text(path.read_text().replace(build, "another"))
    assert run(tmp_path, "default", "paper") == 0
    assert "12 runs in" in capsys.readouterr().err.splitlines()[-2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["default"], "two settings or more"),
        (["default", "default,nonsense=1"], "nonsense"),
        (["default", "default,beta"], "OPTION=VALUE"),
        (["default", "fast,beta=1"], "unknown preset 'fast'"),
        (["default", "nothing"], "unknown peer 'nothing'"),
        (["default", "default@/no/such/python"], "cannot be started"),
        (["default", "default@/bin/true"], "ended with status 0"),
        (["default", "paper", "--rotate"], "two seeds or more"),
        (["default", "paper", "--move-bounds", "--suite", "bbob-boxed"], "cannot be moved"),
    ],
)
def test_wrong_settings_are_named(tmp_path, capsys, settings, message):
    assert run(tmp_path, *settings) == 2
    assert message in capsys.readouterr().err


def test_an_interpreter_without_the_packages_says_what_it_needs(tmp_path, capsys):
    bare = tmp_path / "python"
    bare.write_text(f"#!/bin/sh\nexec '{sys.executable}' -S \"$@\"\n")
    bare.chmod(0o755)
    assert run(tmp_path, "default", f"default@{bare}") == 2
    assert "it needs labcat-opt, of any version, and coco-experiment" in capsys.readouterr().err


def test_a_run_in_another_interpreter_is_the_run_in_this_one():
    mine = labcat_algorithm("default")
    theirs = versus.setting(f"default@{sys.executable}")
    records = [execute(Run(a, CocoProblem("bbob", 8, 1, 2), 40, 1)) for a in (mine, theirs)]
    assert records[0]["trace"] == records[1]["trace"]


def test_errors_over_instances_and_over_functions():
    # Two functions; the change is +1 ± 1 on the first and −1 on the second, on two instances each.
    changes = {(2, 1, 1): 2.0, (2, 1, 2): 0.0, (2, 2, 1): -1.0, (2, 2, 2): -1.0}
    found = versus.difference(changes)
    assert found.mean == 0.0
    assert found.instances == pytest.approx(math.sqrt(1.0) / 2)  # the standard errors 1 and 0 of two means, averaged
    assert found.functions == pytest.approx(math.sqrt(2) / math.sqrt(2))  # of the means +1 and −1
    assert not found.significant
    assert versus.difference({(2, 1, 1): 0.5, (2, 1, 2): 0.6}).significant
    assert math.isnan(versus.difference({(2, 1, 1): 0.5, (2, 2, 1): 0.6}).instances)


def test_the_error_is_the_spread_of_the_difference():
    # Over many draws of instances, differences lie within two of their errors about as often as they should.
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(400):
        found = versus.difference({(2, f, i): rng.normal(0, f) for f in range(1, 9) for i in range(10)})
        ratios.append(found.mean / found.instances)
    assert 0.85 < np.std(ratios) < 1.2


def test_seeds_are_averaged_and_roles_rotate():
    algorithms = [labcat_algorithm("default"), labcat_algorithm("paper")]
    problems = coco_problems("bbob", [2], [1], [1, 2])
    runs = versus.plan(algorithms, problems, [1, 2, 3], 10, rotate=True)
    seeds = [[r.seed for r in runs if r.algorithm is a and r.problem.instance == 1] for a in algorithms]
    assert seeds == [[1, 2, 3], [2, 3, 1]]
    straight = versus.plan(algorithms, problems, [1, 2], 10, rotate=False)
    assert [r.seed for r in straight[:4]] == [1, 1, 2, 2]
    records = [execute(r) for r in straight if r.algorithm is algorithms[0] and r.problem.instance == 1]
    ((auc, _),) = versus.scores(records, 10).values()
    assert auc == pytest.approx(np.mean([run_score(runtimes_of(r), 10)[0] for r in records]))


def test_alike_settings_are_told_apart(tmp_path, capsys):
    assert run(tmp_path, "random", "random", "--seeds", "1-2", "--rotate") == 0
    assert "A = random, B = random #2" in capsys.readouterr().out


def test_the_box_moves_and_the_optimum_stays_inside():
    shifts = []
    for problem in coco_problems("bbob", [2, 5], [1, 5, 8, 24], [1, 2, 3], view=View(moved=True)):
        import cocoex

        optimum = cocoex.BareProblem("bbob", problem.function, problem.dim, problem.instance).best_parameter()
        with problem.open(10) as objective:
            assert np.allclose(objective.upper - objective.lower, 10)
            assert np.all((objective.lower <= optimum) & (optimum <= objective.upper))
            shifts += list(objective.lower + 5)
    assert max(map(abs, shifts)) <= 2.5 and np.std(shifts) > 0.5


def test_an_offset_and_a_scale_change_what_is_shown_and_not_what_is_scored():
    algorithm = peer_algorithm("random")
    plain, viewed = (
        execute(Run(algorithm, CocoProblem("bbob", 8, 1, 2, view=view), 20, 1))
        for view in (View(), View(offset=1e6, scale=3.0))
    )
    assert plain["trace"] == viewed["trace"] and plain["key"] != viewed["key"]
    with CocoProblem("bbob", 8, 1, 2, view=View(offset=7.0, scale=3.0)).open(10) as objective:
        shown = objective([1.0, 1.0])
        assert shown == pytest.approx(3 * objective.trace[0][1] + 7)
    with CocoProblem("bbob", 8, 1, 2, view=View(scale=2.0)).open(10) as objective:
        assert objective([1.0, 1.0]) == pytest.approx(2 * (objective.trace[0][1] + objective.f_opt))


def test_records_carry_the_label(tmp_path):
    assert run(tmp_path, "default", "default,beta=0.3") == 0
    entries = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert {e["algorithm"] for e in entries if "key" in e} == {"default", "default,beta=0.3"}


def test_each_option_of_default_is_put_back_alone(tmp_path, capsys):
    each = versus.each_option()
    assert "default,refine=0" in each and "default,give_up=none" in each and len(each) > 10
    assert not any(text.startswith(("default,beta=", "default,seed=")) for text in each)  # the same in both presets
    assert [a.label for a in versus.settings(["default", "each"])] == ["default", *each]
    assert run(tmp_path, "default", "default,refine=0", "default,warp=false", "--dims", "2,3") == 0
    table = capsys.readouterr().out.split("Differences from default")[1]
    header, _, *rows = (line.split("|")[1:-1] for line in table.splitlines() if line.startswith("|"))
    assert [title.strip() for title in header] == ["setting", "d = 2", "d = 3"]
    assert [row[0].strip() for row in rows[:2]] == ["default,refine=0", "default,warp=false"]
    assert all(cell.count("±") == 2 for row in rows[:2] for cell in row[1:])
