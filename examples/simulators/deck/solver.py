"""Stands for a solver of the last century: reads a deck, writes a log with numbers such as 0.1500D+02."""

import re
import sys


def fortran(text):
    return float(text.replace("D", "E"))


def entry(text, name):
    return fortran(re.search(rf"{name}\s*=?\s*(\S+)", text)[1])


deck = open(sys.argv[1]).read()
assert "GEOMETRY {" in deck and deck.rstrip().endswith("loads.dat"), "the deck is not a deck"
young = entry(open("material.dat").read(), "YOUNG")
load = entry(open("loads.dat").read(), "LOAD")
thickness, radius = entry(deck, "THICKNESS"), entry(deck, "RADIUS")

with open("solver.log", "w") as log:
    for iteration in (1, 2, 3):
        compliance = load**2 / young * (1 + (thickness - 4) ** 2 + (radius - 2) ** 2) * (1 + 10.0 ** -(3 * iteration))
        mantissa, exponent = f"{compliance:.12E}".split("E")
        log.write(f" ITERATION {iteration}   TOTAL COMPLIANCE = {mantissa}D{exponent}\n")
