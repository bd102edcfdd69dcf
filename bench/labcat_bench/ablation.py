"""The `ablation` command: what each part of the algorithm is worth, and whether the paper's claims about it hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import figures
from .algorithms import Algorithm, labcat_algorithm
from .coco import by_algorithm, decimal, failures, score_table, speed
from .results import Record
from .scoring import Runtimes, run_score
from .suites import GROUPS
from .summary import Block, Figure, Table, Text

BASE = "LABCAT"
VARIANTS: dict[str, dict[str, Any]] = {
    BASE: {},
    "LABCAT noPC": {"rotation": False},
    "LABCAT p20": {"cache_factor": 20.0},
    "LABCAT ULSP": {"prior_sigma": None},
    "LABCAT n10": {"newton_steps": 10},
}
TIE = 0.01  # AUC differences up to this count as none, whatever their error
UNIMODAL = [*GROUPS["lcond"], *GROUPS["hcond"]]
MULTIMODAL = [*GROUPS["multi"], *GROUPS["mult2"]]


def algorithms(preset: str) -> list[Algorithm]:
    return [labcat_algorithm(preset, label, **switches) for label, switches in VARIANTS.items()]


@dataclass(frozen=True)
class Difference:
    """The change of the AUC against the unablated algorithm, paired by function and instance."""

    mean: float
    error: float

    @property
    def loss(self) -> bool:
        return self.mean < -2 * self.error

    @property
    def gain(self) -> bool:
        return self.mean > 2 * self.error

    @property
    def none(self) -> bool:
        return abs(self.mean) <= max(TIE, 2 * self.error)

    def __str__(self) -> str:
        return f"{'+' if self.mean >= 0 else '−'}{decimal(abs(self.mean))} ± {decimal(self.error)}"


def difference(variant: Sequence[Runtimes], base: Sequence[Runtimes], functions: Sequence[int]) -> Difference:
    pairs = {(r.function, r.instance): r for r in base}
    changes = [
        run_score(r)[0] - run_score(pairs[r.function, r.instance])[0]
        for r in variant
        if r.function in functions and (r.function, r.instance) in pairs
    ]
    if len(changes) < 2:
        return Difference(float(np.mean(changes)) if changes else math.nan, math.inf)
    return Difference(float(np.mean(changes)), float(np.std(changes, ddof=1) / math.sqrt(len(changes))))


def summarise(records: Sequence[Record], folder: Path, *, draw: bool = True) -> list[Block]:
    dims = sorted({r["d"] for r in records})
    by_dim = {dim: by_algorithm(records, dim) for dim in dims}
    blocks: list[Block] = [score_table("bbob", dim, by_dim[dim], speed(records, dim)) for dim in dims]
    blocks.append(difference_table(by_dim))
    blocks.append(restart_table(records, dims))
    blocks.append(Text("\n".join(f"- {sentence}" for sentence in sentences(by_dim, records))))
    if draw:
        figures.save(figures.overview_figure(by_dim, ["all"]), folder / "ablation")
        blocks.append(Figure("Ablation: runtime distributions over all functions", "ablation"))
        for dim in dims:
            figures.save(figures.group_figure(by_dim[dim], dim), folder / f"ablation-d{dim:02d}")
            blocks.append(Figure(f"Ablation by group of functions, d = {dim}", f"ablation-d{dim:02d}"))
    return blocks + failures(records)


ByDim = Mapping[int, Mapping[str, Sequence[Runtimes]]]


def difference_table(by_dim: ByDim) -> Table:
    rows = []
    for dim, runs in by_dim.items():
        for name in runs:
            if name != BASE:
                changes = [difference(runs[name], runs[BASE], list(functions)) for functions in GROUPS.values()]
                cells = ["–" if math.isnan(c.mean) or math.isinf(c.error) else str(c) for c in changes]
                rows.append([name, str(dim), *cells])
    note = "Paired by function and instance; ± one standard error of the mean difference."
    return Table("Change of the AUC against LABCAT", ["variant", "d", *GROUPS], rows, note)


def restarts(records: Sequence[Record], name: str, dim: int) -> float:
    """Mean number of restarts in a run."""
    return float(np.mean([r["restarts"] for r in records if r["algorithm"] == name and r["d"] == dim]))


def restart_table(records: Sequence[Record], dims: Sequence[int]) -> Table:
    rows = [[name, *(f"{restarts(records, name, dim):.2f}" for dim in dims)] for name in VARIANTS]
    return Table("Restarts in a run, mean", ["variant", *(f"d = {dim}" for dim in dims)], rows)


def sentences(by_dim: ByDim, records: Sequence[Record]) -> list[str]:
    """One sentence for each option, from the measured differences alone."""
    dims = list(by_dim)

    def change(name: str, functions: Sequence[int]) -> dict[int, Difference]:
        return {d: difference(by_dim[d][f"LABCAT {name}"], by_dim[d][BASE], functions) for d in dims}

    def listed(changes: Mapping[int, Difference]) -> str:
        return ", ".join(f"{c} in d = {d}" for d, c in changes.items())

    every = list(GROUPS["all"])
    rotation, rotation_unimodal = change("noPC", every), change("noPC", UNIMODAL)
    cache = change("p20", every)
    prior, prior_groups = change("ULSP", every), {g: change("ULSP", list(f)) for g, f in GROUPS.items()}
    steps = change("n10", every)
    gains = [f"{g} in d = {d}" for g, changes in prior_groups.items() for d, c in changes.items() if c.gain]
    more = {d: restarts(records, "LABCAT ULSP", d) > restarts(records, BASE, d) for d in dims}
    return [
        f"noPC (`rotation=False`): the AUC changes by {listed(rotation)}; that the rotation contributes significantly"
        f" {verdict({d: c.loss for d, c in rotation.items()})}, and that it does so more on unimodal functions"
        f" {verdict({d: rotation_unimodal[d].mean < rotation[d].mean for d in dims})};"
        f" on multimodal functions the change is {listed(change('noPC', MULTIMODAL))}.",
        f"p20 (`cache_factor=20`): the AUC changes by {listed(cache)}; that discarding observations contributes"
        f" {verdict({d: c.loss for d, c in cache.items()})};"
        f" on multimodal functions the change is {listed(change('p20', MULTIMODAL))}.",
        f"ULSP (`prior_sigma=None`): the AUC changes by {listed(prior)}; that the prior contributes"
        f" {verdict({d: c.loss for d, c in prior.items()})}; that no group of functions gains without it"
        f" {'holds' if not gains else 'does not hold (' + ', '.join(gains) + ')'};"
        f" that restarts become more frequent {verdict(more)}.",
        f"n10 (`newton_steps=10`): the AUC changes by {listed(steps)}; that more steps than one bring little or nothing"
        f" {verdict({d: c.none for d, c in steps.items()})}.",
    ]


def verdict(holds: Mapping[int, bool]) -> str:
    if all(holds.values()):
        return "holds"
    if not any(holds.values()):
        return "does not hold"
    yes = ", ".join(str(d) for d, held in holds.items() if held)
    no = ", ".join(str(d) for d, held in holds.items() if not held)
    return f"holds in d = {yes} but not in d = {no}"
