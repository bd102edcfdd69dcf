"""The marks."""

import numpy as np

from labcat_bench.ranksum import mark


def test_marks():
    low, high = list(np.linspace(0, 1, 50)), list(np.linspace(2, 3, 50))
    assert mark(low, high, comparisons=8) == "+"
    assert mark(high, low, comparisons=8) == "−"
    assert mark(low, low, comparisons=8) == "≈"


def test_all_tied_is_no_evidence():
    assert mark([1.0] * 5, [1.0] * 4, comparisons=1) == "≈"


def test_ranks_decide_not_means():
    # One bad run in fifty ruins the mean of the first, but not its ranks: the paper's Levy row.
    labcat = [*np.linspace(1e-16, 1e-15, 49), 10.0]
    peer = list(np.linspace(1e-7, 1e-6, 50))
    assert np.mean(labcat) > np.mean(peer)
    assert mark(labcat, peer, comparisons=8) == "+"


def test_bonferroni():
    a, b = [1.0, 2.0, 3.0, 4.0, 5.0], [4.5, 6.0, 7.0, 8.0, 9.0]  # p = 0.022
    assert mark(a, b, comparisons=1) == "+"
    assert mark(a, b, comparisons=8) == "≈"


def test_ties_are_corrected_for():
    # Without the correction p would be 0.064, not significant; with it, it is 0.032.
    a, b = [0.0] * 8 + [1.0] * 2, [0.0] * 3 + [1.0] * 7
    assert mark(a, b, comparisons=1) == "+"
