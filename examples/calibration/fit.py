"""Fits the growth of a culture to measurements: three parameters of a differential equation, with standard errors.

Biomass b grows on a substrate s by the law of Monod, b' = μ s / (K + s) b, and uses it up, s' = -b' / Y.
"""

from pathlib import Path

import numpy as np

import labcat

TIME, BIOMASS, SUBSTRATE = np.loadtxt(
    Path(__file__).with_name("data.csv"), delimiter=",", skiprows=1, unpack=True
)
SIGMA = np.repeat([0.1, 0.2], len(TIME))  # of the two instruments, in g/l
STEPS = 20  # of the integration, between two measurements


def simulate(mu, K, Y):
    """Biomass and substrate at the times of the measurements, by the method of Runge and Kutta."""

    def slope(state):
        growth = mu * state[1] / (K + state[1]) * state[0]
        return np.array([growth, -growth / Y])

    states = [np.array([0.2, 10.0])]
    for h in np.repeat(np.diff(TIME) / STEPS, STEPS):
        a = states[-1]
        k1 = slope(a)
        k2 = slope(a + h / 2 * k1)
        k3 = slope(a + h / 2 * k2)
        k4 = slope(a + h * k3)
        states.append(a + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return np.transpose(states[::STEPS])


def residuals(mu, K, Y):
    biomass, substrate = simulate(mu, K, Y)
    return np.concatenate([biomass - BIOMASS, substrate - SUBSTRATE])


space = labcat.Space(mu=(0.1, 2), K=labcat.Real(0.1, 20, scale="log"), Y=(0.1, 1))
result = labcat.least_squares(
    residuals, space, x0={"mu": 0.5, "K": 5, "Y": 0.3}, sigma=SIGMA, budget=40, rng=1
)

print(f"{result.nfev} simulations, cost {result.cost:.3f}")
for name, error in zip(space, result.stderr):
    print(f"{name:>2} = {result.params[name]:.3f} ± {error:.3f}")

measured = np.concatenate([BIOMASS, SUBSTRATE])
result.plot(measured, at=np.tile(TIME, 2)).savefig("calibration.png", dpi=80)
print("wrote calibration.png")
