"""Calling the user's function, in this process or in another."""

from __future__ import annotations

import inspect
import pickle
import traceback
from collections.abc import Callable
from typing import Any, TypeAlias

from ._errors import InvalidError, LabcatError
from ._space import Space, Vector
from ._values import as_value


class Failure:
    """The exception that an evaluation ended with, as a value that can travel between processes.

    `fatal`: not the objective failed, but what runs it, so `on_error` does not apply.
    """

    __slots__ = ("exception", "fatal")

    def __init__(self, exception: BaseException, fatal: bool = False) -> None:
        self.exception = exception
        self.fatal = fatal

    def __reduce__(self) -> tuple[Any, ...]:
        text = "".join(traceback.format_exception(self.exception))
        return _received, (_portable(self.exception), text, self.fatal)


class _RemoteTraceback(Exception):
    """The traceback of an exception in the process where it was raised."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def _portable(exception: BaseException) -> BaseException:
    """The exception itself if it survives pickling, else one that says what it was."""
    try:
        pickle.loads(pickle.dumps(exception))
    except Exception:
        kind = type(exception)
        return LabcatError(
            f"the objective raised {kind.__module__}.{kind.__qualname__}, "
            f"which cannot be pickled: {exception}"
        )
    return exception


def _received(exception: BaseException, text: str, fatal: bool) -> Failure:
    exception.__cause__ = _RemoteTraceback(text)
    return Failure(exception, fatal)


Outcome: TypeAlias = "float | Failure"


class Objective:
    """The user's function as a function of a vector that gives a value or a `Failure`."""

    def __init__(self, fun: Callable[..., Any], args: object, space: Space | None) -> None:
        if not callable(fun):
            raise InvalidError(f"the objective must be callable, not {fun!r}")
        self._fun = fun
        self._args = args if isinstance(args, tuple) else (args,)
        self._space = space
        self._keywords = space is not None and self._takes_keywords(space)

    def _takes_keywords(self, space: Space) -> bool:
        """Whether `fun(*args, **params)` fits the signature."""
        try:
            inspect.signature(self._fun).bind(*self._args, **dict.fromkeys(space))
        except (TypeError, ValueError):
            return False
        return True

    def _evaluate(self, x: Vector) -> Any:
        if self._space is None:
            return self._fun(x, *self._args)
        params = self._space.to_dict(x)
        if self._keywords:
            return self._fun(*self._args, **params)
        return self._fun(params, *self._args)

    def __call__(self, x: Vector) -> Outcome:
        try:
            return as_value(self._evaluate(x), "what the objective returned")
        except Exception as exception:
            return Failure(exception)
