"""Runtimes measured elsewhere: algorithms of the COCO data archive, best2009, and earlier runs of peers.

`data/runtimes.jsonl.gz` has, for each algorithm, function, instance and dimension, the evaluations to each of the
targets of `data/targets.json`; see `data/README.md` for the sources.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable
from functools import cache
from importlib import resources

from .scoring import Runtimes

# What a reader must know before comparing with these.
REMARKS = {
    "best2009": "virtual best of 31 algorithms; a target counts as reached at its expected runtime",
    "Ord-H-DTS-CMA-ES": "archive, instances 1-5 and 61-70, stops at 100 d; not the paper's DTS-CMA-ES",
    "Ord-N-DTS-CMA-ES": "archive, instances 1-5 and 61-70, stops at 100 d; not the paper's DTS-CMA-ES",
    "MATSuMoTo-LHD-2x": "archive, instances 1-5 and 41-50, stops at 50 d",
    "BrentSTEPqi": "archive, instances 1-5 and 41-50",
    "DIRECT": "archive, instances 1-5",
    "R-SHADE-10e2": "archive, instances 1-5 and 31-40, stops at 100 d",
}
# Drawn unless something else is asked for: the reference, and what stands in for the paper's DTS-CMA-ES.
DEFAULT = ("best2009", "Ord-H-DTS-CMA-ES")


class UnknownArchive(ValueError):
    """No archived algorithm of that name."""


@cache
def archived() -> dict[str, list[Runtimes]]:
    """All archived runs by algorithm."""
    packed = resources.files(__package__).joinpath("data/runtimes.jsonl.gz").read_bytes()
    runs: dict[str, list[Runtimes]] = {}
    for line in gzip.decompress(packed).decode("utf-8").splitlines():
        entry = json.loads(line)
        reached = tuple(math.inf if n is None else float(n) for n in entry["evaluations"])
        name = entry["algorithm"]
        runs.setdefault(name, []).append(Runtimes(name, entry["f"], entry["i"], entry["d"], reached))
    return runs


def select(names: Iterable[str], dim: int, functions: Iterable[int]) -> dict[str, list[Runtimes]]:
    """The archived runs of these algorithms in one dimension, on these functions; names without runs are left out."""
    wanted = set(functions)
    chosen = {}
    for name in names:
        if name not in archived():
            raise UnknownArchive(f"no archived algorithm {name!r}. Allowed: {', '.join(sorted(archived()))}")
        runs = [r for r in archived()[name] if r.dim == dim and r.function in wanted]
        if runs:
            chosen[name] = runs
    return chosen
