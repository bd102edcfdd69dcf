"""The command line: `python -m labcat.bench COMMAND`."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import ablation, archive, claims, coco, report, synthetic, versus
from .algorithms import PRESETS, Algorithm, NotInstalled, labcat_algorithm, literal, peer_algorithm
from .comparison import FunctionReference, compare
from .figures import NoMatplotlib
from .functions import PAPER
from .objective import ObjectiveError
from .peers import PEERS, UNAVAILABLE
from .problems import View, coco_problems
from .results import Record, ResultsFile, metadata
from .runner import Run, run_all
from .scoring import BUDGET_FACTOR
from .summary import Block, Summary, Table


def main(arguments: Sequence[str] | None = None) -> int:
    """0 done, 1 the objective failed, 2 wrong usage or something missing, 130 interrupted and resumable."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser().parse_args(given)
    options.line = "python -m labcat.bench " + shlex.join(given)
    warnings.showwarning = lambda message, *_, **__: print(f"note: {message}", file=sys.stderr)
    try:
        options.command(options)
    except (ValueError, NotInstalled, NoMatplotlib) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except ObjectiveError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


# ---- options


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m labcat.bench", description=__doc__)
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[Any], None], text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(command=run)
        return sub

    sub = command("synthetic", run_synthetic, "the paper's six functions: tables, rank-sum tests, regret curves")
    _common(sub, "synthetic")
    _algorithms(sub)
    sub.add_argument("--functions", type=words, default=list(PAPER), help=f"of {', '.join(PAPER)} (default: all)")
    sub.add_argument("--runs", type=positive, default=synthetic.RUNS, help="runs per function (default: %(default)s)")
    sub.add_argument("--budget", type=positive, default=synthetic.BUDGET, help="evaluations (default: %(default)s)")
    sub.add_argument("--floor", type=float, default=synthetic.FLOOR, help="least regret shown (default: %(default)g)")
    sub.add_argument(
        "--shifted",
        choices=("auto", "no", "only", "both"),
        default="auto",
        help="move the optimum by a random vector in each run; auto: also so if the preset `default` takes part",
    )

    sub = command("coco", run_coco, "a suite of the COCO platform: runtime distributions, AUC and Solved")
    _common(sub, "coco")
    _algorithms(sub)
    _coco(sub, dims=[2], instances=range(1, 16))
    sub.add_argument("--suite", default="bbob", help="bbob, bbob-boxed or bbob-largescale (default: %(default)s)")
    sub.add_argument(
        "--archive", type=words, default=list(archive.DEFAULT), help="archived runs shown, `all` or `none`"
    )
    sub.add_argument("--observer", action="store_true", help="write COCO's own data into OUT/exdata, for cocopp")

    sub = command(
        "versus", run_versus, "settings of LABCAT, builds or peers, two by two: paired differences, their errors"
    )
    _common(sub, "versus")
    sub.add_argument(
        "settings", nargs="+", help="default, `paper,beta=0.3`, `default@/venv/bin/python`, or a peer's name"
    )
    _coco(sub, dims=[2], instances=range(1, 16))
    sub.add_argument("--suite", default="bbob", help="(default: %(default)s)")
    sub.add_argument("--seeds", type=numbers, help="several runs on each instance (default: that of --seed)")
    sub.add_argument(
        "--rotate", action="store_true", help="give each setting the seed of the one before: no common design"
    )
    sub.add_argument("--move-bounds", action="store_true", help="move the box at random; the optimum stays inside")
    sub.add_argument("--offset", type=float, help="show f − f_opt + OFFSET")
    sub.add_argument("--scale", type=float, default=1.0, help="show SCALE times that (default: %(default)g)")

    sub = command("ablation", run_ablation, "LABCAT, noPC, p20, ULSP, n10 on bbob, and whether the paper's claims hold")
    _common(sub, "ablation")
    _coco(sub, dims=[2, 5, 10], instances=range(1, 16))
    sub.add_argument("--preset", choices=PRESETS, default="paper", help="what is ablated (default: %(default)s)")

    sub = command("claims", run_claims, "the paper's other claims: σ_f, the prior, β → ∞, cost, the Rosenbrock figure")
    _common(sub, "claims")
    _coco(sub, dims=[2, 5], instances=range(1, 4))

    sub = command("compare", run_compare, "algorithms on a function of yours")
    _common(sub, "compare")
    sub.add_argument("function", help="FILE.py:NAME, MODULE:NAME, or one of the paper's functions")
    sub.add_argument("--bounds", type=box, help="LOW,HIGH;LOW,HIGH;… (one pair per parameter)")
    sub.add_argument("--budget", type=positive, help="evaluations per repeat (default: 200 per parameter)")
    sub.add_argument("--algorithms", type=words, default=["labcat", "random"], help="names (default: labcat,random)")
    sub.add_argument("--repeats", type=positive, default=10, help="(default: %(default)s)")
    sub.add_argument("--minimum", type=float, help="the known least value, to show regrets")

    sub = command("peers", run_peers, "the peers, and how to install each")
    sub = command("report", run_report, "one HTML page of all results at hand")
    sub.add_argument("folder", nargs="?", type=Path, default=Path("results"), help="(default: %(default)s)")
    sub.add_argument("-o", "--output", type=Path, default=Path("results/report.html"), help="(default: %(default)s)")
    return top


def _common(sub: argparse.ArgumentParser, name: str) -> None:
    sub.add_argument("--out", type=Path, default=Path("results") / name, help="folder (default: %(default)s)")
    sub.add_argument(
        "--workers", "--jobs", "-j", type=positive, default=os.cpu_count() or 1, help="processes (default: %(default)s)"
    )
    sub.add_argument("--executor", help="dask://HOST:PORT: run on a Dask cluster instead")
    sub.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    sub.add_argument("--fresh", action="store_true", help="drop earlier results instead of going on from them")
    sub.add_argument("--no-figures", dest="figures", action="store_false", help="tables only")
    sub.add_argument("--quiet", action="store_true", help="no progress bar")


def _algorithms(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--preset", type=words, default=["default"], help="of LABCAT: paper, default, both, or `none`")
    sub.add_argument("--set", dest="switches", type=switch, action="append", default=[], metavar="SWITCH=VALUE")
    sub.add_argument("--peers", type=words, default=[], help="names, see `peers`")


def _coco(sub: argparse.ArgumentParser, dims: Sequence[int], instances: Sequence[int]) -> None:
    sub.add_argument("--dims", type=numbers, default=dims, help=f"(default: {','.join(map(str, dims))})")
    sub.add_argument("--instances", type=numbers, default=list(instances), help=f"(default: 1-{len(instances)})")
    sub.add_argument("--functions", type=numbers, default=list(range(1, 25)), help="(default: 1-24)")
    sub.add_argument(
        "--budget-factor", "--budget", type=positive, default=BUDGET_FACTOR, help="times d (default: %(default)s)"
    )


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
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form SWITCH=VALUE")
    return name, literal(value)


# ---- commands


def chosen_algorithms(options: Any) -> list[Algorithm]:
    presets = [] if options.preset == ["none"] else options.preset
    found = [labcat_algorithm(preset, **dict(options.switches)) for preset in presets]
    return found + [peer_algorithm(name) for name in options.peers]


def carry_out(options: Any, runs: Sequence[Run], title: str) -> tuple[list[Record], ResultsFile]:
    """Make the runs that are missing, and say how long it took."""
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
        runs, results, workers=options.workers, cluster=options.executor, title=title, show_progress=not options.quiet
    )
    print(f"{len(runs) - kept} runs in {time.monotonic() - began:.1f} s, {kept} kept", file=sys.stderr)
    return records, results


def present(options: Any, title: str, results: ResultsFile, blocks: list[Block]) -> None:
    summary = Summary(title, results.origins, blocks)
    summary.save(options.out)
    print(summary.markdown(figures=False))
    print(f"written to {options.out}", file=sys.stderr)


def run_synthetic(options: Any) -> None:
    if unknown := [name for name in options.functions if name not in PAPER]:
        raise ValueError(f"unknown function {unknown[0]!r}. Allowed: {', '.join(PAPER)}")
    both = options.shifted == "both" or (options.shifted == "auto" and "default" in options.preset)
    shifted = [False, True] if both else [options.shifted == "only"]
    algorithms = chosen_algorithms(options)
    runs = synthetic.plan(algorithms, options.functions, options.runs, options.budget, options.seed, shifted)
    records, results = carry_out(options, runs, "synthetic")
    blocks = synthetic.summarise(records, options.out, draw=options.figures, floor=options.floor)
    present(options, f"Synthetic functions, {options.budget} evaluations", results, blocks)


def run_coco(options: Any) -> None:
    observer = str(options.out / "exdata") if options.observer else None
    problems = coco_problems(options.suite, options.dims, options.functions, options.instances, observer)
    runs = coco.plan(chosen_algorithms(options), problems, options.seed, options.budget_factor)
    records, results = carry_out(options, runs, options.suite)
    names = {"all": sorted(archive.archived()), "none": []}.get(",".join(options.archive), options.archive)
    blocks = coco.summarise(records, options.out, names, draw=options.figures)
    present(options, f"COCO {options.suite}", results, blocks)


def run_versus(options: Any) -> None:
    view = View(options.move_bounds, options.offset, options.scale)
    problems = coco_problems(options.suite, options.dims, options.functions, options.instances, view=view)
    algorithms = versus.settings(options.settings)
    versus.check(algorithms, problems[0])
    seeds = options.seeds or [options.seed]
    if options.rotate and len(seeds) < 2:
        raise ValueError("--rotate needs two seeds or more: --seeds 1-2")
    runs = versus.plan(algorithms, problems, seeds, options.budget_factor, rotate=options.rotate)
    records, results = carry_out(options, runs, "versus")
    present(options, "Versus", results, versus.summarise(records, runs, options.budget_factor))


def run_ablation(options: Any) -> None:
    problems = coco_problems("bbob", options.dims, options.functions, options.instances)
    runs = coco.plan(ablation.algorithms(options.preset), problems, options.seed, options.budget_factor)
    records, results = carry_out(options, runs, "ablation")
    present(options, "Ablation", results, ablation.summarise(records, options.out, draw=options.figures))


def run_claims(options: Any) -> None:
    runs = claims.sweep_plan(options.dims, options.instances, options.functions, options.seed)
    records, results = carry_out(options, runs, "claims")
    outcomes = [
        claims.sweep_findings(records),
        claims.prior_findings(options.dims, options.seed),
        claims.settling_findings(options.dims, options.seed),
        claims.infinite_beta_findings(options.seed),
        claims.complexity_findings(options.dims, options.seed),
        claims.valley_findings(options.out, options.seed, draw=options.figures),
    ]
    table = claims.findings_table([finding for findings, _ in outcomes for finding in findings])
    present(options, "Claims", results, [table, *(block for _, blocks in outcomes for block in blocks)])


def run_compare(options: Any) -> None:
    function = FunctionReference(options.function)
    known = PAPER.get(options.function)
    bounds = options.bounds or (known and known.bounds)
    if not bounds:
        raise ValueError("--bounds is needed: LOW,HIGH;LOW,HIGH;… (one pair per parameter)")
    path = options.out / "results.jsonl"
    if options.fresh:
        path.unlink(missing_ok=True)
    found = compare(
        function,
        bounds,
        options.budget or BUDGET_FACTOR * len(bounds),
        options.algorithms,
        options.repeats,
        minimum=known.minimum if known and options.minimum is None else options.minimum,
        seed=options.seed,
        workers=options.workers,
        executor=options.executor,
        results=path,
        name=options.function,
        progress=not options.quiet,
        command=options.line,
    )
    if options.figures:
        found.save(options.out)
    else:
        found.summary.save(options.out)
    print(found)
    print(f"written to {options.out}", file=sys.stderr)


def run_peers(options: Any) -> None:
    del options
    rows = [
        [p.name, p.label, p.version or ("–" if p.missing else "built in"), p.install if p.requires else "–", note(p)]
        for p in PEERS.values()
    ]
    header = ["name", "algorithm", "installed", "to install", "settings"]
    rows += [["–", name, "–", "–", why] for name, why in UNAVAILABLE.items()]
    print(Table("Peers, installed only on request", header, rows, left=5).markdown())


def note(peer: Any) -> str:
    return "; ".join(text for text in (peer.settings, peer.remark) if text)


def run_report(options: Any) -> None:
    text = report.page(report.find_summaries(options.folder))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text, encoding="utf-8")
    print(options.output)
