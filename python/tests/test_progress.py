"""The bar."""

from __future__ import annotations

import re
import sys

import numpy as np
from objectives import sphere

import labcat

BOX = [(-1, 1)] * 2


def test_tqdm_shows_evaluations_best_and_restarts(capsys):
    result = labcat.minimize(sphere, BOX, budget=30, rng=1, progress=True)
    shown = capsys.readouterr().err
    assert "30/30" in shown and "restarts=" in shown
    assert f"best={result.fun:.6g}" in shown


def test_without_tqdm_a_plain_line(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    result = labcat.minimize(sphere, BOX, budget=30, rng=1, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == (
        f"labcat: 30/30 evaluations, best {result.fun:.6g}, restarts {len(result.restarts)}"
    )
    assert len(lines) == 2  # the first evaluation and the end


def test_a_terminal_sees_one_line_that_is_rewritten(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    labcat.minimize(sphere, BOX, target=-1.0, time_limit=0.3, rng=1, progress=True)
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1 and shown.count("\r") >= 2
    assert re.match(r"\rlabcat: 1 evaluations, best \S+, restarts 0", shown)


def test_no_success_is_shown_as_none(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    labcat.minimize(lambda x: np.nan, BOX, budget=3, rng=1, progress=True)
    assert "best none" in capsys.readouterr().err


def test_nothing_is_printed_unless_asked_for(capfd):
    labcat.minimize(sphere, BOX, budget=30, rng=1)
    assert capfd.readouterr() == ("", "")
