"""Where evaluations run: here, in worker processes, through a map, in an executor."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeAlias

from ._errors import InvalidError
from ._history import Trial
from ._objective import Ended, Failure, Objective
from ._processes import Processes

_POLL = 0.01  # seconds between looks at futures that cannot call back


class Future(Protocol):
    """The part of `concurrent.futures.Future` that is needed."""

    def done(self) -> bool: ...
    def result(self) -> Any: ...


class Executor(Protocol):
    """Anything with the `submit` of `concurrent.futures.Executor`."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any: ...


class Pool(Protocol):
    """Anything with the `apply_async` of `multiprocessing.Pool`."""

    def apply_async(self, func: Callable[..., Any], args: Any) -> Any: ...


class JoblibParallel(Protocol):
    """A `joblib.Parallel`."""

    n_jobs: int

    def __call__(self, iterable: Any) -> Any: ...


MapLike: TypeAlias = Callable[[Callable[..., Any], Iterable[Any]], Iterable[Any]]
Many: TypeAlias = "MapLike | Executor | Pool | JoblibParallel"
Workers: TypeAlias = "int | Many | tuple[Many, int]"


class Backend(Protocol):
    """Evaluates up to `width` trials at once."""

    width: int

    def start(self, trial: Trial) -> None:
        """Begins an evaluation."""

    def wait(self, timeout: float) -> Iterator[tuple[Trial, Ended]]:
        """The evaluations that have ended; waits up to `timeout` seconds for the first."""

    def finished(self) -> Iterator[tuple[Trial, Ended]]:
        """The evaluations that have ended, without waiting."""

    def close(self) -> None:
        """Abandons the evaluations that have not ended."""


def backend_of(workers: Any, objective: Objective, timeout: float | None = None) -> Backend:
    """The backend that `workers` asks for."""
    if timeout is not None and not isinstance(workers, int):
        raise InvalidError(
            f"timeout={timeout:g} needs worker processes that can be ended: workers=1 or more, not "
            f"workers={workers!r}"
        )
    width = None
    if isinstance(workers, tuple) and len(workers) == 2:
        workers, width = workers
        if isinstance(width, bool) or not isinstance(width, int) or width < 1:
            raise InvalidError(f"the number of evaluations at once is {width!r}; it must be an integer above 0")
    if hasattr(workers, "submit"):
        return _Futures(workers.submit, width or _width(workers), objective)
    if hasattr(workers, "apply_async"):
        return _Futures(functools.partial(_apply, workers), width or _width(workers), objective)
    if hasattr(workers, "n_jobs") and type(workers).__module__.partition(".")[0] == "joblib":
        return _Map(
            functools.partial(_joblib_map, workers), width or _joblib_width(workers), objective
        )
    if callable(workers):
        return _Map(workers, width or _width(workers), objective)
    if width is not None or isinstance(workers, bool) or not isinstance(workers, int):
        raise InvalidError(
            f"workers is {workers!r}; allowed: a number of processes, -1 for one per processor, an "
            "executor with submit, a multiprocessing.Pool, a joblib.Parallel, a map-like callable, "
            "or a pair of one of these and the number of evaluations at once"
        )
    if workers < -1 or workers == 0:
        raise InvalidError(
            f"workers is {workers}; allowed: -1 for one per processor, or 1 and more"
        )
    count = _processors() if workers == -1 else workers
    if count == 1 and timeout is None:
        return _Here(objective)
    return Processes(count, objective, timeout)


class _AsyncResult:
    """The result of `apply_async`, as a future."""

    def __init__(self, result: Any) -> None:
        self.done = result.ready
        self.result = result.get


def _apply(pool: Pool, function: Callable[..., Any], x: Any) -> Future:
    return _AsyncResult(pool.apply_async(function, (x,)))


def _joblib_map(parallel: JoblibParallel, function: Callable[..., Any], points: Any) -> Any:
    from joblib import delayed

    return parallel(delayed(function)(x) for x in points)


def _joblib_width(parallel: JoblibParallel) -> int:
    from joblib import effective_n_jobs

    return int(effective_n_jobs(parallel.n_jobs))


def _processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _width(workers: Any) -> int:
    """How many evaluations an executor, or the pool behind a map, runs at once, if it reports that."""
    if workers is map:
        return 1
    has_tasks = hasattr(workers, "submit") or hasattr(workers, "apply_async")
    pool = workers if has_tasks else getattr(workers, "__self__", None)
    for name in ("_max_workers", "num_workers", "_processes"):
        width = getattr(pool, name, None)
        if isinstance(width, int) and width > 0:
            return width
    client: Any = getattr(pool, "_client", pool)  # dask.distributed, executor or client
    if callable(getattr(client, "nthreads", None)):
        return max(1, sum(map(int, client.nthreads().values())))
    return _processors()


class _Here:
    """Evaluates in this thread."""

    width = 1

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._started: list[Trial] = []

    def start(self, trial: Trial) -> None:
        self._started.append(trial)

    def wait(self, timeout: float) -> Iterator[tuple[Trial, Ended]]:
        trial = self._started.pop()
        yield trial, self._objective(trial.x)

    def finished(self) -> Iterator[tuple[Trial, Ended]]:
        return iter(())

    def close(self) -> None:
        pass


class _Map:
    """Evaluates a batch at a time through a map-like callable."""

    def __init__(self, mapper: MapLike, width: int, objective: Objective) -> None:
        self.width = width
        self._map = mapper
        self._objective = objective
        self._started: list[Trial] = []

    def start(self, trial: Trial) -> None:
        self._started.append(trial)

    def wait(self, timeout: float) -> Iterator[tuple[Trial, Ended]]:
        trials, self._started = self._started, []
        outcomes = iter(self._map(self._objective, [trial.x for trial in trials]))
        for trial in trials:
            try:
                outcome = next(outcomes)
            except StopIteration:
                raise InvalidError(
                    f"workers={self._map!r} returned fewer results than points"
                ) from None
            yield trial, outcome

    def finished(self) -> Iterator[tuple[Trial, Ended]]:
        return iter(())

    def close(self) -> None:
        pass


class _Futures:
    """Evaluates in an executor or pool of the user."""

    def __init__(self, submit: Callable[..., Any], width: int, objective: Objective) -> None:
        self.width = width
        self._submit = submit
        self._objective = objective
        self._running: list[tuple[Future, Trial]] = []
        self._ended = threading.Event()
        self._longest = float("inf")  # seconds to wait without looking

    def start(self, trial: Trial) -> None:
        future = self._submit(self._objective, trial.x)
        self._running.append((future, trial))
        if hasattr(future, "add_done_callback"):
            future.add_done_callback(lambda _: self._ended.set())
        else:
            self._longest = _POLL

    def wait(self, timeout: float) -> Iterator[tuple[Trial, Ended]]:
        self._ended.wait(min(timeout, self._longest))
        self._ended.clear()
        return self.finished()

    def finished(self) -> Iterator[tuple[Trial, Ended]]:
        for future, trial in [entry for entry in self._running if entry[0].done()]:
            outcome = _outcome(future)
            self._running = [entry for entry in self._running if entry[1] is not trial]
            yield trial, outcome

    def close(self) -> None:
        for future, _ in self._running:
            if hasattr(future, "cancel"):
                future.cancel()


def _outcome(future: Future) -> Ended:
    """The outcome in a future; if it raises, the executor failed and not the objective."""
    try:
        outcome: Ended = future.result()
    except BaseException as exception:
        return Failure(exception, fatal=True)
    return outcome
