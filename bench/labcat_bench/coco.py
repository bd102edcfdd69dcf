"""The `coco` command: LABCAT and its peers on a suite of the COCO platform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from . import archive, figures
from .algorithms import Algorithm
from .coco_problems import CocoProblem
from .peers import UNAVAILABLE
from .results import Record
from .runner import Run
from .scoring import BUDGET_FACTOR, Runtimes, group_scores, runtimes_of, score
from .suites import SUITES, Groups
from .summary import Block, Figure, Table, Text

OVERVIEW_GROUPS = ("all", "hcond", "mult2")  # those of the paper's comparison


def plan(
    algorithms: Sequence[Algorithm], problems: Sequence[CocoProblem], seed: int, factor: int = BUDGET_FACTOR
) -> list[Run]:
    """All runs, problem by problem, so that a partial file compares like with like."""
    return [
        Run(algorithm, _observed(problem, algorithm), factor * problem.dim, seed)
        for problem in problems
        for algorithm in algorithms
    ]


def _observed(problem: CocoProblem, algorithm: Algorithm) -> CocoProblem:
    if problem.observer is None:
        return problem
    name = slug(algorithm.label)
    return replace(problem, observer=str(Path(problem.observer).resolve() / name), algorithm=name)


def slug(label: str) -> str:
    """The label as one word for file names and COCO's options."""
    return "-".join("".join(c if c.isalnum() or c == "." else " " for c in label).split())


def by_algorithm(records: Sequence[Record], dim: int) -> dict[str, list[Runtimes]]:
    chosen: dict[str, list[Runtimes]] = {}
    for record in records:
        if record["d"] == dim:
            chosen.setdefault(record["algorithm"], []).append(runtimes_of(record))
    return chosen


def summarise(records: Sequence[Record], folder: Path, archived: Sequence[str], *, draw: bool = True) -> list[Block]:
    """A table and a figure per dimension, and an overview of several dimensions."""
    suite, factor = records[0]["suite"], records[0]["budget"] // records[0]["d"]
    groups = SUITES[suite].groups
    functions = sorted({r["f"] for r in records})
    blocks: list[Block] = []
    by_dim: dict[int, dict[str, list[Runtimes]]] = {}
    for dim in sorted({r["d"] for r in records}):
        ours = by_algorithm(records, dim)
        others = archive.select(archived, dim, functions) if suite == "bbob" else {}
        by_dim[dim] = {**ours, **others}
        absent = UNAVAILABLE if others else {}
        blocks.append(score_table(suite, dim, ours, speed(records, dim), others, absent, factor))
        if draw:
            name = f"{suite}-d{dim:02d}"
            figures.save(figures.group_figure(by_dim[dim], dim, groups, factor), folder / name)
            blocks.append(Figure(f"Runtime distributions on {suite}, d = {dim}", name))
    if draw and len(by_dim) > 1:
        shown = [group for group in OVERVIEW_GROUPS if group in groups]
        figures.save(figures.overview_figure(by_dim, shown, groups, factor), folder / f"{suite}-overview")
        blocks.append(Figure(f"Runtime distributions on {suite}", f"{suite}-overview"))
    return blocks + failures(records)


def speed(records: Sequence[Record], dim: int) -> dict[str, float]:
    """Milliseconds per evaluation, the objective included."""
    totals: dict[str, list[float]] = {}
    for record in records:
        if record["d"] == dim:
            total = totals.setdefault(record["algorithm"], [0.0, 0.0])
            total[0] += record["seconds"]
            total[1] += record["evaluations"]
    return {name: 1000 * seconds / max(count, 1) for name, (seconds, count) in totals.items()}


def score_table(
    suite: str,
    dim: int,
    ours: Mapping[str, Sequence[Runtimes]],
    milliseconds: Mapping[str, float],
    others: Mapping[str, Sequence[Runtimes]] = MappingProxyType({}),
    absent: Mapping[str, str] = MappingProxyType({}),
    factor: int = BUDGET_FACTOR,
) -> Table:
    """AUC / Solved by group, best AUC first; then archived algorithms, and those without data, with the reason."""
    groups = SUITES[suite].groups
    rows = [
        score_row(name, runs[name], milliseconds, groups, factor)
        for runs in (ours, others)
        for name in sorted(runs, key=lambda name: -score(runs[name], factor).auc)
    ]
    rows += [[f"{name} (no data)", *["–"] * (len(groups) + 3)] for name in absent]
    notes = [f"{name}: {archive.REMARKS[name]}." for name in others if name in archive.REMARKS]
    notes += [f"{name}: {why}." for name, why in absent.items()]
    targets = "50 targets from best2009" if suite == "bbob" else "51 targets from 10² to 10⁻⁸"
    return Table(
        f"{suite}, d = {dim}: AUC / Solved, budget {factor}·d, {targets}",
        ["algorithm", "instances", "all", "± error", *list(groups)[1:], "ms/evaluation"],
        rows,
        " ".join(["The error is the standard error of the AUC over instances.", *notes]),
    )


def score_row(
    name: str, runtimes: Sequence[Runtimes], milliseconds: Mapping[str, float], groups: Groups, factor: int
) -> list[str]:
    scores = group_scores(runtimes, groups, factor)
    cells = {group: f"{decimal(s.auc)}/{decimal(s.solved)}" for group, s in scores.items()}
    error = f"{decimal(scores['all'].error)}" if scores["all"].instances > 1 else "–"
    time = f"{milliseconds[name]:.2g}" if name in milliseconds else "–"
    others = [cells.get(group, "–") for group in list(groups)[1:]]
    return [name, str(scores["all"].instances), cells["all"], error, *others, time]


def decimal(value: float) -> str:
    """Three decimals without the leading zero: `.487`."""
    text = f"{value:.3f}"
    return text.removeprefix("0")


def failures(records: Sequence[Record]) -> list[Block]:
    """What went wrong in a run is said, not hidden: the first message of each algorithm."""
    messages: dict[str, list[str]] = {}
    for record in records:
        if record.get("errors"):
            messages.setdefault(record["algorithm"], []).append(record["errors"][0])
    lines = [
        f"{name}: errors ended a start in {len(found)} runs, the first with «{found[0][:200]}»."
        for name, found in messages.items()
    ]
    return [Text("\n".join(lines))] if lines else []
