"""Resume after a crash: run the same call again with the same checkpoint."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import labcat


def objective(x):
    return (x[0] - 1) ** 2 + 10 * (x[1] + x[0]) ** 2


def run(checkpoint, crash_at=None):
    """The run; it can be made to crash, as hard as a power cut, at an evaluation."""
    evaluated = 0

    def fun(x):
        nonlocal evaluated
        evaluated += 1
        if evaluated == crash_at:
            os._exit(1)
        return objective(x)

    result = labcat.minimize(fun, [(-5, 5)] * 2, budget=40, rng=1, checkpoint=checkpoint)
    return result, evaluated


if __name__ == "__main__":
    if len(sys.argv) > 1:  # the process that will crash
        run(sys.argv[1], crash_at=25)

    with tempfile.TemporaryDirectory() as directory:
        checkpoint = Path(directory) / "run.labcat"
        crashed = subprocess.run([sys.executable, __file__, checkpoint])
        print(f"the first run crashed with status {crashed.returncode}")

        result, evaluated = run(checkpoint)
        print(f"the second run made the other {evaluated} of {result.nfev} evaluations")

        whole, _ = run(Path(directory) / "another.labcat")
        print(f"best value {result.fun:.2e}; without the crash it would be {whole.fun:.2e}")
