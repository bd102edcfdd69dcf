"""The marks of the paper's tables, by the two-sided Wilcoxon rank-sum test (Mann-Whitney U) of scipy."""

from __future__ import annotations

from collections.abc import Sequence

SIGNIFICANCE = 0.05


def mark(labcat: Sequence[float], peer: Sequence[float], comparisons: int) -> str:
    """`+` where LABCAT's values are lower by ranks, `−` where they are higher, `≈` where neither is significant.

    The level 0.05 is divided by the number of comparisons (Bonferroni): 0.00625 for the paper's eight.
    """
    from scipy.stats import mannwhitneyu

    test = mannwhitneyu(labcat, peer, alternative="two-sided", method="asymptotic")  # corrected for ties
    if not test.pvalue < SIGNIFICANCE / comparisons:  # nor where all values are tied
        return "≈"
    return "+" if 2 * test.statistic < len(labcat) * len(peer) else "−"
