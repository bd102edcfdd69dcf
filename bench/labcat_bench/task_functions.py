"""Functions of `tasks`: many-modal ones with their least values, and smooth ones with exact gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .objective import Array

# ---- many modes

HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
HARTMANN_3 = (
    np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]]),
    1e-4 * np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]),
)
HARTMANN_6 = (
    np.array([
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]),
    1e-4 * np.array([
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]),
)  # fmt: skip
SHEKEL_WIDTHS = 0.1 * np.array([1, 2, 2, 4, 4, 6, 3, 7, 5, 5])
SHEKEL_PLACES = np.array([
    [4, 1, 8, 6, 3, 2, 5, 8, 6, 7],
    [4, 1, 8, 6, 7, 9, 3, 1, 2, 3.6],
    [4, 1, 8, 6, 3, 2, 5, 8, 6, 7],
    [4, 1, 8, 6, 7, 9, 3, 1, 2, 3.6],
]).T  # fmt: skip


def hartmann(x: Array) -> Any:
    scale, places = HARTMANN_3 if x.size == 3 else HARTMANN_6
    return -HARTMANN_WEIGHTS @ np.exp(-np.sum(scale * (x - places) ** 2, axis=1))


def shekel(x: Array) -> Any:
    return -np.sum(1 / (np.sum((x - SHEKEL_PLACES) ** 2, axis=1) + SHEKEL_WIDTHS))


def michalewicz(x: Array) -> Any:
    i = np.arange(1, x.size + 1)
    return -np.sum(np.sin(x) * np.sin(i * x**2 / math.pi) ** 20)


def styblinski_tang(x: Array) -> Any:
    return np.sum(x**4 - 16 * x**2 + 5 * x) / 2


def rastrigin(x: Array) -> Any:
    return np.sum(x**2 + 10 - 10 * np.cos(2 * math.pi * x))


def schwefel(x: Array) -> Any:
    return np.sum(418.9828872724339 - x * np.sin(np.sqrt(np.abs(x))))


def levy(x: Array) -> Any:
    w = 1 + (x - 1) / 4
    inner = (w[:-1] - 1) ** 2 * (1 + 10 * np.sin(math.pi * w[:-1] + 1) ** 2)
    last = (w[-1] - 1) ** 2 * (1 + np.sin(2 * math.pi * w[-1]) ** 2)
    return np.sin(math.pi * w[0]) ** 2 + np.sum(inner) + last


def ackley(x: Array) -> Any:
    near = -20 * np.exp(-0.2 * np.sqrt(np.mean(x**2)))
    return near - np.exp(np.mean(np.cos(2 * math.pi * x))) + 20 + math.e


@dataclass(frozen=True)
class Modal:
    value: Callable[[Array], Any]
    box: tuple[float, float]
    minimiser: tuple[float, ...]
    budget: int

    @property
    def minimum(self) -> float:
        return float(self.value(np.array(self.minimiser)))

    def bounds(self, rng: np.random.Generator) -> list[tuple[float, float]]:
        """Each side moved inwards by up to half of its way to the minimiser, which is then anywhere but in the middle."""
        low, high = self.box
        shares = rng.uniform(0, 0.5, (len(self.minimiser), 2))
        return [(low + a * (x - low), high - b * (high - x)) for x, (a, b) in zip(self.minimiser, shares, strict=True)]


MICHALEWICZ = (2.202905520, 1.570796327, 1.284991567, 1.923058470, 1.720469772)
MODAL = {
    "hartmann-3": Modal(hartmann, (0, 1), (0.114589, 0.555649, 0.852547), 100),
    "hartmann-6": Modal(hartmann, (0, 1), (0.201690, 0.150011, 0.476874, 0.275332, 0.311652, 0.657301), 200),
    "shekel-4": Modal(shekel, (0, 10), (4.000746871, 3.999509480) * 2, 200),
    "michalewicz-2": Modal(michalewicz, (0, math.pi), MICHALEWICZ[:2], 100),
    "michalewicz-5": Modal(michalewicz, (0, math.pi), MICHALEWICZ, 300),
    "styblinski-5": Modal(styblinski_tang, (-5, 5), (-2.903534027771,) * 5, 200),
    "rastrigin-2": Modal(rastrigin, (-5.12, 5.12), (0.0,) * 2, 100),
    "rastrigin-4": Modal(rastrigin, (-5.12, 5.12), (0.0,) * 4, 200),
    "schwefel-2": Modal(schwefel, (-500, 500), (420.968746,) * 2, 100),
    "schwefel-4": Modal(schwefel, (-500, 500), (420.968746,) * 4, 200),
    "levy-6": Modal(levy, (-10, 10), (1.0,) * 6, 200),
    "ackley-5": Modal(ackley, (-15, 30), (0.0,) * 5, 200),
}


# ---- smooth functions with gradients; all are analytic and of minimum 0, so that a complex step gives exact slopes

TINY = 1e-30


def gradient(value: Callable[[Any], Any], x: Array) -> Array:
    """Exact to rounding: the imaginary part after an imaginary step."""
    steps = x + 1j * TINY * np.eye(x.size)
    found: Array = np.array([value(z).imag / TINY for z in steps])
    return found


def turned(x: Any) -> Any:
    """In axes that are no longer those of the box: a reflection."""
    normal = np.arange(1.0, x.size + 1)
    return x - 2 * normal * (normal @ x) / (normal @ normal)


def spread(count: int, most: float) -> Array:
    """From 1 to `most`, evenly in the logarithm."""
    found: Array = most ** np.linspace(0, 1, count)
    return found


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (x[:-1] - 1) ** 2)


def ellipsoid(x: Any) -> Any:
    return np.sum(spread(x.size, 1e3) * (x - 1) ** 2)


def turned_ellipsoid(x: Any) -> Any:
    return ellipsoid(turned(x))


def log_cosh(x: Any) -> Any:
    return np.sum(np.log(np.cosh(spread(x.size, 100.0) * (x - 1))))


def quartic(x: Any) -> Any:
    return np.sum(np.arange(1, x.size + 1) * (x - 1) ** 4 + (x - 1) ** 2)


def zakharov(x: Any) -> Any:
    tilt = np.sum(0.5 * np.arange(1, x.size + 1) * (x - 1))
    return np.sum((x - 1) ** 2) + tilt**2 + tilt**4


def dixon_price(x: Any) -> Any:
    return (x[0] - 1) ** 2 + np.sum(np.arange(2, x.size + 1) * (2 * x[1:] ** 2 - x[:-1]) ** 2)


def log_sum_exp(x: Any) -> Any:
    """Of pairs of opposite slopes in turned axes: a smooth maximum norm."""
    z = turned(x - 1)
    return np.log(np.sum(np.cosh(z)) / x.size)


def exponentials(x: Any) -> Any:
    return np.sum(np.exp(x - 1) - x)


def powell(x: Any) -> Any:
    a, b, c, d = x
    return (a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4


def ridge(x: Any) -> Any:
    """10(Σz)² + Σz² + 0.1 Σz⁴."""
    z = x - 1
    return 10 * np.sum(z) ** 2 + np.sum(z**2) + 0.1 * np.sum(z**4)


@dataclass(frozen=True)
class Smooth:
    value: Callable[[Any], Any]
    dim: int
    budget: int
    box: tuple[float, float] = (-4.0, 6.0)


SMOOTH = {
    "rosenbrock-5": Smooth(rosenbrock, 5, 60, (-5.0, 10.0)),
    "rosenbrock-10": Smooth(rosenbrock, 10, 100, (-5.0, 10.0)),
    "ellipsoid-5": Smooth(ellipsoid, 5, 60),
    "turned-ellipsoid-5": Smooth(turned_ellipsoid, 5, 60),
    "log-cosh-5": Smooth(log_cosh, 5, 60),
    "quartic-5": Smooth(quartic, 5, 60),
    "zakharov-5": Smooth(zakharov, 5, 60),
    "dixon-price-5": Smooth(dixon_price, 5, 60),
    "log-sum-exp-5": Smooth(log_sum_exp, 5, 60),
    "exponentials-5": Smooth(exponentials, 5, 60),
    "powell-4": Smooth(powell, 4, 60),
    "ridge-10": Smooth(ridge, 10, 100),
}
