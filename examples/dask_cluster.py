"""Dask: evaluate on the workers of a cluster. Here they are two processes on this machine."""

import time

from dask.distributed import Client, LocalCluster

import labcat


def simulate(x):
    """Takes a while, somewhere on the cluster."""
    time.sleep(0.1)
    return (x[0] - 1) ** 2 + (x[1] + 2) ** 2


if __name__ == "__main__":  # Dask starts processes that import this file
    # On a real cluster: Client("tcp://scheduler:8786").
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        started = time.perf_counter()
        # As many evaluations run at once as the cluster has threads. As soon as one ends the next
        # point is suggested. If a worker dies, Dask evaluates its point on another one.
        result = labcat.minimize(
            simulate, [(-5, 5)] * 2, budget=40, rng=1, workers=client.get_executor()
        )
        seconds = time.perf_counter() - started

    print(f"best value {result.fun:.2e} at {result.x.round(3)}")
    print(f"{result.nfev} evaluations of 0.1 s in {seconds:.1f} s on 2 workers")
