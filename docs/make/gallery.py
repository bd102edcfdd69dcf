"""Draws the pictures of the site that no page draws itself.

    python docs/make/gallery.py DIRECTORY [NAME…]
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from scipy.optimize import minimize as scipy_minimize

import labcat
from labcat import plots

ROOT = Path(__file__).parents[2]
BOX = [(-2.5, 2.5), (-1.5, 5)]
CORNERS = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)])


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def levy(x):
    w = 1 + (np.asarray(x) - 1) / 4
    last = (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)
    return float(np.sin(np.pi * w[0]) ** 2 + np.sum((w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2)) + last)


def axes(width=6.0, height=4.0):
    return plt.subplots(figsize=(width, height), layout="constrained")


def save(figure, path):
    figure.savefig(path, dpi=80)
    plt.close(figure)


def frame(path):
    """The frame of the published algorithm as it goes along a valley."""
    optimizer = labcat.Optimizer(BOX, rng=1, preset="paper")
    optimizer.tell(x=[-2, 4], value=rosenbrock([-2, 4]))
    states = []
    while optimizer.best.value > 1e-3 and len(states) < 150:
        trial = optimizer.ask()
        region = optimizer.trust_region
        states.append((trial.x, None if region is None else region.centre + CORNERS @ region.half_axes))
        optimizer.tell(trial, rosenbrock(trial.x))
    shown = states[8:]
    seen = np.array([[-2, 4], *(x for x, _ in states)])
    values = [rosenbrock(x) for x in seen]
    figure, ax = axes(5.2, 4.4)
    contours(ax, rosenbrock, BOX, np.geomspace(0.1, 3000, 14))
    ax.plot(1, 1, "*", color="black", markersize=11)
    (evaluated,) = ax.plot([], [], ".", color="tab:blue", alpha=0.5)
    (lowest,) = ax.plot([], [], "x", color="tab:red", markersize=9, markeredgewidth=2)
    (newest,) = ax.plot([], [], "o", color="tab:orange", markersize=6)
    (region,) = ax.plot([], [], color="tab:red", linewidth=1.5)
    ax.set(xlim=BOX[0], ylim=BOX[1])

    def draw(number):
        x, box = shown[number]
        done = number + 8 + 1
        best = int(np.argmin(values[:done]))
        evaluated.set_data(*seen[:done].T)
        lowest.set_data(*seen[best, :, None])
        newest.set_data(*np.reshape(x, (2, 1)))
        region.set_data(*(np.empty((2, 0)) if box is None else box.T))
        ax.set_title(f"evaluation {done}: best value {values[best]:.1e}")

    animation = FuncAnimation(figure, draw, frames=[*range(len(shown)), *[len(shown) - 1] * 8])  # the end is shown for a while
    animation.save(path, PillowWriter(fps=4), dpi=80)
    plt.close(figure)


def contours(ax, fun, box, levels):
    x, y = (np.linspace(*side, 160) for side in box)
    ax.contour(x, y, [[fun((a, b)) for a in x] for b in y], levels=levels, colors="0.75", linewidths=0.7)


def restarts(path):
    """Many minima: each restart begins somewhere else."""
    result = labcat.minimize(levy, [(-10, 10)] * 2, budget=400, rng=4)
    figure, ax = axes()
    contours(ax, levy, [(-10, 10)] * 2, np.geomspace(0.1, 100, 12))
    x, run = result.history.x, result.history.run
    runs = range(int(run.max()) + 1)
    points = ax.scatter(*x.T, c=run, cmap=plt.get_cmap("viridis", len(runs)), vmin=-0.5, vmax=len(runs) - 0.5, s=14)
    figure.colorbar(points, label="local run", ticks=runs)
    ax.plot(1, 1, "*", color="tab:red", markersize=12)
    ax.set(xlabel="x0", ylabel="x1", title=f"{len(result.restarts) + 1} local runs on Levy's function")
    save(figure, path)


def others(path):
    """The same valley by three methods that need no gradients."""
    figure, ax = axes()
    for name, values in {
        "labcat": labcat.minimize(rosenbrock, [(-5, 10)] * 2, budget=150, rng=1).history.value,
        "Nelder–Mead (scipy)": traced("Nelder-Mead"),
        "COBYLA (scipy)": traced("COBYLA"),
    }.items():
        ax.semilogy(np.minimum.accumulate(values), label=name)
    ax.set(xlabel="evaluations", ylabel="best value", ylim=(1e-12, None), title="Rosenbrock's function, one start in the centre")
    ax.legend()
    save(figure, path)


def traced(method):
    values = []

    def recorded(x):
        values.append(rosenbrock(x))
        return values[-1]

    scipy_minimize(recorded, [2.5, 2.5], bounds=[(-5, 10)] * 2, method=method, options={"maxiter": 150})
    return values[:150]


def constrained(path):
    """A known constraint that no suggestion violates."""
    bowl = [(-3, 3)] * 2

    def fun(x):
        return (x[0] - 2) ** 2 + (x[1] - 1) ** 2

    result = labcat.minimize(fun, bowl, budget=40, rng=1, constraints=["x0 + 2*x1 <= 1", "x0^2 + x1^2 <= 4"])
    figure, ax = axes()
    contours(ax, fun, bowl, np.linspace(0.5, 30, 14))
    grid = np.linspace(-3, 3, 200)
    x, y = np.meshgrid(grid, grid)
    ax.contourf(x, y, (x + 2 * y <= 1) & (x**2 + y**2 <= 4), levels=[0.5, 1.5], colors=["tab:green"], alpha=0.15)
    ax.scatter(*result.history.x.T, c=np.arange(result.nfev), cmap="viridis", s=16)
    ax.plot(*result.x, "x", color="tab:red", markersize=10, markeredgewidth=2)
    ax.set(xlabel="x0", ylabel="x1", title="Only the green part is allowed", aspect="equal")
    save(figure, path)


def luck(path):
    """The best value seen, its true value, and the true value of the recommendation."""
    seen, held, recommended = [], [], []
    for seed in range(30):
        noise = np.random.default_rng(seed)
        result = labcat.minimize(
            lambda x, noise=noise: ((x - 0.7) ** 2).sum() + noise.normal(), [(-5, 5)] * 2, budget=60, rng=seed, noise="auto"
        )
        best = result.best
        seen.append(best.value)
        held.append(((best.x - 0.7) ** 2).sum())
        recommended.append(((result.x - 0.7) ** 2).sum())
    figure, ax = axes()
    ax.boxplot([seen, held, recommended], tick_labels=["luckiest value", "its true value", "true value of\nthe recommendation"])
    ax.axhline(0, color="0.7", linewidth=0.8)
    ax.set(ylabel="value (the minimum is 0)", title="30 runs, noise of standard deviation 1")
    save(figure, path)


def mixed(path):
    """Integers and a category beside a real."""
    space = labcat.Space(solver=["adam", "sgd", "lbfgs"], layers=labcat.Integer(1, 8), rate=labcat.Real(1e-5, 1, scale="log"))

    def loss(solver, layers, rate):
        return {"adam": 0.3, "sgd": 0.0, "lbfgs": 1.0}[solver] + 0.1 * (layers - 3) ** 2 + 0.2 * (np.log10(rate) + 2) ** 2

    result = labcat.minimize(loss, space, budget=50, rng=1)
    figure = plots.slices(result)[0].figure
    figure.set_size_inches(9, 3.4)
    save(figure, path)


def overview(path):
    """What `result.plot()` draws."""
    result = labcat.minimize(rosenbrock, BOX, x0=[-2, 4], budget=80, rng=1)
    save(result.plot(rosenbrock), path)


def relevance(path):
    """Which parameters matter."""
    result = labcat.minimize(
        lambda x: 5 * x[0] ** 2 + 3 * x[1] ** 2 + 2 * x[2] ** 2 + 0.1 * x[3] ** 2, [(-4, 6)] * 4, budget=60, rng=1
    )
    figure, ax = axes()
    plots.relevance(result, ax=ax)
    save(figure, path)


def cost(path):
    """The time of a suggestion does not grow with the number of evaluations."""
    from time import perf_counter

    figure, ax = axes()
    for d in (2, 5, 10):
        optimizer = labcat.Optimizer([(-5, 10)] * d, rng=1)
        times = []
        for _ in range(1200):
            started = perf_counter()
            trial = optimizer.ask()
            spent = perf_counter() - started
            value = sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(trial.x, trial.x[1:]))
            started = perf_counter()
            optimizer.tell(trial, value)
            times.append(spent + perf_counter() - started)
        ax.semilogy(range(50, 1200, 50), [1e3 * np.median(times[i : i + 50]) for i in range(50, 1200, 50)], label=f"{d} parameters")
    ax.set(xlabel="evaluations", ylabel="milliseconds per suggestion", ylim=(0.01, 2), title="Medians of fifty suggestions")
    ax.legend(loc="upper center", ncols=3, fontsize="small")
    save(figure, path)


def report(path):
    """The page of the study of the tutorial, as a browser shows it."""
    page = ROOT / "target" / "site-work" / "pages" / "command-line" / "study.html"
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("the picture of a report needs chromium or google-chrome: scripts/apt-install browser")
    with tempfile.TemporaryDirectory() as place:
        command = [browser, "--headless", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={place}", "--window-size=1000,900"]
        subprocess.run([*command, f"--screenshot={path}", page.as_uri()], check=True, capture_output=True, timeout=600)


PICTURES = {
    "frame.gif": frame,
    "overview.png": overview,
    "restarts.png": restarts,
    "others.png": others,
    "constrained.png": constrained,
    "luck.png": luck,
    "mixed.png": mixed,
    "relevance.png": relevance,
    "cost.png": cost,
    "report.png": report,
}


def main() -> None:
    place = Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or PICTURES:
        PICTURES[name](place / name)
    sizes = {file.name: file.stat().st_size for file in sorted(place.iterdir())}
    print(json.dumps(sizes))


if __name__ == "__main__":
    main()
