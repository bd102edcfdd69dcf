"""Tables of medians over seeds: one row per problem, one column per algorithm."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .results import Record
from .summary import Block, Table, Text
from .versus import difference

EQUAL = 1e-9
"""Medians that agree to this part of the least are equal: a tolerance on the constraints is worth more."""


def is_least(value: float, values: Sequence[float]) -> bool:
    """Whether none of the values is less by more than rounding."""
    least = min(values)
    return math.isfinite(value) and value <= least + EQUAL * abs(least)


def value_at(record: Record, evaluations: int) -> float:
    """The best value within so many evaluations; infinite if nothing counted yet."""
    return float(min((v for n, v in record["trace"] if n <= evaluations), default=math.inf))


def medians(records: Sequence[Record], evaluations: int) -> dict[str, dict[str, list[float]]]:
    """problem → algorithm → the value of each run."""
    found: dict[str, dict[str, list[float]]] = {}
    for record in records:
        by_algorithm = found.setdefault(record["function"], {})
        by_algorithm.setdefault(record["algorithm"], []).append(value_at(record, evaluations))
    return found


def median_table(title: str, records: Sequence[Record], evaluations: int, note: str = "") -> Table:
    """The least medians in bold; in brackets how many runs have a value at all, where not all do."""
    found = medians(records, evaluations)
    names = list(dict.fromkeys(r["algorithm"] for r in records))
    rows = []
    for problem, by_algorithm in found.items():
        values = {name: float(np.median(by_algorithm[name])) for name in names}
        cells = []
        for name in names:
            runs = by_algorithm[name]
            some = sum(map(math.isfinite, runs))
            text = f"{values[name]:.6g}" if math.isfinite(values[name]) else "–"
            text = f"**{text}**" if is_least(values[name], [*values.values()]) else text
            cells.append(text + (f" ({some}/{len(runs)})" if some < len(runs) else ""))
        rows.append([problem, *cells])
    return Table(title, ["problem", *names], rows, note)


def wins(records: Sequence[Record], evaluations: int, name: str) -> list[str]:
    """The problems on which no other algorithm has a lower median; equal ones count for each."""
    found = medians(records, evaluations)
    best = {
        problem: {algorithm: float(np.median(values)) for algorithm, values in by_algorithm.items()}
        for problem, by_algorithm in found.items()
    }
    return [
        problem for problem, values in best.items() if name in values and is_least(values[name], [*values.values()])
    ]


def leaders(records: Sequence[Record], evaluations: int, names: Sequence[str]) -> str:
    """One line for each algorithm: where it is best."""
    best = {name: wins(records, evaluations, name) for name in names}
    return "\n".join(
        f"- {name} is best, or equal, on {len(found)}: {', '.join(found) or 'none'}." for name, found in best.items()
    )


def standing(
    title: str, records: Sequence[Record], evaluations: int, names: Sequence[str], note: str = ""
) -> list[Block]:
    """The table, who is best where, and how often each is below the first."""
    lines = [
        leaders(records, evaluations, names),
        *(against(records, evaluations, names[0], name) for name in names[1:]),
    ]
    return [median_table(title, records, evaluations, note), Text("\n".join(lines))]


def compared(value: float, base: float) -> float:
    """−1 for a lower value, 1 for a higher one, 0 where only rounding tells them apart."""
    equal = value == base or abs(value - base) <= EQUAL * abs(base)
    return 0.0 if equal else math.copysign(1.0, value - base)


def against(records: Sequence[Record], evaluations: int, base: str, other: str) -> str:
    """How many more of the runs with the same seed are below the other than above it, in all and where it counts."""
    values = {(r["function"], r["run"], r["algorithm"]): value_at(r, evaluations) for r in records}
    problems = list(dict.fromkeys(r["function"] for r in records))
    signs = {
        (0, problems.index(problem), run): compared(value, values[problem, run, base])
        for (problem, run, name), value in values.items()
        if name == other
    }
    whole = difference(signs)
    each = {p: difference({key: s for key, s in signs.items() if problems[key[1]] == p}) for p in problems}
    named = [f"{problem} {found}" for problem, found in each.items() if found.significant]
    count = [sum(s * sign > 0 for s in signs.values()) for sign in (-1, 1)]
    return (
        f"- {other} against {base}: lower in {count[0]}, higher in {count[1]} of {len(signs)} runs, {whole} a run;"
        f" beyond two standard errors: {', '.join(named) or 'none'}."
    )
