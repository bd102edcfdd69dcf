"""Objectives that are awaited."""

import asyncio

import numpy as np
import pytest

import labcat

BOX = [(-5, 5)] * 2


async def bowl(x):
    await asyncio.sleep(0)
    return float((x[0] - 1) ** 2 + x[1] ** 2)


def test_one_at_a_time_it_is_the_run_of_minimize():
    awaited = asyncio.run(labcat.aminimize(bowl, BOX, budget=25, rng=1))
    plain = labcat.minimize(lambda x: float((x[0] - 1) ** 2 + x[1] ** 2), BOX, budget=25, rng=1)
    np.testing.assert_array_equal(awaited.history.x, plain.history.x)
    assert awaited.message == plain.message and (awaited.history.seconds > 0).all()


def test_maximising():
    async def hill(x):
        return 3 - await bowl(x)

    assert asyncio.run(labcat.amaximize(hill, BOX, budget=30, rng=1)).fun == pytest.approx(3, abs=1e-2)


def test_evaluations_are_awaited_together_and_others_run_meanwhile():
    running, most, ticks = 0, 0, 0

    async def slow(x):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05)
        running -= 1
        return float(x @ x)

    async def both():
        nonlocal ticks
        run = asyncio.ensure_future(labcat.aminimize(slow, BOX, workers=5, budget=30, rng=1))
        while not run.done():
            ticks += 1
            await asyncio.sleep(0.01)
        return await run

    result = asyncio.run(both())
    assert (result.nfev, most) == (30, 5) and ticks > 10


def test_named_parameters_outcomes_constraints_and_checkpoints(tmp_path):
    async def measure(kind, x):
        return labcat.Outcome(x + (kind == "a"), constraints=[0.2 - x], extra={"kind": kind})

    space = labcat.Space(kind=["a", "b"], x=(0, 1))
    options = {"constraints": 1, "rng": 1, "checkpoint": tmp_path / "run.json"}
    asyncio.run(labcat.aminimize(measure, space, budget=10, **options))
    result = asyncio.run(labcat.aminimize(measure, space, budget=30, **options))
    assert result.nfev == 30 and result.feasible and result.fun == pytest.approx(0.2, abs=1e-2)
    assert result.best.extra == {"kind": "b"}


def test_failures_timeouts_and_callbacks():
    async def moody(x):
        if x[0] < -2:
            raise RuntimeError("too cold")
        if x[0] > 3:
            await asyncio.sleep(60)
        return float(x @ x)

    seen = []
    result = asyncio.run(
        labcat.aminimize(
            moody, BOX, budget=25, rng=1, x0=[[-4, 0], [4, 0]], timeout=0.1, on_error="fail", callback=lambda x: seen.append(x)
        )
    )
    reasons = [reason for reason in result.history.reason if reason]
    assert any("too cold" in reason for reason in reasons) and any("longer than 0.1 s" in reason for reason in reasons)
    assert len(seen) == 25
    with pytest.raises(RuntimeError, match="too cold") as raised:
        asyncio.run(labcat.aminimize(moody, BOX, budget=5, x0=[-4, 0]))
    assert raised.value.labcat_result.nfev == 0

    def stop(intermediate_result):
        if intermediate_result.nfev == 3:
            raise StopIteration

    assert asyncio.run(labcat.aminimize(bowl, BOX, budget=9, callback=stop)).nfev == 3


def test_cancelling_the_run_cancels_its_evaluations():
    begun, cancelled = [], []

    async def forever(x):
        begun.append(x)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(x)
            raise

    async def main():
        run = asyncio.ensure_future(labcat.aminimize(forever, BOX, workers=3, budget=9))
        while len(begun) < 3:
            await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await asyncio.sleep(0)

    asyncio.run(main())
    assert len(cancelled) == 3


@pytest.mark.parametrize("workers", [0, -1, 2.5, map, True])
def test_what_is_no_number_of_evaluations_is_refused(workers):
    with pytest.raises(labcat.InvalidError, match="may be awaited at once"):
        asyncio.run(labcat.aminimize(bowl, BOX, workers=workers))


def test_minimize_says_what_to_call_instead_and_unknown_keywords_are_named():
    with pytest.raises(labcat.InvalidError, match="await labcat.aminimize"):
        labcat.minimize(bowl, BOX)
    with pytest.raises(labcat.UnknownSwitchError, match="did you mean 'budget'"):
        asyncio.run(labcat.aminimize(bowl, BOX, n_trials=3))
