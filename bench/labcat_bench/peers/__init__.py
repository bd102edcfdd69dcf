"""The peers: adapters of a few lines each over the real packages, none of which is installed with `labcat`.

An adapter makes one run from a seed, in a box, for at most `objective.remaining` evaluations. Where the package has
an initial design, it gets 2d + 1 points; the rest stays at the package's defaults. When a run ends before the budget
does, the harness starts another with the next seed.
"""

from __future__ import annotations

from ..algorithms import Peer
from . import bayesian, classic, constrained, local, mixed, noisy, trust_region

PEERS: dict[str, Peer] = {
    p.name: p for module in (classic, bayesian, trust_region, noisy, mixed, constrained, local) for p in module.PEERS
}

# Peers of the paper that no public package offers, and what stands in for them.
UNAVAILABLE = {
    "DTS-CMA-ES": "MATLAB only; the archive's Ord-H and Ord-N variants (to 100 d evaluations) are drawn instead",
    "MCS": "MATLAB only; no runtimes at hand",
    "AutoSAEA": "MATLAB only; no runtimes at hand",
    "TRLBO": "no public package; no runtimes at hand",
}
