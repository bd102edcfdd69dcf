"""The 53 problems of Moré and Wild (2009): 22 vector functions with their published starting points.

1–18 are functions of Moré, Garbow and Hillstrom (1981), 19–22 of CUTEr. Each is a vector of residuals r(x); the value is
the sum of their squares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .objective import Array

BARD = [0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39]
KOWALIK_V = [4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625]
KOWALIK_Y = [0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246]
MEYER = [34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872]
OSBORNE_1 = [
    0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751, 0.718, 0.685, 0.658, 0.628, 0.603,
    0.580, 0.558, 0.538, 0.522, 0.506, 0.490, 0.478, 0.467, 0.457, 0.448, 0.438, 0.431, 0.424, 0.420, 0.414, 0.411,
    0.406,
]  # fmt: skip
OSBORNE_2 = [
    1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608, 0.655, 0.616, 0.606,
    0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661, 0.612, 0.558, 0.533, 0.495, 0.500, 0.423,
    0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428, 0.429, 0.523, 0.562, 0.607, 0.653, 0.672, 0.708, 0.633, 0.668,
    0.645, 0.632, 0.591, 0.559, 0.597, 0.625, 0.739, 0.710, 0.729, 0.720, 0.636, 0.581, 0.428, 0.292, 0.162, 0.098,
    0.054,
]  # fmt: skip


def numbered(count: int) -> Array:
    """1, 2, …, count."""
    found: Array = np.arange(1.0, count + 1)
    return found


def linear_full_rank(x: Array, m: int) -> Any:
    r = np.full(m, -2 * np.sum(x) / m - 1)
    r[: x.size] += x
    return r


def linear_rank_one(x: Array, m: int) -> Any:
    return numbered(m) * (numbered(x.size) @ x) - 1


def linear_rank_one_zero(x: Array, m: int) -> Any:
    """With zero columns and rows."""
    r = (numbered(m) - 1) * (numbered(x.size)[1:-1] @ x[1:-1]) - 1
    r[-1] = -1
    return r


def rosenbrock(x: Array, m: int) -> Any:
    return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def helical_valley(x: Array, m: int) -> Any:
    turn = np.arctan2(x[1], x[0]) / (2 * np.pi)
    turn += 1.0 if turn < -0.25 else 0.0  # between −1/4 and 3/4, as published
    return np.array([10 * (x[2] - 10 * turn), 10 * (np.hypot(x[0], x[1]) - 1), x[2]])


def powell_singular(x: Array, m: int) -> Any:
    a, b, c, d = x
    return np.array([a + 10 * b, np.sqrt(5) * (c - d), (b - 2 * c) ** 2, np.sqrt(10) * (a - d) ** 2])


def freudenstein_roth(x: Array, m: int) -> Any:
    a, b = x
    return np.array([-13 + a + ((5 - b) * b - 2) * b, -29 + a + ((b + 1) * b - 14) * b])


def bard(x: Array, m: int) -> Any:
    u = numbered(15)
    v = 16 - u
    return np.array(BARD) - (x[0] + u / (v * x[1] + np.minimum(u, v) * x[2]))


def kowalik_osborne(x: Array, m: int) -> Any:
    v = np.array(KOWALIK_V)
    return np.array(KOWALIK_Y) - x[0] * (v**2 + v * x[1]) / (v**2 + v * x[2] + x[3])


def meyer(x: Array, m: int) -> Any:
    return x[0] * np.exp(x[1] / (45 + 5 * numbered(16) + x[2])) - np.array(MEYER)


def watson(x: Array, m: int) -> Any:
    t = numbered(29)[:, None] / 29
    powers = np.arange(x.size)
    slope = t ** (powers[1:] - 1) @ (powers[1:] * x[1:])
    return np.append(slope - (t**powers @ x) ** 2 - 1, [x[0], x[1] - x[0] ** 2 - 1])


def box_3d(x: Array, m: int) -> Any:
    t = numbered(m) / 10
    return np.exp(-t * x[0]) - np.exp(-t * x[1]) - x[2] * (np.exp(-t) - np.exp(-10 * t))


def jennrich_sampson(x: Array, m: int) -> Any:
    i = numbered(m)
    return 2 + 2 * i - np.exp(i * x[0]) - np.exp(i * x[1])


def brown_dennis(x: Array, m: int) -> Any:
    t = numbered(m) / 5
    return (x[0] + t * x[1] - np.exp(t)) ** 2 + (x[2] + x[3] * np.sin(t) - np.cos(t)) ** 2


def chebyquad(x: Array, m: int) -> Any:
    """Means of the shifted Chebyshev polynomials, minus their integrals over [0, 1]."""
    before, now = np.ones(x.size), 2 * x - 1
    r = np.zeros(m)
    for i in range(m):
        degree = i + 1
        r[i] = np.mean(now) + (1 / (degree**2 - 1) if degree % 2 == 0 else 0.0)
        before, now = now, 2 * (2 * x - 1) * now - before
    return r


def brown_almost_linear(x: Array, m: int) -> Any:
    r = x + np.sum(x) - (x.size + 1)
    r[-1] = np.prod(x) - 1
    return r


def osborne_1(x: Array, m: int) -> Any:
    t = 10 * np.arange(33)
    return np.array(OSBORNE_1) - (x[0] + x[1] * np.exp(-t * x[3]) + x[2] * np.exp(-t * x[4]))


def osborne_2(x: Array, m: int) -> Any:
    t = np.arange(65) / 10
    peaks = sum(x[k] * np.exp(-x[k + 4] * (t - x[k + 7]) ** 2) for k in (1, 2, 3))
    return np.array(OSBORNE_2) - (x[0] * np.exp(-t * x[4]) + peaks)


def bdqrtic(x: Array, m: int) -> Any:
    k = x.size - 4
    quartic = sum((j + 1) * x[j : j + k] ** 2 for j in range(4)) + 5 * x[-1] ** 2
    return np.append(-4 * x[:k] + 3, quartic)


def cube(x: Array, m: int) -> Any:
    return np.append(x[0] - 1, 10 * (x[1:] - x[:-1] ** 3))


def wave(v: Array) -> Array:
    found: Array = v * (np.sin(np.log(v)) ** 5 + np.cos(np.log(v)) ** 5)
    return found


def mancino(x: Array, m: int) -> Any:
    i = numbered(x.size)
    return 1400 * x + (i - 50) ** 3 + wave(np.sqrt(x[:, None] ** 2 + i[:, None] / i)).sum(axis=1)


def mancino_start(n: int) -> Any:
    i = numbered(n)
    return -8.710996e-4 * ((i - 50) ** 3 + wave(np.sqrt(i[:, None] / i)).sum(axis=1))


def heart_8(x: Array, m: int) -> Any:
    """Moments of a dipole of the heart: powers of two complex numbers, weighted by two others."""
    weights = np.array([complex(x[0], x[2]), complex(x[1], x[3])])
    places = np.array([complex(x[4], x[6]), complex(x[5], x[7])])
    moments = [np.sum(weights * places**power) for power in range(4)]
    found = [part for moment in moments for part in (moment.real, moment.imag)]
    return np.add(found, [0.69, 0.044, 1.57, 1.31, 2.65, -2.0, 12.6, -9.48])


@dataclass(frozen=True)
class Classic:
    residuals: Callable[[Array, int], Any]
    start: Callable[[int], Any]  # of n


def constant(*values: float) -> Callable[[int], Any]:
    """A given point, or one value for all n components."""
    return lambda n: np.full(n, values[0]) if len(values) == 1 else np.array(values)


CLASSICS = {
    "linear-full-rank": Classic(linear_full_rank, constant(1)),
    "linear-rank-one": Classic(linear_rank_one, constant(1)),
    "linear-rank-one-zero": Classic(linear_rank_one_zero, constant(1)),
    "rosenbrock": Classic(rosenbrock, constant(-1.2, 1)),
    "helical-valley": Classic(helical_valley, constant(-1, 0, 0)),
    "powell-singular": Classic(powell_singular, constant(3, -1, 0, 1)),
    "freudenstein-roth": Classic(freudenstein_roth, constant(0.5, -2)),
    "bard": Classic(bard, constant(1)),
    "kowalik-osborne": Classic(kowalik_osborne, constant(0.25, 0.39, 0.415, 0.39)),
    "meyer": Classic(meyer, constant(0.02, 4000, 250)),
    "watson": Classic(watson, constant(0.5)),
    "box-3d": Classic(box_3d, constant(0, 10, 20)),
    "jennrich-sampson": Classic(jennrich_sampson, constant(0.3, 0.4)),
    "brown-dennis": Classic(brown_dennis, constant(25, 5, -5, -1)),
    "chebyquad": Classic(chebyquad, lambda n: numbered(n) / (n + 1)),
    "brown-almost-linear": Classic(brown_almost_linear, constant(0.5)),
    "osborne-1": Classic(osborne_1, constant(0.5, 1.5, -1, 0.01, 0.02)),
    "osborne-2": Classic(osborne_2, constant(1.3, 0.65, 0.65, 0.7, 0.6, 3, 5, 7, 2, 4.5, 5.5)),
    "bdqrtic": Classic(bdqrtic, constant(1)),
    "cube": Classic(cube, constant(0.5)),
    "mancino": Classic(mancino, mancino_start),
    "heart-8": Classic(heart_8, constant(-0.3, -0.39, 0.3, -0.344, -1.2, 2.69, 1.59, -1.5)),
}


@dataclass(frozen=True)
class Case:
    """A function in n variables with m residuals, from its starting point times a factor of 1 or 10."""

    function: str
    n: int
    m: int
    factor: int = 1

    @property
    def name(self) -> str:
        return f"{self.function}-{self.n}" + (f"-x{self.factor}" if self.factor > 1 else "")

    @property
    def start(self) -> Array:
        found: Array = self.factor * np.asarray(CLASSICS[self.function].start(self.n), dtype=float)
        return found

    def residuals(self, x: Array) -> Array:
        with np.errstate(all="ignore"):  # a point may overflow; `value` makes of it what algorithms can bear
            found: Array = np.asarray(CLASSICS[self.function].residuals(np.asarray(x, dtype=float), self.m))
        return found


def _cases() -> list[Case]:
    both = [
        ("linear-full-rank", 9, 45), ("linear-rank-one", 7, 35), ("linear-rank-one-zero", 7, 35), ("rosenbrock", 2, 2),
        ("helical-valley", 3, 3), ("powell-singular", 4, 4), ("freudenstein-roth", 2, 2), ("bard", 3, 15),
        ("watson", 6, 31), ("watson", 9, 31), ("watson", 12, 31), ("brown-dennis", 4, 20), ("osborne-2", 11, 65),
        ("mancino", 5, 5), ("mancino", 12, 12), ("heart-8", 8, 8),
    ]  # fmt: skip
    once = [
        ("kowalik-osborne", 4, 11), ("meyer", 3, 16), ("box-3d", 3, 10), ("jennrich-sampson", 2, 10),
        *(("chebyquad", n, n) for n in range(6, 12)), ("brown-almost-linear", 10, 10), ("osborne-1", 5, 33),
        *(("bdqrtic", n, 2 * n - 8) for n in (8, 10, 11, 12)), *(("cube", n, n) for n in (5, 6, 8)),
        ("mancino", 8, 8), ("mancino", 10, 10),
    ]  # fmt: skip
    order = list(CLASSICS)
    found = [Case(*each, factor) for each in both for factor in (1, 10)] + [Case(*each) for each in once]
    return sorted(found, key=lambda case: (order.index(case.function), case.n, case.factor))


CASES = {case.name: case for case in _cases()}
