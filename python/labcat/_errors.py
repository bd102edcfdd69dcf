"""The exceptions of labcat; the native module raises them too."""

from __future__ import annotations


class LabcatError(Exception):
    """Base class of every error of labcat.

    >>> import labcat
    >>> try:
    ...     labcat.Optimizer([(1, 0)])
    ... except labcat.LabcatError as error:
    ...     print(type(error).__name__)
    InvalidError
    """

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


def missing(what: str, package: str, extra: str) -> LabcatError:
    """The error for a feature that needs a package which is not installed."""
    return LabcatError(
        f"{what} needs {package}: pip install {package}, "
        f"or pip install '.[{extra}]' in a clone of labcat"
    )


class InvalidError(LabcatError, ValueError):
    """A wrong argument, point or value; the message says what is allowed."""


class UnknownSwitchError(InvalidError, TypeError):
    """An unknown keyword; the message suggests the option that was probably meant."""


class UnknownTrialError(LabcatError, KeyError):
    """An id that no pending trial has."""

    @property
    def id(self) -> int:
        """The id that was given."""
        return int(self.args[1])


class Stopped(LabcatError):
    """Raised by `Optimizer.ask` after the run has ended.

    >>> import labcat
    >>> optimizer = labcat.Optimizer([(-1, 1)], budget=1, rng=1)
    >>> optimizer.tell(optimizer.ask(), 0.5)
    >>> try:
    ...     optimizer.ask()
    ... except labcat.Stopped as stopped:
    ...     print(stopped.reason)
    budget
    """

    @property
    def reason(self) -> str:
        """What ended the run: "budget", "target", "tolerance" or "exhausted"."""
        return str(self.args[1])


class BudgetOutstanding(LabcatError):
    """Raised by `Optimizer.ask` while the rest of the budget is pending.

    Tell, fail or cancel a pending trial, then ask again.
    """

    @property
    def pending(self) -> int:
        """The number of pending trials."""
        return int(self.args[1])


class NoModelError(LabcatError):
    """Raised by `Optimizer.predict` before there are enough values for a model."""


class CheckpointError(InvalidError):
    """A checkpoint that cannot be read, is in use, or belongs to another problem."""


class WorkerError(LabcatError):
    """A worker process that died while it evaluated the objective."""


class EvaluationTimeout(LabcatError, TimeoutError):
    """An evaluation that took longer than `timeout`; its process was ended."""


class SystematicFailure(LabcatError):
    """The first evaluations of a run all failed in the same way, so the run was ended.

    `__cause__` is the newest exception, and `labcat_result` is the result so far.

    >>> import labcat
    >>> try:
    ...     labcat.minimize(lambda x: x[9], [(-1, 1)], budget=50, rng=1, on_error="fail")
    ... except labcat.SystematicFailure as failure:
    ...     print(failure.labcat_result.nfev, type(failure.__cause__).__name__)
    10 IndexError
    """
