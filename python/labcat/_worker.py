"""The life of a worker process; `_processes` is the other end.

It is a fresh interpreter, not a copy of the one that starts it: a copy of a process with threads
(those of OpenMP, say) can hang for ever. It ends with its parent, however that ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing.spawn
import os
import pickle
import signal
import sys
import threading
from multiprocessing import connection
from typing import Any, NamedTuple, NoReturn

from . import _objective
from ._objective import Ended, Failure, Objective

importing_main = False
"""Whether the user's script is being imported in this process, to find the objective in it."""


class Task(NamedTuple):
    """Everything that a worker needs before it can evaluate."""

    preparation: dict[str, Any]
    """As the standard library prepares a process: sys.path, the script to import, …"""
    objective: bytes
    """The pickled objective."""
    by_value: bool
    """Whether it came from cloudpickle, so that outcomes must go back through it."""


def main(handle: int) -> None:
    """Points in, outcomes out, until the pipe is closed."""
    _end_with_parent()
    pipe = _connection(handle)
    pipe.send(None)  # awake: a large objective shall not wait in the pipe
    evaluate: Objective | Failure
    try:
        task = pipe.recv()
        evaluate = _loaded(task)
    except (EOFError, OSError):
        return
    except Exception as exception:
        evaluate = Failure(exception, fatal=True)
    with contextlib.suppress(EOFError, OSError):  # the parent has gone
        pipe.send_bytes(_objective.dumps(evaluate if isinstance(evaluate, Failure) else None))
        while not isinstance(evaluate, Failure):
            pipe.send_bytes(_objective.dumps(_outcome(evaluate, pipe.recv())))


def _outcome(objective: Objective, x: Any) -> Ended:
    try:
        return objective(x)
    except BaseException as exception:
        return Failure(exception, fatal=True)


def _loaded(task: Task) -> Objective:
    global importing_main
    importing_main = True
    try:
        multiprocessing.spawn.prepare(task.preparation)
    finally:
        importing_main = False
    if task.by_value:
        _objective.dumps = cloudpickle().dumps
    objective: Objective = pickle.loads(task.objective)
    return objective


def cloudpickle() -> Any:
    """The package, if it is installed, also as a part of joblib; else None."""
    with contextlib.suppress(ImportError):
        import cloudpickle

        return cloudpickle
    with contextlib.suppress(ImportError):
        from joblib.externals import cloudpickle

        return cloudpickle
    return None


def _connection(handle: int) -> Any:
    if sys.platform == "win32":
        return connection.PipeConnection(handle)
    return connection.Connection(handle)


def _end_with_parent() -> None:
    """Standard input is a pipe that the parent never writes to: its end is the parent's."""
    lifeline = os.dup(0)  # programs that the objective starts shall not have it
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_watch, args=(lifeline,), name="labcat-lifeline", daemon=True).start()


def _watch(lifeline: int) -> NoReturn:
    with contextlib.suppress(OSError):
        os.read(lifeline, 1)
    if hasattr(os, "killpg"):  # the worker leads a group: what the objective has started goes too
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
