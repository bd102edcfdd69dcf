"""Worker processes of our own, for `workers=4`.

Each worker has a pipe, so a worker that dies is known by the trial it was evaluating, and all can
be ended at once.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple

from ._errors import InvalidError, WorkerError
from ._history import Trial
from ._objective import Failure, Objective, Outcome

_GRACE = 0.5  # seconds that workers get to end by themselves


class _Worker(NamedTuple):
    process: BaseProcess
    pipe: Connection


def _work(pipe: Connection, pickled: bytes) -> None:
    """The life of a worker: points in, outcomes out, until the pipe is closed."""
    # Ctrl-C reaches every process of the terminal; the parent decides. A handler, unlike SIG_IGN,
    # is not inherited by programs that the objective starts.
    signal.signal(signal.SIGINT, lambda *_: None)
    objective: Objective | Failure
    try:
        objective = pickle.loads(pickled)
    except Exception as exception:
        objective = Failure(exception, fatal=True)
    while True:
        try:
            x = pipe.recv()
        except (EOFError, OSError):
            return
        outcome: Outcome
        if isinstance(objective, Failure):
            outcome = objective
        else:
            try:
                outcome = objective(x)
            except BaseException as exception:
                outcome = Failure(exception, fatal=True)
        try:
            pipe.send(outcome)
        except OSError:
            return


class Processes:
    """Evaluates in `width` worker processes."""

    def __init__(self, width: int, objective: Objective) -> None:
        self.width = width
        try:
            self._pickled = pickle.dumps(objective)
        except Exception as error:
            raise InvalidError(
                f"workers={width} evaluates in other processes, to which the objective and its "
                f"args cannot be sent ({error}); define the function at the top of a module, or "
                "pass workers=concurrent.futures.ThreadPoolExecutor(n) to use threads"
            ) from error
        self._idle: list[_Worker] = []
        self._busy: list[tuple[_Worker, Trial]] = []

    def start(self, trial: Trial) -> None:
        while self._idle:
            worker = self._idle.pop()
            if self._sent(worker, trial):
                return
        if not self._sent(self._spawn(), trial):
            raise WorkerError("a worker process ended as soon as it was started")

    def _spawn(self) -> _Worker:
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(
            target=_work, args=(theirs, self._pickled), name="labcat-worker"
        )
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _sent(self, worker: _Worker, trial: Trial) -> bool:
        """Hands the trial to a worker, unless it died meanwhile."""
        try:
            worker.pipe.send(trial.x)
        except OSError:
            self._end([worker])
            return False
        self._busy.append((worker, trial))
        return True

    def wait(self, timeout: float) -> Iterator[tuple[Trial, Outcome]]:
        ready = wait([worker.pipe for worker, _ in self._busy], timeout)
        for worker, trial in [entry for entry in self._busy if entry[0].pipe in ready]:
            outcome = self._received(worker, trial)
            self._busy = [entry for entry in self._busy if entry[1] is not trial]
            yield trial, outcome

    def finished(self) -> Iterator[tuple[Trial, Outcome]]:
        return self.wait(0)

    def _received(self, worker: _Worker, trial: Trial) -> Outcome:
        try:
            outcome: Outcome = worker.pipe.recv()
        except (EOFError, OSError):
            self._end([worker])
            code = worker.process.exitcode
            cause = f"exit status {code}" if code is None or code >= 0 else f"signal {-code}"
            return Failure(
                WorkerError(f"the worker process that evaluated trial {trial.id} died ({cause})")
            )
        self._idle.append(worker)
        return outcome

    def close(self) -> None:
        for worker, _ in self._busy:
            worker.process.terminate()
        self._end(self._idle + [worker for worker, _ in self._busy])

    def _end(self, workers: list[_Worker]) -> None:
        """Lets workers end by themselves for a moment, then ends them."""
        for worker in workers:
            worker.pipe.close()
        deadline = time.monotonic() + _GRACE
        for worker in workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
