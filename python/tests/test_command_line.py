"""The command line that comes with the package."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import labcat

SCRIPT = Path(sys.executable).with_name("labcat")
WAYS = [[str(SCRIPT)], [sys.executable, "-m", "labcat"]]

STUDY = """
[study]
name = "slow"
budget = 500
seed = 1

[[parameter]]
name = "x"
type = "real"
low = -5
high = 10

[objective]
command = ["sh", "-c", "sleep 0.2; echo {x}"]
"""


def run(way, *arguments, cwd=None):
    return subprocess.run([*way, *arguments], cwd=cwd, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("way", WAYS, ids=["labcat", "python -m labcat"])
def test_it_is_there(way):
    done = run(way, "--version")
    assert (done.returncode, done.stdout.strip()) == (0, f"labcat {labcat.__version__}")
    assert re.search(r"Usage: labcat( <COMMAND>)?", run(way, "--help").stdout)
    done = run(way, "minimize", "--function", "sphere", "--budget", "40", "--seed", "1", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["evaluations"] == 40


@pytest.mark.parametrize("way", WAYS, ids=["labcat", "python -m labcat"])
def test_its_exit_status_is_that_of_the_binary(way, tmp_path):
    done = run(way, "minimize", "--function", "nonsense")
    assert done.returncode == 2 and "nonsense" in done.stderr and done.stdout == ""
    assert run(way, "sphere").returncode == 2
    assert run(way, "status", "none.toml", cwd=tmp_path).returncode == 2


def test_it_finds_what_the_package_finds():
    done = run(WAYS[1], "minimize", "--function", "rosenbrock", "--dim", "2", "--budget", "40", "--seed", "3", "--json")
    printed = json.loads(done.stdout)
    result = labcat.minimize(lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, [(-5, 10)] * 2, budget=40, rng=3)
    assert printed["x"] == pytest.approx(result.x.tolist(), rel=1e-6)


def test_ctrl_c_ends_a_study_which_goes_on_later(tmp_path):
    (tmp_path / "slow.toml").write_text(STUDY)
    process = subprocess.Popen(
        [*WAYS[1], "run", "slow.toml"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 600
    while not (tmp_path / "slow.db").exists() or not json.loads(
        run(WAYS[1], "status", "slow.toml", "--json", cwd=tmp_path).stdout or "{}"
    ).get("evaluations"):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    _, complaint = process.communicate(timeout=600)
    assert process.returncode == 130, complaint
    assert "Traceback" not in complaint
    told = json.loads(run(WAYS[1], "status", "slow.toml", "--json", cwd=tmp_path).stdout)
    assert 0 < told["evaluations"] < 500


def test_it_keeps_what_a_program_prints_beside_its_value(tmp_path):
    beside = STUDY.replace("budget = 500", "budget = 3").replace(
        'command = ["sh", "-c", "sleep 0.2; echo {x}"]', r"""command = ["sh", "-c", 'echo "{{\"value\": {x}, \"epochs\": 7}}"']"""
    )
    (tmp_path / "slow.toml").write_text(beside)
    done = run(WAYS[0], "run", "slow.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    exported = json.loads(run(WAYS[0], "export", "slow.toml", "--json", cwd=tmp_path).stdout)
    assert [trial["result"]["epochs"] for trial in exported["evaluations"]] == [7, 7, 7]
