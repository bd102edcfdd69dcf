"""A controller whose error is integrated over time; writes history.csv."""

import csv
import os

gain = float(os.environ["LABCAT_gain"])
position, speed, total = 1.0, 0.0, 0.0
with open("history.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["time", "position", "integrated error"])
    for step in range(1, 101):
        speed += 0.1 * (-gain * position - 1.2 * speed)
        position += 0.1 * speed
        total += 0.1 * abs(position)
        table.writerow([step / 10, position, total])
