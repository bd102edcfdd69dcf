"""The figures: runtime distributions, regret curves, trust regions on a contour plot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .objective import Array
from .scoring import BUDGET_FACTOR, Runtimes, ecdf, score
from .suites import GROUPS, TITLES, Groups

# Okabe and Ito's colours, told apart by readers with any colour vision; LABCAT comes first and is drawn thicker.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C564B", "#B8A100")
LINES = ("-", "--", "-.", ":")
FIXED = {
    "best2009": {"color": "#C9B37E", "linewidth": 5, "alpha": 0.6, "linestyle": "-", "zorder": 1},  # behind the others
    "random": {"color": "#9A9A9A", "linewidth": 1.3, "linestyle": ":"},
}
STYLE = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "svg.hashsalt": "labcat",
    "figure.dpi": 110,
}


class NoMatplotlib(Exception):
    """Figures were asked for and cannot be drawn."""


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise NoMatplotlib("figures need matplotlib: pip install labcat-bench (or matplotlib)") from error
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(STYLE)
    return plt


def line_styles(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """One style per algorithm, the same in every panel."""
    styles: dict[str, dict[str, Any]] = {}
    plain = [name for name in names if name not in FIXED]
    thick = 2.4 if sum(name.startswith("LABCAT") for name in plain) < 3 else 1.6
    for i, name in enumerate(sorted(plain, key=lambda name: not name.startswith("LABCAT"))):
        styles[name] = {
            "color": COLOURS[i % len(COLOURS)],
            "linestyle": LINES[(i // len(COLOURS)) % len(LINES)],
            "linewidth": thick if name.startswith("LABCAT") else 1.3,
        }
    return styles | FIXED


def save(figure: Any, path: Path) -> None:
    """As `.svg` for the report and `.png` for everything else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path.with_suffix(".svg"), bbox_inches="tight", metadata={"Date": None})
    figure.savefig(path.with_suffix(".png"), bbox_inches="tight", dpi=150)
    _pyplot().close(figure)


# ---- runtime distributions


def draw_ecdf(
    axes: Any, runtimes: Mapping[str, Sequence[Runtimes]], dim: int, styles: Mapping[str, Any], factor: int
) -> None:
    """The share of targets reached against evaluations / dimension, on the axes of COCO's own figures."""
    at = np.geomspace(dim, factor * dim, 300)
    for name, runs in runtimes.items():
        axes.step(np.log10(at / dim), ecdf(runs, at), where="post", label=name, **styles[name])
    axes.set_xlim(0, math.log10(factor))
    axes.set_ylim(0, 1)


def group_figure(
    runtimes: Mapping[str, Sequence[Runtimes]], dim: int, groups: Groups = GROUPS, factor: int = BUDGET_FACTOR
) -> Any:
    """One panel per group of functions, in one dimension."""
    plt = _pyplot()
    styles = line_styles(list(runtimes))
    figure, panels = plt.subplots(2, 3, figsize=(11, 6.4), sharex=True, sharey=True, layout="constrained")
    for axes, (group, functions) in zip(panels.flat, groups.items(), strict=True):
        members = {name: [r for r in runs if r.function in functions] for name, runs in runtimes.items()}
        members = {name: runs for name, runs in members.items() if runs}
        axes.set_title(TITLES[group])
        if members:
            draw_ecdf(axes, members, dim, styles, factor)
        else:
            axes.text(0.5, 0.5, "not run", ha="center", va="center", transform=axes.transAxes, color="grey")
    _ecdf_labels(figure, panels, f"d = {dim}")
    _legend(figure, panels.flat[0], {name: score(runs, factor).auc for name, runs in runtimes.items()})
    return figure


def overview_figure(
    by_dim: Mapping[int, Mapping[str, Sequence[Runtimes]]],
    shown: Sequence[str],
    groups: Groups = GROUPS,
    factor: int = BUDGET_FACTOR,
) -> Any:
    """Groups across, dimensions down: the layout of the paper's comparison; or dimensions across for one group."""
    plt = _pyplot()
    dims = list(by_dim)
    styles = line_styles(list(dict.fromkeys(name for runs in by_dim.values() for name in runs)))
    across = len(shown) == 1
    rows, columns = (1, len(dims)) if across else (len(dims), len(shown))
    size = (3.6 * columns + 0.4, 3.0 * rows + 1.0)
    figure, panels = plt.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for i, dim in enumerate(dims):
        for j, group in enumerate(shown):
            axes = panels[0, i] if across else panels[i, j]
            members = {n: [r for r in runs if r.function in groups[group]] for n, runs in by_dim[dim].items()}
            draw_ecdf(axes, {n: runs for n, runs in members.items() if runs}, dim, styles, factor)
            axes.set_title(f"d = {dim}, {TITLES[group]}")
    _ecdf_labels(figure, panels, "")
    _legend(figure, panels.flat[0])
    return figure


def _ecdf_labels(figure: Any, panels: Any, title: str) -> None:
    for axes in panels[-1]:
        axes.set_xlabel("log10(evaluations / d)")
    for row in panels:
        row[0].set_ylabel("share of targets reached")
    if title:
        figure.suptitle(title)


def _legend(figure: Any, axes: Any, aucs: Mapping[str, float] | None = None) -> None:
    handles, labels = axes.get_legend_handles_labels()
    entries = dict(zip(labels, handles, strict=True))
    order = sorted(entries, key=lambda name: -aucs[name]) if aucs else list(entries)
    texts = [f"{name}  {aucs[name]:.3f}" for name in order] if aucs else order
    title = "AUC, all functions" if aucs else None
    figure.legend(
        [entries[name] for name in order],
        texts,
        title=title,
        loc="outside lower center",
        ncols=min(4, len(order)),
        frameon=False,
    )


# ---- regret curves


def best_so_far(trace: Sequence[Sequence[float]], budget: int) -> Array:
    """The best value after each of the evaluations 1 … budget; infinite before the first finite value."""
    curve = np.full(budget, math.inf)
    for evaluation, value in trace:
        curve[int(evaluation) - 1 :] = value
    return curve


def log_regret(trace: Sequence[Sequence[float]], budget: int, floor: float) -> Array:
    logs: Array = np.log10(np.maximum(best_so_far(trace, budget), floor))
    return logs


def regret_figure(
    panels: Mapping[str, Mapping[str, Sequence[Array]]], ylabel: str = "log10 regret", columns: int = 3
) -> Any:
    """Mean over runs with a band of one standard deviation, one panel per function."""
    plt = _pyplot()
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    styles = line_styles(names)
    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(3.9 * columns + 0.4, 3.1 * rows + 0.8), squeeze=False, layout="constrained"
    )
    for axes, (title, curves) in zip(grid.flat, panels.items(), strict=False):
        for name, runs in curves.items():
            _mean_and_band(axes, np.array(runs), name, styles[name])
        axes.set_title(title)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel("evaluations")
    for row in grid:
        row[0].set_ylabel(ylabel)
    _legend(figure, grid.flat[0])
    return figure


def _mean_and_band(axes: Any, runs: Array, name: str, style: Mapping[str, Any]) -> None:
    evaluations = np.arange(1, runs.shape[1] + 1)
    shown = np.isfinite(runs).all(axis=0)
    mean, deviation = runs[:, shown].mean(axis=0), runs[:, shown].std(axis=0)
    axes.plot(evaluations[shown], mean, label=name, **style)
    axes.fill_between(evaluations[shown], mean - deviation, mean + deviation, color=style["color"], alpha=0.12, lw=0)


# ---- trust regions


def valley_figure(panels: Mapping[str, Sequence[Any]], fun: Any, box: Sequence[tuple[float, float]]) -> Any:
    """Trust regions, black, around the best points, red, over the contours of a function of two variables."""
    plt = _pyplot()
    figure, grid = plt.subplots(1, len(panels), figsize=(5.2 * len(panels), 5), sharey=True, layout="constrained")
    x, y = (np.linspace(low, high, 200) for low, high in box)
    heights = np.log10([[fun((a, b)) + 1e-3 for a in x] for b in y])
    for axes, (title, regions) in zip(np.atleast_1d(grid), panels.items(), strict=True):
        axes.contour(x, y, heights, levels=18, cmap="Blues_r", linewidths=0.7)
        centres = np.array([region.centre for region in regions])
        moved = [i for i in range(len(regions)) if i == 0 or (centres[i] != centres[i - 1]).any()]
        for region in (regions[i] for i in moved[:: max(1, len(moved) // 25)]):
            first, second = region.half_axes
            corners = region.centre + np.array([first + second, first - second, -first - second, second - first])
            axes.fill(*corners.T, fill=False, edgecolor="black", linewidth=0.8)
        axes.plot(*centres[moved].T, "o-", color="#D00000", markersize=2.5, linewidth=0.5)
        axes.plot(1, 1, "x", color="#C000C0", markersize=9, markeredgewidth=2)
        axes.set(title=f"{title}: {len(regions)} steps", xlim=box[0], ylim=box[1], xlabel="x₁")
        axes.grid(False)
    np.atleast_1d(grid)[0].set_ylabel("x₂")
    return figure
