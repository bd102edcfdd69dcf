"""The two-sided Wilcoxon rank-sum test (Mann-Whitney U), and the marks of the paper's tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .objective import Array

SIGNIFICANCE = 0.05


def ranks(values: Sequence[float]) -> Array:
    """Ranks from 1; tied values share the mean of their ranks."""
    _, inverse, counts = np.unique(np.asarray(values, dtype=float), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: Array = (last - (counts - 1) / 2)[inverse]
    return shared


def rank_sum(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """The standardised rank sum of `a` and its p-value.

    Normal approximation with the correction for ties and for continuity; the score is negative where `a` tends to be
    smaller. With all values tied there is no evidence: (0, 1).
    """
    n, m = len(a), len(b)
    if not n or not m:
        raise ValueError("a rank-sum test needs values on both sides")
    total = n + m
    _, ties = np.unique(np.concatenate([a, b]), return_counts=True)
    spread = n * m / 12 * (total + 1 - (ties**3 - ties).sum() / (total * (total - 1)))
    if spread <= 0:
        return 0.0, 1.0
    excess = float(ranks([*a, *b])[:n].sum()) - n * (total + 1) / 2
    z = math.copysign(max(abs(excess) - 0.5, 0.0), excess) / math.sqrt(spread)
    return z, math.erfc(abs(z) / math.sqrt(2))


def mark(labcat: Sequence[float], peer: Sequence[float], comparisons: int) -> str:
    """`+` where LABCAT's values are lower by ranks, `−` where they are higher, `≈` where neither is significant.

    The level 0.05 is divided by the number of comparisons (Bonferroni): 0.00625 for the paper's eight.
    """
    z, p = rank_sum(labcat, peer)
    if p >= SIGNIFICANCE / comparisons:
        return "≈"
    return "+" if z < 0 else "−"
