"""A worker process of a study: python optuna_worker.py URL STUDY TRIALS."""

from __future__ import annotations

import os
import sys
import time

import optuna

from labcat.integrations.optuna import LabcatSampler


def objective(trial: optuna.Trial) -> float:
    trial.set_user_attr("pid", os.getpid())
    x, y = (trial.suggest_float(name, -5, 10) for name in "xy")
    time.sleep(0.02)
    return (x - 1) ** 2 + 10 * (x + y) ** 2


if __name__ == "__main__":
    url, name, trials = sys.argv[1:]
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    # Every worker has the same seed, on purpose: their points must differ all the same.
    study = optuna.load_study(study_name=name, storage=url, sampler=LabcatSampler(seed=1))
    study.optimize(objective, n_trials=int(trials))
