"""labcat inside `scipy.optimize.minimize`."""

from __future__ import annotations

import numpy as np
import pytest
from objectives import rosenbrock, shifted
from scipy.optimize import Bounds, LinearConstraint, minimize

import labcat

BOX = [(-5, 10)] * 2


def test_the_run_is_that_of_labcat_with_x0_first():
    ours = labcat.minimize(rosenbrock, BOX, x0=[2, 2], budget=40, rng=1)
    theirs = minimize(
        rosenbrock, [2, 2], method=labcat.scipy_method, bounds=BOX, options={"budget": 40, "rng": 1}
    )
    assert np.array_equal(theirs.history.x, ours.history.x)
    assert theirs.x.tolist() == ours.x.tolist()


@pytest.mark.parametrize("bounds", [Bounds([-5, -5], [10, 10]), Bounds(-5, 10), BOX])
@pytest.mark.parametrize("name", ["maxfev", "maxiter"])
def test_scipy_forms_of_bounds_and_budgets(bounds, name):
    result = minimize(
        rosenbrock, [0, 0], method=labcat.scipy_method, bounds=bounds, options={name: 12, "rng": 1}
    )
    assert result.nfev == 12 and list(result.optimizer.space.values()) == [labcat.Real(-5, 10)] * 2


def test_of_two_budgets_the_smaller_counts():
    for few, many in (("maxfev", "maxiter"), ("maxiter", "maxfev")):
        options = {few: 5, many: 12}
        result = minimize(rosenbrock, [0, 0], method=labcat.scipy_method, bounds=BOX, options=options)
        assert result.nfev == 5


def test_bounds_of_another_length_are_refused():
    with pytest.raises(labcat.InvalidError, match="x0 has 2 values"):
        minimize(rosenbrock, [0, 0], method=labcat.scipy_method, bounds=Bounds([-5] * 3, 10))


def test_args_callback_and_tolerance():
    seen = []
    result = minimize(
        shifted,
        [0, 0],
        args=(1.0, 2.0),
        method=labcat.scipy_method,
        jac=False,
        bounds=BOX,
        tol=1e-3,
        callback=lambda xk: seen.append(xk),
        options={"rng": 1},
    )
    assert result.status == 2 and result.success and len(seen) == result.nfev
    assert result.fun == shifted(result.x, 1.0, 2.0)


def test_disp_shows_progress(capsys):
    minimize(
        rosenbrock,
        [0, 0],
        method=labcat.scipy_method,
        bounds=BOX,
        options={"maxfev": 3, "disp": True},
    )
    assert "3/3" in capsys.readouterr().err


def test_an_unknown_option_is_a_warning():
    with pytest.warns(RuntimeWarning, match="unknown options for labcat: ftol, gtol"):
        result = minimize(
            rosenbrock,
            [0, 0],
            method=labcat.scipy_method,
            bounds=BOX,
            options={"maxfev": 3, "gtol": 1, "ftol": 1},
        )
    assert result.nfev == 3


def test_what_labcat_cannot_do_is_an_error():
    with pytest.raises(labcat.InvalidError, match="bounds"):
        minimize(rosenbrock, [0, 0], method=labcat.scipy_method)
    with pytest.raises(labcat.InvalidError, match="first derivatives only"):
        minimize(rosenbrock, [0, 0], method=labcat.scipy_method, bounds=BOX, hess=lambda x: x)


def test_gradients_and_constraints_are_used():
    result = minimize(
        lambda x: (x[0] - 1) ** 2 + (x[1] - 1.2) ** 2,
        [0, 0],
        jac=lambda x: [2 * (x[0] - 1), 2 * (x[1] - 1.2)],
        method=labcat.scipy_method,
        bounds=[(-2, 2)] * 2,
        constraints=LinearConstraint([[1, 1]], -np.inf, 1),
        options={"maxfev": 30, "rng": 1},
    )
    assert result.x.sum() <= 1
    assert result.fun < 0.72 + 1e-4
