"""The `discrete` command: spaces of integers and labels alone, of 2 to 10⁶ points."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .choices import Task, TaskProblem, compare, task_options
from .objective import Parameter
from .shared import Command

BUDGETS = [10, 30, 100]
SEED = 2026
BITS = 19


@functools.cache
def drawn(name: str, *shape: int) -> Any:
    """Standard normal numbers that belong to a name."""
    return np.random.default_rng([SEED, *name.encode()]).standard_normal(shape)


def switch(v: Any) -> float:
    return 1.0 - float(v[0])


def twelve(v: Any) -> float:
    """A table of three labels and four integers without a pattern."""
    return float(drawn("twelve", 3, 4)[int(v[0]), int(v[1])])


def grid(v: Any) -> float:
    """Two integers of 32 values: a bowl with waves on it."""
    x, y = (v[0] - 21) / 8, (v[1] - 6) / 8
    return float(x * x + y * y + 0.6 * x * y + 0.3 * np.sin(4 * x) ** 2 + 0.3 * np.sin(4 * y) ** 2)


def labels(v: Any) -> float:
    """Five categorical parameters of six labels: what each is worth, and half as much what each pair is."""
    chosen = [int(k) for k in v]
    alone, pairs = drawn("alone", 5, 6), drawn("pairs", 5, 5, 6, 6)
    each = sum(alone[i, k] for i, k in enumerate(chosen))
    return float(each + 0.5 * sum(pairs[i, j, chosen[i], chosen[j]] for i in range(5) for j in range(i)))


def whole(v: Any) -> float:
    """Six integers of ten values: a quadratic whose axes are not the parameters'."""
    a = drawn("whole", 6, 6)
    away = np.array(v) - [2, 7, 4, 8, 1, 5]
    return float(away @ (a @ a.T / 6 + 0.1 * np.eye(6)) @ away)


def bits(v: Any) -> float:
    """Booleans: a quadratic in which each meets about a third of the others."""
    a = drawn("bits", BITS, BITS) * (drawn("meets", BITS, BITS) > 0.5)
    x = np.array(v)
    return float(x @ a @ x)


def leading(v: Any) -> float:
    """Booleans: how many are left from the first wrong one on."""
    wrong = (np.array(v) > 0) != (drawn("leading", BITS) > 0)
    return float(BITS - np.argmax(wrong)) if wrong.any() else 0.0


SWITCH, LABEL = Parameter.choice("no", "yes"), Parameter.choice(*"abcdef")
TASKS = {
    "switch": Task(switch, (SWITCH,)),
    "twelve": Task(twelve, (Parameter.choice(*"abc"), Parameter(0, 3, integer=True))),
    "grid": Task(grid, (Parameter(0, 31, integer=True),) * 2),
    "labels": Task(labels, (LABEL,) * 5),
    "leading": Task(leading, (SWITCH,) * BITS),
    "bits": Task(bits, (SWITCH,) * BITS),
    "whole": Task(whole, (Parameter(0, 9, integer=True),) * 6),
}


class DiscreteProblem(TaskProblem):
    tasks = TASKS


def register(command: Command) -> None:
    sub = command("discrete", run, "spaces of integers and labels alone, of 2 to 10⁶ points: medians")
    task_options(sub, "discrete", TASKS, BUDGETS)


def run(options: Any) -> None:
    compare(options, "discrete", TASKS, DiscreteProblem)
