"""A progress bar on standard error; in a log, one line per tenth."""

from __future__ import annotations

import sys
import time
from typing import TextIO

WIDTH = 30


class Progress:
    def __init__(self, total: int, title: str, *, show: bool = True, stream: TextIO | None = None) -> None:
        self.total = total
        self.title = title
        self.done = 0
        self._stream = stream or sys.stderr
        self._live = show and self._stream.isatty()
        self._show = show
        self._began = time.monotonic()
        self._drawn = 0.0

    def step(self, count: int = 1) -> None:
        tenths = self._tenths()
        self.done += count
        if not self._show:
            return
        if self._live:
            now = time.monotonic()
            if now - self._drawn > 0.1 or self.done == self.total:
                self._drawn = now
                self._stream.write("\r" + self.text() + "\x1b[K")
                self._stream.flush()
        elif self._tenths() > tenths:
            print(self.text(), file=self._stream, flush=True)

    def close(self) -> None:
        if self._live and self.done:
            self._stream.write("\n")

    def text(self) -> str:
        share = self.done / self.total if self.total else 1.0
        bar = "█" * int(share * WIDTH) + "·" * (WIDTH - int(share * WIDTH))
        elapsed = time.monotonic() - self._began
        left = elapsed / self.done * (self.total - self.done) if self.done else 0.0
        return f"{self.title} {bar} {self.done}/{self.total}  {clock(elapsed)} gone, {clock(left)} left"

    def _tenths(self) -> int:
        return self.done * 10 // self.total if self.total else 10


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
