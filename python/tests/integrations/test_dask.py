"""`minimize` on a dask.distributed cluster of worker processes."""

from __future__ import annotations

import os
import signal
import time
import uuid

import pytest
from dask.distributed import Client, LocalCluster

import labcat

BUDGET = 24


def evaluate(x, log):
    """A slow paraboloid that leaves a file when it begins and one when it ends.

    While there is a file `hold` it does not end, and leaves a third one.
    """
    name = uuid.uuid4().hex
    write(log / f"{name}.begun", x)
    time.sleep(0.1)
    while (log / "hold").exists():
        (log / f"{name}.held").touch()
        time.sleep(0.01)
    write(log / f"{name}.ended", x)
    return float((x[0] - 1) ** 2 + (x[1] + 2) ** 2)


def write(path, x):
    whole = path.with_suffix(".tmp" + path.suffix[1:])
    whole.write_text(f"{os.getpid()} {x[0].hex()} {x[1].hex()}")
    whole.rename(path)


def points(log, ending):
    lines = [file.read_text().split() for file in log.glob(f"*.{ending}")]
    return [(float.fromhex(x0), float.fromhex(x1)) for _, x0, x1 in lines]


@pytest.fixture
def client(tmp_path):
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            local_directory=str(tmp_path / "dask"),
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def log(tmp_path):
    log = tmp_path / "log"
    log.mkdir()
    return log


def told(result):
    return [tuple(x) for x in result.history.x]


def check(result, log):
    """Every evaluation was told once, with its own value, and none that ended is missing."""
    assert result.nfev == len(result.history) == BUDGET
    assert sorted(result.history.id) == list(range(BUDGET))
    assert len(set(told(result))) == BUDGET
    assert set(told(result)) <= set(points(log, "ended"))
    for x, value in zip(result.history.x, result.history.value):
        assert value == (x[0] - 1) ** 2 + (x[1] + 2) ** 2


def test_all_workers_are_busy(client, log):
    result = labcat.minimize(
        evaluate, [(-5, 5)] * 2, args=(log,), budget=BUDGET, rng=1, workers=client.get_executor()
    )
    check(result, log)
    assert len(points(log, "begun")) == BUDGET
    pids = {file.read_text().split()[0] for file in log.glob("*.ended")}
    assert pids == {str(pid) for pid in client.run(os.getpid).values()}


def test_a_killed_worker_loses_nothing(client, log):
    victims: list[int] = []

    def kill(intermediate_result):
        """Kills a worker in the middle of an evaluation, in the middle of the run."""
        if intermediate_result.nfev < 6 or victims:
            return
        hold = log / "hold"
        hold.touch()
        # What had passed the look at the file ends.
        while running := [f for f in log.glob("*.begun") if not f.with_suffix(".ended").exists()]:
            held = [file for file in running if file.with_suffix(".held").exists()]
            if held:
                victims.append(int(held[0].read_text().split()[0]))
                os.kill(victims[0], signal.SIGKILL)
                break
            time.sleep(0.01)
        hold.unlink()

    result = labcat.minimize(
        evaluate,
        [(-5, 5)] * 2,
        args=(log,),
        budget=BUDGET,
        rng=1,
        workers=client.get_executor(),
        callback=kill,
    )
    assert victims
    check(result, log)
    # The evaluation that died was begun again elsewhere, so one point was begun twice.
    begun = points(log, "begun")
    assert len(begun) > BUDGET
    assert set(begun) == set(told(result))
    assert result.fun < 1e-2
    assert str(victims[0]) not in map(str, client.run(os.getpid).values())


def failing(x):
    raise ArithmeticError("too cold")


def test_an_exception_on_a_worker_reaches_the_user(client):
    with pytest.raises(ArithmeticError, match="too cold") as caught:
        labcat.minimize(failing, [(-5, 5)], budget=4, rng=1, workers=client.get_executor())
    assert caught.value.labcat_result.nfev == 0
