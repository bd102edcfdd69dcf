"""Reads a namelist, writes fort.20 with three columns such as 0.15000000D+02."""

import re

x, y = (float(number) for number in re.findall(r"[xy] = ([^,/ ]+)", open("input.nml").read()))


def fortran(value):
    mantissa, exponent = f"{value:.15E}".split("E")
    return f"{mantissa}D{exponent}"


with open("fort.20", "w") as file:
    for step in (1, 2):
        value = (x - 1) ** 2 + 10 * (y + 2) ** 2 + 100 / 10 ** (4 * step)
        file.write(f"   {fortran(step)}   {fortran(x)}  {fortran(value)}\n")
