"""The rank-sum test against scipy, and the marks."""

import numpy as np
import pytest
from labcat.bench.ranksum import mark, rank_sum, ranks
from scipy import stats


def test_ranks_share_ties():
    assert ranks([3.0, 1.0, 3.0, 2.0]).tolist() == [3.5, 1.0, 3.5, 2.0]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("levels", [3, 10, 10**6])
def test_p_values_are_those_of_scipy(seed, levels):
    rng = np.random.default_rng([seed, levels])
    a = rng.integers(levels, size=rng.integers(3, 60)) / levels
    b = rng.integers(levels, size=rng.integers(3, 60)) / levels + rng.uniform(-0.3, 0.3) * (levels > 100)
    z, p = rank_sum(a, b)
    expected = stats.mannwhitneyu(a, b, alternative="two-sided", method="asymptotic")
    assert p == pytest.approx(expected.pvalue, rel=1e-9)
    excess = expected.statistic - len(a) * len(b) / 2
    assert np.sign(z) == np.sign(excess) or abs(excess) <= 0.5


def test_all_tied_is_no_evidence():
    assert rank_sum([1.0] * 5, [1.0] * 4) == (0.0, 1.0)


def test_marks():
    low, high = list(np.linspace(0, 1, 50)), list(np.linspace(2, 3, 50))
    assert mark(low, high, comparisons=8) == "+"
    assert mark(high, low, comparisons=8) == "−"
    assert mark(low, low, comparisons=8) == "≈"


def test_ranks_decide_not_means():
    # One bad run in fifty ruins the mean of the first, but not its ranks: the paper's Levy row.
    labcat = [*np.linspace(1e-16, 1e-15, 49), 10.0]
    peer = list(np.linspace(1e-7, 1e-6, 50))
    assert np.mean(labcat) > np.mean(peer)
    assert mark(labcat, peer, comparisons=8) == "+"


def test_bonferroni():
    a, b = [1.0, 2.0, 3.0, 4.0, 5.0], [4.5, 6.0, 7.0, 8.0, 9.0]
    _, p = rank_sum(a, b)
    assert 0.05 / 8 < p < 0.05
    assert mark(a, b, comparisons=1) == "+"
    assert mark(a, b, comparisons=8) == "≈"


def test_both_sides_are_needed():
    with pytest.raises(ValueError, match="both sides"):
        rank_sum([], [1.0])
