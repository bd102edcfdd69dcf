"""Peers: inside the box, within the budget, reproducible; and what is said of those that are not installed."""

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

from labcat_bench.algorithms import NotInstalled, Peer, UnknownAlgorithm, algorithm, distribution_name, peer_algorithm
from labcat_bench.objective import BudgetSpent, Objective
from labcat_bench.peers import PEERS
from labcat_bench.peers.trust_region import LENGTH_INITIAL, TurboRegion

INSTALLED = ["random", "cma", "lq-cma", "newuoa", "bobyqa", "cobyqa", "bo", "srsm", "optuna-tpe", "optuna-cma"]
INSTALLED += ["ego", "egobox-trego"]


SLOW = ["bo", "srsm"]


def one_start(name, seed, budget=14):
    points = []

    def sphere(x):
        points.append(x.copy())
        return float(np.sum((x - [0.3, 11.0]) ** 2))

    objective = Objective(sphere, [-1.0, 10.0], [2.0, 12.0], budget, 0.0)
    try:
        PEERS[name].run(objective, seed)
    except BudgetSpent:
        pass
    return objective, np.array(points)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", INSTALLED)
def test_a_peer_stays_in_the_box_and_the_budget_and_repeats_itself(name):
    budget = 7 if name in SLOW else 14
    objective, points = one_start(name, 7, budget)
    assert 5 <= objective.evaluations <= budget
    assert (points >= objective.lower).all() and (points <= objective.upper).all()
    again = one_start(name, 7, budget)[1]
    assert np.array_equal(points, again)
    other = one_start(name, 8, budget)[1]
    assert not np.array_equal(points, other)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["cma", "newuoa", "bobyqa", "cobyqa"])
def test_a_start_in_the_centre(name):
    peer = peer_algorithm(f"{name}@centre")
    points = []
    objective = Objective(lambda x: points.append(x.copy()) or float(x @ x), [-1.0, -1.0], [3.0, 3.0], 12, 0.0)
    try:
        peer.run(objective, 1)
    except BudgetSpent:
        pass
    assert peer.label.endswith("(centre)")
    if name != "cma":  # which samples around its start
        assert points[0].tolist() == [1.0, 1.0]
    objective = Objective(lambda x: float(x @ x), [-1.0, -1.0], [3.0, 3.0], 12, 0.0, centre_first=True)
    objective([0.0, 0.0])
    assert objective.start(3).tolist() != [0.5, 0.5]  # a restart is elsewhere


def test_quadratic_interpolation_is_exact_on_a_quadratic():
    assert one_start("bobyqa", 1, budget=40)[0].best < 1e-12


def test_a_region_of_turbo_counts_failures_by_points_and_successes_by_batches():
    values = iter([1.0] * 4 + [0.5, 1.0, 0.4, 1.0, 0.3, 1.0])
    objective = Objective(lambda x: next(values), [0.0, 0.0], [1.0, 1.0], 20)
    point = SimpleNamespace(numpy=lambda: np.full(2, 0.5))
    region = TurboRegion([point], [1.0])
    region.update([point] * 3, objective, tolerance=4)
    assert (region.length, region.failures) == (LENGTH_INITIAL, 3)
    region.update([point], objective, tolerance=4)
    assert (region.length, region.failures) == (LENGTH_INITIAL / 2, 0)
    for _ in range(3):
        region.update([point] * 2, objective, tolerance=4)
    assert (region.length, region.successes, len(region.values)) == (LENGTH_INITIAL, 0, 11)


def test_every_peer_says_how_to_install_it_and_what_it_is_given():
    for peer in PEERS.values():
        assert peer.settings
        assert bool(peer.requires) == bool(peer.imports)
        if peer.requires:
            assert peer.install.startswith("pip install ")


def test_a_missing_package_is_named(monkeypatch):
    assert importlib.util.find_spec("no_such_package_anywhere") is None
    missing = Peer("gone", "Gone", one_start, ("gone-package",), ("no_such_package_anywhere",))
    monkeypatch.setattr("labcat_bench.algorithms.peers", lambda: [missing])
    with pytest.raises(NotInstalled, match="Gone is not installed: pip install gone-package"):
        peer_algorithm("gone")
    assert missing.version == ""


@pytest.mark.parametrize("name", ["nothing", "labcat-fast", "random@centre", "bobyqa@corner"])
def test_unknown_algorithms_are_named(name):
    with pytest.raises(UnknownAlgorithm, match="Allowed: "):
        algorithm(name)


def test_distribution_names():
    assert [distribution_name(r) for r in ("scipy>=1.14", "optuna[extra]", "cma")] == ["scipy", "optuna", "cma"]
