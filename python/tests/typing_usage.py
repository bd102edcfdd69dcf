"""The package as a type checker sees it from outside; checked with mypy --strict, never run."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import labcat


def fun(x: npt.NDArray[np.float64]) -> float:
    return float(x @ x)


def callback(intermediate_result: labcat.OptimizeResult) -> None:
    assert_type(intermediate_result.nfev, int)


space = labcat.Space({"rate": labcat.Real(1e-5, 1, scale="log")}, momentum=(0, 1))
result = labcat.minimize(
    fun,
    [(-5, 10)] * 2,
    x0=[1, 1],
    budget=10,
    rng=np.random.default_rng(1),
    workers=ThreadPoolExecutor(2),
    callback=callback,
    beta=0.5,
)
labcat.minimize(fun, np.array([[-1.0, 1.0]]), workers=map, rng=np.random.SeedSequence(1))
labcat.maximize(fun, space, x0=[{"rate": 0.1, "momentum": 0.5}], workers=(map, 2))
assert_type(result, labcat.OptimizeResult)
assert_type(result.fun, float)
assert_type(result.x, npt.NDArray[np.float64])
assert_type(result.history.value, npt.NDArray[np.float64])
assert_type(result.restarts[0].cause, str)
fit = labcat.least_squares(
    lambda p: p - 1, [(-5, 10)] * 2, x0=[1, 1], radius=[0.5, 1.0], loss="soft_l1", sigma=[0.1, 0.2], absolute_sigma=True
)
assert_type(fit, labcat.LeastSquaresResult)
assert_type(fit.fun, npt.NDArray[np.float64])
assert_type(fit.stderr, npt.NDArray[np.float64])
assert_type(fit.cost, float)

optimizer = labcat.Optimizer(space, direction="maximize", rng=1, budget=10)
trial = optimizer.ask()
assert_type(trial, labcat.Trial)
assert_type(trial.params, dict[str, Any])
assert_type(optimizer.ask(4), list[labcat.Trial])
optimizer.tell(trial, 1.0)
optimizer.tell(trial.id, np.float64(1.0))
assert_type(optimizer.tell(x=[0.1, 0.2], value=1.0), int)
assert_type(optimizer.best, labcat.Evaluation | None)
assert_type(optimizer.config, dict[str, Any])
mean, std = optimizer.predict({"rate": 0.1, "momentum": 0.5})

labcat.minimize(fun, {"a": (0, 1), "b": labcat.Real(1e-3, 1, scale="log")}, timeout=1.5, workers=4)
assert_type(result.history.reason[0], str | None)
optimizer.fail(trial, reason="the pump was off")
labcat.integrations.optuna.LabcatSampler(seed=1)
with multiprocessing.Pool(2) as pool:
    labcat.minimize(fun, space, workers=pool)

labcat.minimize(fun, space, betta=0.5)  # type: ignore[call-arg]
labcat.minimize(fun, space, rotation="yes")  # type: ignore[arg-type]
labcat.Optimizer(space, betta=0.5)  # type: ignore[call-arg]
labcat.Optimizer(space, budget="5")  # type: ignore[arg-type]
labcat.minimize(fun, space, jac=fun)  # type: ignore[arg-type]
labcat.minimize(fun, space, on_error="ignore")  # type: ignore[arg-type]
labcat.Optimizer(space, direction="up")  # type: ignore[arg-type]
optimizer.tell(trial)  # type: ignore[call-overload]
optimizer.tell(trial, residuals=[1.0, 2.0], jacobian=np.ones((2, 2)))
optimizer.start_at({"rate": 0.1, "momentum": 0.5}, radius={"rate": 0.05, "momentum": 0.1})
