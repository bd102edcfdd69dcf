"""The `claims` command: what the paper says of LABCAT and neither `synthetic`, `coco` nor `ablation` measures.

Every claim is measured on the preset `paper` with one option changed at a time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import figures
from .ablation import Difference, difference
from .algorithms import Algorithm, labcat_algorithm
from .coco import by_algorithm, decimal, plan
from .coco_problems import CocoProblem, coco_problems
from .functions import PAPER, rosenbrock
from .results import Record
from .runner import Run
from .scoring import Runtimes, score
from .suites import GROUPS
from .summary import Block, Figure, Table

# option → symbol, the preset's value, others
SWEEPS: dict[str, tuple[str, str, list[float]]] = {
    "signal": ("σ_f, in units of std(Y′)", "1", [0.25, 0.5, 2.0, 4.0]),
    "beta": ("β", "1/d", [0.05, 0.1, 0.25, 0.5, 1.0, 2.0]),
    "cache_factor": ("ρ", "7", [3.0, 5.0, 10.0, 20.0]),
    "prior_sigma": ("σ_prior", "0.1", [0.02, 0.05, 0.2, 0.5]),
}
BASE = "LABCAT (paper)"
EVERY = list(GROUPS["all"])


@dataclass(frozen=True)
class Finding:
    claim: str
    measured: str
    holds: bool | None  # None: a part of it does

    @property
    def row(self) -> list[str]:
        return [self.claim, self.measured, {True: "yes", False: "no", None: "in part"}[self.holds]]


Outcome = tuple[list[Finding], list[Block]]


# ---- sweeps of one option on bbob


def varied(switch: str, value: float) -> Algorithm:
    switches: dict[str, Any] = {switch: value}
    return labcat_algorithm("paper", **switches)


def sweep_algorithms(switch: str) -> list[Algorithm]:
    return [labcat_algorithm("paper"), *(varied(switch, value) for value in SWEEPS[switch][2])]


def sweep_plan(dims: Sequence[int], instances: Sequence[int], functions: Sequence[int], seed: int) -> list[Run]:
    """All sweeps at once; the runs they share are made once."""
    algorithms = {a.label: a for switch in SWEEPS for a in sweep_algorithms(switch)}
    return plan(list(algorithms.values()), coco_problems("bbob", dims, functions, instances), seed)


def sweep_findings(records: Sequence[Record]) -> Outcome:
    dims = sorted({r["d"] for r in records})
    runs = {dim: by_algorithm(records, dim) for dim in dims}
    blocks: list[Block] = []
    changes: dict[tuple[str, float, int], Difference] = {}
    for switch, (symbol, used, values) in SWEEPS.items():
        rows = [[f"{used} (the preset)", *(text for dim in dims for text in (auc_solved(runs[dim][BASE]), "–"))]]
        for value in values:
            label = varied(switch, value).label
            cells = []
            for dim in dims:
                change = difference(runs[dim][label], runs[dim][BASE], EVERY)
                changes[switch, value, dim] = change
                cells += [auc_solved(runs[dim][label]), str(change)]
            rows.append([f"{value:g}", *cells])
        header = [symbol, *(text for dim in dims for text in (f"d = {dim}", "change"))]
        note = f"AUC/Solved; the change is against {BASE}, paired by function and instance, ± one standard error."
        blocks.append(Table(f"`{switch}`: {symbol}", header, rows, note))
    return [signal_finding(changes, dims), *range_findings(changes, dims)], blocks


def auc_solved(runtimes: Sequence[Runtimes]) -> str:
    found = score(runtimes)
    return f"{decimal(found.auc)}/{decimal(found.solved)}"


Changes = dict[tuple[str, float, int], Difference]


def signal_finding(changes: Changes, dims: Sequence[int]) -> Finding:
    near = [changes["signal", value, dim] for value in (0.5, 2.0) for dim in dims]
    worst = max(near, key=lambda change: abs(change.mean))
    return Finding(
        "The algorithm is not very sensitive to σ_f",
        f"largest change of the AUC for half or twice std(Y′): {worst}",
        all(change.none for change in near),
    )


def range_findings(changes: Changes, dims: Sequence[int]) -> list[Finding]:
    """The recommended intervals: no value outside them is significantly better than the value used."""
    findings = []
    for switch, low, high in (("beta", 0.1, 1.0), ("cache_factor", 5.0, 10.0)):
        symbol, _, values = SWEEPS[switch]
        outside = {(v, d): changes[switch, v, d] for v in values if not low <= v <= high for d in dims}
        better = [f"{v:g} in d = {d} ({change})" for (v, d), change in outside.items() if change.gain]
        findings.append(
            Finding(
                f"Values of {symbol} from {low:g} to {high:g} are recommended",
                f"significantly better outside: {', '.join(better) or 'none'}",
                not better,
            )
        )
    return findings


# ---- steps watched one by one


def watch(fun: Callable[[Any], float], optimizer: Any, evaluations: int) -> Iterator[dict[str, Any]]:
    """The report of each step; model-based ones have length-scales."""
    import labcat

    for _ in range(evaluations):
        try:
            trial = optimizer.ask()
        except labcat.Stopped:
            return
        report = optimizer.report
        optimizer.tell(trial, fun(trial.x))
        yield report


def best_value(optimizer: Any) -> float:
    return float(optimizer.best.value)


def model_steps(dim: int, seed: int, **switches: Any) -> list[list[dict[str, Any]]]:
    """The model-based steps of a run on the first instance of each bbob function, 50 d evaluations."""
    import labcat

    steps = []
    for function in EVERY:
        with CocoProblem("bbob", function, 1, dim).open(50 * dim) as objective:
            optimizer = labcat.Optimizer(objective.bounds, rng=seed, preset="paper", **switches)
            reports = watch(objective, optimizer, objective.budget)
            steps.append([r for r in reports if r["origin"] == "model"])
    return steps


def prior_findings(dims: Sequence[int], seed: int) -> Outcome:
    """The 30 % rule: how far a side of the trust region changes in a step."""
    rows: list[list[str]] = []
    shares: dict[int, float] = {}
    for dim in dims:
        for label, switches in (("0.1", {}), ("0.2", {"prior_sigma": 0.2}), ("uniform", {"prior_sigma": None})):
            runs = model_steps(dim, seed, **switches)
            stretches = np.array([s for run in runs for r in run for s in r["length_scales"]])
            beyond = float(np.mean(np.abs(stretches - 1) > 0.3))
            rows.append([str(dim), label, str(stretches.size), f"{beyond:.2%}", f"{np.std(np.log(stretches)):.3f}"])
            shares.setdefault(dim, beyond)  # that of σ_prior = 0.1
    header = ["d", "σ_prior", "changes", "beyond 30 %", "std of ln ℓ"]
    note = "All model-based steps of a run of 50 d evaluations on each bbob function, first instance."
    return [
        Finding(
            "With σ_prior = 0.1 a side of the trust region is unlikely to change by more than 30 % in a step",
            "; ".join(f"d = {dim}: {share:.2%} of the changes do" for dim, share in shares.items()),
            all(share < 0.01 for share in shares.values()),
        )
    ], [Table("How far a side of the trust region changes in a step", header, rows, note)]


LATE = 20


def settling_findings(dims: Sequence[int], seed: int) -> Outcome:
    """That the length-scales settle while the centre stays and observations are only added."""
    rows, settles = [], []
    for dim in dims:
        first, later = settling(model_steps(dim, seed, cache_factor=1000.0))
        settles.append(later < first / 2)
        rows.append([str(dim), f"{first:.4f}", f"{later:.4f}"])
    title = "Median |ln ℓ| in a step, by how many steps the centre has stayed"
    note = "As above, with ρ = 1000, so that no observation is discarded."
    return [
        Finding(
            "If the centre stays, further observations bring the length-scales to unity",
            "; ".join(f"d = {dim}: median |ln ℓ| {first} → {later}" for dim, first, later in rows),
            all(settles) if all(settles) == any(settles) else None,
        )
    ], [Table(title, ["d", "first step", f"step {LATE} and later"], rows, note)]


def settling(runs: Sequence[Sequence[dict[str, Any]]]) -> tuple[float, float]:
    """Median |ln ℓ| in the first step at a centre, and from the twentieth on."""
    first, later = [], []
    for run in runs:
        centre, stay = None, 0
        for report in run:
            stay = stay + 1 if report["centre"] == centre else 1
            centre = report["centre"]
            size = float(np.mean(np.abs(np.log(report["length_scales"]))))
            if stay == 1:
                first.append(size)
            elif stay >= LATE:
                later.append(size)
    return float(np.median(first)), float(np.median(later))


def infinite_beta_findings(seed: int) -> Outcome:
    """β → ∞: where the points go, and what the model keeps."""
    import labcat

    function = PAPER["branin"]
    lower, upper = np.array(function.bounds).T
    settings: dict[str, dict[str, Any]] = {
        "β = 1/d": {},
        "β = 10⁶": {"beta": 1e6},
        "β = 10⁶, ρ = 1000": {"beta": 1e6, "cache_factor": 1000.0},
    }
    spread, kept, regret = {}, {}, {}
    for label, switches in settings.items():
        optimizer = labcat.Optimizer(function.bounds, rng=seed, preset="paper", restarts=False, **switches)
        *_, last = watch(function.value, optimizer, 150)
        points = optimizer.history.x[5:]
        spread[label] = float(np.mean(np.std((points - lower) / (upper - lower), axis=0)))
        kept[label] = last["observations"] / last["evaluations"]
        regret[label] = best_value(optimizer) - function.minimum
    local, wide, full = settings
    rows = [[label, f"{spread[label]:.3f}", f"{kept[label]:.0%}", f"{regret[label]:.1e}"] for label in settings]
    even = math.sqrt(1 / 12)
    header = ["setting", "spread of the points", "observations kept at the end", "regret"]
    note = f"Branin, 150 evaluations. Points spread evenly over the box have a spread of {even:.3f}."
    searches, keeps = spread[wide] > 2 * spread[local], kept[wide] == 1.0
    return [
        Finding(
            "With β → ∞ the algorithm reverts to the global search of standard Bayesian optimisation",
            f"spread of the points {spread[local]:.3f} → {spread[wide]:.3f} (even: {even:.3f}); observations kept"
            f" {kept[local]:.0%} → {kept[wide]:.0%}, and {kept[full]:.0%} with ρ = 1000 too",
            True if searches and keeps else None if searches or kept[full] == 1.0 else False,
        )
    ], [Table("β → ∞", header, rows, note)]


def step_times(dim: int, seed: int, evaluations: int) -> tuple[list[float], int]:
    """Seconds of processor time of each model-based step on Rosenbrock's function, and the largest model."""
    import labcat

    optimizer = labcat.Optimizer([(-5.0, 10.0)] * dim, rng=seed, preset="paper")
    seconds, largest = [], 0
    for _ in range(evaluations):
        began = time.process_time()
        trial = optimizer.ask()
        spent = time.process_time() - began
        report = optimizer.report or {}
        if report["origin"] == "model":
            seconds.append(spent)
            largest = max(largest, report["observations"])
        optimizer.tell(trial, rosenbrock(trial.x))
    return seconds, largest


def complexity_findings(dims: Sequence[int], seed: int, evaluations: int = 800) -> Outcome:
    """The time of a step: the same late in a run as early, and growing with the dimension."""
    rows, ratios, late = [], [], []
    for dim in dims:
        seconds, largest = step_times(dim, seed, evaluations)
        quarters = [float(np.median(part)) for part in np.array_split(seconds, 4)]
        ratios.append(quarters[3] / quarters[1])
        late.append(quarters[3])
        rows.append([str(dim), *(f"{1000 * quarter:.3f}" for quarter in quarters), f"{ratios[-1]:.2f}", str(largest)])
    findings = [
        Finding(
            "The cost of a run is linear in the number of evaluations, since the model is bounded",
            "a step of the fourth quarter of a run costs "
            + ", ".join(f"{ratio:.2f} (d = {dim})" for dim, ratio in zip(dims, ratios, strict=True))
            + " times one of the second",
            all(ratio < 1.25 for ratio in ratios),
        )
    ]
    if len(dims) > 1:
        exponent = float(np.polyfit(np.log(dims), np.log(late), 1)[0])
        findings.append(
            Finding(
                "The cost of a step is O(ρ³ d³)",
                f"the time of a step grows as d^{exponent:.1f} between d = {dims[0]} and d = {dims[-1]}",
                exponent <= 3.25,
            )
        )
    header = ["d", "first quarter", "second", "third", "fourth", "fourth / second", "most observations"]
    note = f"Median milliseconds of a model-based step on Rosenbrock's function, {evaluations} evaluations."
    return findings, [Table("Cost of a step", header, rows, note)]


# ---- the illustrative figure

VALLEY_END = (-1.5, 2.25)
VALLEY_BOX = ((-2.0, 2.0), (-1.0, 3.0))


def valley_run(rotation: bool, seed: int, evaluations: int = 200) -> tuple[list[Any], list[float]]:
    """Trust regions and best values of a run that begins at the far end of Rosenbrock's valley."""
    import labcat

    optimizer = labcat.Optimizer(
        VALLEY_BOX, rng=seed, preset="paper", rotation=rotation, restarts=False, initial_points=2
    )
    rng = np.random.default_rng(seed)
    for step in (np.zeros(2), *rng.uniform(-0.1, 0.1, (4, 2))):
        point = np.array(VALLEY_END) + step
        optimizer.tell(x=point, value=rosenbrock(point))
    regions, best = [], []
    for report in watch(rosenbrock, optimizer, evaluations):
        best.append(best_value(optimizer))
        if report["origin"] == "model":
            regions.append(optimizer.trust_region)
    return regions, best


def valley_findings(folder: Path, seed: int, *, draw: bool = True, runs: int = 20) -> Outcome:
    target = 1e-6
    needed: dict[bool, list[float]] = {True: [], False: []}
    for rotation, reached in needed.items():
        for run in range(runs):
            best = valley_run(rotation, seed + run)[1]
            reached.append(next((n for n, value in enumerate(best, 1) if value <= target), math.inf))
    words = {rotation: _median_words(values) for rotation, values in needed.items()}
    rows = [[name, words[rotation], f"{np.isfinite(needed[rotation]).mean():.0%}"] for rotation, name in NAMES.items()]
    header = ["", f"evaluations to {target:g}, median", "runs that reach it within 200"]
    blocks: list[Block] = [Table("From the far end of Rosenbrock's valley", header, rows, f"{runs} runs.")]
    if draw:
        panels = {NAMES[rotation]: valley_run(rotation, seed)[0] for rotation in (False, True)}
        figures.save(figures.valley_figure(panels, rosenbrock, VALLEY_BOX), folder / "rosenbrock")
        blocks.append(Figure("Trust regions in Rosenbrock's valley, without and with rotation", "rosenbrock"))
    return [
        Finding(
            "On Rosenbrock's function the rotation finds the optimum more efficiently",
            f"evaluations to {target:g}, median: {words[True]} with rotation, {words[False]} without",
            float(np.median(needed[True])) < float(np.median(needed[False])),
        )
    ], blocks


NAMES = {True: "rotation", False: "no rotation"}


def _median_words(values: Sequence[float]) -> str:
    median = float(np.median(values))
    return f"{median:g}" if math.isfinite(median) else "not within 200"


def findings_table(findings: Sequence[Finding]) -> Table:
    return Table("The paper's claims", ["claim", "measured", "holds"], [finding.row for finding in findings], left=3)
