"""Each command once, small; its files, its tables, its exit status."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

import labcat
from labcat_bench import ablation, claims, figures, paper, report, synthetic, tuning
from labcat_bench.cli import main
from labcat_bench.scoring import Runtimes
from labcat_bench.shared import numbers, switch
from labcat_bench.summary import Figure, Summary, Table, Text


def files(folder):
    return {path.name for path in folder.iterdir()}


def run(*arguments, out=None):
    common = ["--out", str(out), "--quiet", "--workers", "1"] if out is not None else []
    return main([*map(str, arguments), *common])


def test_synthetic(tmp_path, capsys):
    assert run("synthetic", "--preset", "paper", "--peers", "random", "--runs", 2, "--budget", 20, out=tmp_path) == 0
    text = capsys.readouterr().out
    assert "| *paper: LABCAT*" in text and "5.68e-17 ± 7.44e-17" in text and "*paper: TRLBO*" in text
    assert "rank-sum test against LABCAT (paper) at 0.05/1" in text
    assert files(tmp_path) == {"results.jsonl", "summary.json", "summary.md", "synthetic.svg", "synthetic.png"}
    records = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert len(records) == 1 + 2 * 6 * 2
    assert {r["evaluations"] for r in records if "key" in r} == {20}


def test_a_slow_peer_may_have_fewer_runs(tmp_path, capsys):
    arguments = ["synthetic", "--preset", "paper", "--functions", "levy", "--budget", 12, "--no-figures"]
    assert run(*arguments, "--peers", "random:1", "--runs", 3, out=tmp_path) == 0
    text = capsys.readouterr().out
    rows = [line.split("|") for line in text.partition("Order of")[0].splitlines() if line.startswith("|")]
    cells = {row[1].strip(): row[2].strip() for row in rows}
    assert (cells["LABCAT (paper)"], cells["random"], cells["*paper: random*"]) == ("3", "1", "50")
    assert "Order of the mean regrets" in text and "LABCAT < random" in text  # the paper's own order, at least


def test_synthetic_is_shifted_too_for_the_default_preset(tmp_path, capsys):
    assert run("synthetic", "--functions", "sphere", "--runs", 1, "--budget", 15, "--no-figures", out=tmp_path) == 0
    assert "optimum shifted" in capsys.readouterr().out
    assert files(tmp_path) == {"results.jsonl", "summary.json", "summary.md"}


def test_coco(tmp_path, capsys):
    arguments = ["coco", "--preset", "paper,default", "--peers", "random", "--dims", "2,3", "--instances", "1-2"]
    assert run(*arguments, "--functions", "1,10", out=tmp_path) == 0
    output = capsys.readouterr()
    for text in ("| LABCAT (paper) ", "| LABCAT (default) ", "| best2009 ", "| MCS (no data) ", "d = 3: AUC / Solved"):
        assert text in output.out
    assert "12 runs" not in output.err and "24 runs" in output.err
    pictures = {f"bbob-{name}.{kind}" for name in ("d02", "d03", "overview") for kind in ("svg", "png")}
    assert files(tmp_path) == {"results.jsonl", "summary.json", "summary.md"} | pictures
    for name in pictures:
        if name.endswith("svg"):
            ElementTree.parse(tmp_path / name)
    # Again: nothing is run, the same is shown.
    assert run(*arguments, "--functions", "1,10", "--no-figures", out=tmp_path) == 0
    again = capsys.readouterr()
    assert "0 runs" in again.err and "24 kept" in again.err
    tables = [[line for line in text.splitlines() if line.startswith("|")] for text in (output.out, again.out)]
    assert tables[0] == tables[1]


def test_coco_other_suite_and_option(tmp_path, capsys):
    arguments = ["coco", "--suite", "bbob-boxed", "--set", "beta=0.3", "--functions", "3", "--instances", "1"]
    assert run(*arguments, "--budget-factor", 20, "--no-figures", out=tmp_path) == 0
    text = capsys.readouterr().out
    assert "LABCAT (default, beta=0.3)" in text and "51 targets from 10² to 10⁻⁸" in text and "best2009" not in text


def test_ablation(tmp_path, capsys):
    assert run("ablation", "--dims", "2", "--instances", "1-2", "--functions", "1,8,15", out=tmp_path) == 0
    text = capsys.readouterr().out
    for variant in ("noPC", "p20", "ULSP", "n10"):
        assert f"- {variant} (`" in text and f"| LABCAT {variant} " in text
    assert len(re.findall(r"^- .*\b(?:holds|hold)\b", text, flags=re.MULTILINE)) == 4
    assert {"ablation.svg", "ablation-d02.svg"} <= files(tmp_path)


def test_claims(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(claims, "EVERY", [1, 8])
    assert run("claims", "--dims", "2", "--instances", "1-2", "--functions", "1,8", out=tmp_path) == 0
    text = capsys.readouterr().out
    rows = [line for line in text.splitlines() if line.rstrip(" |").endswith(("yes", "no", "in part"))]
    assert len(rows) == 8
    assert {"rosenbrock.svg", "rosenbrock.png"} <= files(tmp_path)


def test_compare(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text("def bowl(x):\n    return (x[0] - 1) ** 2 + x[1] ** 2\n")
    arguments = ["compare", f"{file}:bowl", "--bounds=-5,5;-5,5", "--budget", "25", "--repeats", "3"]
    assert run(*arguments, "--algorithms", "labcat,random", out=tmp_path / "out") == 0
    assert "| LABCAT (default) " in capsys.readouterr().out
    assert {"compare.svg", "results.jsonl", "summary.md"} <= files(tmp_path / "out")


def test_compare_knows_the_paper_s_functions(tmp_path, capsys):
    assert run("compare", "branin", "--budget", "10", "--repeats", "1", "--no-figures", out=tmp_path) == 0
    assert "branin: regret" in capsys.readouterr().out


def test_compare_reports_the_objective_s_error(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text("def broken(x):\n    raise RuntimeError('no licence left')\n")
    assert run("compare", f"{file}:broken", "--bounds=-5,5", "--budget", "5", out=tmp_path / "out") == 1
    assert "no licence left" in capsys.readouterr().err


def test_peers(capsys):
    assert main(["peers"]) == 0
    text = capsys.readouterr().out
    for name in ("bobyqa", "turbo-5", "trego", "hebo", "pip install cma", "TRLBO", "MCS"):
        assert name in text


def test_report(tmp_path, capsys):
    assert run("synthetic", "--functions", "sphere", "--runs", 1, "--budget", 10, out=tmp_path / "synthetic") == 0
    arguments = ["coco", "--functions", "1", "--instances", "1", "--budget-factor", 10]
    assert run(*arguments, out=tmp_path / "coco") == 0
    page = tmp_path / "report.html"
    assert main(["report", str(tmp_path), "-o", str(page)]) == 0
    text = page.read_text()
    assert text.count("<section") == 2 and text.count("<figure") == 3
    assert "python -m labcat.bench coco --functions 1" in text
    assert "python -m labcat.bench synthetic" in text
    assert "http" not in re.sub(r"base64,[^\"]*", "", text)
    capsys.readouterr()


def test_report_without_results(tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 2
    assert "no results" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["coco", "--suite", "bbob-biobj"], "two objectives"),
        (["coco", "--suite", "bbob-noisy"], "`noisy --suite bbob-noisy`"),
        (["coco", "--suite", "bbob-mixint", "--preset", "none", "--peers", "bobyqa"], "integers and categories"),
        (["engineering", "--problems", "bridge"], "unknown problem 'bridge'"),
        (["choices", "--tasks", "nothing"], "unknown task 'nothing'"),
        (["noisy", "default", "random", "--noise", "loud"], "unknown noise 'loud'"),
        (["parallel", "random"], "cannot be run in parallel"),
        (["coco", "--preset", "fast"], "unknown preset 'fast'"),
        (["coco", "--peers", "nothing"], "unknown peer 'nothing'"),
        (["coco", "--archive", "nothing", "--functions", "1", "--instances", "1"], "no archived algorithm"),
        (["coco", "--dims", "4"], "dimension 4"),
        (["synthetic", "--functions", "ackley"], "unknown function 'ackley'"),
        (["synthetic", "--peers", "random:0"], "'random:0' is not of the form NAME or NAME:RUNS"),
        (["synthetic", "--preset", "none"], "no algorithm"),
        (["coco", "--preset", "none"], "no algorithm"),
        (["coco", "--executor", "spark://x", "--functions", "1"], "dask://HOST:PORT"),
    ],
)
def test_wrong_usage_is_named_and_ends_with_2(tmp_path, capsys, arguments, message):
    assert run(*arguments, "--no-figures", out=tmp_path) == 2
    assert message in capsys.readouterr().err


def test_recommend(tmp_path, capsys):
    arguments = ["--out", tmp_path, "--seeds", 2, "--runs", 2, "--budget", 40, "--dim", 2]
    assert run("recommend", "default,noise=auto", *arguments) == 0
    text = capsys.readouterr().out
    assert "Calibration: bowl, d = 3" in text and "sphere, d = 2" in text and "rosenbrock, d = 2" in text
    assert re.search(r"Narrowest half-width: [\d.e-]+ of the box.* [\d.e+-]+ σ/√budget", text)
    assert files(tmp_path) == {"results.jsonl", "summary.json", "summary.md", "recommend.svg", "recommend.png"}
    assert run("recommend", "random", *arguments) == 2
    assert "says nothing of its noise" in capsys.readouterr().err


def test_numbers_and_options():
    assert numbers("1-3,7,2") == [1, 2, 3, 7]
    assert [
        switch(s) for s in ("beta=0.5", "rotation=false", "prior_sigma=none", "newton_steps=10", "kernel=matern52")
    ] == [
        ("beta", 0.5),
        ("rotation", False),
        ("prior_sigma", None),
        ("newton_steps", 10),
        ("kernel", "matern52"),
    ]


# ---- what the commands are made of


def test_the_paper_s_eight_comparisons():
    assert len(paper.PRINTED) - 1 == paper.COMPARISONS
    assert all(set(row) == set(paper.FUNCTIONS) for row in paper.PRINTED.values())


def test_differences_are_paired():
    base = [Runtimes("a", f, i, 2, (20.0,)) for f in (1, 2) for i in (1, 2)]
    slower = [Runtimes("b", r.function, r.instance, 2, (40.0 + r.function,)) for r in base]
    change = ablation.difference(slower, base, [1, 2])
    assert change.loss and not change.gain
    assert ablation.difference(base, base, [1, 2]).none
    assert ablation.difference(slower[:1], base, [1]).error == float("inf")


def test_verdicts():
    assert ablation.verdict({2: True, 5: True}) == "holds"
    assert ablation.verdict({2: False}) == "does not hold"
    assert ablation.verdict({2: True, 5: False, 10: True}) == "holds in d = 2, 10 but not in d = 5"


def test_regret_curves():
    curve = figures.best_so_far([[2, 5.0], [4, 1.0]], 6)
    assert curve.tolist() == [float("inf"), 5.0, 5.0, 1.0, 1.0, 1.0]
    assert figures.log_regret([[1, 0.0]], 2, 1e-40).tolist() == [-40.0, -40.0]
    assert synthetic.floor_of("sphere", 1e-40) == 1e-40
    assert 8e-17 < synthetic.floor_of("branin", 1e-40) < 9e-17


def test_summaries_survive_their_file(tmp_path):
    meta = {"command": "c", "commit": "abc", "started": "2026-01-02T03:04:05+00:00", "machine": "m"}
    table = Table("t", ["a", "b"], [["x", "1"]], "note", left=2)
    summary = Summary("title", [meta], [table, Text("words"), Figure("f", "file")])
    summary.save(tmp_path)
    assert Summary.load(tmp_path).markdown() == summary.markdown()
    assert summary.markdown().count("\n| x | 1 |\n") == 1
    assert "2026-01-02" in summary.provenance()


def test_html_is_escaped():
    assert report.inline("a < b & `c<d>` *e*") == "a &lt; b &amp; <code>c&lt;d&gt;</code> <em>e</em>"


def test_tuning(tmp_path, capsys):
    arguments = [
        "tuning",
        "--tasks",
        "models,mlp",
        "--methods",
        "labcat,sampler,random",
        "--runs",
        2,
        "--budgets",
        "2,4",
    ]
    assert run(*arguments, out=tmp_path) == 0
    text = capsys.readouterr().out
    assert "Best loss after 4 evaluations" in text and text.count("| models |") == 2
    assert re.search(r"\| mlp +\| +[\d.]+ \| +[\d.]+ \([+-][\d.e-]+ ± [\d.e+-]+\)", text)
    assert files(tmp_path) == {"results.jsonl", "summary.json", "summary.md"}
    records = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [len(r["values"]) for r in records if "key" in r] == [4] * 12
    assert run(*arguments, out=tmp_path) == 0
    assert "0 runs in" in capsys.readouterr().err
    assert run("tuning", "--tasks", "nonsense", out=tmp_path) == 2
    assert "Allowed: svc, models, gbm, mlp" in capsys.readouterr().err


def test_the_parameters_of_a_tuning_task_are_those_of_its_space():
    optuna = pytest.importorskip("optuna")
    for task in tuning.TASKS.values():
        for seed in range(20):
            params = labcat.Optimizer(task.space, rng=seed).ask().params
            assert tuning.suggested(optuna.trial.FixedTrial(params), task.space) == params
