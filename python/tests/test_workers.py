"""Evaluating in parallel."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import sys
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.pool import ThreadPool

import numpy as np
import objectives
import pytest
from objectives import Unpicklable, children, rosenbrock, slow_sphere, sphere

import labcat

BOX = [(-1, 1)] * 2


def check_complete(result, budget):
    """Every evaluation of the budget is there once, with the value of its own point."""
    assert result.nfev == budget
    assert sorted(result.history.id.tolist()) == list(range(budget))
    assert len({tuple(x) for x in result.history.x}) == budget
    assert [sphere(x) for x in result.history.x] == result.history.value.tolist()


def make(kind):
    """Workers of each kind, and what closes them."""
    if kind == "threads":
        pool = ThreadPoolExecutor(3)
        return pool, pool.shutdown
    if kind == "processes":
        pool = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
        return pool, pool.shutdown
    if kind == "polled":
        return Polled(), lambda: None
    if kind == "map":
        return map, lambda: None
    if kind == "thread map":
        pool = ThreadPoolExecutor(3)
        return pool.map, pool.shutdown
    if kind == "pool":
        pool = multiprocessing.get_context("spawn").Pool(2)
        return pool, pool.terminate
    if kind == "pool map":
        pool = ThreadPool(3)
        return pool.map, pool.terminate
    return int(kind), lambda: None


class Polled:
    """An executor whose futures can only be asked whether they are done."""

    class Future:
        def __init__(self, future):
            self.done, self.result = future.done, future.result

    def __init__(self):
        self._pool = ThreadPoolExecutor(2)

    def submit(self, fn, *args):
        return Polled.Future(self._pool.submit(fn, *args))


@pytest.mark.parametrize(
    "kind",
    ["1", "2", "-1", "threads", "processes", "pool", "polled", "map", "thread map", "pool map"],
)
def test_every_kind_of_workers_evaluates_each_point_once(kind):
    workers, close = make(kind)
    try:
        result = labcat.minimize(sphere, BOX, budget=41, rng=1, workers=workers)
    finally:
        close()
    check_complete(result, 41)
    assert result.fun < 1e-2
    assert children() == [] or kind in ("processes", "pool")


def test_a_map_of_width_one_is_the_serial_run():
    serial = labcat.minimize(rosenbrock, BOX, budget=40, rng=1)
    for workers in (map, (ThreadPoolExecutor(4), 1), (lambda f, xs: [f(x) for x in xs], 1)):
        result = labcat.minimize(rosenbrock, BOX, budget=40, rng=1, workers=workers)
        assert np.array_equal(result.history.x, serial.history.x)


def test_a_map_gets_batches_and_repeats_the_run():
    batches = []

    def mapper(fun, points):
        batches.append(len(points))
        return [fun(x) for x in points]

    one = labcat.minimize(sphere, BOX, budget=41, rng=1, workers=(mapper, 8))
    assert batches == [8] * 5 + [1]
    two = labcat.minimize(sphere, BOX, budget=41, rng=1, workers=(mapper, 8))
    assert np.array_equal(one.history.x, two.history.x)


def test_a_map_that_loses_results_is_an_error():
    with pytest.raises(labcat.InvalidError, match="fewer results"):
        labcat.minimize(sphere, BOX, budget=9, rng=1, workers=(lambda f, xs: [], 3))


def test_a_number_of_workers_means_other_processes(monkeypatch):
    monkeypatch.setenv("LABCAT_TEST_PARENT", str(os.getpid()))
    result = labcat.minimize(objectives.in_another_process, BOX, budget=6, rng=1, workers=2)
    assert (result.history.value >= 1).all()


@pytest.mark.parametrize("workers", [4, "executor"])
def test_evaluations_overlap(workers, tmp_path):
    with ThreadPoolExecutor(4) as pool:
        result = labcat.minimize(
            objectives.logs_its_time,
            BOX,
            args=(tmp_path,),
            budget=24,
            rng=1,
            workers=pool if workers == "executor" else workers,
        )
    check_complete(result, 24)
    times = sorted(tuple(map(float, file.read_text().split())) for file in tmp_path.iterdir())
    assert len(times) == 24
    assert sum(later < end for (_, end), (later, _) in itertools.pairwise(times)) > 6


def test_a_new_point_is_asked_as_soon_as_a_result_is_in():
    """One evaluation that does not end must not hold up the others."""
    released = threading.Event()
    lock = threading.Lock()
    calls = 0

    def fun(x):
        nonlocal calls
        with lock:
            calls += 1
            first = calls == 1
        if first:
            assert released.wait(30)
        elif calls == 30:
            released.set()
        return sphere(x)

    with ThreadPoolExecutor(2) as pool:
        result = labcat.minimize(fun, BOX, budget=30, rng=1, workers=pool)
    check_complete(result, 30)
    assert result.history.id.tolist().index(0) > 20


def test_never_more_in_flight_than_workers():
    running, most = 0, 0
    lock = threading.Lock()

    def fun(x):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.005)
        with lock:
            running -= 1
        return sphere(x)

    with ThreadPoolExecutor(8) as pool:
        labcat.minimize(fun, BOX, budget=40, rng=1, workers=(pool, 3))
    assert most == 3


def test_named_parameters_and_args_reach_worker_processes():
    space = labcat.Space(rate=labcat.Real(1e-6, 1, scale="log"), momentum=(0, 1))
    result = labcat.minimize(objectives.named, space, budget=20, rng=1, workers=2)
    assert result.fun == objectives.named(**result.params)
    result = labcat.minimize(objectives.shifted, BOX, args=(0.5, 2.0), budget=10, rng=1, workers=2)
    assert result.fun == objectives.shifted(result.x, 0.5, 2.0)


def test_a_function_that_cannot_be_sent_is_a_clear_error():
    lock = threading.Lock()
    with pytest.raises(labcat.InvalidError, match="'_thread.lock'.*ThreadPoolExecutor"):
        labcat.minimize(lambda x: lock.locked(), BOX, budget=9, workers=2)


def test_without_cloudpickle_a_function_that_cannot_be_sent_is_a_clear_error(monkeypatch):
    for name in ("cloudpickle", "joblib", "joblib.externals"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(labcat.InvalidError, match="pip install cloudpickle, .*ThreadPoolExecutor"):
        labcat.minimize(lambda x: 0.0, BOX, budget=9, workers=2)


def test_a_time_limit_for_a_function_that_cannot_be_sent_names_the_time_limit():
    lock = threading.Lock()
    with pytest.raises(labcat.InvalidError, match="^timeout evaluates in other processes.*leave timeout out$"):
        labcat.minimize(lambda x: lock.locked(), BOX, budget=9, timeout=5)


# --- errors


@pytest.mark.parametrize("kind", ["2", "threads", "processes", "thread map"])
def test_an_exception_in_a_worker_reaches_the_user(kind):
    workers, close = make(kind)
    try:
        with pytest.raises(RuntimeError) as caught:
            labcat.minimize(objectives.raises_on_the_right, BOX, budget=40, rng=1, workers=workers)
    finally:
        close()
    assert type(caught.value) is RuntimeError
    assert caught.value.args[0] == "on the right" and caught.value.args[1] > 0
    result = caught.value.labcat_result
    assert result.nfev < 40 and (result.history.x[:, 0] <= 0).all()
    if kind == "2":
        assert "raises_on_the_right" in str(caught.value.__cause__)


@pytest.mark.parametrize("kind", ["2", "threads", "processes", "thread map"])
def test_exceptions_in_workers_are_recorded_if_asked_for(kind):
    workers, close = make(kind)
    try:
        result = labcat.minimize(
            objectives.raises_on_the_right, BOX, budget=40, rng=1, workers=workers, on_error="fail"
        )
    finally:
        close()
    assert result.nfev == 40
    assert np.array_equal(result.history.failed, result.history.x[:, 0] > 0)


@pytest.mark.parametrize("kind", ["2", "processes"])
def test_an_exception_that_cannot_be_pickled_is_described(kind):
    workers, close = make(kind)
    try:
        with pytest.raises(labcat.LabcatError, match="objectives.Unpicklable.*only one argument"):
            labcat.minimize(objectives.raises_unpicklable, BOX, budget=9, rng=1, workers=workers)
    finally:
        close()
    with pytest.raises(Unpicklable):
        labcat.minimize(objectives.raises_unpicklable, BOX, budget=9, rng=1)


@pytest.mark.parametrize("on_error", ["raise", "fail"])
def test_a_worker_process_that_dies_costs_an_evaluation_and_is_replaced(on_error):
    result = labcat.minimize(
        objectives.dies_on_the_right, BOX, budget=30, rng=1, workers=2, on_error=on_error
    )
    assert result.nfev == 30
    assert np.array_equal(result.history.failed, result.history.x[:, 0] > 0)
    reasons = {reason for reason in result.history.reason if reason is not None}
    assert reasons and all("died (signal 9)" in reason for reason in reasons)
    assert children() == []


def test_an_objective_that_kills_every_worker_ends_the_run():
    with pytest.raises(labcat.SystematicFailure, match=r"first 3 evaluations .* died \(signal 9\)"):
        labcat.minimize(
            objectives.dies_on_the_right, [(0.5, 1)], budget=40, workers=2, max_first_failures=3
        )
    assert children() == []


def test_an_order_to_exit_in_a_worker_process_is_passed_on():
    with pytest.raises(SystemExit) as caught:
        labcat.minimize(objectives.exits, BOX, budget=9, rng=1, workers=2, on_error="fail")
    assert caught.value.code == 3


def test_a_broken_executor_is_raised_whatever_on_error_says():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(BrokenProcessPool) as caught:
            labcat.minimize(
                objectives.dies_on_the_right,
                [(0.5, 1)],
                budget=9,
                rng=1,
                workers=pool,
                on_error="fail",
            )
    assert caught.value.labcat_result.nfev == 0


def test_a_function_that_an_executor_cannot_send_is_raised_whatever_on_error_says():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(Exception, match="pickle|local object"):
            labcat.minimize(lambda x: 0.0, BOX, budget=9, rng=1, workers=pool, on_error="fail")


def test_results_that_ended_before_an_exception_are_kept():
    """The second evaluation fails after the others have ended, before they are looked at."""

    class Batch:
        """Runs evaluations only when all have been submitted."""

        _max_workers = 4

        def __init__(self):
            self.waiting = []

        def submit(self, fn, x):
            future = Future()
            self.waiting.append((future, fn, x))
            if len(self.waiting) == 4:
                for future, fn, x in self.waiting:
                    future.set_result(fn(x))
            return future

    calls = 0

    def fun(x):
        nonlocal calls
        calls += 1
        if calls == 2:
            raise RuntimeError("second")
        return sphere(x)

    with pytest.raises(RuntimeError, match="second") as caught:
        labcat.minimize(fun, BOX, budget=30, rng=1, workers=Batch())
    assert caught.value.labcat_result.nfev == 3


def test_after_stop_iteration_the_callback_is_not_called_again():
    called = []

    def callback(intermediate_result):
        called.append(intermediate_result.nfev)
        if len(called) == 3:
            raise StopIteration

    workers = (lambda f, xs: [f(x) for x in xs], 8)
    result = labcat.minimize(sphere, BOX, budget=30, rng=1, workers=workers, callback=callback)
    assert called == [1, 2, 3]
    assert result.nfev == 8  # nothing of the batch is lost


def test_worker_processes_end_with_the_run():
    def callback(xk):
        raise StopIteration

    start = time.monotonic()
    result = labcat.minimize(
        objectives.slow_sphere, BOX, budget=30, rng=1, workers=3, callback=callback
    )
    assert result.status == 99 and 1 <= result.nfev <= 3
    assert time.monotonic() - start < 120
    assert children() == []


def test_waiting_futures_are_cancelled_when_the_run_ends():
    started = []

    def fun(x):
        started.append(x)
        time.sleep(1)
        return sphere(x)

    with ThreadPoolExecutor(1) as pool:
        labcat.minimize(fun, BOX, budget=30, rng=1, workers=(pool, 8), time_limit=0.1)
    assert len(started) <= 2


def test_many_workers_search_as_well_as_one():
    with ThreadPoolExecutor(4) as pool:
        result = labcat.minimize(slow_sphere, BOX, budget=60, rng=1, workers=pool)
    check_complete(result, 60)
    assert result.fun < 1e-3
