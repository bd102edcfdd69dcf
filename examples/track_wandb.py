"""Logs every evaluation of a run to Weights & Biases, offline: `wandb sync wandb/offline-run-*` uploads it later."""

import wandb

import labcat

SPACE = labcat.Space(
    rate=labcat.Real(1e-5, 1, scale="log"), layers=labcat.Integer(1, 6), solver=["adam", "sgd"]
)


def train(rate, layers, solver):
    loss = (rate**0.25 - 0.2) ** 2 + 0.01 * abs(layers - 3) + 0.1 * (solver == "sgd")
    return labcat.Outcome(loss, extra={"epochs": 5 * layers})


if __name__ == "__main__":
    with wandb.init(mode="offline", project="labcat", settings=wandb.Settings(silent=True)) as run:

        def log(intermediate_result):
            newest = intermediate_result.newest
            run.log({
                **newest.params, **newest.extra, "value": newest.value, "status": newest.status,
                "seconds": newest.seconds, "best": intermediate_result.fun,
            })  # fmt: skip

        result = labcat.minimize(train, SPACE, budget=15, rng=1, callback=log)
        print(f"{run.step} evaluations logged, the best with {result.params['solver']}")
        run.summary.update({f"best_{name}": value for name, value in result.params.items()})
