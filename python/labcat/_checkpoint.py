"""The state of a run in a file."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from ._errors import CheckpointError, InvalidError
from ._optimizer import Optimizer

STOPPING = ("budget", "target", "tolerance")
"""Switches that a resumed run may change: they end a run, they do not define the problem."""


def save(path: Path, text: str) -> None:
    """Writes the file so that at any moment it is either the old one or the new one, whole."""
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    with contextlib.suppress(OSError):  # not every system can open a directory
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def resume(path: Path, fresh: Optimizer, seeded: bool) -> Optimizer | None:
    """The optimiser that the file holds, with the stopping switches of `fresh`; None without it.

    The file must hold the problem of `fresh`; the seed counts if the user gave one.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if not path.parent.is_dir():
            missing = f"checkpoint {path}: there is no directory {path.parent}"
            raise CheckpointError(missing) from None
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(f"checkpoint {path} cannot be read: {error}") from error
    try:
        held = Optimizer._restore(text, fresh.has_names)
    except InvalidError as error:
        raise CheckpointError(f"{path} is not a checkpoint of labcat: {error}") from error
    _compare(path, held, fresh, seeded)
    held.set_stopping(**{name: fresh.config[name] for name in STOPPING})
    return held


def _compare(path: Path, held: Optimizer, fresh: Optimizer, seeded: bool) -> None:
    here, there = _problem(fresh, seeded), _problem(held, seeded)
    for what in here:
        if here[what] != there.get(what):
            raise CheckpointError(
                f"checkpoint {path} belongs to another problem: its {what} is {there.get(what)!r}, "
                f"in this call it is {here[what]!r}; remove the file to start anew"
            )


def _problem(optimizer: Optimizer, seeded: bool) -> dict[str, object]:
    left_out = STOPPING if seeded else (*STOPPING, "seed")
    switches = {name: value for name, value in optimizer.config.items() if name not in left_out}
    return {"bounds": optimizer.space.described(), **switches}
