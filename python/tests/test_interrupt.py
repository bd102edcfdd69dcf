"""Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import labcat

HERE = Path(__file__).parent

SCRIPT = """
import os, signal, sys, time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
import labcat, objectives

def lengthy(x):
    # Quick at first, then long: the signal comes in a long one.
    path = os.environ["LABCAT_TEST_LOG"]
    with open(path, "a") as file:
        print("begun", file=file, flush=True)
    if len(open(path).readlines()) > 8:
        time.sleep(60)
    return objectives.sphere(x)

if __name__ == "__main__":
    kind, checkpoint = sys.argv[1:]
    workers = {"here": 1, "processes": 2, "threads": None}[kind]
    if kind == "threads":
        workers = ThreadPoolExecutor(2)
    try:
        options = {"budget": 50, "rng": 1, "workers": workers, "checkpoint": checkpoint}
        labcat.minimize(lengthy, [(-1, 1)] * 2, **options)
    except KeyboardInterrupt as interrupt:
        result = interrupt.labcat_result
        print(result.nfev, result.status, result.success, result.message, flush=True)
        os._exit(130)  # threads of an executor cannot be ended otherwise
"""


@pytest.mark.parametrize("kind", ["here", "processes", "threads"])
def test_ctrl_c_ends_the_run_at_once_and_loses_nothing(kind, tmp_path):
    script, log, checkpoint = (tmp_path / name for name in ("script.py", "log", "run.json"))
    script.write_text(SCRIPT)
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "LABCAT_TEST_LOG": str(log), "PYTHONPATH": path}
    process = subprocess.Popen(
        [sys.executable, str(script), kind, str(checkpoint)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    running = 1 if kind == "here" else 2
    deadline = time.monotonic() + 600
    while not log.exists() or len(log.read_text().splitlines()) < 8 + running:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.2)
    started = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: every process gets it
    output, errors = process.communicate(timeout=600)
    assert time.monotonic() - started < 30, "it did not wait for an evaluation, which takes a minute"
    assert process.returncode == 130
    assert output == "8 4 False the run was interrupted\n"
    assert errors == ""
    assert labcat.Optimizer.from_json(checkpoint.read_text()).n_evaluations == 8
    with pytest.raises(ProcessLookupError):  # no worker is left behind
        os.killpg(process.pid, 0)
