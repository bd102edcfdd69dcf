"""The examples, and every code block of the user guide."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).with_name("integrations")))
from postgres import server  # noqa: E402

NUMBER = r"[-+0-9.e]+"

PRINTED = {
    "quick_start": [
        rf"best value {NUMBER} at \[1\. 1\.\] after 150 evaluations",
        "it ended because the budget of 150 evaluations is used up",
        rf"by hand: best value {NUMBER} after 60 evaluations",
    ],
    "tune_sklearn": [
        r"untuned: area under the curve 0\.99\d+",
        r"tuned:   area under the curve 0\.99\d+ with model = .+",
    ],
    "simulation_with_failures": [
        r"60 simulations, \d+ of them failed",
        rf"best miss {NUMBER}e-0\d m, at {NUMBER} m/s and {NUMBER} degrees",
        r"without on_error: RuntimeError\('the arm broke'\) after \d simulations",
    ],
    "resume_after_crash": [
        "the first run crashed with status 1",
        "the second run made the other 16 of 40 evaluations",
        r"best value (\S+); without the crash it would be \1",
    ],
    "dask_cluster": [
        rf"best value {NUMBER} at \[ *{NUMBER} +{NUMBER} *\]",
        rf"40 evaluations of 0\.1 s in {NUMBER} s on 2 workers",
    ],
    "rosenbrock_figure": [
        r"without rotation: value \S+ after 150 evaluations",
        r"with rotation: value \S+e-04 after \d\d evaluations",
        "wrote rosenbrock.png",
    ],
    "track_mlflow": ["15 evaluations logged, the best with adam"],
    "track_wandb": ["15 evaluations logged, the best with adam"],
    "optuna_postgresql": [
        r"50 trials by 2 processes, (0|50) in the study before",
        rf"best value {NUMBER}e-\d\d with x = {NUMBER}, y = {NUMBER}, rate = {NUMBER}",
    ],
}


WARNS = {"track_mlflow"}  # MLflow does, of its own dependencies


def run(script: Path, *arguments: str, cwd: Path) -> str:
    """What a script prints; warnings are errors."""
    done = subprocess.run(
        [sys.executable, "-W", "default" if script.stem in WARNS else "error", str(script), *arguments],
        cwd=cwd,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(name: str, printed: str) -> None:
    lines = printed.splitlines()
    assert len(lines) == len(PRINTED[name]), printed
    for pattern, line in zip(PRINTED[name], lines):
        assert re.fullmatch(pattern, line), line


def test_every_example_is_tested():
    elsewhere = {"ray_tune"}  # in integrations/test_executors.py
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(PRINTED) | elsewhere


@pytest.mark.parametrize("name", sorted(set(PRINTED) - {"optuna_postgresql"}))
def test_example(name, tmp_path):
    check(name, run(ROOT / "examples" / f"{name}.py", cwd=tmp_path))


def test_the_calibration(tmp_path):
    lines = run(ROOT / "examples" / "calibration" / "fit.py", cwd=tmp_path).splitlines()
    found = [re.fullmatch(r" *(\w+) = (\S+) ± (\S+)", line) for line in lines[1:-1]]
    assert lines[0].startswith("40 simulations, cost ")
    for match, (name, truth) in zip(found, {"mu": 0.6, "K": 2.0, "Y": 0.45}.items(), strict=True):
        assert match is not None and match[1] == name
        assert abs(float(match[2]) - truth) < 3 * float(match[3])
    assert lines[-1] == "wrote calibration.png"
    assert (tmp_path / "calibration.png").stat().st_size > 10_000


def test_example_with_postgresql(tmp_path):
    with server() as url:
        for _ in range(2):  # the second run goes on
            printed = run(ROOT / "examples" / "optuna_postgresql.py", url, cwd=tmp_path)
            check("optuna_postgresql", printed)
    assert "50 in the study before" in printed


def sections() -> dict[str, str]:
    """The code of each section of the guide, on the lines where it stands."""
    code: dict[str, list[str]] = {}
    title, language = "", None
    for number, line in enumerate((ROOT / "docs" / "guide.md").read_text().splitlines()):
        if line.startswith("```"):
            language = None if language is not None else line[3:]
            assert language in (None, "python"), f"line {number + 1}: only Python can be tested"
        elif language is None and line.startswith("## "):
            title = line[3:]
        elif language is not None:
            lines = code.setdefault(title, [])
            lines += [""] * (number - len(lines)) + [line]
    return {title: "\n".join(lines) + "\n" for title, lines in code.items()}


@pytest.mark.parametrize("title", sections())
def test_guide(title, tmp_path):
    script = tmp_path / "guide.py"
    script.write_text(sections()[title])
    run(script, cwd=tmp_path)


def test_the_guide_has_code():
    assert len(sections()) >= 10


@pytest.mark.parametrize(
    "link", re.findall(r"\]\(([^)]+)\)", (ROOT / "docs" / "guide.md").read_text())
)
def test_links_of_the_guide(link):
    file, _, anchor = link.partition("#")
    path = ROOT / "docs" / (file or "guide.md")
    assert path.exists()
    titles = re.findall(r"^##+ (.*)$", path.read_text(), re.MULTILINE) if anchor else []
    assert not anchor or anchor in [title.lower().replace(" ", "-") for title in titles]
