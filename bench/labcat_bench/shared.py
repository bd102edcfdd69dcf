"""What the commands share: options, the settings and peers they name, running, presenting."""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import versus
from .algorithms import Algorithm, labcat_algorithm, literal, peer_algorithm
from .results import Record, ResultsFile, metadata
from .runner import Run, run_all
from .suites import Kind, suite
from .summary import Block, Summary

Command = Callable[[str, Callable[[Any], None], str], argparse.ArgumentParser]  # adds a command to the parser


def common_options(sub: argparse.ArgumentParser, name: str) -> None:
    sub.add_argument("--out", type=Path, default=Path("results") / name, help="folder (default: %(default)s)")
    sub.add_argument(
        "--workers", "--jobs", "-j", type=positive, default=os.cpu_count() or 1, help="processes (default: %(default)s)"
    )
    sub.add_argument("--executor", help="dask://HOST:PORT: run on a Dask cluster instead")
    sub.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    sub.add_argument("--fresh", action="store_true", help="drop earlier results instead of going on from them")
    sub.add_argument("--no-figures", dest="figures", action="store_false", help="tables only")
    sub.add_argument("--quiet", action="store_true", help="no progress bar")


def algorithm_options(sub: argparse.ArgumentParser, peers: Sequence[str] = ()) -> None:
    sub.add_argument(
        "--preset",
        type=words,
        default=["default"],
        help="of LABCAT: paper, default, both, or `none`; default@/venv/bin/python is that of another build",
    )
    sub.add_argument("--set", dest="switches", type=switch, action="append", default=[], metavar="OPTION=VALUE")
    shown = f" (default: {','.join(peers)})" if peers else ""
    sub.add_argument("--peers", type=words, default=list(peers), help=f"names, see `peers`{shown}")


def coco_options(sub: argparse.ArgumentParser, instances: Sequence[int], dims: Sequence[int] | None = None) -> None:
    shown = ",".join(map(str, dims)) if dims else "the least of the suite"
    sub.add_argument("--dims", type=numbers, default=dims, help=f"(default: {shown})")
    sub.add_argument("--instances", type=numbers, default=list(instances), help=f"(default: 1-{len(instances)})")
    sub.add_argument("--functions", type=numbers, help="(default: all of the suite)")
    sub.add_argument("--budget-factor", "--budget", type=positive, help="times d (default: that of the suite, 200)")


def fill(options: Any, name: str) -> None:
    """What was not said is as the suite has it."""
    found = suite(name)
    options.dims = options.dims or [found.dims[0]]
    options.functions = options.functions or list(found.functions)
    options.budget_factor = options.budget_factor or found.factor


def numbers(text: str) -> list[int]:
    """`1-3,7` is [1, 2, 3, 7]."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(found))


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def box(text: str) -> list[tuple[float, float]]:
    pairs = [part.split(",") for part in text.split(";")]
    if any(len(pair) != 2 for pair in pairs):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form LOW,HIGH;LOW,HIGH")
    return [(float(low), float(high)) for low, high in pairs]


def switch(text: str) -> tuple[str, Any]:
    """`beta=0.5`, `rotation=false`, `prior_sigma=none`."""
    name, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form OPTION=VALUE")
    return name, literal(value)


# ---- what commands do


def chosen_algorithms(options: Any, kind: Kind = "box") -> list[Algorithm]:
    presets = [] if options.preset == ["none"] else options.preset
    found = [of_preset(preset, dict(options.switches)) for preset in presets]
    found += [peer_algorithm(name, kind) for name in options.peers]
    if not found:
        raise ValueError("no algorithm: name a preset with --preset or a peer with --peers")
    return found


def of_preset(text: str, switches: dict[str, Any]) -> Algorithm:
    """`default`, or `default@/path/to/python` for the build of another environment."""
    preset, separator, python = text.partition("@")
    found = labcat_algorithm(preset, **switches)
    return versus.elsewhere(replace(found, label=f"{found.label}@{python}"), python) if separator else found


def carry_out(
    options: Any, runs: Sequence[Run], title: str, *, apart: bool = False
) -> tuple[list[Record], ResultsFile]:
    """Make the runs that are missing, and say how long it took; with `apart` in processes for each algorithm."""
    path = options.out / "results.jsonl"
    if options.fresh:
        path.unlink(missing_ok=True)
    results = ResultsFile(path)
    kept = sum(run.key in results.records for run in runs)
    if kept and results.other_builds and not all(run.algorithm.build for run in runs):
        warnings.warn(f"{path} holds results of another build of LABCAT; --fresh starts anew", stacklevel=2)
    results.start(metadata(options.line))
    began = time.monotonic()
    records = run_all(
        runs,
        results,
        workers=options.workers,
        cluster=options.executor,
        title=title,
        show_progress=not options.quiet,
        apart=apart,
    )
    print(f"{len(runs) - kept} runs in {time.monotonic() - began:.1f} s, {kept} kept", file=sys.stderr)
    return records, results


def present(options: Any, title: str, results: ResultsFile, blocks: list[Block]) -> None:
    summary = Summary(title, results.origins, blocks)
    summary.save(options.out)
    print(summary.markdown(figures=False))
    print(f"written to {options.out}", file=sys.stderr)
