"""The loop of `minimize` and `maximize`: ask, evaluate, tell, until something ends it."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _checkpoint
from ._errors import BudgetOutstanding, InvalidError, Stopped, SystematicFailure
from ._history import Trial, TrustRegion
from ._objective import Ended, Failure
from ._optimizer import Optimizer
from ._outcome import Outcome
from ._progress import Progress
from ._values import plural
from ._workers import Backend

if TYPE_CHECKING:
    from ._result import OptimizeResult

_TICK = 0.25  # seconds between looks at the clock while evaluations run


class Run:
    """One call of `minimize`."""

    def __init__(
        self,
        optimizer: Optimizer,
        backend: Backend,
        *,
        records_errors: bool,
        callback: Callable[..., Any] | None,
        progress: Progress,
        checkpoint: Path | None,
        time_limit: float | None,
        default_budget: bool,
        max_first_failures: int | None,
    ) -> None:
        # It loads scipy if that is there, which takes a while: now, not when Ctrl-C shall end the run.
        from . import _result

        self._results = _result
        self._optimizer = optimizer
        self._backend = backend
        self._records_errors = records_errors
        self._callback = callback
        self._takes_result = callback is not None and takes_result(callback)
        self._progress = progress
        self._checkpoint = checkpoint
        self._time_limit = time_limit
        self._default_budget = default_budget
        self._max_first_failures = max_first_failures
        self._alike: tuple[type[BaseException], int] | None = None  # the first failures
        self._deadline = float("inf") if time_limit is None else time.monotonic() + time_limit
        # Trials that were running when the checkpoint was written: they are evaluated first.
        self._left_over = optimizer.pending
        self._running = 0
        optimizer._core.expect_outstanding(backend.width)
        self._saved = True
        self._regions: dict[int, TrustRegion | None] = {}  # for pictures, by the trial's id

    def result(self) -> OptimizeResult:
        """Runs to the end. An exception carries the result so far as `labcat_result`."""
        with self:
            return self._ended(self._loop())

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: object, exception: BaseException | None, trace: object) -> None:
        """Closes the run, and attaches the result so far to an exception."""
        try:
            if exception is not None:
                self._keep_finished()
                with contextlib.suppress(AttributeError, TypeError):  # it may refuse attributes
                    exception.labcat_result = self._broken_off(exception)  # type: ignore[attr-defined]
        finally:
            self._backend.close()
            self._progress.close(self._optimizer)

    def _loop(self) -> str:
        """Evaluates until the run ends; returns what ended it, a key of `STATUS`."""
        while True:
            reason = self._over()
            if reason is not None:
                return reason
            self._fill()
            if self._running == 0:  # convergence shows when the next point is asked
                continue
            try:
                self._collect()
            except StoppedByCallback:
                return "callback"

    def _over(self) -> str | None:
        """What has ended the run, a key of `STATUS`; None while it continues."""
        late = "time_limit" if time.monotonic() >= self._deadline else None
        return self._optimizer.stop_reason or late

    def _fill(self) -> None:
        """Starts evaluations until all workers are busy or nothing is left to ask."""
        while self._running < self._backend.width:
            trial = self._next()
            if trial is None:
                return
            self._backend.start(trial)
            self._running += 1

    def _next(self) -> Trial | None:
        if self._left_over:
            return self._left_over.pop(0)
        try:
            trial = self._optimizer.ask()
        except (BudgetOutstanding, Stopped):
            return None
        if len(trial.x) == 2:
            self._regions[trial.id] = self._optimizer.trust_region
        return trial

    def _collect(self) -> None:
        """Waits for results and takes them."""
        self._take(self._backend.wait(self._patience()))

    def _patience(self) -> float:
        """Seconds until the clock is looked at again."""
        return max(0.0, min(_TICK, self._deadline - time.monotonic()))

    def _take(self, ended: Iterator[tuple[Trial, Ended]]) -> None:
        """Tells all results, then raises the exception that the first bad one requires."""
        raised: Exception | None = None
        for trial, outcome in ended:
            self._running -= 1
            try:
                self._tell(trial, outcome)
                self._save()
                self._check(outcome)
                if raised is None:
                    self._show()
            except Exception as exception:
                raised = raised or exception
        if raised is not None:
            raise raised

    def _show(self) -> None:
        self._progress.update(self._optimizer)
        if self._callback is not None:
            self._call_back(self._callback)

    def _tell(self, trial: Trial, outcome: Ended) -> None:
        if not isinstance(outcome, Failure):
            self._tell_outcome(trial, outcome)
        elif outcome.fatal or not (outcome.lost or self._records_errors):
            raise outcome.exception
        else:
            self._optimizer.tell(trial, Outcome(reason=outcome.reason, seconds=outcome.seconds))
        self._saved = False

    def _tell_outcome(self, trial: Trial, outcome: Outcome) -> None:
        try:
            self._optimizer.tell(trial, outcome)
        except InvalidError as error:  # of another length than before
            if not self._records_errors:
                raise
            self._optimizer.tell(trial, Outcome(reason=f"InvalidError: {error}", seconds=outcome.seconds))

    def _check(self, outcome: Ended) -> None:
        """Ends the run if the first evaluations have all failed with the same kind of exception.

        That is a fault of the function rather than of the points.
        """
        if self._max_first_failures is None:
            return
        # NaN: the objective itself says that it failed.
        if not isinstance(outcome, Failure) or self._optimizer._core.best() is not None:
            self._max_first_failures = None
            return
        kind = type(outcome.exception)
        if self._alike is not None and self._alike[0] is not kind:
            self._max_first_failures = None
            return
        n = 1 if self._alike is None else self._alike[1] + 1
        self._alike = kind, n
        if n >= self._max_first_failures:
            raise SystematicFailure(
                f"the first {n} evaluations all failed in the same way, the last one with {outcome.reason}; "
                "max_first_failures changes this number (None: no limit)"
            ) from outcome.exception

    def _save(self) -> None:
        if self._checkpoint is not None and not self._saved:
            _checkpoint.save(self._checkpoint, self._optimizer.to_json())
        self._saved = True

    def _call_back(self, callback: Callable[..., Any]) -> None:
        intermediate = self._results.snapshot(self._optimizer)
        try:
            if self._takes_result:
                callback(intermediate_result=intermediate)
            else:
                callback(intermediate.x)
        except StopIteration:
            raise StoppedByCallback from None

    def _keep_finished(self) -> None:
        """After an exception: tells the evaluations that have ended meanwhile, and writes the checkpoint."""
        for trial, outcome in self._backend.finished():
            if not isinstance(outcome, Failure):
                self._tell(trial, outcome)
        with contextlib.suppress(OSError):  # perhaps what is being raised
            self._save()

    def _ended(self, reason: str) -> OptimizeResult:
        return self._final(reason, self._message(reason))

    def _final(self, ending: str, message: str) -> OptimizeResult:
        result = self._results.final(self._optimizer, ending, message)
        result.history.trust_region = list(map(self._regions.get, result.history.id.tolist()))
        return result

    def _message(self, reason: str) -> str:
        config = self._optimizer.config
        budget = (config["budget"] or 0) - self._optimizer._given
        message = {
            "budget": f"the budget of {plural(budget, 'evaluation')} is used up",
            "target": f"the target {config['target']} is reached",
            "tolerance": "the local run has converged, and restarts are off"
            if config["tolerance"] is None
            else f"the local run has converged to the tolerance {config['tolerance']}",
            "time_limit": f"the time limit of {self._time_limit} s is reached",
            "exhausted": "every configuration of the space was evaluated",
            "callback": "the callback raised StopIteration",
        }[reason]
        if self._default_budget and reason == "budget":
            per_parameter = budget // self._optimizer.space.n_free
            message += f" (no budget was given: it was {per_parameter} per parameter, {budget})"
        if (self._optimizer.report or {}).get("gradients_left_out"):
            message += "; the gradients do not agree with the values around the best point and were left out"
        best = self._optimizer.best
        if self._optimizer.config["noise"] == "none" and best is not None and best.std:
            message += '; the standard deviations of the values were not used: say noise="auto"'
        return message

    def _broken_off(self, exception: BaseException) -> OptimizeResult:
        if isinstance(exception, KeyboardInterrupt):
            return self._final("interrupted", "the run was interrupted")
        what = f"{type(exception).__name__}: {exception}"
        return self._final("error", f"the run ended with {what}")


class StoppedByCallback(Exception):
    """The callback raised StopIteration."""


def takes_result(callback: Callable[..., Any]) -> bool:
    """scipy's rule: the only parameter is called `intermediate_result`."""
    try:
        return set(inspect.signature(callback).parameters) == {"intermediate_result"}
    except (TypeError, ValueError):
        return False
