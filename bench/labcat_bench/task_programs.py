"""Programs of `tasks`: calibrations of differential equations, a rover's path, a lander, photonics, model tuning.

Packages are imported where they are used; `tasks` says which are needed.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .objective import Array

MOST_CALLS = 20_000  # of the right-hand side of a differential equation

# ---- calibrations: simulated minus measured, in units of the measurement's error


@dataclass(frozen=True)
class Calibration:
    """Parameters with a box, the true ones, and the simulated series at the times of measurement."""

    bounds: tuple[tuple[float, float], ...]
    truth: tuple[float, ...]
    simulate: Callable[[Array], Array]
    noise: float  # relative to the largest measured value of each series
    seed: int


class GivenUp(Exception):
    """An integration that takes too many steps: its solution has no future."""


def integrate(slope: Callable[[float, Any], Any], start: Sequence[float], times: Array) -> Array:
    """States at the times, one row each; not a number where the integrator gives up."""
    from scipy.integrate import solve_ivp

    calls = 0

    def counted(t: float, y: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > MOST_CALLS:
            raise GivenUp
        return slope(t, y)

    states: Array = np.full((len(start), times.size), math.nan)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = solve_ivp(counted, (0.0, times[-1]), start, "LSODA", times, rtol=1e-8, atol=1e-10)
    except GivenUp:
        return states
    states[:, : found.y.shape[1] if found.y.size else 0] = found.y
    return states


def predators(p: Array) -> Array:
    """Lotka–Volterra: four rates and the two populations at the beginning."""
    birth, hunt, feed, death, prey, hunters = p

    def slope(_t: float, y: Any) -> list[float]:
        return [(birth - hunt * y[1]) * y[0], (feed * y[0] - death) * y[1]]

    return integrate(slope, [prey, hunters], np.linspace(0.5, 15, 30))


def monod(p: Array) -> Array:
    """Growth on a substrate: largest rate, half-saturation, yield, decay, and the biomass at the beginning."""
    rate, half, harvest, decay, biomass = p

    def slope(_t: float, y: Any) -> list[float]:
        growth = rate * max(y[1], 0.0) / (half + max(y[1], 0.0)) * y[0]
        return [growth - decay * y[0], -growth / harvest]

    return integrate(slope, [biomass, 10.0], np.linspace(0.5, 12, 24))


def arrhenius(p: Array) -> Array:
    """A → B → C at three temperatures: logarithm of each rate at 350 K, and its activation energy in kJ/mol."""
    series = []
    for kelvin in (330.0, 350.0, 370.0):
        inverse = (1 / 350.0 - 1 / kelvin) * 1000 / 8.314
        first, second = math.exp(p[0] + p[1] * inverse), math.exp(p[2] + p[3] * inverse)

        def slope(_t: float, y: Any, first: float = first, second: float = second) -> list[float]:
            return [-first * y[0], first * y[0] - second * y[1]]

        series.append(integrate(slope, [1.0, 0.0], np.linspace(0.5, 10, 12)))
    return np.concatenate(series)


CALIBRATIONS = {
    "lotka-volterra-6": Calibration(
        ((0.2, 2.0), (0.1, 2.0), (0.1, 2.0), (0.2, 2.0), (0.5, 5.0), (0.2, 3.0)),
        (1.1, 0.6, 0.35, 0.8, 2.0, 1.0),
        predators,
        0.03,
        61,
    ),
    "monod-5": Calibration(
        ((0.1, 2.0), (0.1, 5.0), (0.1, 1.0), (0.0, 0.3), (0.01, 1.0)), (0.7, 1.2, 0.45, 0.05, 0.15), monod, 0.02, 52
    ),
    "arrhenius-4": Calibration(
        ((-4.0, 2.0), (10.0, 120.0), (-4.0, 2.0), (10.0, 120.0)), (-0.7, 60.0, -1.6, 85.0), arrhenius, 0.02, 43
    ),
}


@functools.cache
def measurements(name: str) -> tuple[Array, Array]:
    """Noisy data, and the error of each value."""
    calibration = CALIBRATIONS[name]
    exact = calibration.simulate(np.array(calibration.truth))
    errors = np.broadcast_to(calibration.noise * np.max(exact, axis=1, keepdims=True), exact.shape)
    data = exact + errors * np.random.default_rng(calibration.seed).standard_normal(exact.shape)
    return data, errors


def misfits(name: str, p: Array) -> Array:
    data, errors = measurements(name)
    found: Array = ((CALIBRATIONS[name].simulate(p) - data) / errors).ravel()
    return found


@functools.cache
def least_cost(name: str) -> float:
    """Of the sum of squares: from the true parameters downhill."""
    from scipy.optimize import least_squares

    calibration = CALIBRATIONS[name]
    lower, upper = np.array(calibration.bounds).T
    tight = dict.fromkeys(("xtol", "ftol", "gtol"), 1e-14)
    found = least_squares(
        lambda p: misfits(name, p), calibration.truth, bounds=(lower, upper), x_scale=upper - lower, **tight
    )
    return float(2 * found.cost)


# ---- a rover's path, after Wang et al. (2018), with a layout of its own

ROVER_POINTS = 30
ROVER_START, ROVER_GOAL = np.array([0.05, 0.05]), np.array([0.95, 0.95])
OBSTACLE = 0.06  # half of an obstacle's side
OBSTACLES = np.array(
    [(0.15 + 0.2 * i + 0.1 * (j % 2), 0.2 + 0.2 * j) for j in range(4) for i in range(5) if (i + 2 * j) % 5 != 3]
)


@functools.cache
def spline() -> Array:
    """Weights of the control points of a clamped cubic B-spline at 1000 places along the path."""
    from scipy.interpolate import BSpline

    inner = np.linspace(0, 1, ROVER_POINTS - 2)
    knots = np.concatenate([[0] * 3, inner, [1] * 3])
    matrix: Array = BSpline(knots, np.eye(ROVER_POINTS), 3)(np.linspace(0, 1, 1000))
    return matrix


def rover(x: Array) -> float:
    """Cost along the path, 20 inside an obstacle and 0.05 outside, and 10 for each unit that its ends are off."""
    path = spline() @ x.reshape(ROVER_POINTS, 2)
    middles, steps = (path[1:] + path[:-1]) / 2, np.linalg.norm(np.diff(path, axis=0), axis=1)
    hits = (np.abs(middles[:, None, :] - OBSTACLES).max(axis=2) < OBSTACLE).any(axis=1)
    ends = np.abs(path[0] - ROVER_START).sum() + np.abs(path[-1] - ROVER_GOAL).sum()
    return float(np.sum(steps * (0.05 + 20.0 * hits)) + 10 * ends)


def rover_from_line(x: Array) -> float:
    """Of the offsets of the control points from the straight line."""
    return rover(np.linspace(ROVER_START, ROVER_GOAL, ROVER_POINTS).ravel() + x)


# ---- a moon lander's controller: the package's heuristic with twelve numbers of it free

LANDER_EPISODES = 10
LANDER_USUAL = (0.5, 1.0, 0.4, 0.55, 0.5, 1.0, 0.5, 0.5, 0.0, 0.5, 0.05, 0.05)


def lander_action(s: Any, w: Sequence[float]) -> int:
    """0 nothing, 2 the main engine, 1 and 3 the side engines."""
    tilt = min(max(s[0] * w[0] + s[2] * w[1], -w[2]), w[2])
    turn = (tilt - s[4]) * w[4] - s[5] * w[5]
    lift = (w[3] * abs(s[0]) - s[1]) * w[6] - s[3] * w[7]
    if s[6] or s[7]:  # a leg is on the ground
        turn, lift = w[8], -s[3] * w[9]
    if lift > abs(turn) and lift > w[10]:
        return 2
    if abs(turn) > w[11]:
        return 3 if turn < 0 else 1
    return 0


@functools.cache
def lander_world() -> Any:
    import gymnasium

    return gymnasium.make("LunarLander-v3")


def lander_loss(w: Array, episodes: Sequence[int]) -> float:
    """Minus the mean reward of these episodes."""
    world, weights, rewards = lander_world(), w.tolist(), 0.0
    for episode in episodes:
        state, _ = world.reset(seed=int(episode))
        over = False
        while not over:
            state, reward, ended, cut, _ = world.step(lander_action(state.tolist(), weights))
            rewards += float(reward)
            over = ended or cut
    return -rewards / len(episodes)


# ---- photonics of nevergrad


def photonics(name: str, x: Array) -> float:
    from nevergrad.functions.photonics import photonics as models

    value = float(getattr(models, name)(x))
    return value if math.isfinite(value) else 1.0  # nothing is reflected


# ---- scikit-learn: errors of cross-validation


@functools.cache
def dataset(name: str) -> tuple[Any, Any]:
    from sklearn import datasets
    from sklearn.preprocessing import StandardScaler

    inputs, outputs = getattr(datasets, f"load_{name}")(return_X_y=True)
    return StandardScaler().fit_transform(inputs), outputs


def cross_validated(model: Any, data: str, scoring: str, scale: Any = 1.0) -> float:
    from sklearn.model_selection import KFold, cross_val_score

    inputs, outputs = dataset(data)
    folds = KFold(3, shuffle=True, random_state=0)
    return -float(np.mean(cross_val_score(model, inputs * scale, outputs, cv=folds, scoring=scoring)))


def tuned_svr(x: Array) -> float:
    """Mean absolute error; log10 of C, γ and ε."""
    from sklearn.svm import SVR

    c, gamma, epsilon = (10.0**x).tolist()
    return cross_validated(SVR(C=c, gamma=gamma, epsilon=epsilon), "diabetes", "neg_mean_absolute_error")


def tuned_svc(x: Array) -> float:
    """Share of errors, a step function; log10 of C and γ."""
    from sklearn.svm import SVC

    c, gamma = (10.0**x).tolist()
    return 1 + cross_validated(SVC(C=c, gamma=gamma), "breast_cancer", "accuracy")


def tuned_regression(x: Array) -> float:
    """Log loss of a logistic regression; log10 of C and of the weights of the 13 inputs, in six groups."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=float(10.0 ** x[0]), max_iter=2000)
    return cross_validated(model, "wine", "neg_log_loss", 10.0 ** np.resize(x[1:], 13))
