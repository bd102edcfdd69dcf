"""Pictures of a run, with matplotlib: ``pip install '.[plots]'`` in a clone.

Each function draws into the axes it is given, or into a new figure, and returns the axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._errors import InvalidError, missing
from ._history import TrustRegion
from ._parameters import Boolean, Categorical, Parameter
from ._space import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._result import OptimizeResult

__all__ = ["convergence", "overview", "path", "relevance"]

_LEVELS = 24  # contour lines
_ORDERS = 1e3  # values further apart than this are drawn on a logarithmic scale

Function = Callable[[Vector], float]


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ModuleNotFoundError as error:
        raise missing("a picture", "matplotlib", "plots") from error
    return pyplot


def _new_axes() -> Axes:
    axes: Axes = _pyplot().subplots(layout="constrained")[1]
    return axes


def overview(result: OptimizeResult, fun: Function | None = None) -> Figure:
    """A figure of `convergence` and `relevance` and, for two parameters, of the `path`.

    `fun` is for the contour lines of the path; it is evaluated some thousand times.
    """
    pyplot = _pyplot()
    panels = 3 if len(result.history.names) == 2 else 2
    figure: Figure
    figure, axes = pyplot.subplots(1, panels, figsize=(4.5 * panels, 4), layout="constrained")
    convergence(result, ax=axes[0])
    relevance(result, ax=axes[1])
    if panels == 3:
        path(result, fun, ax=axes[2])
    if "inline" in pyplot.get_backend():  # a notebook shows what the cell returns, and open figures
        pyplot.close(figure)
    return figure


def convergence(
    result: OptimizeResult, *, minimum: float | None = None, ax: Axes | None = None
) -> Axes:
    """The values and the best so far over the evaluations.

    Failed evaluations are marked at the bottom, restarts by dashed lines; what violates a measured
    constraint is hollow. With `minimum`, the best
    possible value, the distance to it is drawn. Positive numbers of very different size are drawn
    on a logarithmic scale.
    """
    ax = _new_axes() if ax is None else ax
    history = result.history
    value, best = history.value, history.best
    if minimum is not None:
        value, best = np.abs(value - minimum), np.abs(best - minimum)
    number = np.arange(1, len(history) + 1)
    violates = ~history.feasible & ~history.failed
    met = ~violates
    ax.plot(number[met], value[met], ".", color="0.65", markersize=4, label="evaluation")
    if violates.any():
        ax.plot(
            number[violates],
            value[violates],
            "o",
            color="0.65",
            markersize=3,
            fillstyle="none",
            label="violates a constraint",
        )
    ax.step(number, best, where="post", color="C0", label="best so far")
    failed = number[history.failed]
    if len(failed):
        at_the_bottom = ax.get_xaxis_transform()
        ax.plot(
            failed,
            np.full(len(failed), 0.02),
            "x",
            color="C3",
            transform=at_the_bottom,
            label="failed",
        )
    for i, restart in enumerate(result.restarts):
        label = "restart" if i == 0 else None
        ax.axvline(
            restart.at_evaluation + 0.5, color="0.4", linestyle="--", linewidth=0.8, label=label
        )
    if _spans_orders(value):
        ax.set_yscale("log")
    ax.set_xlabel("evaluations")
    ax.set_ylabel("value" if minimum is None else f"distance to {minimum:g}")
    ax.legend(loc="best", fontsize="small")
    return ax


def _spans_orders(values: npt.NDArray[np.float64]) -> bool:
    finite = values[np.isfinite(values)]
    positive = finite[finite > 0]
    return bool((finite >= 0).all() and len(positive) and positive.max() > _ORDERS * positive.min())


def relevance(result: OptimizeResult, *, ax: Axes | None = None) -> Axes:
    """How much each parameter matters, by a model of the evaluations of all local runs.

    With too few evaluations for one it says so.
    """
    ax = _new_axes() if ax is None else ax
    shares = result.optimizer.relevance
    names = result.history.names
    if shares is None:
        ax.text(0.5, 0.5, "no model yet", ha="center", va="center", transform=ax.transAxes)
        shares = np.zeros(len(names))
    ax.barh(names, shares, color="C0")
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.set_xlabel("relevance")
    return ax


def path(
    result: OptimizeResult,
    fun: Function | None = None,
    *,
    resolution: int = 80,
    ax: Axes | None = None,
) -> Axes:
    """The trust regions of a run with two parameters, from the first (dark) to the last (light).

    Evaluated points are dots, hollow where a measured constraint is violated, the best point is a star. A choice has an axis of labels. With `fun`,
    which takes a point of shape (2,), contour lines are drawn if both parameters are real; it is
    evaluated ``resolution**2`` times.

    Raises
    ------
    InvalidError
        If the run does not have two parameters.
    """
    history = result.history
    if len(history.names) != 2:
        raise InvalidError(f"a path is drawn for 2 parameters, not for {len(history.names)}")
    ax = _new_axes() if ax is None else ax
    _scale_axes(ax, list(result.optimizer.space.items()))
    if fun is not None and result.optimizer.space.is_plain:
        _contours(ax, result, fun, resolution)
    violates = ~history.feasible & ~history.failed
    ax.plot(*history.x[~violates].T, ".", color="0.2", markersize=3, zorder=2)
    if violates.any():
        ax.plot(
            *history.x[violates].T, "o", color="0.2", markersize=3, fillstyle="none", zorder=2, label="violates a constraint"
        )
    regions = [region for region in history.trust_region if region is not None]
    _draw_regions(ax, regions)
    ax.plot(*result.x, "*", color="C3", markersize=12, zorder=4)
    return ax


def _scale_axes(ax: Axes, parameters: list[tuple[str, Parameter]]) -> None:
    for axis, (name, parameter) in zip("xy", parameters):
        ax.set(**{f"{axis}label": name})
        labels = _labels(parameter)
        if labels is not None:
            ax.set(**{f"{axis}lim": (-0.5, len(labels) - 0.5)})
            ax.set(**{f"{axis}ticks": range(len(labels)), f"{axis}ticklabels": labels})
        else:
            assert not isinstance(parameter, (Categorical, Boolean))
            ax.set(**{f"{axis}scale": parameter.scale, f"{axis}lim": (parameter.low, parameter.high)})


def _labels(parameter: Parameter) -> list[str] | None:
    """The labels of a choice; None for numbers."""
    if isinstance(parameter, Categorical):
        return [str(choice) for choice in parameter.choices]
    return ["False", "True"] if isinstance(parameter, Boolean) else None


def _contours(ax: Axes, result: OptimizeResult, fun: Function, resolution: int) -> None:
    """Contour lines, closer where the values are better."""
    x, y = (_ticks(parameter, resolution) for parameter in result.optimizer.space.values())
    values = np.array([[fun(np.array([a, b])) for a in x] for b in y], dtype=np.float64)
    finite = values[np.isfinite(values)]
    best_first = np.linspace(0, 1, _LEVELS) ** 2
    if result.optimizer.direction == "maximize":
        best_first = 1 - best_first
    levels = np.unique(np.quantile(finite, np.sort(best_first)))
    if len(levels) > 1:
        ax.contour(x, y, values, levels=levels, colors="0.75", linewidths=0.6, zorder=1)


def _ticks(parameter: Parameter, n: int) -> Vector:
    assert not isinstance(parameter, (Categorical, Boolean))
    spaced = np.geomspace if parameter.scale == "log" else np.linspace
    ticks: Vector = spaced(parameter.low, parameter.high, n)
    return ticks


def _draw_regions(ax: Axes, regions: list[TrustRegion]) -> None:
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    outlines = [_outline(region) for region in regions]
    colours = colormaps["viridis"](np.linspace(0, 0.95, len(regions)))
    ax.add_collection(LineCollection(outlines, colors=colours, linewidths=0.9, zorder=3))
    if regions:
        ax.plot(
            *np.array([region.centre for region in regions]).T,
            "-",
            color="C3",
            linewidth=0.8,
            zorder=3,
        )


def _outline(region: TrustRegion) -> npt.NDArray[np.float64]:
    """The corners in order, the first one again at the end."""
    signs = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1), (1, 1)])
    corners: npt.NDArray[np.float64] = region.centre + signs @ region.half_axes
    return corners
