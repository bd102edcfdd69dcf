"""`aminimize` and `amaximize`, for objectives that are coroutine functions."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ._errors import EvaluationTimeout, InvalidError
from ._history import Trial
from ._minimize import minimize, prepared
from ._objective import Ended, Failure, Objective
from ._optimizer import Bounds, Direction
from ._run import Run, StoppedByCallback
from ._space import Vector

if TYPE_CHECKING:
    from ._result import OptimizeResult


async def aminimize(fun: Callable[..., Any], bounds: Bounds, *, workers: int = 1, **options: Any) -> OptimizeResult:
    """Minimises an asynchronous function, ``async def fun(x)``, in the running event loop.

    `workers` is the number of evaluations awaited at the same time. The other keywords are those of `minimize`; `timeout`
    cancels an evaluation that takes longer. If the task that awaits the run is cancelled, so are its evaluations.

    >>> import asyncio, labcat
    >>> async def measure(x):
    ...     await asyncio.sleep(0.001)  # the instrument
    ...     return (x[0] - 1) ** 2 + x[1] ** 2
    >>> result = asyncio.run(labcat.aminimize(measure, [(-5, 5)] * 2, workers=4, budget=60, rng=1))
    >>> result.fun < 1e-3
    True
    """
    return await _awaited("minimize", fun, bounds, workers, options)


async def amaximize(fun: Callable[..., Any], bounds: Bounds, *, workers: int = 1, **options: Any) -> OptimizeResult:
    """Maximises an asynchronous function; otherwise the same as `aminimize`."""
    return await _awaited("maximize", fun, bounds, workers, options)


_DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(minimize).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
}
_STOPPING = ("budget", "target", "tolerance")


async def _awaited(
    direction: Direction, fun: Callable[..., Any], bounds: Bounds, workers: int, options: dict[str, Any]
) -> OptimizeResult:
    given = {**_DEFAULTS, **options, "workers": workers}
    own = {name: given.pop(name) for name in _DEFAULTS if name not in _STOPPING}
    parts: dict[str, Any] = {"objective_of": _AwaitedObjective, "backend_for": _Tasks, "run_of": _AwaitedRun}
    with contextlib.ExitStack() as held:
        run = prepared(held, direction, fun, bounds, given, **parts, **own)
        assert isinstance(run, _AwaitedRun)
        return await run.awaited_result()


class _AwaitedObjective(Objective):
    """An objective whose value may have to be awaited."""

    awaits = True

    async def evaluated(self, x: Vector, timeout: float | None) -> Ended:
        begun = time.perf_counter()
        try:
            returned = self.evaluate(x)
            if inspect.isawaitable(returned):
                returned = await asyncio.wait_for(returned, timeout)
            outcome = self._read(returned, x)
        except asyncio.TimeoutError as error:
            if timeout is None or time.perf_counter() - begun < timeout:  # the function's own
                return Failure(error, seconds=time.perf_counter() - begun)
            why = EvaluationTimeout(f"the evaluation took longer than {timeout:g} s")
            return Failure(why, lost=True, seconds=timeout)
        except Exception as exception:
            return Failure(exception, seconds=time.perf_counter() - begun)
        return outcome.timed(time.perf_counter() - begun)


class _Tasks:
    """Evaluates in tasks of the event loop."""

    def __init__(self, workers: object, objective: Objective, timeout: float | None = None) -> None:
        if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
            raise InvalidError(f"workers is {workers!r}; allowed: how many evaluations may be awaited at once, 1 or more")
        assert isinstance(objective, _AwaitedObjective)
        self.width = workers
        self._objective = objective
        self._timeout = timeout
        self._running: dict[asyncio.Task[Ended], Trial] = {}

    def start(self, trial: Trial) -> None:
        task = asyncio.get_running_loop().create_task(self._objective.evaluated(trial.x, self._timeout))
        self._running[task] = trial

    def wait(self, timeout: float) -> Iterator[tuple[Trial, Ended]]:
        return self.finished()

    async def ended(self, timeout: float) -> None:
        """Waits until an evaluation has ended."""
        await asyncio.wait(self._running, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)

    def finished(self) -> Iterator[tuple[Trial, Ended]]:
        for task in [task for task in self._running if task.done()]:
            trial = self._running.pop(task)
            yield trial, Failure(asyncio.CancelledError(), fatal=True) if task.cancelled() else task.result()

    def close(self) -> None:
        for task in self._running:
            task.cancel()


class _AwaitedRun(Run):
    """One call of `aminimize`."""

    async def awaited_result(self) -> OptimizeResult:
        """Runs to the end, and lets others run meanwhile."""
        with self:
            return self._ended(await self._awaited_loop())

    async def _awaited_loop(self) -> str:
        backend = self._backend
        assert isinstance(backend, _Tasks)
        while True:
            reason = self._over()
            if reason is not None:
                return reason
            self._fill()
            if self._running == 0:
                continue
            await backend.ended(self._patience())
            try:
                self._take(backend.finished())
            except StoppedByCallback:
                return "callback"
