"""Throws a ball, without air and with a little wind; writes results.json."""

import json
import math
import sys

angle = math.radians(float(sys.argv[1].removeprefix("--angle=")))
results = {
    "unit": "m",
    "trajectories": [
        {"wind": wind, "range": 40 * math.sin(2 * angle) - wind * math.sin(angle) ** 2} for wind in (0, 5)
    ],
}
with open("results.json", "w") as file:
    json.dump(results, file, indent=2)
