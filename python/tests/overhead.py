"""What the binding costs: ask and tell from Python over ask and tell in Rust, in one run.

    python overhead.py target/release/examples/ask_tell

Both walk the same path (the best value is compared bit for bit), by turns; the ratio is that of the
shortest times, which other work on the machine disturbs least. Ends with status 1 above the limit.
"""

from __future__ import annotations

import subprocess
import sys
import time

import labcat

DIM, STEPS, SEED, ROUNDS, LIMIT = 5, 600, 1, 12, 1.3


def objective(x):
    total = 0.0
    for i, v in enumerate(x.tolist()):
        t = v - 0.3
        total += (1.0 + i) * t * t
    return total


def in_python() -> tuple[float, float]:
    """Seconds in ask and tell, and the best value."""
    optimizer = labcat.Optimizer([(-5.0, 5.0)] * DIM, rng=SEED)
    spent = 0.0
    for _ in range(STEPS):
        start = time.perf_counter()
        trial = optimizer.ask()
        spent += time.perf_counter() - start
        value = objective(trial.x)
        start = time.perf_counter()
        optimizer.tell(trial, value)
        spent += time.perf_counter() - start
    return spent, optimizer.best.value


def in_rust(program: str) -> tuple[float, float]:
    command = [program, str(DIM), str(STEPS), str(SEED)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    spent, best = map(float, output.split())
    return spent, best


def main(program: str) -> int:
    rust, python = [], []
    for _ in range(ROUNDS):
        rust.append(in_rust(program))
        python.append(in_python())
    if len({best for _, best in rust + python}) != 1:
        print(f"Rust and Python did not walk the same path: {rust} {python}")
        return 1
    fastest = {"Rust": min(rust)[0] / STEPS, "Python": min(python)[0] / STEPS}
    ratio = fastest["Python"] / fastest["Rust"]
    times = ", ".join(f"{name} {1e6 * seconds:.1f} µs" for name, seconds in fastest.items())
    print(f"ask + tell at d = {DIM}, {STEPS} steps: {times}; ratio {ratio:.3f} (limit {LIMIT})")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
