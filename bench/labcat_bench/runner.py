"""Runs: every pair of algorithm and problem, in parallel, each written down once and never repeated."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from . import foreign
from .algorithms import Algorithm
from .objective import BudgetSpent, Objective
from .results import Record, ResultsFile


class Problem(Protocol):
    """Plain, picklable data: a worker in another process or on another machine opens it."""

    @property
    def id(self) -> str: ...
    @property
    def fields(self) -> dict[str, Any]:
        """What the record says of it."""

    @property
    def seed_words(self) -> list[int]: ...
    def open(self, budget: int, seed: int = 0) -> AbstractContextManager[Objective]: ...


# Problems are the unit of parallel work: a numerical library that starts threads of its own would only get in the way.
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "RAYON")}


@dataclass(frozen=True)
class Run:
    """One algorithm on one problem with one budget."""

    algorithm: Algorithm
    problem: Problem
    budget: int
    seed: int

    @property
    def key(self) -> str:
        build = f"|{self.algorithm.build}" if self.algorithm.build else ""
        return f"{self.algorithm.label}{build}|{self.problem.id}|{self.budget}|{self.seed}"

    def start_seed(self, start: int) -> int:
        """The seed of the n-th start: the same for every algorithm, different for every problem."""
        words = np.random.SeedSequence([self.seed, *self.problem.seed_words, start]).generate_state(1)
        return int(words[0])


def execute(run: Run) -> Record:
    """Run to the end of the budget and say what came of it."""
    if run.algorithm.python:
        return foreign.interpreter(run.algorithm.python).execute(run)
    with run.problem.open(run.budget, run.seed) as objective:
        began = time.perf_counter()
        starts, errors = minimise(run, objective)
        seconds = time.perf_counter() - began
    return {
        "key": run.key,
        "algorithm": run.algorithm.label,
        **run.problem.fields,
        "budget": run.budget,
        "seed": run.seed,
        "evaluations": objective.evaluations,
        "starts": starts,
        "seconds": round(seconds, 6),
        "trace": [[n, regret] for n, regret in objective.trace],
        **objective.info,
        **({"errors": errors} if errors else {}),
    }


def minimise(run: Run, objective: Objective) -> tuple[int, list[str]]:
    """Start the algorithm again and again until the budget is spent; its errors end a start, not the run."""
    starts, errors = 0, []
    while objective.remaining:
        before = objective.evaluations
        starts += 1
        try:
            with warnings.catch_warnings():
                if not run.algorithm.is_labcat:
                    warnings.simplefilter("ignore")  # peers warn of their own dependencies, by the hundred
                run.algorithm.run(objective, run.start_seed(starts))
        except BudgetSpent:
            break
        except Exception as error:
            if objective.failure is not None:
                raise objective.failure from objective.failure.__cause__
            errors.append(f"{type(error).__name__}: {error}")
        if objective.failure is not None:  # a peer swallowed it
            raise objective.failure from objective.failure.__cause__
        if objective.evaluations == before:
            errors.append(f"start {starts} made no evaluation")
            break
    return starts, errors


def run_all(
    runs: Sequence[Run],
    results: ResultsFile,
    *,
    workers: int = 1,
    cluster: str | None = None,
    title: str = "runs",
    show_progress: bool = True,
    apart: bool = False,
) -> list[Record]:
    """The records of all runs, in their order; only those not yet in the file are made.

    With `apart` each algorithm has processes of its own: what a package does to its process concerns no other.
    """
    todo = [run for run in runs if run.key not in results.records]
    for record in shown(completed(todo, workers, cluster, apart=apart), len(todo), title, show=show_progress):
        results.append(record)
    return [results.records[run.key] for run in runs]


def shown(records: Iterator[Record], total: int, title: str, *, show: bool) -> Iterator[Record]:
    """The records as they come, with a progress bar on standard error; in a log, a line every ten seconds."""
    if not show:
        return records
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ValueError("the progress bar needs tqdm: pip install tqdm, or give --quiet") from error
    live = sys.stderr.isatty()
    bar: Iterator[Record] = iter(
        tqdm(records, title, total, mininterval=0.1 if live else 10, ascii=None if live else " .", dynamic_ncols=live)
    )
    return bar


def completed(runs: Sequence[Run], workers: int, cluster: str | None, *, apart: bool = False) -> Iterator[Record]:
    """Records as they come in."""
    if apart:
        for algorithm in dict.fromkeys(run.algorithm.label for run in runs):
            yield from spread([run for run in runs if run.algorithm.label == algorithm], workers, cluster)
    elif cluster is None and (workers == 1 or len(runs) < 2):
        yield from map(execute, runs)
    else:
        yield from spread(runs, workers, cluster)


def spread(runs: Sequence[Run], workers: int, cluster: str | None) -> Iterator[Record]:
    """Over processes. After an interrupt the runs under way are finished and given, then it goes up."""
    with open_executor(workers, cluster) as executor:
        futures = [executor.submit(execute, run) for run in runs]
        waiting = as_completed(futures)
        try:
            for future in waiting:
                yield future.result()
        except KeyboardInterrupt:
            for future in futures:
                future.cancel()
            for future in waiting:
                if not future.cancelled():
                    yield future.result()
            raise


@contextmanager
def open_executor(workers: int, cluster: str | None) -> Iterator[Executor]:
    if cluster is not None:
        with dask_executor(cluster) as executor:
            yield executor
        return
    os.environ.update({name: value for name, value in ONE_THREAD.items() if name not in os.environ})
    others = multiprocessing.active_children()
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _start_worker)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            if child not in others:
                child.terminate()
        raise
    pool.shutdown()


def _start_worker() -> None:
    # The interrupt of the terminal reaches every process; what to do about it is decided in the first one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # A worker whose parent was killed would wait for work for ever.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """The executor of a Dask cluster at `dask://host:port`; its workers must have `labcat-bench` installed."""
    scheme, separator, place = address.partition("://")
    if scheme != "dask" or not separator or not place:
        raise ValueError(f"unknown executor {address!r}. Allowed: dask://HOST:PORT")
    try:
        from distributed import Client
    except ImportError as error:
        raise ValueError("Dask is not installed: pip install distributed") from error
    with Client(f"tcp://{place}", set_as_default=False) as client:
        yield client.get_executor()
