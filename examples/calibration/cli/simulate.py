"""Batch growth of a culture (Monod): python3 simulate.py GROWTH HALF YIELD writes biomass and substrate over time to out.csv."""

import csv
import sys

growth, half, gain = map(float, sys.argv[1:])  # 1/h, g/l, g of biomass per g of substrate


def slopes(biomass, substrate):
    rate = growth * substrate / (half + substrate) * biomass
    return rate, -rate / gain


def step(biomass, substrate, h):
    """One step of Runge and Kutta."""
    a = slopes(biomass, substrate)
    b = slopes(biomass + h / 2 * a[0], substrate + h / 2 * a[1])
    c = slopes(biomass + h / 2 * b[0], substrate + h / 2 * b[1])
    d = slopes(biomass + h * c[0], substrate + h * c[1])
    sums = (a[k] + 2 * b[k] + 2 * c[k] + d[k] for k in range(2))
    biomass, substrate = (x + h / 6 * s for x, s in zip((biomass, substrate), sums, strict=True))
    return biomass, max(substrate, 0.0)


with open("out.csv", "w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["t", "biomass", "substrate"])
    state, h = (0.1, 10.0), 0.05  # g/l, h
    for k in range(241):
        out.writerow([k * h, *state])
        state = step(*state, h)
