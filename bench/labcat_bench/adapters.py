"""LABCAT as the harness runs it: through its public ask/tell interface, on every kind of problem. It restarts by itself."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .objective import BudgetSpent, ConstrainedObjective, MixedObjective, NoisyObjective, Objective, Parameter
from .scoring import budgets
from .started import StartedObjective

DURATION_SIGMA = 0.5  # of the logarithm of a duration, whose median is 1


def run_labcat(objective: Objective, seed: int, options: Mapping[str, Any]) -> None:
    if "outstanding" in options:
        outstanding(objective, seed, options)
    elif isinstance(objective, NoisyObjective):
        noisy(objective, seed, options)
    elif isinstance(objective, MixedObjective):
        mixed(objective, seed, options)
    elif isinstance(objective, ConstrainedObjective):
        constrained(objective, seed, options)
    elif isinstance(objective, StartedObjective):
        started(objective, seed, options)
    else:
        plain(objective, seed, options)


def loop(objective: Objective, optimizer: Any, evaluate: Callable[[Any], None]) -> None:
    """Ask and evaluate until the budget is spent."""
    import labcat

    try:
        while True:
            evaluate(optimizer.ask())
    except (BudgetSpent, labcat.Stopped):
        pass
    objective.info["restarts"] = len(optimizer.restarts)


def plain(objective: Objective, seed: int, options: Mapping[str, Any]) -> None:
    import labcat

    optimizer = labcat.Optimizer(objective.bounds, rng=seed, **options)
    tell = optimizer.tell
    loop(objective, optimizer, lambda trial: tell(trial, objective(trial.x)))


def started(objective: StartedObjective, seed: int, options: Mapping[str, Any]) -> None:
    """From the starting point. `least_squares=true` shows residuals instead of their sum, `jac=true` gradients too."""
    import labcat

    given: dict[str, Any] = {"budget": objective.remaining, "rng": seed, **options}
    if objective.x0 is not None:
        given["x0"] = objective.x0
    if given.pop("least_squares", False):
        solve = getattr(labcat, "least_squares", None)
        if solve is None:
            raise NotImplementedError(
                "this build of LABCAT has no `labcat.least_squares`; leave least_squares=true out"
            )
        solve(objective.residuals, objective.bounds, **given)
    elif given.get("jac"):
        labcat.minimize(objective.with_gradient, objective.bounds, **given)
    else:
        labcat.minimize(objective, objective.bounds, **given)


def noisy(objective: NoisyObjective, seed: int, options: Mapping[str, Any]) -> None:
    """What is recommended is `optimizer.recommended` where there is one; `noise=sigma` gives the true σ."""
    import labcat

    given: dict[str, Any] = {name: objective.sigma if value == "sigma" else value for name, value in options.items()}
    optimizer = labcat.Optimizer(objective.bounds, rng=seed, **given)
    scored = set(budgets(objective.dim, objective.budget / objective.dim).astype(int))  # a recommendation costs a fit

    def evaluate(trial: Any) -> None:
        optimizer.tell(trial, objective(trial.x))
        if objective.evaluations not in scored and objective.remaining:
            return
        found = getattr(optimizer, "recommended", None) or optimizer.best
        if found is not None:
            objective.recommend(found.x)

    loop(objective, optimizer, evaluate)


def mixed(objective: MixedObjective, seed: int, options: Mapping[str, Any]) -> None:
    import labcat

    space = labcat.Space({f"x{k}": described(p) for k, p in enumerate(objective.parameters)})
    optimizer = labcat.Optimizer(space, rng=seed, **options)

    def number(trial: Any, name: str, parameter: Parameter) -> float:
        if name not in trial.params:
            return parameter.middle
        value = trial.params[name]
        return float(parameter.choices.index(value) if parameter.choices else value)

    def evaluate(trial: Any) -> None:
        named = zip(space, objective.parameters, strict=True)
        optimizer.tell(trial, objective([number(trial, name, parameter) for name, parameter in named]))

    loop(objective, optimizer, evaluate)


def described(parameter: Parameter) -> Any:
    """The parameter as `labcat.Space` takes it."""
    import labcat

    when: Any = parameter.when and {f"x{parameter.when[0]}": list(parameter.when[1])}
    if parameter.choices:
        return labcat.Categorical(list(parameter.choices), when=when)
    scale: Any = "log" if parameter.log else "linear"
    if parameter.integer:
        return labcat.Integer(round(parameter.low), round(parameter.high), scale=scale, when=when)
    return labcat.Real(parameter.low, parameter.high, scale=scale, when=when)


def rounded(objective: Objective, seed: int) -> None:
    """As users did before there were integers: reals in the unit cube, rounded by hand."""
    import labcat

    optimizer = labcat.Optimizer([(0.0, 1.0)] * objective.dim, rng=seed)
    loop(objective, optimizer, lambda trial: optimizer.tell(trial, objective.in_unit(trial.x)))


def constrained(objective: ConstrainedObjective, seed: int, options: Mapping[str, Any]) -> None:
    import labcat

    given: dict[str, Any] = {"constraints": objective.constraints, **options}
    optimizer: Any = labcat.Optimizer(objective.bounds, rng=seed, **given)
    if objective.initial is not None:
        optimizer.enqueue(objective.initial)

    def evaluate(trial: Any) -> None:
        value, constraints = objective.measure(trial.x)
        optimizer.tell(trial, value, constraints=constraints)

    loop(objective, optimizer, evaluate)


def failing(objective: Objective, seed: int) -> None:
    """As users did before there were constraints: a point that violates one is a failed evaluation."""
    import labcat

    assert isinstance(objective, ConstrainedObjective)
    optimizer = labcat.Optimizer(objective.bounds, rng=seed)
    if objective.initial is not None:
        optimizer.enqueue(objective.initial)

    def evaluate(trial: Any) -> None:
        value, constraints = objective.measure(trial.x)
        optimizer.tell(trial, value if objective.feasible(constraints) else np.nan)

    loop(objective, optimizer, evaluate)


def outstanding(objective: Objective, seed: int, options: Mapping[str, Any]) -> None:
    """Several evaluations at a time, each of a random duration, on a simulated clock.

    `info["times"]` says when each entry of the trace came.
    """
    import labcat

    switches = dict(options)
    most = objective.info["outstanding"] = switches.pop("outstanding")
    optimizer = labcat.Optimizer(objective.bounds, rng=seed, **switches)
    rng = np.random.default_rng([seed, 15])
    clock, times = 0.0, []
    running: list[tuple[float, int, Any]] = []
    started = 0
    try:
        while True:
            while len(running) < most and started < objective.budget:
                heapq.heappush(running, (clock + rng.lognormal(0.0, DURATION_SIGMA), started, optimizer.ask()))
                started += 1
            if not running:
                break
            clock, _, trial = heapq.heappop(running)
            value = objective(trial.x)
            times.append(clock)
            optimizer.tell(trial, value)
    except (BudgetSpent, labcat.Stopped):
        pass
    objective.info["restarts"] = len(optimizer.restarts)
    objective.info["times"] = [times[n - 1] for n, _ in objective.trace]
    objective.info["end"] = clock
