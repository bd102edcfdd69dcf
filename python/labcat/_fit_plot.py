"""The picture of a fit: data and model, residuals, confidence ellipses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._errors import InvalidError
from ._values import as_vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._fit import LeastSquaresResult

Array = npt.NDArray[np.float64]

_LEVEL = 0.95
_MOST = 5  # parameters whose pairs are drawn
_MOST_SERIES = 10  # that are drawn as lines


def draw(
    figure: Any, result: LeastSquaresResult, data: npt.ArrayLike | None, at: npt.ArrayLike | None, model: npt.ArrayLike | None
) -> None:
    """Draws everything into a figure."""
    residuals = result.fun
    place: Array = _column(at, "at", residuals) if at is not None else np.arange(1.0, len(residuals) + 1)
    left, right = figure.subfigures(1, 2, width_ratios=(1.15, 1))
    if data is None:
        _residuals(left.subplots(), place, residuals, at is None)
    else:
        upper, lower = left.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        measured = _column(data, "data", residuals)
        modelled = measured + residuals if model is None else _column(model, "model", residuals)
        _compared(upper, place, measured, modelled)
        _residuals(lower, place, residuals, at is None)
    _parameters(right, result)


def figure_size(result: LeastSquaresResult) -> tuple[float, float]:
    """Inches, by the number of parameters."""
    pairs = min(_MOST, int(np.isfinite(result.stderr).sum()))
    return 10.5 + 0.8 * max(0, pairs - 2), 4.6 + 0.8 * max(0, pairs - 2)


def _column(numbers: npt.ArrayLike, what: str, residuals: Array) -> Array:
    column = np.array(as_vector(np.ravel(np.asarray(numbers)), what))
    if len(column) != len(residuals):
        raise InvalidError(f"{what} has {len(column)} numbers: there are {len(residuals)} residuals")
    return column


def _compared(ax: Axes, place: Array, data: Array, model: Array) -> None:
    """Data as dots, the model as a line through each series: a new one begins where the places do not ascend."""
    ax.plot(place, data, "o", color="0.45", markersize=4, label="data")
    ends = np.flatnonzero(np.diff(place) <= 0) + 1
    if len(ends) >= _MOST_SERIES:
        ax.plot(place, model, ".", color="C0", label="model")
        ends, place, model = ends[:0], place[:0], model[:0]
    for k, (where, values) in enumerate(zip(np.split(place, ends), np.split(model, ends))):
        ax.plot(where, values, "-", color="C0", label="model" if k == 0 and len(where) else None)
    ax.set_ylabel("data")
    ax.legend(loc="best", fontsize="small")


def _residuals(ax: Axes, place: Array, residuals: Array, numbered: bool) -> None:
    ax.axhline(0, color="0.6", linewidth=0.8)
    ax.vlines(place, 0, residuals, color="C0", linewidth=0.8)
    ax.plot(place, residuals, "o", color="C0", markersize=3)
    if numbered:
        ax.set_xlabel("number of the residual")
    ax.set_ylabel("residual")


def _parameters(figure: Any, result: LeastSquaresResult) -> None:
    known = [i for i, error in enumerate(result.stderr) if np.isfinite(error)][:_MOST]
    names = result.history.names
    if not known:
        ax = figure.subplots()
        ax.set_axis_off()
        ax.text(0.5, 0.5, "no standard errors", ha="center", va="center")
        return
    if len(known) == 1:
        _interval(figure.subplots(), result, known[0])
        return
    axes = figure.subplots(len(known) - 1, len(known) - 1, squeeze=False, sharex="col", sharey="row")
    for row, i in enumerate(known[1:]):
        for column, j in enumerate(known[:-1]):
            ax = axes[row, column]
            if column > row:
                ax.set_axis_off()
                continue
            ax.plot(*_ellipse(result, j, i), color="C0")
            ax.plot(result.x[j], result.x[i], "+", color="C3")
            ax.locator_params(nbins=4)
            ax.tick_params(labelsize="small")
            if row == len(known) - 2:
                ax.set_xlabel(names[j])
            if column == 0:
                ax.set_ylabel(names[i])
    figure.suptitle(f"{100 * _LEVEL:g} % confidence", fontsize="medium")


def _reach(result: LeastSquaresResult, dimensions: int) -> float:
    """Standard deviations that hold the level in so many dimensions, 1 or 2, with as many degrees of freedom as there are."""
    misfit = result.optimizer._misfit
    free = len(result.fun) - int(np.isfinite(result.stderr).sum())
    if misfit is not None and misfit.absolute_sigma:
        return 1.96 if dimensions == 1 else float(np.sqrt(-2 * np.log(1 - _LEVEL)))
    if dimensions == 2:  # the quantile of F(2, free) has a closed form
        return float(np.sqrt(free * ((1 - _LEVEL) ** (-2 / free) - 1)))
    return _student(free)


def _student(free: int) -> float:
    """The quantile of Student's distribution, by its expansion about the normal one."""
    z = 1.959963984540054
    terms = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return float(z + sum(term / free ** (k + 1) for k, term in enumerate(terms)))


def _interval(ax: Axes, result: LeastSquaresResult, index: int) -> None:
    ax.errorbar(result.x[index], 0, xerr=_reach(result, 1) * result.stderr[index], fmt="+", color="C0", ecolor="C0", capsize=4)
    ax.set_yticks([])
    ax.set_xlabel(f"{result.history.names[index]}, {100 * _LEVEL:g} % confidence")


def _ellipse(result: LeastSquaresResult, i: int, j: int) -> Array:
    """The outline of the confidence region of two parameters."""
    angle = np.linspace(0, 2 * np.pi, 121)
    values, vectors = np.linalg.eigh(result.cov_x[np.ix_([i, j], [i, j])])
    unit = vectors * np.sqrt(np.maximum(values, 0))
    outline: Array = result.x[[i, j], None] + _reach(result, 2) * (unit @ np.array([np.cos(angle), np.sin(angle)]))
    return outline
