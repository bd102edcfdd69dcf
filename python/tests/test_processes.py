"""Worker processes of our own: how they start, what they may not outlive, how long they may take."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import objectives
import pytest
from objectives import children, sphere

import labcat

BOX = [(-1, 1)] * 2
HERE = Path(__file__).parent


def run(script, *arguments, check=True, stdin=None):
    """What a script prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, *arguments, *([] if stdin else [str(script)])],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def written(tmp_path, text):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(text))
    return script


# --- starting


@pytest.mark.parametrize("sent", ["by value", "by reference"])
def test_functions_of_a_script_with_globals_lambdas_and_exceptions(tmp_path, sent):
    """With cloudpickle the script is not imported; without it must be, and has to be guarded."""
    script = written(
        tmp_path,
        f"""
        import sys
        if {sent == "by reference"}:
            sys.modules.update(dict.fromkeys(("cloudpickle", "joblib", "joblib.externals")))
        sys.stdout.write("imported as " + __name__ + "\\n")
        sys.stdout.flush()
        import labcat

        class Cold(Exception):
            pass

        def fun(x):
            if x[0] > 0.8:
                raise Cold("too cold")
            return float(x[0] ** 2)

        if __name__ == "__main__":
            try:
                labcat.minimize(fun, [(-1, 1)], budget=9, rng=1, workers=2, x0=[0.9])
            except Cold as error:
                print("caught", error)
            print(labcat.minimize(fun, [(-1, 1)], budget=9, rng=1, workers=2, on_error="fail").nfev)
        """,
    )
    lines = run(script).stdout.splitlines()
    assert lines[0] == "imported as __main__" and lines[-1] == "9" and "caught too cold" in lines
    assert ("imported as __mp_main__" in lines) == (sent == "by reference")


@pytest.mark.parametrize("how", ["file", "stdin", "-c"])
def test_what_is_defined_where_nothing_can_be_imported(tmp_path, how):
    """A script without a guard, a notebook (which is like standard input), python -c, a lambda."""
    text = """
        import labcat
        shift = 0.3
        def fun(x):
            return float((x[0] - shift) ** 2)
        print(labcat.minimize(fun, [(-1, 1)], budget=9, rng=1, workers=2).nfev)
        print(labcat.minimize(lambda x: fun(x), [(-1, 1)], budget=9, rng=1, workers=2).nfev)
        """
    script = written(tmp_path, text)
    done = {
        "file": lambda: run(script),
        "stdin": lambda: run(None, "-", stdin=script.read_text()),
        "-c": lambda: run(script.read_text(), "-c"),
    }[how]()
    assert done.stdout == "9\n9\n"


def test_a_script_without_a_guard_is_told_what_it_lacks(tmp_path):
    script = written(
        tmp_path,
        """
        import sys
        sys.modules.update(dict.fromkeys(("cloudpickle", "joblib", "joblib.externals")))
        import labcat

        def fun(x):
            return float(x[0] ** 2)

        labcat.minimize(fun, [(-1, 1)], budget=9, rng=1, workers=2)
        """,
    )
    done = run(script, check=False)
    assert done.returncode == 1
    assert "imported by a worker process, which must not start workers" in done.stderr
    assert 'put the call under `if __name__ == "__main__":`' in done.stderr


def test_workers_share_the_processors(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    n = os.cpu_count()
    result = labcat.minimize(objectives.threads_allowed, BOX, budget=2, rng=1, workers=n)
    assert result.history.value.tolist() == [1, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    result = labcat.minimize(objectives.threads_allowed, BOX, budget=2, rng=1, workers=n)
    assert result.history.value.tolist() == [7, 7]


# --- ending

PARENT = """
import os, subprocess, sys, time
import labcat

def fun(x):
    # A worker that is busy, with a program of its own.
    with open(sys.argv[1], "a") as file:
        program = subprocess.Popen(["sleep", "60"])
        print(os.getpid(), program.pid, file=file, flush=True)
    time.sleep(60)

if __name__ == "__main__":
    labcat.minimize(fun, [(-1, 1)], budget=9, rng=1, workers=2)
"""


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_worker_outlives_its_parent(tmp_path, number):
    log = tmp_path / "pids"
    log.touch()
    command = [sys.executable, str(written(tmp_path, PARENT)), str(log)]
    parent = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 600
    while len(log.read_text().splitlines()) < 2:
        assert parent.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    pids = [int(pid) for pid in log.read_text().split()]
    assert len(pids) == 4 and all(map(alive, pids))
    parent.send_signal(number)
    parent.wait(600)
    deadline = time.monotonic() + 600
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(alive, pids))


def test_an_idle_worker_that_dies_is_replaced():
    def callback(intermediate_result):
        if intermediate_result.nfev == 5:
            for pid in children():
                os.kill(pid, signal.SIGKILL)

    result = labcat.minimize(
        sphere, BOX, budget=20, rng=1, workers=2, callback=callback, max_first_failures=None
    )
    assert result.nfev == 20
    assert result.history.failed.sum() <= 2 and children() == []


# --- time


@pytest.mark.parametrize("workers, on_error", [(1, "raise"), (2, "raise"), (2, "fail")])
def test_an_evaluation_that_takes_too_long_is_a_failed_one(tmp_path, workers, on_error):
    result = labcat.minimize(
        objectives.sleeps_on_the_right,
        BOX,
        args=(tmp_path,),
        x0=[[0.5, 0.5], [-0.5, 0.5]],
        budget=6,
        rng=1,
        workers=workers,
        timeout=1,
        on_error=on_error,
    )
    assert result.nfev == 6
    assert np.array_equal(result.history.failed, result.history.x[:, 0] > 0)
    reasons = {reason for reason in result.history.reason if reason is not None}
    assert reasons == {"EvaluationTimeout: the evaluation took longer than 1 s"}
    assert children() == []
    time.sleep(2 if workers == 1 else 0)
    assert list(tmp_path.iterdir()) == []  # nor is what it had started left


def test_the_time_a_worker_takes_to_start_does_not_count(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("import time\n\ntime.sleep(1.5)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    result = labcat.minimize(sphere, BOX, budget=4, rng=1, workers=2, timeout=1)
    assert result.nfev == 4 and not result.history.failed.any()


def test_if_every_evaluation_takes_too_long_the_run_ends():
    with pytest.raises(labcat.SystematicFailure, match="first 2 .*longer than 0.1 s") as caught:
        labcat.minimize(
            objectives.sleeps, BOX, budget=50, rng=1, workers=2, timeout=0.1, max_first_failures=2
        )
    assert isinstance(caught.value.__cause__, TimeoutError)
