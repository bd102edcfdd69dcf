"""The `engineering` command: classic design problems with constraints, from random points.

Values of x in the order of the literature; a constraint is satisfied when g ≤ 0. The four designs are as in
Coello (2000) and Mezura-Montes and Coello (2005), the G functions as in Koziel and Michalewicz (1999).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import pi, sqrt
from typing import Any

import numpy as np

from .coco import failures
from .medians import standing
from .objective import Array, ConstrainedObjective, Objective
from .problems import RepeatedProblem
from .runner import Run
from .shared import Command, algorithm_options, carry_out, chosen_algorithms, common_options, positive, present, words

Measured = tuple[float, list[float]]
TOLERANCE = 1e-10  # of the median size of a constraint: what a method that ends on it may be off by
BUDGET = 100
RUNS = 20
PEERS = ["cobyla", "cobyqa-constrained", "random"]


@dataclass(frozen=True)
class Design:
    bounds: tuple[tuple[float, float], ...]
    constraints: int
    best: float  # the least feasible value known
    measure: Callable[[Any], Measured]


def welded_beam(x: Any) -> Measured:
    h, length, t, b = x
    load, span, modulus, shear = 6000.0, 14.0, 30e6, 12e6
    primary = load / (sqrt(2) * h * length)
    moment = load * (span + length / 2)
    radius = sqrt(length**2 / 4 + ((h + t) / 2) ** 2)
    inertia = 2 * sqrt(2) * h * length * (length**2 / 12 + ((h + t) / 2) ** 2)
    secondary = moment * radius / inertia
    stress = sqrt(primary**2 + primary * secondary * length / radius + secondary**2)
    bending = 6 * load * span / (b * t**2)
    deflection = 4 * load * span**3 / (modulus * t**3 * b)
    buckling = 4.013 * modulus * t * b**3 / (6 * span**2) * (1 - t / (2 * span) * sqrt(modulus / (4 * shear)))
    cost = 1.10471 * h**2 * length + 0.04811 * t * b * (span + length)
    return cost, [
        stress - 13600,
        bending - 30000,
        h - b,
        0.10471 * h**2 + 0.04811 * t * b * (span + length) - 5,
        0.125 - h,
        deflection - 0.25,
        load - buckling,
    ]


def pressure_vessel(x: Any) -> Measured:
    shell, head, radius, length = x
    cost = (
        0.6224 * shell * radius * length
        + 1.7781 * head * radius**2
        + 3.1661 * shell**2 * length
        + 19.84 * shell**2 * radius
    )
    volume = pi * radius**2 * length + 4 / 3 * pi * radius**3
    return cost, [0.0193 * radius - shell, 0.00954 * radius - head, 1296000 - volume, length - 240]


def tension_spring(x: Any) -> Measured:
    wire, coil, turns = x
    slim = coil - wire if coil != wire else 1e-12
    return (turns + 2) * coil * wire**2, [
        1 - coil**3 * turns / (71785 * wire**4),
        (4 * coil**2 - wire * coil) / (12566 * wire**3 * slim) + 1 / (5108 * wire**2) - 1,
        1 - 140.45 * wire / (coil**2 * turns),
        (wire + coil) / 1.5 - 1,
    ]


def speed_reducer(x: Any) -> Measured:
    a, b, c, d, e, f, g = x
    weight = (
        0.7854 * a * b**2 * (3.3333 * c**2 + 14.9334 * c - 43.0934)
        - 1.508 * a * (f**2 + g**2)
        + 7.4777 * (f**3 + g**3)
        + 0.7854 * (d * f**2 + e * g**2)
    )
    return weight, [
        27 / (a * b**2 * c) - 1,
        397.5 / (a * b**2 * c**2) - 1,
        1.93 * d**3 / (b * c * f**4) - 1,
        1.93 * e**3 / (b * c * g**4) - 1,
        sqrt((745 * d / (b * c)) ** 2 + 16.9e6) / (110 * f**3) - 1,
        sqrt((745 * e / (b * c)) ** 2 + 157.5e6) / (85 * g**3) - 1,
        b * c / 40 - 1,
        5 * b / a - 1,
        a / (12 * b) - 1,
        (1.5 * f + 1.9) / d - 1,
        (1.1 * g + 1.9) / e - 1,
    ]


def g4(x: Any) -> Measured:
    a, b, c, d, e = x
    u = 85.334407 + 0.0056858 * b * e + 0.0006262 * a * d - 0.0022053 * c * e
    v = 80.51249 + 0.0071317 * b * e + 0.0029955 * a * b + 0.0021813 * c**2
    w = 9.300961 + 0.0047026 * c * e + 0.0012547 * a * c + 0.0019085 * c * d
    value = 5.3578547 * c**2 + 0.8356891 * a * e + 37.293239 * a - 40792.141
    return value, [u - 92, -u, v - 110, 90 - v, w - 25, 20 - w]


def g6(x: Any) -> Measured:
    a, b = x
    value = (a - 10) ** 3 + (b - 20) ** 3
    return value, [100 - (a - 5) ** 2 - (b - 5) ** 2, (a - 6) ** 2 + (b - 5) ** 2 - 82.81]


def g7(x: Any) -> Measured:
    a, b, c, d, e, f, g, h, i, j = x
    value = (
        a**2 + b**2 + a * b - 14 * a - 16 * b + (c - 10) ** 2 + 4 * (d - 5) ** 2 + (e - 3) ** 2
        + 2 * (f - 1) ** 2 + 5 * g**2 + 7 * (h - 11) ** 2 + 2 * (i - 10) ** 2 + (j - 7) ** 2 + 45
    )  # fmt: skip
    return value, [
        4 * a + 5 * b - 3 * g + 9 * h - 105,
        10 * a - 8 * b - 17 * g + 2 * h,
        -8 * a + 2 * b + 5 * i - 2 * j - 12,
        3 * (a - 2) ** 2 + 4 * (b - 3) ** 2 + 2 * c**2 - 7 * d - 120,
        5 * a**2 + 8 * b + (c - 6) ** 2 - 2 * d - 40,
        a**2 + 2 * (b - 2) ** 2 - 2 * a * b + 14 * e - 6 * f,
        0.5 * (a - 8) ** 2 + 2 * (b - 4) ** 2 + 3 * e**2 - f - 30,
        -3 * a + 6 * b + 12 * (i - 8) ** 2 - 7 * j,
    ]


def g8(x: Any) -> Measured:
    from math import sin

    a, b = x
    height = a**3 * (a + b)
    value = -(sin(2 * pi * a) ** 3) * sin(2 * pi * b) / height if height else 0.0
    return value, [a**2 - b + 1, 1 - a + (b - 4) ** 2]


def g9(x: Any) -> Measured:
    a, b, c, d, e, f, g = x
    value = (
        (a - 10) ** 2 + 5 * (b - 12) ** 2 + c**4 + 3 * (d - 11) ** 2
        + 10 * e**6 + 7 * f**2 + g**4 - 4 * f * g - 10 * f - 8 * g
    )  # fmt: skip
    return value, [
        2 * a**2 + 3 * b**4 + c + 4 * d**2 + 5 * e - 127,
        7 * a + 3 * b + 10 * c**2 + d - e - 282,
        23 * a + b**2 + 6 * f**2 - 8 * g - 196,
        4 * a**2 + b**2 - 3 * a * b + 2 * c**2 + 5 * f - 11 * g,
    ]


DESIGNS = {
    "welded-beam": Design(((0.1, 2), (0.1, 10), (0.1, 10), (0.1, 2)), 7, 1.724852, welded_beam),
    "pressure-vessel": Design(
        ((0.0625, 6.1875), (0.0625, 6.1875), (10, 200), (10, 200)), 4, 5885.3328, pressure_vessel
    ),
    "tension-spring": Design(((0.05, 2), (0.25, 1.3), (2, 15)), 4, 0.0126652, tension_spring),
    "speed-reducer": Design(
        ((2.6, 3.6), (0.7, 0.8), (17, 28), (7.3, 8.3), (7.3, 8.3), (2.9, 3.9), (5, 5.5)), 11, 2994.4711, speed_reducer
    ),
    "G4": Design(((78, 102), (33, 45), (27, 45), (27, 45), (27, 45)), 6, -30665.5387, g4),
    "G6": Design(((13, 100), (0, 100)), 2, -6961.81388, g6),
    "G7": Design(((-10, 10),) * 10, 8, 24.3062091, g7),
    "G8": Design(((0, 10), (0, 10)), 2, -0.095825, g8),
    "G9": Design(((-10, 10),) * 7, 4, 680.630057, g9),
}


class EngineeringProblem(RepeatedProblem):
    @contextmanager
    def open(self, budget: int, seed: int = 0) -> Iterator[Objective]:
        del seed
        design = DESIGNS[self.name]
        lower, upper = zip(*design.bounds, strict=True)
        measure: Any = design.measure
        yield ConstrainedObjective(
            lambda x: measure(x.tolist()),
            lower,
            upper,
            budget,
            None,
            design.constraints,
            tolerance=TOLERANCE * constraint_sizes(self.name),
        )


@functools.cache
def constraint_sizes(name: str) -> Array:
    """The median size of each constraint over the box."""
    design = DESIGNS[name]
    lower, upper = zip(*design.bounds, strict=True)
    points = np.random.default_rng(0).uniform(lower, upper, (1000, len(lower)))
    sizes: Array = np.median([np.abs(design.measure(x.tolist())[1]) for x in points], axis=0)
    return sizes


def register(command: Command) -> None:
    sub = command("engineering", run, "classic design problems with constraints: median of the best feasible value")
    common_options(sub, "engineering")
    algorithm_options(sub, PEERS)
    sub.add_argument("--problems", type=words, default=list(DESIGNS), help=f"of {', '.join(DESIGNS)} (default: all)")
    sub.add_argument("--runs", type=positive, default=RUNS, help="per problem (default: %(default)s)")
    sub.add_argument("--budget", type=positive, default=BUDGET, help="evaluations (default: %(default)s)")


def run(options: Any) -> None:
    if unknown := [name for name in options.problems if name not in DESIGNS]:
        raise ValueError(f"unknown problem {unknown[0]!r}. Allowed: {', '.join(DESIGNS)}")
    algorithms = chosen_algorithms(options, "constrained")
    problems = [EngineeringProblem(name, k) for name in options.problems for k in range(options.runs)]
    runs = [Run(algorithm, problem, options.budget, options.seed) for problem in problems for algorithm in algorithms]
    records, results = carry_out(options, runs, "engineering")
    known = ", ".join(f"{name} {DESIGNS[name].best:g}" for name in options.problems)
    blocks = standing(
        f"Best feasible value after {options.budget} evaluations, median of {options.runs} runs",
        records,
        options.budget,
        [a.label for a in algorithms],
        f"A constraint may be violated by 1e-10 of its median size over the box. In brackets: runs with a feasible point, where not all have one. Best known: {known}.",
    )
    present(options, "Engineering", results, blocks + failures(records))
