"""The bar that `progress=True` shows."""

from __future__ import annotations

import sys
import time
from typing import Protocol

from ._optimizer import Optimizer


class Progress(Protocol):
    """Shows how far a run is."""

    def update(self, optimizer: Optimizer) -> None: ...
    def close(self, optimizer: Optimizer) -> None: ...


def progress_of(shown: bool, budget: int | None) -> Progress:
    """The bar: tqdm's if it is installed, a plain line otherwise, nothing if it is not wanted."""
    if not shown:
        return _Silent()
    try:
        return _Tqdm(budget)
    except ModuleNotFoundError:
        return _Plain(budget)


class _Silent:
    def update(self, optimizer: Optimizer) -> None:
        pass

    def close(self, optimizer: Optimizer) -> None:
        pass


def _best(optimizer: Optimizer) -> str:
    best = optimizer.best
    return "none" if best is None else f"{best.value:.6g}"


class _Tqdm:
    def __init__(self, budget: int | None) -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(total=budget, desc="labcat", unit="eval")

    def update(self, optimizer: Optimizer) -> None:
        self._bar.set_postfix(
            best=_best(optimizer), restarts=len(optimizer.restarts), refresh=False
        )
        self._bar.update(optimizer.n_evaluations - self._bar.n)

    def close(self, optimizer: Optimizer) -> None:
        self.update(optimizer)
        self._bar.close()


class _Plain:
    """A line on standard error: rewritten ten times a second, or, in a file, one every 10 s."""

    def __init__(self, budget: int | None) -> None:
        self._total = "" if budget is None else f"/{budget}"
        self._terminal = sys.stderr.isatty()
        self._pause = 0.1 if self._terminal else 10.0
        self._next = 0.0

    def update(self, optimizer: Optimizer) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self._pause
            self._write(optimizer, last=False)

    def close(self, optimizer: Optimizer) -> None:
        self._write(optimizer, last=True)

    def _write(self, optimizer: Optimizer, last: bool) -> None:
        line = (
            f"labcat: {optimizer.n_evaluations}{self._total} evaluations, "
            f"best {_best(optimizer)}, restarts {len(optimizer.restarts)}"
        )
        if self._terminal:
            line = f"\r{line:<79}"
        sys.stderr.write(line + ("\n" if last or not self._terminal else ""))
        sys.stderr.flush()
