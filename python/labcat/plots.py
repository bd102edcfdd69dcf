"""Pictures of a run, with matplotlib: ``pip install '.[plots]'`` in a clone.

Each function draws into the axes it is given, or into a new figure, and returns the axes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _fit_plot
from ._errors import InvalidError, missing
from ._history import History, Prediction, Recommendation, TrustRegion
from ._parameters import Boolean, Categorical, Integer, Parameter
from ._space import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._fit import LeastSquaresResult
    from ._result import OptimizeResult

__all__ = ["contours", "convergence", "fit", "overview", "parallel", "path", "relevance", "slices"]

_LEVELS = 24  # contour lines
_ORDERS = 1e3  # values further apart than this are drawn on a logarithmic scale
_BAND = 2  # standard deviations
_STEPS = 121  # points of a slice
_CELLS = 60  # and of each axis of a contour plot
_DRAWN = 500  # lines of parallel coordinates, the best of all

Function = Callable[[Vector], float]
Surface = Callable[[npt.NDArray[np.float64]], Prediction]


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
    """A figure of `convergence`, `relevance` and a third plot: the `path` for two parameters, `parallel`
    coordinates for more, and a slice for one.

    `fun` is needed for the contour lines of the path. It is evaluated some thousand times.
    """
    pyplot = _pyplot()
    d = len(result.history.names)
    figure: Figure
    figure, axes = pyplot.subplots(
        1, 3, figsize=(13.5 + 0.5 * max(0, d - 4), 4), layout="constrained", width_ratios=(1, 1, max(1, d / 4))
    )
    convergence(result, ax=axes[0])
    relevance(result, ax=axes[1])
    if d == 2:
        path(result, fun, ax=axes[2])
    elif d == 1:
        _slice(axes[2], result, 0, _expected(result))
    else:
        parallel(result, ax=axes[2])
    return _returned(figure)


def _returned(figure: Figure) -> Figure:
    """The figure, which a notebook shows once: because the cell returns it, not because it is open."""
    pyplot = _pyplot()
    if "inline" in pyplot.get_backend():
        pyplot.close(figure)
    return figure


def fit(
    result: LeastSquaresResult,
    data: npt.ArrayLike | None = None,
    *,
    at: npt.ArrayLike | None = None,
    model: npt.ArrayLike | None = None,
) -> Figure:
    """A figure of a least-squares fit: data and model, the residuals, and the 95 % confidence ellipse of each pair of
    parameters.

    `data` are the measurements, one for each residual. `at` are the times or places of the measurements; by default
    they are numbered. The model is data plus residual, unless its values are given as `model`. Without data only the
    residuals are drawn.
    """
    figure: Figure = _pyplot().figure(figsize=_fit_plot.figure_size(result), layout="constrained")
    _fit_plot.draw(figure, result, data, at, model)
    return _returned(figure)


def convergence(
    result: OptimizeResult, *, minimum: float | None = None, ax: Axes | None = None
) -> Axes:
    """The value of each evaluation, and the best value so far.

    With noise the best value is partly luck, so the expected value of the recommended point is drawn instead, with a band
    of two standard deviations to either side. Failed evaluations are marked at the bottom, and restarts are dashed lines. Evaluations that violate a measured
    constraint are hollow. With `minimum`, the best possible value, the distance to it is drawn. Positive
    numbers of very different size are drawn on a logarithmic scale.
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
    if result.optimizer._has_noise and result.optimizer._misfit is None and result.recommended is not None:
        _draw_recommended(ax, result.recommended, minimum)
    else:
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


def _draw_recommended(ax: Axes, found: Recommendation, minimum: float | None) -> None:
    if minimum is not None:
        ax.axhline(abs(found.mean - minimum), color="C0", label="recommended")
        return
    ax.axhline(found.mean, color="C0", label=f"recommended, ± {_BAND} standard deviations")
    ax.axhspan(found.mean - _BAND * found.std, found.mean + _BAND * found.std, color="C0", alpha=0.15, linewidth=0)


def _spans_orders(values: npt.NDArray[np.float64]) -> bool:
    finite = values[np.isfinite(values)]
    positive = finite[finite > 0]
    return bool((finite >= 0).all() and len(positive) and positive.max() > _ORDERS * positive.min())


def relevance(result: OptimizeResult, *, ax: Axes | None = None) -> Axes:
    """How much each parameter matters, with standard deviations, from a model of all evaluations.

    If there are too few evaluations for a model, the plot says so.
    """
    ax = _new_axes() if ax is None else ax
    importance = result.optimizer.importance
    names = result.history.names
    if importance is None:
        ax.text(0.5, 0.5, "no model yet", ha="center", va="center", transform=ax.transAxes)
        importance = Prediction(np.zeros(len(names)), np.zeros(len(names)))
    ax.barh(names, importance.mean, xerr=importance.std, color="C0", ecolor="0.15", capsize=2)
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

    Evaluated points are dots, hollow if a measured constraint is violated, and the best point is a star. A category
    has an axis of labels, and a region is then an interval of the other parameter. With `fun`, which takes a point of
    shape (2,), contour lines are drawn if both parameters are real. It is evaluated ``resolution**2`` times.

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
    _draw_regions(ax, regions, [getattr(p, "scale", "linear") == "log" for p in result.optimizer.space.values()])
    ax.plot(*result.x, "*", color="C3", markersize=12, zorder=4, clip_on=False, in_layout=False)
    return ax


def _scale_axes(ax: Axes, parameters: list[tuple[str, Parameter]]) -> None:
    for axis, (name, parameter) in zip("xy", parameters):
        ax.set(**{f"{axis}label": name})
        labels = _labels(parameter)
        if labels is not None:
            ax.set(**{f"{axis}lim": (-0.5, len(labels) - 0.5)})
            ax.set(**{f"{axis}ticks": range(len(labels)), f"{axis}ticklabels": labels})
            continue
        assert not isinstance(parameter, (Categorical, Boolean))
        low, high = float(parameter.low), float(parameter.high)
        if low == high:  # it is fixed
            low, high = low - 0.5, high + 0.5
        ax.set(**{f"{axis}scale": parameter.scale if low > 0 else "linear", f"{axis}lim": (low, high)})
        if isinstance(parameter, Integer) and parameter.scale == "linear":
            ax.locator_params(axis=axis, integer=True)  # type: ignore[arg-type, unused-ignore]


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
    """Values of a parameter to draw a function at: every label, integers, or so many reals."""
    labels = _labels(parameter)
    if labels is not None:
        return np.arange(len(labels), dtype=np.float64)
    assert not isinstance(parameter, (Categorical, Boolean))
    spaced = np.geomspace if parameter.scale == "log" else np.linspace
    ticks: Vector = spaced(parameter.low, parameter.high, n)
    if parameter.step:
        low, step = parameter.low, parameter.step
        ticks = np.unique(low + np.round((ticks - low) / step) * step)
        ticks = np.array([parameter.to_number(tick) for tick in ticks[ticks <= parameter.high]])
    return np.clip(ticks, parameter.low, parameter.high)


def _draw_regions(ax: Axes, regions: list[TrustRegion], log: list[bool]) -> None:
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    outlines = [_outline(region, log) for region in regions]
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


def _outline(region: TrustRegion, log: list[bool]) -> npt.NDArray[np.float64]:
    """The corners in order, the first one again at the end; with one axis its ends. Of a logarithmic parameter the half-axes are slopes at the centre."""
    signs = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1), (1, 1)]) if len(region.half_axes) == 2 else np.array([[1], [-1]])
    if not len(region.half_axes):
        return np.array([region.centre])
    away = signs @ region.half_axes
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        corners: npt.NDArray[np.float64] = np.where(log, region.centre * np.exp(away / region.centre), region.centre + away)
    return corners


def slices(
    result: OptimizeResult, parameters: Sequence[str] | None = None, *, axes: Sequence[Axes] | None = None
) -> list[Axes]:
    """Each parameter against the value: the evaluations, and the prediction on a line through the best point.

    The line is the mean of `optimizer.predict`, and the band is two standard deviations to either side. With noise
    the line goes through the recommended point. Where a parameter does not apply, nothing is drawn.
    """
    names = _chosen(result.history, parameters)
    if axes is None:
        columns = min(len(names), 3)
        rows = -(-len(names) // columns)
        figure, grid = _pyplot().subplots(
            rows, columns, figsize=(4 * columns, 3.2 * rows), layout="constrained", sharey=True, squeeze=False
        )
        axes = list(grid.flat)
        for spare in axes[len(names) :]:
            figure.delaxes(spare)
        axes = axes[: len(names)]
    if len(axes) != len(names):
        raise InvalidError(f"{len(names)} parameters are drawn into as many axes, not into {len(axes)}")
    expected = _expected(result)
    for ax, name in zip(axes, names):
        _slice(ax, result, result.history.names.index(name), expected)
        place: Any = ax.get_subplotspec()
        if place is not None and not place.is_first_col():
            ax.set_ylabel("")
    return list(axes)


def _expected(result: OptimizeResult) -> Surface | None:
    """Mean and standard deviation at points, shape (n, d), by the model of all observations; None without one."""
    history = result.history
    told = history.value[~history.failed]
    if len(told) < 3 or np.ptp(told) == 0:
        return None
    return result.optimizer.predict


def _chosen(history: History, parameters: Sequence[str] | None) -> list[str]:
    names = history.names if parameters is None else [parameters] if isinstance(parameters, str) else list(parameters)
    unknown = [name for name in names if name not in history.names]
    if unknown or not names:
        raise InvalidError(f"parameters is {parameters!r}; allowed: some of {', '.join(history.names)}")
    return names


def _applies(history: History) -> npt.NDArray[np.bool_]:
    """Which parameters apply at each evaluation, shape (n, d)."""
    return np.array([history.space.active(x) for x in history.x], dtype=bool).reshape(len(history), len(history.names))


def _slice(ax: Axes, result: OptimizeResult, index: int, expected: Surface | None) -> None:
    history = result.history
    name, parameter = list(history.space.items())[index]
    _scale_axes(ax, [(name, parameter)])
    shown = _applies(history)[:, index] & ~history.failed
    met = shown & history.feasible
    violates = shown & ~history.feasible
    for rows, marker, fill in ((met, ".", "full"), (violates, "o", "none")):
        ax.plot(
            history.x[rows, index], history.value[rows], marker, color="0.55", markersize=4, fillstyle=fill, zorder=2, clip_on=False, in_layout=False
        )
    has_best = np.isfinite(result.x).all() and history.space.active(result.x)[index]
    if has_best and expected is not None:
        _draw_line(ax, result, index, expected)
    if _spans_orders(history.value[shown]):
        ax.set_yscale("log")
    if has_best:
        # On a logarithmic scale a best value of 0 stands at the bottom.
        below = ax.get_yscale() == "log" and result.fun <= 0
        place, transform = (0.0, ax.get_xaxis_transform()) if below else (result.fun, ax.transData)
        ax.plot(result.x[index], place, "*", color="C3", markersize=12, zorder=4, clip_on=False, in_layout=False, transform=transform)
    ax.set_ylabel("value")


def _draw_line(ax: Axes, result: OptimizeResult, index: int, expected: Surface) -> None:
    """What to expect through the best point: a line with a band, or a bar per label."""
    parameter = list(result.history.space.values())[index]
    values = _ticks(parameter, _STEPS)
    points = np.tile(result.x, (len(values), 1))
    points[:, index] = values
    mean, std = expected(points)
    # Far from what was evaluated the band may be wide: the axis is that of the values and of the line.
    if _labels(parameter) is not None:
        ax.errorbar(values, mean, _BAND * std, fmt="_", color="C0", capsize=4, zorder=3)
        return
    ax.plot(values, mean, "-", color="C0", linewidth=1.2, zorder=3)
    ax.autoscale(False, axis="y")
    ax.fill_between(values, mean - _BAND * std, mean + _BAND * std, color="C0", alpha=0.15, linewidth=0, zorder=1)


def contours(result: OptimizeResult, parameters: Sequence[str] | None = None, *, ax: Axes | None = None) -> Axes:
    """The prediction over two parameters, with the others as in the best point. Better values are darker.

    By default these are the two parameters that matter most. Inside the white line a value may be as good as the best
    one: it is within two standard deviations of the prediction. Evaluated points at which both parameters apply are
    dots, and the best one is a star.
    """
    history = result.history
    if parameters is None:
        shares = result.optimizer.relevance
        order = range(len(history.names)) if shares is None else np.argsort(-shares, kind="stable")
        parameters = [history.names[i] for i in sorted(list(order)[:2])]
    names = _chosen(history, parameters)
    if len(names) != 2:
        raise InvalidError(f"contours are drawn for 2 parameters, not for {len(names)}")
    ax = _new_axes() if ax is None else ax
    first, second = (history.names.index(name) for name in names)
    chosen = [(name, history.space[name]) for name in names]
    _scale_axes(ax, chosen)
    expected = _expected(result)
    if expected is not None and np.isfinite(result.x).all():
        _draw_surface(ax, result, (first, second), expected)
    shown = _applies(history)[:, [first, second]].all(axis=1) & ~history.failed
    ax.plot(history.x[shown, first], history.x[shown, second], ".", color="0.9", markeredgecolor="0.2", markersize=6, zorder=3, clip_on=False, in_layout=False)
    if np.isfinite(result.x).all() and np.array(history.space.active(result.x))[[first, second]].all():
        ax.plot(result.x[first], result.x[second], "*", color="C3", markersize=12, zorder=4, clip_on=False, in_layout=False)
    return ax


def _draw_surface(ax: Axes, result: OptimizeResult, indices: tuple[int, int], expected: Surface) -> None:
    """Filled contours between numbers, a cell per pair where one is a label."""
    from matplotlib.colors import BoundaryNorm

    parameters = [list(result.history.space.values())[i] for i in indices]
    across, up = (_ticks(parameter, _CELLS) for parameter in parameters)
    points = np.tile(result.x, (len(across) * len(up), 1))
    points[:, indices[0]], points[:, indices[1]] = (part.ravel() for part in np.meshgrid(across, up))
    mean, std = expected(points)
    shades = mean.reshape(len(up), len(across))
    colours = "viridis_r" if result.optimizer.direction == "maximize" else "viridis"
    norm = "log" if _spans_orders(shades) and shades.min() > 0 else "linear"
    ticks = None
    if min(shades.shape) < 2 or any(_labels(parameter) is not None for parameter in parameters):
        drawn: Any = ax.pcolormesh(across, up, shades, cmap=colours, norm=norm, shading="nearest", zorder=1)
    else:
        levels = np.unique(np.quantile(shades, np.linspace(0, 1, _LEVELS)))
        if len(levels) < 3:
            return
        shading = BoundaryNorm(levels, 256)
        drawn = ax.contourf(across, up, shades, levels=levels, cmap=colours, norm=shading, zorder=1)
        ticks = levels[:: max(1, len(levels) // 6)]
        sign = -1 if result.optimizer.direction == "maximize" else 1
        excess = sign * (mean - result.fun) - _BAND * std
        if excess.min() < 0 < excess.max():
            ax.contour(across, up, excess.reshape(shades.shape), levels=[0.0], colors="white", linewidths=1.2, zorder=2)
    figure = ax.get_figure()
    if figure is not None:
        figure.colorbar(drawn, ax=ax, label="expected value", format="%.3g", ticks=ticks)


def parallel(result: OptimizeResult, *, ax: Axes | None = None) -> Axes:
    """Parallel coordinates: one line per evaluation, through its parameters and its value. Better values are darker.

    Where a parameter does not apply, the line is dotted and bypasses its axis. Failed evaluations are left out. Of more
    than 500 evaluations the best are drawn.
    """
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    ax = _new_axes() if ax is None else ax
    history = result.history
    parameters = list(history.space.items())
    counted = np.where(history.failed, np.inf, history.value * (-1 if result.optimizer.direction == "maximize" else 1))
    order = np.argsort(counted, kind="stable")[: int((~history.failed).sum())][:_DRAWN][::-1]  # the best on top
    heights = [_heights(parameter, history.x[order, i]) for i, (_, parameter) in enumerate(parameters)]
    used = _applies(history)[order]
    value = history.value[order]
    low, high = (np.min(value), np.max(value)) if len(value) else (0.0, 1.0)
    rows = np.column_stack([np.where(used, np.array(heights).T.reshape(used.shape), np.nan), _spread(value, low, high)])
    colours = colormaps["viridis_r"](np.linspace(0, 1, len(order)))
    lines = [np.column_stack([np.arange(len(row)), row]) for row in rows]
    ax.add_collection(LineCollection(lines, colors=colours, linewidths=0.9, alpha=0.8))
    ends = [(line[np.isfinite(line[:, 1])], colour) for line, colour in zip(lines, colours)]
    gaps = [(np.array(pair), colour) for known, colour in ends for pair in itertools.pairwise(known) if pair[1][0] - pair[0][0] > 1]
    bridges, shades = zip(*gaps) if gaps else ((), ())
    ax.add_collection(LineCollection(bridges, colors=shades, linewidths=0.7, linestyles="dotted", alpha=0.8))
    for i, (_, parameter) in enumerate(parameters):
        _draw_scale(ax, i, _scale_texts(parameter))
    _draw_scale(ax, len(parameters), [(0.0, f"{low:.3g}"), (1.0, f"{high:.3g}")])
    ax.set(xlim=(-0.3, len(parameters) + 0.5), ylim=(-0.05, 1.08), yticks=[])
    ax.set_xticks(range(len(parameters) + 1), [*history.names, "value"], rotation=20 if len(parameters) > 5 else 0)
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    return ax


def _heights(parameter: Parameter, numbers: Vector) -> Vector:
    """Where numbers of a parameter stand on its axis, from 0 to 1."""
    labels = _labels(parameter)
    if labels is not None:
        return _spread(numbers, 0, len(labels) - 1)
    assert not isinstance(parameter, (Categorical, Boolean))
    if parameter.scale == "log":
        return _spread(np.log(numbers), np.log(parameter.low), np.log(parameter.high))
    return _spread(numbers, parameter.low, parameter.high)


def _spread(numbers: Vector, low: float, high: float) -> Vector:
    return (numbers - low) / (high - low) if high > low else np.full(len(numbers), 0.5)


def _scale_texts(parameter: Parameter) -> list[tuple[float, str]]:
    """What is written at an axis, and how high."""
    labels = _labels(parameter)
    if labels is not None:
        return list(zip(_spread(np.arange(len(labels), dtype=np.float64), 0, len(labels) - 1).tolist(), labels))
    assert not isinstance(parameter, (Categorical, Boolean))
    return [(0.0, f"{parameter.low:g}"), (1.0, f"{parameter.high:g}")]


def _draw_scale(ax: Axes, place: int, texts: list[tuple[float, str]]) -> None:
    ax.plot([place, place], [0, 1], "-", color="0.3", linewidth=0.8, zorder=3)
    box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "alpha": 0.7, "linewidth": 0}
    for height, text in texts:
        ax.text(place + 0.04, height, text, fontsize="x-small", va="center", zorder=4, bbox=box)
