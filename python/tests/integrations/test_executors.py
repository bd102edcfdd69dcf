"""`workers=` with the executors and pools of other packages, each for real.

Those of the standard library are in test_workers.py, Dask's in test_dask.py.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import joblib
import pytest

import labcat

BUDGET = 20
EXAMPLES = Path(__file__).parents[3] / "examples"


def bowl(x):
    return float((x[0] - 1) ** 2 + (x[1] + 2) ** 2)


def check(result):
    """Every evaluation of the budget is there once, with the value of its own point."""
    assert result.nfev == BUDGET and sorted(result.history.id) == list(range(BUDGET))
    assert [bowl(x) for x in result.history.x] == result.history.value.tolist()
    assert result.fun < 1


def run(*command: str, **environment: str) -> str:
    """What a command prints."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(backend):
    parallel = joblib.Parallel(n_jobs=2, backend=backend)
    check(labcat.minimize(bowl, [(-5, 5)] * 2, budget=BUDGET, rng=1, workers=parallel))
    with parallel:  # its workers stay between the batches
        check(labcat.minimize(bowl, [(-5, 5)] * 2, budget=BUDGET, rng=1, workers=(parallel, 3)))


def test_the_executor_of_joblib():
    from joblib.externals.loky import get_reusable_executor

    executor = get_reusable_executor(max_workers=2)
    try:
        check(labcat.minimize(bowl, [(-5, 5)] * 2, budget=BUDGET, rng=1, workers=executor))
        with pytest.raises(ArithmeticError, match="too cold") as caught:
            labcat.minimize(failing, [(-5, 5)] * 2, budget=BUDGET, rng=1, workers=executor)
        assert caught.value.labcat_result.nfev == 0
    finally:
        executor.shutdown()


def failing(x):
    raise ArithmeticError("too cold")


MPI = """
from mpi4py import MPI
from mpi4py.futures import MPIPoolExecutor
import labcat

def bowl(x):
    return float((x[0] - 1) ** 2 + (x[1] + 2) ** 2) + 0 * MPI.COMM_WORLD.rank

def rank(x):
    return float(MPI.COMM_WORLD.rank)

if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        result = labcat.minimize(bowl, [(-5, 5)] * 2, budget=20, rng=1, workers=pool)
        ranks = labcat.minimize(rank, [(-5, 5)] * 2, budget=20, rng=1, workers=pool)
    print(result.nfev, result.fun < 1, sorted(set(ranks.history.value.tolist())))
"""


def test_mpi4py(tmp_path):
    """Three processes of MPI: one suggests, two evaluate."""
    mpiexec = shutil.which(
        "mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    assert mpiexec is not None
    script = written(tmp_path / "script.py", MPI)
    printed = run(mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", script)
    assert printed == "20 True [1.0, 2.0]\n"


RAY = """
import ray
from ray.util.multiprocessing import Pool
import labcat

def bowl(x):
    return float((x[0] - 1) ** 2 + (x[1] + 2) ** 2)

if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    with Pool(2) as pool:
        result = labcat.minimize(bowl, [(-5, 5)] * 2, budget=20, rng=1, workers=pool)
        assert result.nfev == 20 and result.fun == bowl(result.x) and result.fun < 1
    print("done")
"""


def line(printed: str, beginning: str) -> str:
    """The script's own line in what it printed: Ray adds lines of its own to it, at any time until it has ended."""
    [found] = [line for line in printed.splitlines() if line.startswith(beginning)]
    return found


# Ray's workers are nice, by 15, if they are not told otherwise: on busy cores they would hardly have a turn.
OF_RAY = {"RAY_AUTH_MODE": "disabled", "RAY_worker_niceness": "0"}


def test_ray(tmp_path):
    printed = run(sys.executable, written(tmp_path / "script.py", RAY), **OF_RAY)
    assert line(printed, "done") == "done"


def test_ray_tune_through_its_wrapper_of_optuna():
    printed = run(sys.executable, str(EXAMPLES / "ray_tune.py"), **OF_RAY)
    assert float(line(printed, "24 trials, best loss ").rpartition(" ")[2]) < 0.1


OPENMP = """
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
import labcat

rng = np.random.default_rng(1)
X = rng.uniform(-1, 1, (400, 2))
y = (X**2).sum(axis=1)
model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)   # starts the threads of OpenMP

def predicted(x):
    return float(model.predict(x[None, :])[0])

def fitted(x):
    return float(HistGradientBoostingRegressor(max_iter=5).fit(X, y).predict(x[None, :])[0])

if __name__ == "__main__":
    for fun in (predicted, fitted):
        print(labcat.minimize(fun, [(-1, 1)] * 2, budget=4, rng=1, workers=2).nfev)
"""


def test_threads_of_openmp_in_the_parent_do_not_hang_the_workers(tmp_path):
    """A copy of a process with OpenMP's threads waits for ever for threads that it does not have."""
    assert run(sys.executable, written(tmp_path / "script.py", OPENMP)) == "4\n4\n"
