"""How a notebook displays a result, an optimiser, and the progress of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._history import History

if TYPE_CHECKING:
    from ._optimizer import Optimizer
    from ._result import OptimizeResult

_WIDTH, _HEIGHT, _MARGIN = 360, 110, 4  # of the curve
_MOST_REASONS = 5
_MOST_PARAMETERS = 30
_LONGEST_VALUE = 60  # characters
_ORDERS = 1e3  # values further apart than this are drawn on a logarithmic scale


def result_html(result: OptimizeResult) -> str:
    """A result: why it ended, the best point, what failed, the curve."""
    return _block(
        "labcat result",
        [
            ("ended because", escape(result.message.partition(";")[0])),
            *_facts(result.optimizer, result.history),
            *_errors(result),
        ],
        result.history,
    )


def _errors(result: OptimizeResult) -> Iterable[tuple[str, str]]:
    """The standard errors of a fit."""
    errors = {
        name: f"± {error:.2g}" for name, error in zip(result.history.names, result.get("stderr", ())) if np.isfinite(error)
    }
    if errors:
        yield "standard errors", _parameters(errors)


def optimizer_html(optimizer: Optimizer) -> str:
    """The progress of an optimiser."""
    ended = optimizer.stop_reason
    state = f"ended ({ended})" if ended else f"{len(optimizer.pending)} points pending"
    history = optimizer.history
    return _block(
        f"labcat optimizer, {optimizer.direction}",
        [("state", escape(state)), *_facts(optimizer, history)],
        history,
    )


def _facts(optimizer: Optimizer, history: History) -> Iterable[tuple[str, str]]:
    best = optimizer.best
    yield "evaluations", f"{len(history)}, restarts {len(optimizer.restarts)}"
    found = optimizer.recommended if optimizer._has_noise else None
    if found is not None:
        yield "recommended", f"<b>{found.mean:.8g}</b> ± {found.std:.2g}"
        yield "at", _parameters(found.params)
        yield "noise", f"{optimizer.noise:.3g}" if optimizer.noise else "as told"
    if best is not None and found is not None:
        yield "best draw", f"{best.value:.8g}"
    elif best is not None:
        yield "best value", f"<b>{best.value:.8g}</b>"
        yield "at", _parameters(best.params)
    failed = int(history.failed.sum())
    if failed:
        yield "failed", f"{failed}{_reasons(history)}"


def _parameters(params: Mapping[str, Any]) -> str:
    shown = [
        f"{escape(name)} = {escape(_shown(value))}" for name, value in list(params.items())[:_MOST_PARAMETERS]
    ]
    return "<br>".join(shown) + (" …" if len(params) > _MOST_PARAMETERS else "")


def _shown(value: Any) -> str:
    """A value of any type, in few characters."""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"


def _reasons(history: History) -> str:
    counted = Counter(reason for reason in history.reason if reason is not None).most_common()
    lines = [f"<br>{times} × {escape(reason)}" for reason, times in counted[:_MOST_REASONS]]
    more = len(counted) - _MOST_REASONS
    return "".join(lines) + (f"<br>and {more} other reasons" if more > 0 else "")


def _block(title: str, rows: Iterable[tuple[str, str]], history: History) -> str:
    cell = 'style="text-align:left;vertical-align:top;padding:1px 12px 1px 0"'
    body = "".join(f"<tr><th {cell}>{name}</th><td {cell}>{text}</td></tr>" for name, text in rows)
    return (
        f'<div style="display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start"><table><caption '
        f'style="text-align:left;font-weight:bold;white-space:nowrap">{escape(title)}</caption>{body}</table>'
        f"{_curve(history)}</div>"
    )


def _curve(history: History) -> str:
    """A small plot: the values as points, and the best value so far as a line."""
    found = history.value[~history.failed]
    if len(found) < 2:
        return ""
    logarithmic = bool(found.min() > 0 and found.max() > _ORDERS * found.min())
    heights = np.log10(found) if logarithmic else found
    ends = np.quantile(heights, [0.0, 1.0])
    span = ends[1] - ends[0] or 1.0

    def place(values: npt.NDArray[np.float64]) -> list[str]:
        y = np.log10(values) if logarithmic else values
        x = np.linspace(_MARGIN, _WIDTH - _MARGIN, len(values))
        y = _HEIGHT - _MARGIN - (y - ends[0]) / span * (_HEIGHT - 2 * _MARGIN)
        return [f"{a:.1f},{b:.1f}" for a, b in zip(x, y) if np.isfinite(b)]

    with np.errstate(invalid="ignore"):
        points, line = place(history.value), place(history.best)
    dots = "".join(f"M{point}h0" for point in points)
    steps = " ".join(line)
    scale = ", logarithmic" if logarithmic else ""
    return (
        f'<figure style="margin:0"><svg width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="values and best value over the evaluations{scale}">'
        f'<path d="{dots}" stroke="currentColor" stroke-opacity=".35" stroke-width="4" stroke-linecap="round"/>'
        f'<polyline points="{steps}" fill="none" stroke="#1f77b4" stroke-width="1.5"/></svg>'
        f'<figcaption style="font-size:smaller">values and best so far, over the evaluations{scale}</figcaption></figure>'
    )


def progress_html(done: int, total: int | None, text: str) -> str:
    """A bar, if there is a budget, and a line of text."""
    bar = (
        ""
        if total is None
        else f'<progress value="{done}" max="{total}" style="width:240px"></progress> '
    )
    return f"<div>{bar}{escape(text)}</div>"
