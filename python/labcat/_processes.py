"""Worker processes of our own, for `workers=4`.

Each worker has a pipe, so a worker that dies is known by the trial it was evaluating, and all can
be ended at once.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.spawn
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing.connection import wait
from typing import Any

from . import _worker
from ._errors import EvaluationTimeout, InvalidError, WorkerError
from ._history import Trial
from ._objective import Ended, Failure, Objective

_GRACE = 0.5  # seconds that workers get to end by themselves
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class _Worker:
    """A process, its pipe, and the trial it has."""

    def __init__(self, threads: int) -> None:
        ours, theirs = multiprocessing.Pipe()
        handle = theirs.fileno()
        options: dict[str, Any] = {}
        if sys.platform == "win32":
            os.set_handle_inheritable(handle, True)
            options["startupinfo"] = subprocess.STARTUPINFO(
                lpAttributeList={"handle_list": [handle]}
            )
        else:
            # A group of its own: what the objective starts ends with it, and Ctrl-C is handled by the parent.
            own_group = (
                {"process_group": 0} if sys.version_info >= (3, 11) else {"start_new_session": True}
            )
            options.update(own_group, pass_fds=[handle])
        limits = {name: str(threads) for name in _THREADS}
        code = f"import sys; sys.path[:] = {sys.path!r}; from labcat._worker import main; main({handle})"
        self.process = subprocess.Popen(
            [
                os.fsdecode(multiprocessing.spawn.get_executable()),
                *(f"-W{option}" for option in sys.warnoptions),
                "-c",
                code,
            ],
            stdin=subprocess.PIPE,
            env={**limits, **os.environ},
            **options,
        )
        theirs.close()
        self.pipe: Any = ours
        self.awake = False
        self.ready = False
        self.trial: Trial | None = None
        self.deadline = float("inf")

    def signal(self, number: int) -> None:
        """Sends a signal to the process and to what it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, number)
            else:
                self.process.terminate()


class Processes:
    """Evaluates in `width` worker processes, each evaluation for at most `timeout` seconds."""

    def __init__(self, width: int, objective: Objective, timeout: float | None = None) -> None:
        if _worker.importing_main:
            raise WorkerError(
                "this script is imported by a worker process, which must not start workers: put "
                'the call under `if __name__ == "__main__":`'
            )
        self.width = width
        self._timeout = float("inf") if timeout is None else timeout
        self._task = _task(objective, width)
        self._threads = max(1, (os.cpu_count() or 1) // width)
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []

    def start(self, trial: Trial) -> None:
        while self._idle:
            worker = self._idle.pop()
            worker.trial = trial
            try:
                self._send(worker)
            except OSError:  # it died meanwhile
                self._end([worker])
                continue
            self._busy.append(worker)
            return
        worker = _Worker(self._threads)
        worker.trial = trial
        self._busy.append(worker)

    def _send(self, worker: _Worker) -> None:
        assert worker.trial is not None
        worker.pipe.send(worker.trial.x)
        worker.deadline = time.monotonic() + self._timeout

    def wait(self, timeout: float) -> Iterator[tuple[Trial, Ended]]:
        soonest = min((worker.deadline for worker in self._busy), default=float("inf"))
        patience = max(0.0, min(timeout, soonest - time.monotonic()))
        ready = wait([worker.pipe for worker in self._busy], patience)
        for worker in list(self._busy):
            outcome = None
            if worker.pipe in ready:
                outcome = self._heard(worker)
            elif time.monotonic() >= worker.deadline:
                outcome = self._timed_out(worker)
            if outcome is not None:
                trial = worker.trial
                assert trial is not None
                self._busy.remove(worker)
                if worker.process.returncode is None:
                    self._idle.append(worker)
                yield trial, outcome

    def finished(self) -> Iterator[tuple[Trial, Ended]]:
        return self.wait(0)

    def _heard(self, worker: _Worker) -> Ended | None:
        """The outcome that a worker has sent; None if it sent something else."""
        try:
            if not worker.awake:
                worker.pipe.recv()
                worker.awake = True
                worker.pipe.send(self._task)
                return None
            news = pickle.loads(worker.pipe.recv_bytes())
            if worker.ready:
                outcome: Ended = news
                return outcome
            worker.ready = True
            if isinstance(news, Failure):
                return news
            self._send(worker)
            return None
        except (EOFError, OSError):
            return self._died(worker)

    def _died(self, worker: _Worker) -> Failure:
        self._end([worker])
        code = worker.process.returncode
        cause = f"exit status {code}" if code >= 0 else f"signal {-code}"
        if not worker.ready and code >= 0:
            return Failure(
                WorkerError(
                    f"a worker process ended before it could evaluate ({cause}); what it printed "
                    'says why. A script that starts workers needs `if __name__ == "__main__":`'
                ),
                fatal=True,
            )
        return Failure(
            WorkerError(f"the worker process that evaluated it died ({cause})"), lost=True
        )

    def _timed_out(self, worker: _Worker) -> Failure:
        worker.signal(signal.SIGTERM)
        self._end([worker])
        return Failure(
            EvaluationTimeout(f"the evaluation took longer than {self._timeout:g} s"), lost=True
        )

    def close(self) -> None:
        for worker in self._busy:
            worker.signal(signal.SIGTERM)
        self._end(self._idle + self._busy)

    def _end(self, workers: list[_Worker]) -> None:
        """Lets workers end by themselves for a moment, then ends them."""
        for worker in workers:
            worker.pipe.close()
        deadline = time.monotonic() + _GRACE
        for worker in workers:
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(max(0.0, deadline - time.monotonic()))
            worker.signal(getattr(signal, "SIGKILL", signal.SIGTERM))
            worker.process.wait()
            if worker.process.stdin is not None:
                worker.process.stdin.close()


def _task(objective: Objective, width: int) -> _worker.Task:
    """How a worker gets the objective.

    A function of the user's script or notebook is best sent by value: the script need not be
    imported then, which it can only be if it is written for that.
    """
    preparation = multiprocessing.spawn.get_preparation_data("labcat-worker")
    preparation["authkey"] = bytes(multiprocessing.current_process().authkey)
    script = {key: preparation.pop(key) for key in list(preparation) if key.startswith("init_main")}
    reason: Exception | None = None
    plain = None
    try:
        plain = pickle.dumps(objective)
        if b"__main__" not in plain:
            return _worker.Task(preparation, plain, by_value=False)
    except Exception as error:
        reason = error
    cloudpickle = _worker.cloudpickle()
    if cloudpickle is not None:
        try:
            return _worker.Task(preparation, cloudpickle.dumps(objective), by_value=True)
        except Exception as error:
            reason = error
    if plain is not None and script:
        return _worker.Task({**preparation, **script}, plain, by_value=False)
    why = reason or "it is defined where no other process can import it"
    remedy = "" if cloudpickle is not None else "pip install cloudpickle, "
    cause, instead = f"workers={width}", "pass workers=concurrent.futures.ThreadPoolExecutor(n) to use threads"
    if width == 1:  # it is here because of its time limit
        cause, instead = "timeout", "leave timeout out"
    raise InvalidError(
        f"{cause} evaluates in other processes, to which the objective and its args cannot "
        f"be sent ({why}): {remedy}define the function at the top of a module, or {instead}"
    ) from reason
