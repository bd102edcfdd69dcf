"""The `synthetic` command: the paper's six functions, its two tables and its figure; also the tables of `compare`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, pstdev

import numpy as np

from . import figures, paper
from .algorithms import Algorithm
from .coco import failures
from .functions import PAPER
from .problems import SHIFT, SyntheticProblem
from .ranksum import SIGNIFICANCE, mark
from .results import Record
from .runner import Run
from .summary import Block, Figure, Table

BUDGET = 150
RUNS = 50
FLOOR = 1e-40

Runs = Mapping[str, Sequence[Record]]  # algorithm → its runs on one function


def plan(
    algorithms: Sequence[tuple[Algorithm, int]],
    functions: Sequence[str],
    budget: int,
    seed: int,
    shifted: Sequence[bool],
) -> list[Run]:
    """Each algorithm with its number of runs."""
    return [
        Run(algorithm, SyntheticProblem(function, run, shift), budget, seed)
        for shift in shifted
        for function in functions
        for run in range(max(runs for _, runs in algorithms))
        for algorithm, runs in algorithms
        if run < runs
    ]


def runs_of(peers: Sequence[str], runs: int) -> dict[str, int]:
    """`bads:10` asks for ten runs of BADS; without a number it is as many as of LABCAT."""
    found = {}
    for text in peers:
        name, separator, count = text.partition(":")
        if separator and not (count.isdecimal() and int(count) > 0):
            raise ValueError(f"{text!r} is not of the form NAME or NAME:RUNS, with one run or more")
        found[name] = int(count) if separator else runs
    return found


def by_function(records: Sequence[Record], shifted: bool) -> dict[str, dict[str, list[Record]]]:
    """function → algorithm → runs."""
    chosen: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        if record["shifted"] == shifted:
            chosen.setdefault(record["function"], {}).setdefault(record["algorithm"], []).append(record)
    return chosen


def final(record: Record) -> float:
    """The regret at the end; infinite if nothing finite was ever seen."""
    return record["trace"][-1][1] if record["trace"] else math.inf


def summarise(records: Sequence[Record], folder: Path, *, draw: bool = True, floor: float = FLOOR) -> list[Block]:
    blocks: list[Block] = []
    for shifted in sorted({r["shifted"] for r in records}):
        chosen = by_function(records, shifted)
        words = f", optimum shifted by up to {SHIFT:.0%} of the box" if shifted else ""
        names = [name for name in PAPER if name in chosen]
        for start in range(0, len(names), 3):
            part = {name: chosen[name] for name in names[start : start + 3]}
            blocks.append(regret_table(f"Final regret on {', '.join(part)}{words}", part, printed=not shifted))
        if not shifted:
            blocks += order_table(chosen)
        blocks.append(log_table(f"Mean log10 regret (worst){words}", chosen, floor))
        if draw:
            file = "synthetic-shifted" if shifted else "synthetic"
            blocks.append(draw_regret(chosen, folder, file, f"log10 regret{words}", floor))
    return blocks + failures(records)


def draw_regret(
    chosen: Mapping[str, Runs], folder: Path, file: str, title: str, floor: float = FLOOR, *, logarithmic: bool = True
) -> Figure:
    panels = {
        function: {
            name: [
                figures.log_regret(r["trace"], r["budget"], floor_of(function, floor))
                if logarithmic
                else figures.best_so_far(r["trace"], r["budget"])
                for r in runs
            ]
            for name, runs in algorithms.items()
        }
        for function, algorithms in chosen.items()
    }
    ylabel = f"log10 regret (floor {floor:g})" if logarithmic else "best value"
    figures.save(figures.regret_figure(panels, ylabel), folder / file)
    return Figure(title, file)


def reference(algorithms: Sequence[str]) -> str | None:
    """The LABCAT that the others are tested against: the first one."""
    return next((name for name in algorithms if name.startswith("LABCAT")), None)


def regret_table(title: str, chosen: Mapping[str, Runs], *, printed: bool = False, value: str = "regret") -> Table:
    """Mean ± standard deviation, mark and seconds for each function; the paper's printed rows beside ours."""
    names = list(dict.fromkeys(name for algorithms in chosen.values() for name in algorithms))
    against = reference(names)
    peers = [name for name in names if name != against]
    rows: list[list[str]] = []
    for name in names:
        counts = sorted({len(chosen[f][name]) for f in chosen if name in chosen[f]})
        cells = [c for f in chosen for c in _cells(chosen[f], name, against, len(peers))]
        rows.append([name, _range(counts), *cells])
        if printed and name in paper.SAME_ALGORITHM:
            rows.append(_printed_row(paper.SAME_ALGORITHM[name], list(chosen)))
    if printed:
        absent = [n for n in paper.PRINTED if n not in {paper.SAME_ALGORITHM.get(name) for name in names}]
        rows += [_printed_row(name, list(chosen)) for name in absent]
    return Table(
        title,
        ["algorithm", "runs", *(text for f in chosen for text in (f"{f}: {value}", "mark", "seconds"))],
        rows,
        _note(against, len(peers), printed),
    )


def _range(counts: Sequence[int]) -> str:
    return "–".join(map(str, dict.fromkeys((counts[0], counts[-1]))))


def _note(against: str | None, peers: int, printed: bool) -> str:
    repeats = "Mean ± standard deviation over the runs."
    if against is None or not peers:
        marks = ""
    else:
        level = SIGNIFICANCE / peers
        marks = (
            f" Marks: two-sided rank-sum test against {against} at {SIGNIFICANCE:g}/{peers} = {level:.3g}:"
            " + it is better, ≈ no significant difference, − it is worse, by ranks."
        )
    return repeats + marks + (" Rows in italics: printed in the paper." if printed else "")


def _cells(runs: Runs, name: str, against: str | None, peers: int) -> list[str]:
    if name not in runs:
        return ["–", "", "–"]
    regrets, seconds = [final(r) for r in runs[name]], [r["seconds"] for r in runs[name]]
    sign = ""
    if against is not None and name != against and against in runs:
        sign = mark([final(r) for r in runs[against]], regrets, peers)
    return [spread(regrets, ".2e"), sign, spread(seconds, ".3f")]


def spread(values: Sequence[float], form: str) -> str:
    if not all(map(math.isfinite, values)):
        return "not finite"
    deviation = f" ± {format(pstdev(values), form)}" if len(values) > 1 else ""
    return f"{format(mean(values), form)}{deviation}"


def _printed_row(name: str, functions: Sequence[str]) -> list[str]:
    cells = []
    for function in functions:
        p = paper.PRINTED[name][function]
        cells += [f"{p.regret:.2e} ± {p.regret_std:.2e}", p.mark, f"{p.seconds:.3f} ± {p.seconds_std:.3f}"]
    return [f"*paper: {name}*", str(RUNS), *cells]


def order_table(chosen: Mapping[str, Runs]) -> list[Block]:
    """The algorithms that the paper has as well, the least mean regret first: here, and there."""
    same = paper.SAME_ALGORITHM
    rows = []
    for function, runs in chosen.items():
        here = {same[name]: mean(map(final, found)) for name, found in runs.items() if name in same}
        there = {name: paper.PRINTED[name][function].regret for name in here}
        orders = [sorted(regrets, key=lambda name: regrets[name]) for regrets in (here, there)]
        if len(here) > 1:
            rows.append([function, *(" < ".join(order) for order in orders), "yes" if orders[0] == orders[1] else "no"])
    header = ["function", "here", "in the paper", "the same"]
    return [Table("Order of the mean regrets", header, rows, left=3)] if rows else []


def log_table(title: str, chosen: Mapping[str, Runs], floor: float) -> Table:
    """Mean and worst of the logarithm of the final regret, best algorithm first."""
    names = list(dict.fromkeys(name for algorithms in chosen.values() for name in algorithms))
    logs = {
        name: {
            f: np.log10(np.maximum([final(r) for r in runs[name]], floor_of(f, floor)))
            for f, runs in chosen.items()
            if name in runs
        }
        for name in names
    }
    order = sorted(names, key=lambda name: float(np.mean([values.mean() for values in logs[name].values()])))
    rows = [
        [name, *(f"{v[f].mean():.1f} ({v[f].max():.1f})" if f in v else "–" for f in chosen)]
        for name, v in ((name, logs[name]) for name in order)
    ]
    floors = {f: floor_of(f, floor) for f in chosen}
    rounded = [
        f"below {value:.1g} on {f}, by the rounding of its values" for f, value in floors.items() if value > floor
    ]
    note = "; ".join([f"Regrets below {floor:g} count as that", *rounded]) + "."
    return Table(title, ["algorithm", *chosen], rows, note)


def floor_of(function: str, floor: float) -> float:
    """The least regret shown: no finer than the values of the function near their minimum."""
    minimum = PAPER[function].minimum if function in PAPER else 0.0
    return max(floor, float(np.finfo(float).eps) * abs(minimum))
