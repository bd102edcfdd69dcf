"""The `large` command: two functions of many variables, against methods that are started in the centre of the box."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .coco import failures
from .functions import rosenbrock
from .medians import median_table
from .objective import Function, Objective
from .problems import RepeatedProblem
from .runner import Run
from .shared import Command, algorithm_options, carry_out, chosen_algorithms, common_options, numbers, positive, present
from .summary import Block

BUDGETS = [300, 600, 3000]
RUNS = 3
PEERS = ["cma@centre", "cobyqa@centre"]


def quadratic(x: Any) -> float:
    """Separable, of condition 100, with its optimum off the centre."""
    weights = 100 ** np.linspace(0, 1, len(x))
    return float(np.sum(weights * (np.asarray(x) - 1) ** 2))


@dataclass(frozen=True)
class Many:
    fun: Function
    dim: int
    box: tuple[float, float]
    most: int  # evaluations that are of interest


MANY = {
    "rosenbrock-60": Many(rosenbrock, 60, (-5.0, 10.0), 3000),
    "quadratic-50": Many(quadratic, 50, (-5.0, 10.0), 300),
}


class LargeProblem(RepeatedProblem):
    @contextmanager
    def open(self, budget: int, seed: int = 0) -> Iterator[Objective]:
        del seed
        many = MANY[self.name]
        yield Objective(many.fun, [many.box[0]] * many.dim, [many.box[1]] * many.dim, budget, 0.0)


def register(command: Command) -> None:
    sub = command("large", run, "Rosenbrock's function in d = 60 and a quadratic in d = 50: median regrets")
    common_options(sub, "large")
    algorithm_options(sub, PEERS)
    sub.add_argument("--runs", type=positive, default=RUNS, help="per function (default: %(default)s)")
    sub.add_argument("--budgets", type=numbers, default=BUDGETS, help="evaluations shown (default: 300,600,3000)")


def run(options: Any) -> None:
    algorithms = chosen_algorithms(options)
    runs = [
        Run(algorithm, LargeProblem(name, k), min(max(options.budgets), many.most), options.seed)
        for name, many in MANY.items()
        for k in range(options.runs)
        for algorithm in algorithms
    ]
    records, results = carry_out(options, runs, "large")
    blocks: list[Block] = []
    for evaluations in options.budgets:
        chosen = [r for r in records if evaluations <= MANY[r["function"]].most]
        if chosen:
            title = f"Regret after {evaluations} evaluations, median of {options.runs} runs"
            blocks.append(median_table(title, chosen, evaluations))
    present(options, "Many variables", results, blocks + failures(records))
