"""The checks of `labcat.least_squares`, tried on one whose answers are known: scipy's."""

from types import SimpleNamespace

import numpy as np
import pytest

import labcat
from labcat_bench import fits
from labcat_bench.cli import main


def stand_in(scale):
    """With the arguments and results of `labcat.least_squares`, and standard errors `scale` times the right ones."""

    def solve(residuals, bounds, *, x0, budget, rng):
        from scipy.optimize import least_squares

        del rng
        calls = []

        def counted(p):
            calls.append(0)
            return residuals(p)

        lower, upper = np.array(bounds, dtype=float).T
        inside = np.clip(x0, lower, upper)
        found = least_squares(counted, inside, bounds=(lower, upper), x_scale=upper - lower, max_nfev=budget)
        m, n = found.jac.shape
        covariance = scale**2 * 2 * found.cost / (m - n) * np.linalg.inv(found.jac.T @ found.jac)
        return SimpleNamespace(x=found.x, cov_x=covariance, nfev=len(calls))

    return solve


def cells(text, title):
    lines = text.partition(title)[2].split("\n\n")[1].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_the_command_tells_right_errors_from_wrong_ones(tmp_path, capsys, monkeypatch, scale):
    monkeypatch.setattr(labcat, "least_squares", stand_in(scale), raising=False)
    assert main(["fits", "--out", str(tmp_path), "--quiet", "--datasets", "100", "--residuals", "500"]) == 0
    text = capsys.readouterr().out
    ratios = [float(cell) for row in cells(text, "Standard errors") for cell in row[1:3]]
    assert len(ratios) == 6 and all(scale * 0.9 < ratio < scale * 1.1 for ratio in ratios)
    shares = [float(row[1].split()[0]) for row in cells(text, "Share of 100 noisy data sets")]
    assert all(0.88 < share < 0.995 for share in shares) if scale == 1 else all(share < 0.85 for share in shares)
    times = cells(text, "Time of a step")
    whole, without, reading, scalar = (float(row[1]) for row in times)
    assert [times[0][0], times[-1][0]] == ["`least_squares`, 500 residuals", "`minimize`, their sum of squares"]
    assert whole > 0 and scalar > 0 and abs(whole - without - reading) < 0.002


def test_standard_errors_by_hand():
    x = np.arange(6.0)
    jacobian = np.stack([np.ones(6), x], axis=1)
    expected = np.sqrt(2.0 * np.array([np.mean(x**2), 1.0]) / (6 * np.var(x)))  # of a straight line, variance 8/4
    assert fits.standard_errors(jacobian, 4.0) == pytest.approx(expected)


def test_a_build_without_it_is_told(tmp_path, capsys, monkeypatch):
    monkeypatch.delattr(labcat, "least_squares", raising=False)
    assert main(["fits", "--out", str(tmp_path)]) == 2
    assert "has no `labcat.least_squares`" in capsys.readouterr().err


def test_the_standard_errors_of_labcat():
    ratios = [float(cell) for row in fits.error_table(labcat.least_squares, 1).rows for cell in row[1:3]]
    assert len(ratios) == 6
    assert all(0.95 < ratio < 1.05 for ratio in ratios)
    shares = [float(row[1].split()[0]) for row in fits.coverage_table(labcat.least_squares, 60, 1).rows]
    assert all(share > 0.85 for share in shares)
