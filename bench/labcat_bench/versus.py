"""The `versus` command: settings of LABCAT, builds or peers, on the same problems with the same seeds, two by two.

What is compared is a mean over functions of means over instances, and it has two errors. That over *instances* says how
far another draw of instances and seeds of the same functions would move it; that over *functions*, how far other
functions would. A difference counts where it exceeds two of the first; the second says whether a few functions decide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import labcat

from . import foreign
from .algorithms import PRESETS, Algorithm, labcat_algorithm, literal, peer_algorithm, peers
from .coco import decimal
from .coco_problems import CocoProblem
from .results import Record, build
from .runner import Problem, Run, execute
from .scoring import record_score
from .suites import Groups, Kind, suite
from .summary import Block, Table, Text

DECIDING = 6  # functions named, those that moved the difference most

Key = tuple[int, int, int]  # dimension, function, instance
Scores = Mapping[Key, tuple[float, float]]  # AUC and Solved, mean over seeds


# ---- settings


def setting(text: str, kind: Kind = "box") -> Algorithm:
    """`default`, `paper,beta=0.3`, `default@/path/to/python`, or the name of a peer."""
    named, _, python = text.partition("@")
    if "/" not in python:  # `bobyqa@centre` is a peer's start
        named, python = text, ""
    preset, *switches = named.split(",")
    if preset not in PRESETS:
        if python or switches:
            raise ValueError(f"unknown preset {preset!r} in {text!r}. Allowed: {', '.join(PRESETS)}")
        return peer_algorithm(named, kind)
    options = {}
    for switch in switches:
        name, separator, value = switch.partition("=")
        if not separator:
            raise ValueError(f"{switch!r} in {text!r} is not of the form OPTION=VALUE")
        options[name] = literal(value)
    found = labcat_algorithm(preset, text, **options)
    return elsewhere(found, python) if python else replace(found, build=build())


def elsewhere(algorithm: Algorithm, python: str) -> Algorithm:
    """The same with the LABCAT of another interpreter."""
    python = str(Path(python).absolute())
    return replace(algorithm, python=python, build=foreign.interpreter(python).build)


def each_option() -> list[str]:
    """`default` with each of its options, one at a time, as in `paper`: what every part of it is worth."""
    return [f"default,{name}={o.paper}" for name, o in labcat.SWITCHES.items() if o.paper != o.default]


def settings(texts: Sequence[str], kind: Kind = "box") -> list[Algorithm]:
    """All of them, each told apart from its like by a number; `each` stands for `each_option`."""
    texts = [text for given in texts for text in (each_option() if given == "each" else [given])]
    if len(texts) < 2:
        raise ValueError("a comparison needs two settings or more")
    return told_apart([setting(text, kind) for text in texts], texts)


def settings_beside(texts: Sequence[str], kind: Kind) -> list[Algorithm]:
    """One or more of them; peers for this kind of problem may take part beside those for a box."""
    if not texts:
        raise ValueError("no algorithm: name a setting of LABCAT or a peer")
    special = {p.name for p in peers() if kind in p.kinds}
    return told_apart([setting(text, kind if text in special else "box") for text in texts], texts)


def told_apart(found: list[Algorithm], texts: Sequence[str]) -> list[Algorithm]:
    counts = dict.fromkeys(texts, 0)
    for index, text in enumerate(texts):
        counts[text] += 1
        if counts[text] > 1:
            found[index] = replace(found[index], label=f"{text} #{counts[text]}")
    return found


def check(algorithms: Sequence[Algorithm], problem: Problem) -> None:
    """An option that does not exist is an error at once, not in every run."""
    for algorithm in algorithms:
        if errors := execute(Run(algorithm, problem, 1, 1)).get("errors"):
            raise ValueError(f"{algorithm.label}: {errors[0]}")


def plan(
    algorithms: Sequence[Algorithm], problems: Sequence[CocoProblem], seeds: Sequence[int], factor: int, *, rotate: bool
) -> list[Run]:
    """Problem by problem; with `rotate` each setting takes the next one's seed, so that no two share a design."""
    return [
        Run(algorithm, problem, factor * problem.dim, seeds[(turn + place * rotate) % len(seeds)])
        for problem in problems
        for turn in range(len(seeds))
        for place, algorithm in enumerate(algorithms)
    ]


# ---- differences


@dataclass(frozen=True)
class Difference:
    """A mean difference and its standard errors; NaN where they cannot be told."""

    mean: float
    instances: float
    functions: float

    @property
    def significant(self) -> bool:
        return abs(self.mean) > 2 * self.instances

    def __str__(self) -> str:
        return f"{signed(self.mean)} ± {error(self.instances)}"


def signed(value: float) -> str:
    return f"{'+' if value >= 0 else '−'}{decimal(abs(value))}"


def error(value: float) -> str:
    return "?" if math.isnan(value) else decimal(value)


def scores(records: Sequence[Record], factor: int) -> dict[Key, tuple[float, float]]:
    by_key: dict[Key, list[tuple[float, float]]] = {}
    for record in records:
        by_key.setdefault((record["d"], record["f"], record["i"]), []).append(record_score(record, factor))
    return {
        key: (float(auc), float(solved)) for key, (auc, solved) in ((k, np.mean(v, axis=0)) for k, v in by_key.items())
    }


def difference(changes: Mapping[Key, float]) -> Difference:
    """The mean of paired changes, every function and dimension with the same weight."""
    strata: dict[tuple[int, int], list[float]] = {}
    for (dim, function, _), change in changes.items():
        strata.setdefault((dim, function), []).append(change)
    means = {key: float(np.mean(values)) for key, values in strata.items()}
    variances = [np.var(v, ddof=1) / len(v) if len(v) > 1 else math.nan for v in strata.values()]
    by_function: dict[int, list[float]] = {}
    for (_, function), mean in means.items():
        by_function.setdefault(function, []).append(mean)
    averages = [float(np.mean(values)) for values in by_function.values()]
    return Difference(
        float(np.mean(list(means.values()))),
        math.sqrt(sum(variances)) / len(strata),
        float(np.std(averages, ddof=1)) / math.sqrt(len(averages)) if len(averages) > 1 else math.nan,
    )


# ---- what is shown


def summarise(records: Sequence[Record], runs: Sequence[Run], factor: int) -> list[Block]:
    by_label: dict[str, list[Record]] = {}
    for run, record in zip(runs, records, strict=True):
        by_label.setdefault(run.algorithm.label, []).append(record)
    scored = {label: scores(found, factor) for label, found in by_label.items()}
    base, *others = scored
    groups = suite(records[0]["suite"]).groups
    blocks: list[Block] = []
    for other in others:
        dims = sorted({dim for dim, _, _ in scored[base]})
        blocks += [block for dim in dims for block in compared(base, other, scored, [dim], factor, groups)]
        if len(dims) > 1:
            blocks += compared(base, other, scored, dims, factor, groups)
    if len(others) > 1:
        blocks.append(overview(base, scored))
    return [*blocks, cost_table(by_label)]


def overview(base: str, scored: Mapping[str, Scores]) -> Table:
    """One row a setting, one column a dimension."""
    dims = sorted({dim for dim, _, _ in scored[base]})

    def cell(other: str, dim: int) -> str:
        pairs = {key: (scored[base][key], scored[other][key]) for key in scored[base] if key[0] == dim}
        found = [difference(changes_of(pairs, index)) for index in (0, 1)]
        return " / ".join(f"**{change}**" if change.significant else str(change) for change in found)

    rows = [[other, *(cell(other, dim) for dim in dims)] for other in scored if other != base]
    note = "AUC / Solved, paired, ± one standard error over instances; bold beyond two."
    return Table(f"Differences from {base}", ["setting", *(f"d = {dim}" for dim in dims)], rows, note)


def compared(
    base: str, other: str, scored: Mapping[str, Scores], dims: Sequence[int], factor: int, groups: Groups
) -> list[Block]:
    keys = [key for key in scored[base] if key[0] in dims]
    pairs = {key: (scored[base][key], scored[other][key]) for key in keys}
    rows = []
    for group, functions in groups.items():
        chosen = {key: pair for key, pair in pairs.items() if key[1] in functions}
        if chosen:
            rows.append([group, str(len({f for _, f, _ in chosen})), *measure(chosen, 0), *measure(chosen, 1)])
    words = ", ".join(map(str, dims))
    half = ["{}: A", "B", "B − A", "± instances", "± functions"]
    table = Table(
        f"A = {base}, B = {other}: d = {words}, {len({i for _, _, i in keys})} instances, budget {factor}·d",
        ["group", "functions", *(title.format("AUC") for title in half), *(title.format("Solved") for title in half)],
        rows,
    )
    return [table, Text("\n".join(verdict(name, pairs, index) for index, name in enumerate(("AUC", "Solved"))))]


Pairs = Mapping[Key, tuple[tuple[float, float], tuple[float, float]]]


def changes_of(pairs: Pairs, index: int) -> dict[Key, float]:
    return {key: b[index] - a[index] for key, (a, b) in pairs.items()}


def measure(pairs: Pairs, index: int) -> list[str]:
    change = difference(changes_of(pairs, index))
    means = [decimal(difference({key: pair[side][index] for key, pair in pairs.items()}).mean) for side in (0, 1)]
    return [*means, signed(change.mean), error(change.instances), error(change.functions)]


def verdict(name: str, pairs: Pairs, index: int) -> str:
    changes = changes_of(pairs, index)
    whole = difference(changes)
    by_function = {
        function: difference({key: change for key, change in changes.items() if key[1] == function})
        for function in sorted({f for _, f, _ in changes})
    }
    order = sorted(by_function, key=lambda function: -abs(by_function[function].mean))
    named = [f"f{f} {by_function[f]}" for f in order[:DECIDING] if by_function[f].mean]
    if math.isnan(whole.instances):
        size = "its error needs two instances or more"
    elif not whole.mean:
        size = "the same"
    else:
        ratio = abs(whole.mean) / whole.instances if whole.instances else math.inf
        size = f"{ratio:.1f} standard errors: {'a difference' if whole.significant else 'within the error'}"
    better, worse = (sum(s * c.mean > 0 for c in by_function.values()) for s in (1, -1))
    return (
        f"- {name} {whole} ({size}); B better on {better} functions, worse on {worse}."
        f" Decided by: {', '.join(named) if named else 'none'}."
    )


def cost_table(by_label: Mapping[str, Sequence[Record]]) -> Table:
    rows = []
    for label, records in by_label.items():
        evaluations = sum(r["evaluations"] for r in records)
        milliseconds = 1000 * sum(r["seconds"] for r in records) / max(evaluations, 1)
        restarts = [r["restarts"] for r in records if "restarts" in r]
        mean = f"{np.mean(restarts):.2f}" if restarts else "–"
        rows.append([label, str(len(records)), f"{milliseconds:.3g}", mean])
    return Table("Cost", ["setting", "runs", "ms/evaluation", "restarts in a run"], rows)
