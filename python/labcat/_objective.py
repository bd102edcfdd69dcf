"""Calling the user's function, in this process or in another."""

from __future__ import annotations

import inspect
import os
import pickle
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from ._constraints import measured, measured_residuals
from ._errors import InvalidError, LabcatError
from ._outcome import Outcome
from ._space import Space, Vector
from ._values import plural

dumps: Callable[[object], bytes] = pickle.dumps
"""How outcomes are written for another process."""


class Failure:
    """The exception that an evaluation ended with, as a value that can travel between processes.

    `on_error` says how it is handled, unless it is `fatal` (the backend failed, not the objective) or `lost`
    (the evaluation was ended from outside, so it has failed, whatever `on_error` is).
    """

    __slots__ = ("exception", "fatal", "lost", "reason", "seconds")

    def __init__(
        self,
        exception: BaseException,
        fatal: bool = False,
        lost: bool = False,
        reason: str | None = None,
        seconds: float | None = None,
    ) -> None:
        self.exception = exception
        self.seconds = seconds
        self.fatal = fatal
        self.lost = lost
        self.reason = _reason(exception) if reason is None else reason

    def __reduce__(self) -> tuple[Any, ...]:
        text = "".join(traceback.format_exception(self.exception))
        return _received, (_portable(self.exception), text, self.fatal, self.reason, self.seconds)


def _reason(exception: BaseException) -> str:
    """The failure in one line, with the place if the user's code raised it."""
    kind = type(exception).__name__
    text = " ".join(str(exception).split())
    where = ""
    raised_in = traceback.extract_tb(exception.__traceback__)[1:]  # the first frame is ours
    own = os.path.dirname(__file__)
    users = [frame for frame in raised_in if os.path.dirname(frame.filename) != own]
    if users:
        where = f" ({os.path.basename(users[-1].filename)}, line {users[-1].lineno})"
    return f"{kind}: {text}{where}" if text else f"{kind}{where}"


class _RemoteTraceback(Exception):
    """The traceback of an exception in the process where it was raised."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def _portable(exception: BaseException) -> BaseException:
    """The exception itself if it can be pickled, otherwise one that describes it."""
    try:
        pickle.loads(dumps(exception))
    except Exception:
        kind = type(exception)
        return LabcatError(
            f"the objective raised {kind.__module__}.{kind.__qualname__}, "
            f"which cannot be pickled: {exception}"
        )
    return exception


def _received(
    exception: BaseException, text: str, fatal: bool, reason: str, seconds: float | None
) -> Failure:
    exception.__cause__ = _RemoteTraceback(text)
    return Failure(exception, fatal, reason=reason, seconds=seconds)


Ended: TypeAlias = "Outcome | Failure"
"""What comes of calling the objective."""


class Params(dict[str, Any]):
    """Named parameters as an objective gets them. If they are used as a vector, the error explains what they are."""

    def _is_no_vector(self, *_: Any, **__: Any) -> Any:
        names = list(self)
        raise InvalidError(
            f"the parameters have names, so the objective gets a dictionary, x[{names[0]!r}], or takes them by name, "
            f"def fun({', '.join(names)}); to get a vector, give the bounds as a list of pairs"
        )

    def __missing__(self, key: object) -> Any:
        if isinstance(key, str):
            raise KeyError(key)
        return self._is_no_vector()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _is_no_vector
    __pow__ = __matmul__ = __rmatmul__ = __neg__ = __abs__ = __float__ = __array__ = _is_no_vector


class Objective:
    """The user's function as a function of a vector that gives an `Outcome` or a `Failure`."""

    awaits = False  # whether what the function returns may have to be awaited

    def __init__(
        self,
        fun: Callable[..., Any],
        args: object,
        space: Space | None,
        constraints: int = 0,
        jac: bool = False,
    ) -> None:
        if not callable(fun):
            raise InvalidError(f"the objective must be callable, not {fun!r}")
        if inspect.iscoroutinefunction(fun) and not self.awaits:
            raise InvalidError(f"the objective {fun!r} is a coroutine function: await labcat.aminimize(…)")
        self._fun = fun
        self._args = args if isinstance(args, tuple) else (args,)
        self._space = space
        self._constraints = constraints
        self._jac = jac
        self._keywords = space is not None and self._takes_keywords(space)
        if not self._keywords:
            self._check_signature(space)
        self._required = self._without_default(space) if space is not None and self._keywords else []

    def _takes_keywords(self, space: Space) -> bool:
        """Whether `fun(*args, **params)` fits the signature."""
        try:
            inspect.signature(self._fun).bind(*self._args, **dict.fromkeys(space))
        except (TypeError, ValueError):
            return False
        return True

    def _check_signature(self, space: Space | None) -> None:
        """Refuses a function that cannot be called with one thing: the vector, or the dictionary of named parameters."""
        try:
            signature = inspect.signature(self._fun)
        except (TypeError, ValueError):  # some built-in functions have none
            return
        try:
            signature.bind({}, *self._args)
        except TypeError as error:
            if space is None:
                called = "with one vector of all parameters"
                hint = '; with named bounds, such as {"a": (0, 1)}, it gets each by its name'
            else:
                called, hint = f"with the parameters {', '.join(space)}, as keywords or as one dictionary", ""
            more = f" and {plural(len(self._args), 'further argument')}" if self._args else ""
            raise InvalidError(f"the objective is called {called}{more}, and takes {signature} ({error}){hint}") from None

    def _without_default(self, space: Space) -> list[str]:
        given = inspect.signature(self._fun).parameters
        return [name for name in space if name in given and given[name].default is inspect.Parameter.empty]

    def _read(self, returned: Any, x: Vector) -> Outcome:
        """What the function returned, as an outcome."""
        return measured(returned, self._constraints, self._jac)

    def evaluate(self, x: Vector) -> Any:
        """Calls the function with keywords or with a dictionary, as its signature requires."""
        if self._space is None:
            return self._fun(x, *self._args)
        params = self._space.to_dict(x)
        if self._keywords:
            # What does not apply is left out if the function has a default for it, and None if not.
            absent = {name: None for name in self._required if name not in params}
            return self._fun(*self._args, **absent, **params)
        return self._fun(Params(params), *self._args)

    def __call__(self, x: Vector) -> Ended:
        begun = time.perf_counter()
        try:
            outcome = self._read(self.evaluate(x), x)
        except Exception as exception:
            return Failure(exception, seconds=time.perf_counter() - begun)
        return outcome.timed(time.perf_counter() - begun)


class Residuals(Objective):
    """A function of least squares, which returns residuals."""

    def __init__(
        self, fun: Callable[..., Any], args: object, space: Space | None, constraints: int, jac: object
    ) -> None:
        if not (jac is None or isinstance(jac, bool) or callable(jac)):
            raise InvalidError(
                f"jac is {jac!r}; allowed: a function that returns the Jacobian, True if `residuals` returns (residuals, jacobian), "
                "None if it is to be estimated from the evaluations"
            )
        super().__init__(fun, args, space, constraints, jac is True)
        self._slopes = Objective(jac, args, space) if callable(jac) else None

    def _read(self, returned: Any, x: Vector) -> Outcome:
        outcome = measured_residuals(returned, self._constraints, self._jac)
        if self._slopes is not None and not outcome.failed:
            outcome = replace(outcome, jacobian=self._slopes.evaluate(x))
        if outcome.jacobian is not None and (columns := np.shape(outcome.jacobian)[1]) != len(x):
            raise InvalidError(f"the Jacobian has {columns} columns: there are {len(x)} parameters")
        return outcome
