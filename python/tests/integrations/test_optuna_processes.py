"""The Optuna sampler in several processes, on real databases."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import optuna
import pytest
from optuna.trial import TrialState

from labcat.integrations.optuna import LabcatSampler

WORKER = Path(__file__).with_name("optuna_worker.py")


@pytest.fixture(params=["postgresql", "sqlite"])
def url(request, tmp_path):
    if request.param == "postgresql":
        return request.getfixturevalue("postgresql")
    return f"sqlite:///{tmp_path}/study.db"


@pytest.fixture
def storage(url):
    storage = optuna.storages.RDBStorage(url)
    yield storage
    storage.engine.dispose()


def start(url, study, trials):
    return subprocess.Popen([sys.executable, "-W", "error", WORKER, url, study, str(trials)])


def test_workers_share_a_study(url, storage):
    study = optuna.create_study(storage=storage, study_name="shared")
    workers = [start(url, "shared", 15) for _ in range(3)]
    assert [worker.wait(600) for worker in workers] == [0, 0, 0]

    trials = study.get_trials()
    assert len(trials) == 45
    assert {trial.state for trial in trials} == {TrialState.COMPLETE}
    assert Counter(trial.user_attrs["pid"] for trial in trials) == {w.pid: 15 for w in workers}
    assert len({tuple(trial.params.values()) for trial in trials}) == 45
    # Together they get further than any of them could alone with 15 trials.
    assert study.best_value < 1e-3
    overlapping = sum(
        a.datetime_start < b.datetime_complete and b.datetime_start < a.datetime_complete
        for a, b in itertools.pairwise(trials)
    )
    assert overlapping > 0

    # One that joins later sees everything: the values in the database are exact.
    late = optuna.load_study(study_name="shared", storage=storage, sampler=LabcatSampler(seed=2))
    late.ask().suggest_float("x", -5, 10)
    optimizer = late.sampler._followers[late]._mirror._optimizer
    assert optimizer.n_evaluations == 45
    assert optimizer.best.value == study.best_value
    for trial in trials:
        suggested = trial.system_attrs.get("labcat")
        assert suggested is None or suggested["params"] == trial.params


def test_of_several_workers_one_is_killed_and_the_others_go_on(url, storage):
    study = optuna.create_study(storage=storage, study_name="several")
    victim = start(url, "several", 1000)
    others = [start(url, "several", 15) for _ in range(2)]
    while sum(t.user_attrs.get("pid") == victim.pid for t in study.get_trials()) < 4:
        assert victim.poll() is None
    victim.kill()
    victim.wait()
    assert [worker.wait(600) for worker in others] == [0, 0]

    trials = study.get_trials()
    by = Counter(
        trial.user_attrs.get("pid") for trial in trials if trial.state == TrialState.COMPLETE
    )
    assert [by[worker.pid] for worker in others] == [15, 15]
    assert by[victim.pid] >= 3
    left = [trial for trial in trials if trial.state != TrialState.COMPLETE]
    assert len(left) <= 1  # what the victim was evaluating
    assert len({tuple(trial.params.values()) for trial in trials}) == len(trials)
    assert study.best_value < 1e-2
