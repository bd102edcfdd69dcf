"""Ray Tune with labcat, through its wrapper of Optuna; here with two processors of this machine.

Needs `pip install 'ray[tune]' optuna`.
"""

import tempfile

import optuna
import ray
from ray import tune
from ray.tune.search import ConcurrencyLimiter
from ray.tune.search.optuna import OptunaSearch

from labcat.integrations.optuna import LabcatSampler


def train(config):
    """Takes a while, somewhere on the cluster."""
    loss = (config["x"] - 1) ** 2 + 10 * (config["x"] + config["y"]) ** 2
    tune.report({"loss": loss})


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)  # on a cluster: address="auto"
    # The parameters are Tune's; all real ones, with tune.loguniform for a logarithmic scale.
    space = {"x": tune.uniform(-5, 5), "y": tune.uniform(-5, 5)}
    search = OptunaSearch(metric="loss", mode="min", sampler=LabcatSampler(seed=1))
    with tempfile.TemporaryDirectory() as directory:
        tuner = tune.Tuner(
            train,
            param_space=space,
            tune_config=tune.TuneConfig(
                search_alg=ConcurrencyLimiter(search, 2), num_samples=24, reuse_actors=True
            ),
            run_config=tune.RunConfig(storage_path=directory, verbose=0),
        )
        results = tuner.fit()
    best = results.get_best_result("loss", "min")
    print(f"{len(results)} trials, best loss {best.metrics['loss']:.2e}")
    ray.shutdown()
