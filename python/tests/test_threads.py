"""Threads."""

from __future__ import annotations

import random
import sys
import threading

from objectives import BOX, advance, rosenbrock, sphere

import labcat


def test_eight_threads_asking_and_telling_at_random():
    """Two asks in flight per thread: nothing is lost, nothing comes twice, nothing waits for ever."""
    optimizer = labcat.Optimizer(BOX, rng=1, budget=400)
    told: list[int] = []
    points: list[tuple[float, ...]] = []
    errors: list[BaseException] = []
    start = threading.Barrier(8)

    def work(number):
        rng = random.Random(number)
        start.wait()
        try:
            held = []
            while True:
                try:
                    while len(held) < 2:
                        held.append(optimizer.ask())
                        points.append(tuple(held[-1].x))
                except (labcat.Stopped, labcat.BudgetOutstanding):
                    if not held:
                        return
                trial = held.pop(rng.randrange(len(held)))
                draw = rng.random()
                if draw < 0.1:
                    optimizer.fail(trial)
                else:
                    optimizer.tell(trial, rosenbrock(trial.x))
                told.append(trial.id)
                if draw > 0.95:
                    _ = optimizer.best, optimizer.to_json(), optimizer.pending, optimizer.history
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=600)
    assert not any(thread.is_alive() for thread in threads), "deadlock"
    assert errors == []
    assert len(told) == len(set(told)) == 400
    assert sorted(told) == sorted(optimizer.history.id.tolist())
    assert len(set(points)) == len(points)
    assert optimizer.stop_reason == "budget" and optimizer.pending == []


def test_other_threads_run_while_the_core_computes():
    """Threads are never made to take turns here: another one only runs if the core lets go of the interpreter."""
    optimizer = labcat.Optimizer([(-5, 5)] * 20, rng=1)
    advance(optimizer, 60, sphere)
    done = threading.Event()
    ticks = 0
    others_ran = False

    def compute():
        nonlocal others_ran
        before = ticks
        for _ in range(2000):  # many times: on a busy machine the other thread may be asleep all through a short step
            advance(optimizer, 1, sphere)
            others_ran = ticks > before
            if others_ran:
                break
        done.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=compute)
        thread.start()
        while not done.wait(1e-4):
            ticks += 1
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert others_ran
