"""The state of a run in a file, which belongs to one run at a time."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from ._errors import CheckpointError, InvalidError
from ._optimizer import Optimizer
from ._parameters import Parameter
from ._space import Space
from ._state import parted
from ._values import STOPPING

_held: set[str] = set()  # the files that runs of this process hold
_guard = threading.Lock()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the file for this run; another run that wants it is refused.

    The operating system keeps the lock, on a file beside the checkpoint, and drops it when the
    process ends, however that happens.
    """
    if not path.name:
        raise CheckpointError(f"the checkpoint is {str(path)!r}, which names no file")
    if not path.parent.is_dir():
        raise CheckpointError(f"checkpoint {path}: there is no directory {path.parent}")
    beside = path.with_name(path.name + ".lock")
    name = os.path.realpath(beside)
    with _guard:  # the system's lock is one between processes
        if name in _held:
            raise CheckpointError(_in_use(path, f"another run of this process, {os.getpid()}"))
        descriptor = _acquired(path, beside)
        _held.add(name)
    try:
        yield
    finally:
        if sys.platform == "win32":  # an open file cannot be removed there
            os.close(descriptor)
        with contextlib.suppress(OSError):
            os.unlink(beside)
        if sys.platform != "win32":
            os.close(descriptor)  # last: who gets the lock now sees that the file is gone
        with _guard:
            _held.discard(name)


def _acquired(path: Path, beside: Path) -> int:
    """A descriptor of the lock file, locked."""
    while True:
        try:
            descriptor = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise CheckpointError(f"checkpoint {path} cannot be locked: {error}") from error
        try:
            _lock(descriptor)
        except OSError:
            holder = (
                os.pread(descriptor, 200, 0).decode(errors="replace")
                if hasattr(os, "pread")
                else ""
            )
            os.close(descriptor)
            raise CheckpointError(_in_use(path, holder or "another process")) from None
        try:
            current = os.path.samestat(os.fstat(descriptor), os.stat(beside))
        except OSError:
            current = False
        if current:
            with contextlib.suppress(OSError):  # a full disk; it is only for the message of others
                os.ftruncate(descriptor, 0)
                os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
            return descriptor
        os.close(descriptor)  # its run has ended since it was opened, and has removed it


def _in_use(path: Path, holder: str) -> str:
    return (
        f"checkpoint {path} is in use by {holder}: wait until that run has ended, or give each run "
        "a file of its own"
    )


def _lock(descriptor: int) -> None:
    """Locks for this process; OSError if another one has the lock."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def save(path: Path, text: str) -> None:
    """Writes the file atomically: at any moment it is the complete old file or the complete new one."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        why = f"the checkpoint cannot be written: {error.strerror}"
        raise OSError(error.errno, why, str(path)) from error
    with contextlib.suppress(OSError):  # not every system can open a directory
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def resume(path: Path, fresh: Optimizer, seeded: bool) -> Optimizer | None:
    """The optimiser that the file holds, with the stopping options of `fresh`; None without it.

    The file must hold the problem of `fresh`; the seed counts if the user gave one.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(f"checkpoint {path} cannot be read: {error}") from error
    _, part = parted(text)
    _compare_constraints(path, part.get("constraints"), fresh)
    try:
        held = Optimizer._restore(text, fresh.has_names, known=fresh._known)
    except InvalidError as error:
        raise CheckpointError(f"{path} is not a checkpoint of labcat: {error}") from error
    _compare(path, held, fresh, seeded)
    held._misfit = fresh._misfit
    held.set_stopping(**{name: fresh.config[name] for name in STOPPING})
    return held


def _compare_constraints(path: Path, held: object, fresh: Optimizer) -> None:
    here = parted(fresh.to_json())[1].get("constraints")
    if held != here:
        raise CheckpointError(
            f"checkpoint {path} belongs to another problem: its known constraints are {held}, in this call they are "
            f"{here}; remove the file to start again"
        )


def _compare(path: Path, held: Optimizer, fresh: Optimizer, seeded: bool) -> None:
    its, ours = (_differing(a.space, b.space) for a, b in ((held, fresh), (fresh, held)))
    if held.space.described() != fresh.space.described():
        raise CheckpointError(
            f"checkpoint {path} belongs to another problem: its bounds are {its}, in this call they are {ours}; "
            "remove the file to start again"
        )
    here, there = _problem(fresh, seeded), _problem(held, seeded)
    here, there = {**_minimised(fresh), **here}, {**_minimised(held), **there}
    for what in here:
        if here[what] != there.get(what):
            raise CheckpointError(
                f"checkpoint {path} belongs to another problem: its {what} is {there.get(what)!r}, "
                f"in this call it is {here[what]!r}; remove the file to start again"
            )


def _differing(space: Space, other: Space) -> dict[str, Parameter]:
    """The parameters that the other space does not have; all of them if only the order differs."""
    rows = other.described()
    differing = {name: space[name] for name, row in zip(space, space.described()) if row not in rows}
    return differing or dict(space)


def _minimised(optimizer: Optimizer) -> dict[str, object]:
    """What is told, and the loss and the weights of residuals."""
    misfit = optimizer._misfit
    if misfit is None:
        return {"outcome": "a value"}
    return {"outcome": "residuals", "loss": misfit.loss, "f_scale": misfit.f_scale, "sigma": misfit.sigma}


def _problem(optimizer: Optimizer, seeded: bool) -> dict[str, object]:
    left_out = STOPPING if seeded else (*STOPPING, "seed")
    return {name: value for name, value in optimizer.config.items() if name not in left_out}
