"""Objectives at the top of a module, so that worker processes can import them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import NoReturn

import numpy as np


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def sphere(x):
    return float(np.sum((np.asarray(x) - 0.3) ** 2))


def slow_sphere(x):
    time.sleep(0.02)
    return sphere(x)


def shifted(x, shift, scale):
    return scale * float(np.sum((x - shift) ** 2))


def named(rate, momentum):
    return (np.log10(rate) + 3) ** 2 + (momentum - 0.9) ** 2


def in_another_process(x):
    """1 if this is not the process that started the run."""
    return float(os.getpid() != int(os.environ["LABCAT_TEST_PARENT"])) + 1e-9 * sphere(x)


def raises_on_the_right(x):
    if x[0] > 0:
        raise RuntimeError("on the right", x[0])
    return sphere(x)


class Unpicklable(Exception):
    def __init__(self, one, two):
        super().__init__("only one argument")


def raises_unpicklable(x) -> NoReturn:
    raise Unpicklable(1, 2)


def dies_on_the_right(x):
    if x[0] > 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return sphere(x)


def exits(x) -> NoReturn:
    sys.exit(3)


def sleeps(x):
    time.sleep(60)
    return sphere(x)


def sleeps_on_the_right(x, log):
    """Where it sleeps it has started a program, which sleeps too and notes that it did."""
    if x[0] > 0:
        subprocess.run(["sh", "-c", f"sleep 2.5; touch {log}/survived"])
    return sphere(x)


def logs_its_time(x, log):
    start = time.monotonic()
    time.sleep(0.1)
    (log / uuid.uuid4().hex).write_text(f"{start} {time.monotonic()}")
    return sphere(x)


def children():
    """The processes that this one has started and that have not ended."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has ended since
            found += map(int, (task / "children").read_text().split())
    return [pid for pid in found if "labcat._worker" in Path(f"/proc/{pid}/cmdline").read_text()]


def threads_allowed(x):
    return int(os.environ["OMP_NUM_THREADS"])


BOX = [(-5.0, 10.0), (-5.0, 10.0)]


def advance(optimizer, n, fun=rosenbrock):
    """Asks and tells `n` times; returns the points."""
    points = []
    for _ in range(n):
        trial = optimizer.ask()
        points.append(trial.x)
        optimizer.tell(trial, fun(trial.x))
    return np.array(points)
