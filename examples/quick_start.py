"""Quick start: minimise a function of two parameters, which the optimiser knows nothing about."""

import labcat


def rosenbrock(x):
    """A curved valley with its minimum, 0, at (1, 1). Yours would be a simulation or an experiment."""
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


# 150 evaluations; the same seed (rng) gives the same run.
result = labcat.minimize(rosenbrock, bounds=[(-5, 10), (-5, 10)], budget=150, rng=1)

print(f"best value {result.fun:.2e} at {result.x.round(4)} after {result.nfev} evaluations")
print(f"it ended because {result.message}")

# The same by hand: ask for a point, evaluate it however you like, tell the value.
optimizer = labcat.Optimizer([(-5, 10), (-5, 10)], rng=1)
for _ in range(60):
    trial = optimizer.ask()
    optimizer.tell(trial, rosenbrock(trial.x))
print(f"by hand: best value {optimizer.best.value:.2e} after {optimizer.n_evaluations} evaluations")
