"""Why the trust region is rotated: two paths from the far end of Rosenbrock's valley.

    python rosenbrock_figure.py [rosenbrock.png]
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import labcat
from labcat import plots


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), sharey=True, layout="constrained")
for ax, rotation in zip(axes, (False, True)):
    result = labcat.minimize(
        rosenbrock,
        [(-2.5, 2.5), (-1.5, 5)],
        x0=[-2, 4],
        budget=150,
        target=1e-3,
        rng=1,
        preset="paper",
        rotation=rotation,
    )
    plots.path(result, rosenbrock, resolution=200, ax=ax)
    kind = "with" if rotation else "without"
    ax.set_title(f"{kind} rotation: value {result.fun:.2g} after {result.nfev} evaluations", fontsize=11)
    print(f"{kind} rotation: value {result.fun:.1e} after {result.nfev} evaluations")

target = sys.argv[1] if len(sys.argv) > 1 else "rosenbrock.png"
figure.savefig(target, dpi=100, pil_kwargs={"optimize": True})
print(f"wrote {target}")
