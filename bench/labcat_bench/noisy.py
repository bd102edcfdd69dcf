"""The `noisy` command: what an algorithm would recommend under noise, by its value without noise, at every budget.

Unlike elsewhere a target that was met counts only as long as it is: a recommendation may get worse again.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import versus
from .coco import decimal, failures, plan, speed
from .coco_problems import CocoProblem, Noise, coco_problems
from .results import Record
from .scoring import record_score
from .shared import Command, carry_out, coco_options, common_options, fill, present, words
from .suites import suite
from .summary import Block, Table

FUNCTIONS = [1, 2, 6, 8, 10, 11, 12, 14, 15, 17, 20, 21]
DEFAULT = ["default", "random", "cma-favourite", "cma-noise"]


def noise(text: str) -> Noise:
    """`gaussian:0.1`."""
    kind, _, level = text.partition(":")
    try:
        return Noise(kind, float(level))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form KIND:LEVEL ({error})") from error


def register(command: Command) -> None:
    sub = command("noisy", run, "noisy values: the value without noise of what is recommended, at every budget")
    common_options(sub, "noisy")
    sub.add_argument("settings", nargs="*", default=DEFAULT, help=f"as in `versus` (default: {' '.join(DEFAULT)})")
    coco_options(sub, range(1, 4))
    sub.add_argument(
        "--suite", default="bbob", help="bbob, or bbob-noisy with the noise of COCO (default: %(default)s)"
    )
    sub.add_argument(
        "--noise", type=words, default=["gaussian"], help=f"of {', '.join(Noise.KINDS)} (default: gaussian)"
    )
    sub.add_argument(
        "--levels", type=levels, default=[0.01, 0.1], help="shares of the interquartile range (default: 0.01,0.1)"
    )


def levels(text: str) -> list[float]:
    return [float(word) for word in words(text)]


def run(options: Any) -> None:
    own = suite(options.suite).kind == "noisy"
    options.functions = options.functions or (None if own else FUNCTIONS)
    fill(options, options.suite)
    noises = [None] if own else [Noise(kind, level) for kind in options.noise for level in options.levels]
    where = (options.suite, options.dims, options.functions, options.instances)
    problems = [problem for each in noises for problem in coco_problems(*where, noise=each)]
    algorithms = versus.settings(options.settings, "noisy")
    versus.check(algorithms, problems[0])
    runs = plan(algorithms, problems, options.seed, options.budget_factor)
    records, results = carry_out(options, runs, "noisy")
    present(options, "Noisy values", results, summarise(records, problems, options.budget_factor))


def summarise(records: Sequence[Record], problems: Sequence[CocoProblem], factor: int) -> list[Block]:
    blocks: list[Block] = []
    for dim in sorted({p.dim for p in problems}):
        for name in dict.fromkeys(p.noise.id if p.noise else None for p in problems):
            chosen = [r for r in records if r["d"] == dim and r.get("noise") == name]
            blocks.append(table(chosen, dim, name, factor))
    return blocks + failures(records)


def table(records: Sequence[Record], dim: int, name: str | None, factor: int) -> Table:
    """AUC and the share of targets met at the end, best AUC first; and the paired difference to the first setting."""
    by_label: dict[str, list[Record]] = {}
    for record in records:
        by_label.setdefault(record["algorithm"], []).append(record)
    groups = suite(records[0]["suite"]).groups
    base = versus.scores(next(iter(by_label.values())), factor)
    milliseconds = speed(records, dim)
    rows = []
    for label, found in by_label.items():
        scored = versus.scores(found, factor)
        change = versus.difference({key: auc - base[key][0] for key, (auc, _) in scored.items()})
        cells = [cell([r for r in found if r["f"] in functions], factor) for functions in groups.values()]
        rows.append([label, cells[0], str(change), *cells[1:], f"{milliseconds[label]:.2g}"])
    rows.sort(key=lambda row: row[1], reverse=True)
    instances = len({r["i"] for r in records})
    return Table(
        f"{records[0]['suite']}{f' with {name} noise' if name else ''}, d = {dim}: AUC / met at the end,"
        f" budget {factor}·d, {instances} instances",
        ["algorithm", "all", f"AUC − {next(iter(by_label))}", *list(groups)[1:], "ms/evaluation"],
        rows,
        "By the value without noise of the recommended point. The difference is paired; ± one standard error over instances.",
    )


def cell(records: Sequence[Record], factor: int) -> str:
    if not records:
        return "–"
    auc, met = np.mean([record_score(r, factor) for r in records], axis=0)
    return f"{decimal(auc)}/{decimal(met)}"
