"""Logs every evaluation of a run to MLflow, in a local database."""

import mlflow

import labcat

SPACE = labcat.Space(
    rate=labcat.Real(1e-5, 1, scale="log"), layers=labcat.Integer(1, 6), solver=["adam", "sgd"]
)


def train(rate, layers, solver):
    loss = (rate**0.25 - 0.2) ** 2 + 0.01 * abs(layers - 3) + 0.1 * (solver == "sgd")
    return labcat.Outcome(loss, extra={"epochs": 5 * layers})


def log(intermediate_result):
    newest = intermediate_result.newest
    with mlflow.start_run(run_name=f"evaluation {newest.id}", nested=True):
        mlflow.log_params(newest.params)
        mlflow.set_tag("status", newest.status)
        if not newest.failed:
            mlflow.log_metrics({"value": newest.value, "seconds": newest.seconds, **newest.extra})
    mlflow.log_metric("best", intermediate_result.fun, step=newest.id)


if __name__ == "__main__":
    mlflow.set_tracking_uri("sqlite:///mlflow.db")
    mlflow.set_experiment("labcat")
    with mlflow.start_run(run_name="tuning"):
        result = labcat.minimize(train, SPACE, budget=15, rng=1, callback=log)
        mlflow.log_params({f"best_{name}": value for name, value in result.params.items()})
    logged = mlflow.search_runs(order_by=["metrics.value"], filter_string="metrics.value < 1e9", output_format="list")
    print(f"{len(logged)} evaluations logged, the best with {logged[0].data.params['solver']}")
    assert logged[0].data.metrics["value"] == result.best.value
