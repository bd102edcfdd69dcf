"""The measure: by hand, against known figures of archived algorithms, against cocopp."""

import math

import numpy as np
import pytest

from labcat_bench import archive, scoring
from labcat_bench.scoring import Runtimes


def test_evaluations_to_targets_by_hand():
    trace = [(1, 50.0), (3, 7.0), (4, 7.0), (10, 0.5)]
    assert scoring.evaluations_to_targets(trace, [100, 50, 10, 7, 0.5, 0.1]) == (1, 1, 3, 3, 10, math.inf)


def test_a_trace_that_gets_worse_reaches_nothing_new():
    assert scoring.evaluations_to_targets([(1, 5.0), (2, 9.0)], [8, 4]) == (1, math.inf)


def test_score_by_hand():
    # Two targets in d = 2: one reached at once, one never. At every budget exactly half is reached.
    half = scoring.score([Runtimes("a", 1, 1, 2, (1, math.inf))])
    assert (half.auc, half.solved) == (0.5, 0.5)
    # Reached exactly at the last budget, 200 d: it counts there and nowhere before.
    last = scoring.score([Runtimes("a", 1, 1, 2, (400.0,))])
    assert last.solved == 1.0
    assert last.auc == pytest.approx(1 / 100)
    # One evaluation later it never counts.
    assert scoring.score([Runtimes("a", 1, 1, 2, (401.0,))]).solved == 0.0


def test_budgets_are_log_spaced_with_exact_ends():
    at = scoring.budgets(3)
    assert (at[0], at[-1], at.size) == (3.0, 600.0, 100)
    assert np.allclose(np.diff(np.log(at)), math.log(200) / 99)


def test_error_is_the_spread_over_instances():
    runs = [Runtimes("a", 1, i, 2, (n,)) for i, n in ((1, 1.0), (2, math.inf))]
    found = scoring.score(runs)
    assert found.auc == 0.5
    assert found.error == pytest.approx(np.std([1, 0], ddof=1) / math.sqrt(2))


def test_a_score_mixes_no_dimensions():
    with pytest.raises(ValueError, match=r"\[2, 3\]"):
        scoring.score([Runtimes("a", 1, 1, 2, (1.0,)), Runtimes("a", 1, 1, 3, (1.0,))])


# Measured and rounded before this scorer was written.
KNOWN = [
    ("best2009", 2, "all", 0.530, 0.967),
    ("best2009", 10, "multi", 0.201, 0.616),
    ("nlopt BOBYQA 2.11", 3, "hcond", 0.547, 0.885),
    ("nlopt NEWUOA 2.11", 5, "all", 0.407, 0.695),
    ("pycma CMA-ES 4.5", 3, "all", 0.358, 0.782),
    ("random", 10, "mult2", 0.074, 0.176),
    ("Ord-H-DTS-CMA-ES", 5, "sep", 0.349, 0.550),
]


@pytest.mark.parametrize(("name", "dim", "group", "auc", "solved"), KNOWN)
def test_known_figures_of_archived_algorithms(name, dim, group, auc, solved):
    runs = [r for r in archive.archived()[name] if r.dim == dim]
    found = scoring.group_scores(runs)[group]
    assert (round(found.auc, 3), round(found.solved, 3)) == (auc, solved)


def test_groups_cover_the_24_functions_once():
    members = [f for name, group in scoring.GROUPS.items() if name != "all" for f in group]
    assert sorted(members) == list(range(1, 25))


@pytest.mark.filterwarnings("ignore")
def test_shipped_targets_are_those_of_cocopp():
    for key, shipped in scoring.shipped_targets().items():
        function, dim = map(int, key.split(","))
        assert scoring.cocopp_targets(function, dim) == pytest.approx(shipped, rel=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_dimensions_that_are_not_shipped_come_from_cocopp():
    found = scoring.targets("bbob", 1, 40)
    assert len(found) == 50
    assert list(found) == sorted(found, reverse=True)


def test_other_suites_have_absolute_targets():
    found = scoring.targets("bbob-boxed", 3, 2)
    assert len(found) == 51
    assert (found[0], found[-1]) == (pytest.approx(100), pytest.approx(1e-8))


def test_archive_names_are_checked():
    with pytest.raises(archive.UnknownArchive, match="best2009"):
        archive.select(["nothing"], 2, [1])
    assert archive.select(["best2009"], 40, [1]) == {}
