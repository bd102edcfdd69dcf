"""The display of `progress=True`."""

from __future__ import annotations

import importlib
import sys
import time
from abc import ABC, abstractmethod
from typing import Any, Protocol

from ._html import progress_html
from ._optimizer import Optimizer


class Progress(Protocol):
    """Shows how far a run is."""

    def update(self, optimizer: Optimizer) -> None: ...
    def close(self, optimizer: Optimizer) -> None: ...


def progress_of(shown: bool, budget: int | None) -> Progress:
    """A bar in a notebook, tqdm's bar if it is installed, or a plain line.

    Shows nothing if `progress` is False.
    """
    if not shown:
        return _Silent()
    if in_notebook():
        return _Notebook(budget)
    try:
        return _Tqdm(budget)
    except ModuleNotFoundError:
        return _Plain(budget)


def in_notebook() -> bool:
    """Whether this is a kernel, which shows HTML, rather than a terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class _Silent:
    def update(self, optimizer: Optimizer) -> None:
        pass

    def close(self, optimizer: Optimizer) -> None:
        pass


def _best(optimizer: Optimizer) -> str:
    best = optimizer.best
    return "none" if best is None else f"{best.value:.6g}"


def _line(optimizer: Optimizer, budget: int | None) -> str:
    total = "" if budget is None else f"/{budget}"
    return (
        f"{optimizer.n_evaluations}{total} evaluations, best {_best(optimizer)}, "
        f"restarts {len(optimizer.restarts)}"
    )


class _Tqdm:
    def __init__(self, budget: int | None) -> None:
        from tqdm import tqdm

        self._bar = tqdm(total=budget, desc="labcat", unit="eval")

    def update(self, optimizer: Optimizer) -> None:
        self._bar.set_postfix(
            best=_best(optimizer), restarts=len(optimizer.restarts), refresh=False
        )
        self._bar.update(optimizer.n_evaluations - self._bar.n)

    def close(self, optimizer: Optimizer) -> None:
        self.update(optimizer)
        self._bar.close()


class _Paced(ABC):
    """Shows a line now and then, and at the end."""

    def __init__(self, budget: int | None, pause: float) -> None:
        self._budget = budget
        self._pause = pause
        self._next = 0.0

    def update(self, optimizer: Optimizer) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self._pause
            self._show(optimizer, last=False)

    def close(self, optimizer: Optimizer) -> None:
        self._show(optimizer, last=True)

    @abstractmethod
    def _show(self, optimizer: Optimizer, last: bool) -> None: ...


class _Notebook(_Paced):
    """A bar in the output of the cell, redrawn five times a second. Needs no widgets."""

    def __init__(self, budget: int | None) -> None:
        super().__init__(budget, 0.2)
        self._handle: Any = None

    def _show(self, optimizer: Optimizer, last: bool) -> None:
        notebook: Any = importlib.import_module("IPython.display")
        line = _line(optimizer, self._budget)
        shown = notebook.HTML(progress_html(optimizer.n_evaluations, self._budget, line))
        if self._handle is None:
            self._handle = notebook.display(shown, display_id=True)
        else:
            self._handle.update(shown)


class _Plain(_Paced):
    """A line on standard error: rewritten ten times a second, or, in a file, one every 10 s."""

    def __init__(self, budget: int | None) -> None:
        self._terminal = sys.stderr.isatty()
        super().__init__(budget, 0.1 if self._terminal else 10.0)

    def _show(self, optimizer: Optimizer, last: bool) -> None:
        line = f"labcat: {_line(optimizer, self._budget)}"
        if self._terminal:
            line = f"\r{line:<79}"
        sys.stderr.write(line + ("\n" if last or not self._terminal else ""))
        sys.stderr.flush()
