"""Benchmarks: LABCAT against its peers, the paper's experiments, and a user's own objective.

`python -m labcat.bench` lists the commands; `labcat_bench.compare` compares algorithms on a function of yours.
"""

from .comparison import Comparison, compare

__all__ = ["Comparison", "compare"]
