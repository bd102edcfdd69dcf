"""`minimize` and `maximize`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

from . import _checkpoint
from ._errors import InvalidError
from ._labcat import default_budget
from ._objective import Objective
from ._optimizer import Bounds, Direction, Optimizer, Preset
from ._progress import progress_of
from ._result import OptimizeResult
from ._run import Run
from ._space import Points, space_of
from ._values import Rng, switch_text
from ._workers import Workers, backend_of

OnError = Literal["raise", "fail"]


def minimize(
    fun: Callable[..., Any],
    bounds: Bounds,
    *,
    args: Any = (),
    x0: Points | None = None,
    budget: int | None = None,
    target: float | None = None,
    tolerance: float | None = None,
    time_limit: float | None = None,
    rng: Rng = None,
    preset: Preset = "default",
    workers: Workers = 1,
    callback: Callable[..., Any] | None = None,
    progress: bool = False,
    on_error: OnError = "raise",
    checkpoint: str | os.PathLike[str] | None = None,
    **switches: Any,
) -> OptimizeResult:
    """Minimises an expensive function of bounded parameters, without derivatives.

    Parameters
    ----------
    fun
        The objective, ``fun(x, *args)``, with `x` an array of shape (d,). With a `labcat.Space` it
        gets named values, see there. It returns one real number, or an array that holds exactly
        one. NaN or an infinite value is a failed evaluation: recorded, counted against the budget,
        never suggested again. An exception, or a return of anything else (None, a wrong shape), is
        what `on_error` says.
    bounds
        Pairs (low, high), a `scipy.optimize.Bounds` or a `labcat.Space` of named parameters.
    args
        Further arguments of `fun`.
    x0
        A point to evaluate first, or several.
    budget, target, tolerance, time_limit
        What ends the run: a number of evaluations; a value at least as good; a range of the
        outputs of a local run (which only ends the run with ``restarts=False``); seconds, checked
        between evaluations. If nothing given can end the run, the budget is 200 per parameter, and
        the message of the result says so.
    rng
        The seed: an int, a `numpy.random.SeedSequence`, a `numpy.random.Generator`, or None for a
        fresh one. With ``workers=1`` or a map the same seed gives the same run; otherwise the run
        also depends on the order in which results come in.
    preset
        "default", what we recommend, or "paper", the algorithm as published.
    workers
        Where evaluations run: 1, here; a larger number, in so many processes (-1: one per
        processor; `fun` must be picklable); an executor with `submit` (threads, processes,
        `dask.distributed`, `mpi4py.futures`); or a map-like callable such as ``pool.map``, which
        gets a batch at a time. All but the map are asynchronous: as soon as a result is in, a new
        point is suggested. A pair ``(executor, n)`` or ``(map, n)`` says how many evaluations may
        run at once, if the pool does not tell.
    callback
        Called after each evaluation, with the best point so far, or, if its only parameter is
        called `intermediate_result`, with an `OptimizeResult` as that keyword. StopIteration ends
        the run.
    progress
        Shows evaluations, best value and restarts, with tqdm if it is installed.
    on_error
        "raise": what the objective raises reaches the caller unchanged, and a return that is no
        number raises `InvalidError`; the exception's attribute `labcat_result` is the result so
        far. "fail": the evaluation is recorded as failed and the run goes on. A worker process
        that dies while it evaluates counts as the objective's failure, as a `WorkerError`; a fault
        of an executor (a broken pool, a function it cannot send) is raised in both cases.
    checkpoint
        A file that gets the state after each evaluation, written atomically. The same call resumes
        from it and repeats the evaluations that were running; with other stopping switches it goes
        on with those. A file of another problem is a `CheckpointError`.
    switches
        Any of `labcat.SWITCHES`.

    Returns
    -------
    OptimizeResult
        With ``x fun success status message nfev nit restarts history optimizer``, and `params`
        with a `Space`.

    Notes
    -----
    Ctrl-C ends the run within a second (in this thread, as soon as `fun` lets Python run) and
    raises KeyboardInterrupt, whose `labcat_result` is the result so far, with every evaluation
    that had ended. When the run ends, evaluations that are still running are given up: our own
    worker processes are ended, futures are cancelled.

    Examples
    --------
    >>> import labcat
    >>> def rosenbrock(x):
    ...     return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    >>> result = labcat.minimize(rosenbrock, [(-5, 10)] * 2, budget=150, rng=1)
    >>> result.fun < 1e-6
    True

    Named parameters, one of them on a logarithmic scale:

    >>> space = labcat.Space(rate=labcat.Real(1e-6, 1, scale="log"), momentum=(0, 1))
    >>> def loss(rate, momentum):
    ...     return abs(rate - 1e-3) ** 0.5 + (momentum - 0.9) ** 2
    >>> result = labcat.minimize(loss, space, budget=30, rng=1)
    >>> sorted(result.params)
    ['momentum', 'rate']
    """
    return _optimize(
        "minimize",
        fun,
        bounds,
        {"budget": budget, "target": target, "tolerance": tolerance, **switches},
        args=args,
        x0=x0,
        time_limit=time_limit,
        rng=rng,
        preset=preset,
        workers=workers,
        callback=callback,
        progress=progress,
        on_error=on_error,
        checkpoint=checkpoint,
    )


def maximize(
    fun: Callable[..., Any],
    bounds: Bounds,
    *,
    args: Any = (),
    x0: Points | None = None,
    budget: int | None = None,
    target: float | None = None,
    tolerance: float | None = None,
    time_limit: float | None = None,
    rng: Rng = None,
    preset: Preset = "default",
    workers: Workers = 1,
    callback: Callable[..., Any] | None = None,
    progress: bool = False,
    on_error: OnError = "raise",
    checkpoint: str | os.PathLike[str] | None = None,
    **switches: Any,
) -> OptimizeResult:
    """Maximises; in all else as `minimize`. Values keep their sign.

    >>> import labcat
    >>> result = labcat.maximize(lambda x: 3 - (x[0] - 1) ** 2, [(-5, 5)], budget=30, rng=1)
    >>> round(result.fun, 3)
    3.0
    """
    return _optimize(
        "maximize",
        fun,
        bounds,
        {"budget": budget, "target": target, "tolerance": tolerance, **switches},
        args=args,
        x0=x0,
        time_limit=time_limit,
        rng=rng,
        preset=preset,
        workers=workers,
        callback=callback,
        progress=progress,
        on_error=on_error,
        checkpoint=checkpoint,
    )


def _optimize(
    direction: Direction,
    fun: Callable[..., Any],
    bounds: Bounds,
    switches: dict[str, Any],
    *,
    args: Any,
    x0: Points | None,
    time_limit: float | None,
    rng: Rng,
    preset: Preset,
    workers: Workers,
    callback: Callable[..., Any] | None,
    progress: bool,
    on_error: OnError,
    checkpoint: str | os.PathLike[str] | None,
) -> OptimizeResult:
    if on_error not in ("raise", "fail"):
        raise InvalidError(f'on_error is {on_error!r}; allowed: "raise", "fail"')
    if time_limit is not None and not time_limit > 0:
        raise InvalidError(f"time_limit is {time_limit!r}; allowed: seconds above 0")
    if "direction" in switches:
        raise InvalidError("the direction is the function's name: labcat.minimize, labcat.maximize")
    space, named = space_of(bounds)
    backend = backend_of(workers, Objective(fun, args, space if named else None))
    endless = time_limit is None and not _can_end(switches)
    if endless:
        switches["budget"] = default_budget(len(space))
    optimizer = Optimizer(bounds, direction=direction, rng=rng, preset=preset, **_given(switches))
    path = None if checkpoint is None else Path(checkpoint)
    seeded = "seed" in switches or isinstance(rng, (int, np.integer, np.random.SeedSequence))
    held = None if path is None else _checkpoint.resume(path, optimizer, seeded)
    if held is not None:
        optimizer = held
    elif x0 is not None:
        optimizer.enqueue(x0)
    return Run(
        optimizer,
        backend,
        records_errors=on_error == "fail",
        callback=callback,
        progress=progress_of(progress, optimizer.config["budget"]),
        checkpoint=path,
        time_limit=time_limit,
        default_budget=endless,
    ).result()


def _can_end(switches: dict[str, Any]) -> bool:
    """Whether a stopping switch of the core is given that can end the run."""
    converges = switch_text("restarts", switches.get("restarts", True)) == "false"
    return (
        switches["budget"] is not None
        or switches["target"] is not None
        or (switches["tolerance"] is not None and converges)
    )


def _given(switches: dict[str, Any]) -> dict[str, Any]:
    """The switches without the stopping ones that were left out."""
    return {
        name: value
        for name, value in switches.items()
        if value is not None or name not in _checkpoint.STOPPING
    }
