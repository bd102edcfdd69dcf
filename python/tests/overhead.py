"""What the binding costs: ask and tell from Python over ask and tell in Rust, in one run.

    python overhead.py target/release/examples/ask_tell

Both walk the same path (the best value is compared bit for bit), by turns. Processor time is
compared, the least of several rounds, so that other work on the machine disturbs little. Ends with
status 1 above the limit.
"""

from __future__ import annotations

import resource
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
    """Seconds of the loop, and the best value."""
    optimizer = labcat.Optimizer([(-5.0, 5.0)] * DIM, rng=SEED)
    start = time.process_time()
    for _ in range(STEPS):
        trial = optimizer.ask()
        optimizer.tell(trial, objective(trial.x))
    return time.process_time() - start, optimizer.best.value


def in_rust(program: str, steps: int) -> tuple[float, float]:
    """Seconds of the whole program, and the best value."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [program, str(DIM), str(steps), str(SEED)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return spent, float(output)


def main(program: str) -> int:
    start_up, rust, python = [], [], []
    for _ in range(ROUNDS):
        start_up.append(in_rust(program, 0)[0])
        rust.append(in_rust(program, STEPS))
        python.append(in_python())
    if len({best for _, best in rust + python}) != 1:
        print(f"Rust and Python did not walk the same path: {rust} {python}")
        return 1
    least = {
        "Rust": (min(rust)[0] - min(start_up)) / STEPS,
        "Python": min(python)[0] / STEPS,
    }
    ratio = least["Python"] / least["Rust"]
    times = ", ".join(f"{name} {1e6 * seconds:.1f} µs" for name, seconds in least.items())
    print(f"ask + tell at d = {DIM}, {STEPS} steps: {times}; ratio {ratio:.3f} (limit {LIMIT})")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
