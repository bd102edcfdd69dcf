"""`minimize` and `maximize`."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from collections.abc import Callable, Iterator
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

import numpy as np

from . import _checkpoint
from ._constraints import Constraints, split
from ._errors import InvalidError, UnknownSwitchError
from ._labcat import default_budget
from ._misfit import Misfit
from ._objective import Objective, Residuals
from ._optimizer import Bounds, Direction, Optimizer, Preset
from ._progress import progress_of
from ._run import Run, takes_result
from ._space import Points, Radius, radius_of, space_of
from ._values import STOPPING, Rng, check_names
from ._warm import HistoryLike, tell_history
from ._workers import Backend, Workers, backend_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._result import OptimizeResult
    from ._switches import Switches

OnError = Literal["raise", "fail"]

_NOT_ITS_OWN = ("fun", "residuals", "bounds", "switches")


_P = ParamSpec("_P")
_R = TypeVar("_R")


def says_keywords(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Lets the error of one argument too many say that it needs a name."""

    @functools.wraps(function)
    def called(*arguments: _P.args, **keywords: _P.kwargs) -> _R:
        if len(arguments) > 2:
            third = arguments[2]
            meant = f"budget={third!r}" if isinstance(third, int) else "x0=…, args=…, budget=…"
            raise UnknownSwitchError(
                f"{function.__name__} takes the function and its bounds, and everything else by name, such as {meant}"
            )
        return function(*arguments, **keywords)

    return called


@says_keywords
def minimize(
    fun: Callable[..., Any],
    bounds: Bounds,
    *,
    args: Any = (),
    x0: Points | None = None,
    radius: Radius | None = None,
    history: HistoryLike | None = None,
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
    max_first_failures: int | None = 10,
    timeout: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    jac: bool | None = None,
    constraints: Constraints | None = None,
    **switches: Unpack[Switches],
) -> OptimizeResult:
    """Minimises an expensive function of bounded parameters.

    Parameters
    ----------
    fun
        The objective, ``fun(x, *args)``, where `x` is an array of shape (d,). With named parameters it
        gets named values, see `labcat.Space`. It returns a real number, an array with exactly one
        element, or a `labcat.Outcome`, which can also hold noise, constraints, a gradient and extra
        data. NaN or an infinite value is a failed evaluation: it is recorded, counts against the
        budget, and its point is never suggested again. `on_error` says what happens after an
        exception, or if the return value is something else (None, a wrong shape).
    bounds
        Pairs (low, high), a `scipy.optimize.Bounds`, a dictionary of named bounds
        (``{"speed": (0, 9)}``), or a `labcat.Space` of named parameters.
    args
        Additional arguments of `fun`.
    x0
        Starting point: it is evaluated first, and the rest of the initial design lies around it.
        Several points replace the initial design. Vectors, dictionaries, or a pandas row or frame.
    radius
        Distance of the initial design from `x0`, in the units of the parameters: one number, one
        for each parameter, or a dictionary by name. The default is 0.3 times the distance of `x0` from zero, but
        at least 1/2000 and at most 1/20 of each range (1/200 where `x0` is zero). With the preset
        "paper" or `initial_points` the default is a design of the whole box, with `x0` as its first point.
    history
        Evaluations that are already known: the result of an earlier call or its history, a pandas data
        frame with a column for each parameter and a column "value" (as made by `History.to_dataframe`;
        "std", "constraint0", … are used too), or a pair ``(X, y)``. They do not count against
        `budget`. Evaluations that lie outside the bounds or lack a parameter are skipped with a
        warning; the best of them is moved into the space and evaluated first. A run that resumes from a
        checkpoint does not need the history again.
    budget
        The number of evaluations. If neither a budget nor a time limit is given, it is 200 per
        parameter, and the message of the result says so if that ended the run.
    target
        A value that is good enough; the run ends when it is reached.
    tolerance
        A local run ends when its values differ by no more than this. With a budget or a time limit, other
        local runs follow unless ``restarts=False``; otherwise the run ends there.
    time_limit
        The run ends after this many seconds. The time is checked between evaluations.
    rng
        The seed: an int, a `numpy.random.SeedSequence`, a `numpy.random.Generator`, or None for a
        random seed. With ``workers=1`` or a map the same seed gives the same run; otherwise the run
        also depends on the order of the results.
    preset
        "default", which is recommended, or "paper", the algorithm as published.
    workers
        Where evaluations run. 1: in this process. A larger number: in that many processes (-1: one per
        processor). Or an executor with `submit` (`concurrent.futures`, `dask.distributed`,
        `mpi4py.futures`, loky); a `multiprocessing.Pool` or Ray's; a `joblib.Parallel` or a
        map-like callable. The last two get batches. All others are asynchronous: a new point is
        suggested as soon as a result arrives. A pair ``(executor, n)`` or ``(map, n)`` sets the
        number of simultaneous evaluations, for pools that do not report it. Processes started by
        labcat are new interpreters that end with this one. `fun` must then be picklable, unless
        cloudpickle is installed, which can also send lambdas and functions of a notebook.
    callback
        Called after each evaluation with the best point so far, or, if its only parameter is
        named `intermediate_result`, with an `OptimizeResult` as that keyword: `newest` is the evaluation
        that has just ended, `best` the best one, `history` all of them. StopIteration ends the run.
    progress
        Whether to show evaluations, best value and restarts, with tqdm if it is installed.
    on_error
        "raise": an exception of the objective reaches the caller unchanged, and a return value that is
        not a number raises `InvalidError`; the attribute `labcat_result` of the exception is the result so
        far. "fail": the evaluation is recorded as failed, with its reason, and the run continues. In
        both cases, if a worker process dies, it is replaced and its evaluation fails. An
        error of an executor (a broken pool, a function that cannot be sent) is always raised.
    max_first_failures
        If this many evaluations at the start of the run all fail with the same kind of exception,
        the function is probably wrong, and the run ends with `SystematicFailure`.
        None: never. NaN and infinite values do not count.
    timeout
        Time limit of one evaluation in seconds. An evaluation that takes longer fails; its process
        and all programs it has started are ended. Only labcat's own processes can be ended, so
        evaluations run in another process even with ``workers=1``.
    checkpoint
        A file to which the state is written, atomically, after each evaluation. The same call resumes
        from it and repeats the evaluations that were running. Stopping criteria may be changed, and new
        points in `x0` are evaluated next. A file of another problem, or one that another run is
        using, raises `CheckpointError`.
    jac
        True: `fun` returns ``(value, gradient)``, as in scipy. NaN marks an unknown component, and the
        gradient may be None.
    constraints
        Known constraints, which no suggestion violates: strings such as "x0 + 2*x1 <= 1",
        `scipy.optimize.LinearConstraint` and `NonlinearConstraint`, or a list of them. Or the number of
        constraints that each evaluation measures: `fun` then returns ``(value, [g, …])`` (with `jac`:
        ``(value, gradient, [g, …])``), or a dictionary with "value", "gradient", "constraints". A
        measured constraint is satisfied when g ≤ 0; the value may be None if one is violated.
    switches
        Other options by name; `labcat.SWITCHES` lists them.

    Returns
    -------
    OptimizeResult
        Its fields are ``x fun success status message nfev nit restarts history optimizer``, and, with a
        `Space`, `params`.

    Notes
    -----
    Ctrl-C ends the run within a second (in this thread, as soon as `fun` lets Python run) and
    raises KeyboardInterrupt, whose `labcat_result` is the result so far, with every finished
    evaluation. When the run ends, evaluations that are still running are abandoned: worker
    processes of labcat are ended, futures are cancelled.

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
    return optimize(
        "minimize",
        fun,
        bounds,
        {"budget": budget, "target": target, "tolerance": tolerance, **switches},
        args=args,
        x0=x0,
        radius=radius,
        history=history,
        time_limit=time_limit,
        rng=rng,
        preset=preset,
        workers=workers,
        callback=callback,
        progress=progress,
        on_error=on_error,
        max_first_failures=max_first_failures,
        timeout=timeout,
        checkpoint=checkpoint,
        jac=jac,
        constraints=constraints,
    )


@says_keywords
def maximize(
    fun: Callable[..., Any],
    bounds: Bounds,
    *,
    args: Any = (),
    x0: Points | None = None,
    radius: Radius | None = None,
    history: HistoryLike | None = None,
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
    max_first_failures: int | None = 10,
    timeout: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    jac: bool | None = None,
    constraints: Constraints | None = None,
    **switches: Unpack[Switches],
) -> OptimizeResult:
    """Maximises an expensive function; otherwise the same as `minimize`. Values keep their sign.

    >>> import labcat
    >>> result = labcat.maximize(lambda x: 3 - (x[0] - 1) ** 2, [(-5, 5)], budget=30, rng=1)
    >>> round(result.fun, 3)
    3.0
    """
    return optimize(
        "maximize",
        fun,
        bounds,
        {"budget": budget, "target": target, "tolerance": tolerance, **switches},
        args=args,
        x0=x0,
        radius=radius,
        history=history,
        time_limit=time_limit,
        rng=rng,
        preset=preset,
        workers=workers,
        callback=callback,
        progress=progress,
        on_error=on_error,
        max_first_failures=max_first_failures,
        timeout=timeout,
        checkpoint=checkpoint,
        jac=jac,
        constraints=constraints,
    )


def optimize(direction: Direction, fun: Callable[..., Any], bounds: Bounds, switches: dict[str, Any], **options: Any) -> OptimizeResult:
    with contextlib.ExitStack() as held:
        return prepared(held, direction, fun, bounds, switches, **options).result()


def prepared(
    held: contextlib.ExitStack,
    direction: Direction,
    fun: Callable[..., Any],
    bounds: Bounds,
    switches: dict[str, Any],
    *,
    args: Any,
    x0: Points | None,
    radius: Radius | None,
    history: HistoryLike | None,
    time_limit: float | None,
    rng: Rng,
    preset: Preset,
    workers: Workers,
    callback: Callable[..., Any] | None,
    progress: bool,
    on_error: OnError,
    max_first_failures: int | None,
    timeout: float | None,
    checkpoint: str | os.PathLike[str] | None,
    jac: Any,
    constraints: Constraints | None,
    misfit: Misfit | None = None,
    own: Callable[..., Any] | None = None,
    objective_of: type[Objective] = Objective,
    backend_for: Callable[..., Backend] = backend_of,
    run_of: type[Run] = Run,
) -> Run:
    """A run that is ready to begin. `held` keeps its checkpoint locked."""
    _check_arguments(on_error, time_limit, timeout, max_first_failures)
    if "direction" in switches:
        raise InvalidError("the function decides the direction: use labcat.minimize or labcat.maximize")
    if misfit is None and (callable(jac) or jac not in (None, False, True)):
        raise InvalidError(f"jac is {jac!r}; allowed: True, if fun returns (value, gradient), or False")
    names = inspect.signature(own or minimize).parameters
    check_names(switches, tuple(name for name in names if name not in _NOT_ITS_OWN))
    _check_callback(callback)
    bounds = list(bounds) if isinstance(bounds, Iterator) else bounds  # they are read more than once
    space, named = space_of(bounds)
    count, known = split(constraints, space)
    named_space = space if named else None
    if misfit is None:
        objective = objective_of(fun, args, named_space, count, jac is True)
    else:
        objective = Residuals(fun, args, named_space, count, jac)
    backend = backend_for(workers, objective, timeout)
    alone = switches["tolerance"] is not None and switches["target"] is None
    unlimited = switches["budget"] is None and time_limit is None
    if unlimited:
        switches["budget"] = default_budget(space.n_free)
        if alone:  # nothing but the tolerance was given: it shall end the run
            switches.setdefault("restarts", False)
    optimizer = Optimizer(bounds, direction=direction, rng=rng, preset=preset, constraints=count, **switches)
    optimizer._misfit = misfit
    if known is not None:
        optimizer._constrain(known)
    first = [] if x0 is None else optimizer._points(x0, "x0")
    reach = radius_of(radius, space, len(first))
    if checkpoint is not None and not isinstance(checkpoint, (str, os.PathLike)):
        raise InvalidError(f"checkpoint is {checkpoint!r}; allowed: the path of a file, None")
    path = None if checkpoint is None else Path(checkpoint)
    if path is not None:
        held.enter_context(_checkpoint.locked(path))
    seeded = "seed" in switches or isinstance(rng, (int, np.integer, np.random.SeedSequence))
    resumed = None if path is None else _checkpoint.resume(path, optimizer, seeded)
    optimizer = resumed or optimizer
    if resumed is None and history is not None:
        first += tell_history(optimizer, history)
    if optimizer._given and switches["budget"] is not None:  # what is known before does not count
        stopping = {name: optimizer.config[name] for name in STOPPING}
        optimizer.set_stopping(**{**stopping, "budget": stopping["budget"] + optimizer._given})
    optimizer._start_new(first, reach)
    return run_of(
        optimizer,
        backend,
        records_errors=on_error == "fail",
        callback=callback,
        progress=progress_of(progress, optimizer.config["budget"]),
        checkpoint=path,
        time_limit=time_limit,
        default_budget=unlimited,
        max_first_failures=max_first_failures,
    )


def _check_arguments(on_error: str, time_limit: float | None, timeout: float | None, max_first_failures: int | None) -> None:
    """Refuses what cannot be meant, before anything is evaluated."""
    if on_error not in ("raise", "fail"):
        raise InvalidError(f'on_error is {on_error!r}; allowed: "raise", "fail"')
    for name, seconds in (("time_limit", time_limit), ("timeout", timeout)):
        if seconds is not None and not (isinstance(seconds, Real) and seconds > 0):
            raise InvalidError(f"{name} is {seconds!r}; allowed: seconds above 0")
    most = max_first_failures
    if most is not None and not (isinstance(most, Real) and most >= 1):
        raise InvalidError(
            f"max_first_failures is {max_first_failures!r}; allowed: 1 or more, None"
        )


def _check_callback(callback: Callable[..., Any] | None) -> None:
    """Refuses a callback that cannot be called as it will be, before anything is evaluated."""
    if callback is None:
        return
    if not callable(callback):
        raise InvalidError(f"the callback must be callable, not {callback!r}")
    if takes_result(callback):
        return
    try:
        inspect.signature(callback).bind(None)
    except TypeError as error:
        raise InvalidError(
            f"the callback {callback!r} cannot be called with one argument, the best point: {error}"
        ) from None
    except ValueError:
        pass  # a function that does not tell its signature
