"""Optuna with PostgreSQL: worker processes, here or on other machines, share one study.

    python optuna_postgresql.py postgresql+pg8000://user:password@host/database

The driver is that of the URL: this one needs `pip install pg8000`.
"""

import subprocess
import sys

import optuna

from labcat.integrations.optuna import LabcatSampler

STUDY = "labcat-example"


def objective(trial):
    x = trial.suggest_float("x", -5, 10)
    y = trial.suggest_float("y", -5, 10)
    rate = trial.suggest_float("rate", 1e-6, 1, log=True)
    return (x - 1) ** 2 + 10 * (x + y) ** 2 + 1e4 * (rate**0.25 - 0.1) ** 2


def work(url, trials):
    """What each worker does. It needs no state but the study: it may join or leave at any time."""
    study = optuna.load_study(study_name=STUDY, storage=url, sampler=LabcatSampler())
    study.optimize(objective, n_trials=trials)


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    url = sys.argv[1]
    if "--work" in sys.argv:
        work(url, trials=25)
    else:
        # Run it again and it goes on with the same study.
        study = optuna.create_study(study_name=STUDY, storage=url, load_if_exists=True)
        before = len(study.trials)
        workers = [subprocess.Popen([sys.executable, __file__, url, "--work"]) for _ in range(2)]
        for worker in workers:
            worker.wait()
        made = len(study.trials) - before
        print(f"{made} trials by {len(workers)} processes, {before} in the study before")
        best = ", ".join(f"{name} = {value:.3g}" for name, value in study.best_params.items())
        print(f"best value {study.best_value:.2e} with {best}")
