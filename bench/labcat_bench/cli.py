"""The command line: `python -m labcat.bench COMMAND`."""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import (
    ablation,
    archive,
    choices,
    claims,
    classics,
    coco,
    discrete,
    engineering,
    fits,
    large,
    noisy,
    parallel,
    recommend,
    report,
    synthetic,
    tasks,
    tuning,
    versus,
)
from .algorithms import PRESETS, NotInstalled
from .coco_problems import View, coco_problems
from .comparison import FunctionReference, compare
from .figures import NoMatplotlib
from .functions import PAPER
from .objective import ObjectiveError
from .peers import PEERS, UNAVAILABLE
from .scoring import BUDGET_FACTOR
from .shared import (
    algorithm_options,
    box,
    carry_out,
    chosen_algorithms,
    coco_options,
    common_options,
    fill,
    numbers,
    positive,
    present,
    words,
)
from .suites import SUITES, suite
from .summary import Table


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
    common_options(sub, "synthetic")
    algorithm_options(sub)
    sub.add_argument("--functions", type=words, default=list(PAPER), help=f"of {', '.join(PAPER)} (default: all)")
    sub.add_argument(
        "--runs",
        type=positive,
        default=synthetic.RUNS,
        help="runs per function (default: %(default)s); --peers NAME:RUNS makes fewer with a slow one",
    )
    sub.add_argument("--budget", type=positive, default=synthetic.BUDGET, help="evaluations (default: %(default)s)")
    sub.add_argument("--floor", type=float, default=synthetic.FLOOR, help="least regret shown (default: %(default)g)")
    sub.add_argument(
        "--shifted",
        choices=("auto", "no", "only", "both"),
        default="auto",
        help="move the optimum by a random vector in each run; auto: also so if the preset `default` takes part",
    )

    sub = command("coco", run_coco, "a suite of the COCO platform: runtime distributions, AUC and Solved")
    common_options(sub, "coco")
    algorithm_options(sub)
    coco_options(sub, range(1, 16))
    sub.add_argument("--suite", default="bbob", help=f"of {', '.join(SUITES)} (default: %(default)s)")
    sub.add_argument(
        "--archive", type=words, default=list(archive.DEFAULT), help="archived runs shown, `all` or `none`"
    )
    sub.add_argument("--observer", action="store_true", help="write COCO's own data into OUT/exdata, for cocopp")

    sub = command(
        "versus", run_versus, "settings of LABCAT, builds or peers, two by two: paired differences, their errors"
    )
    common_options(sub, "versus")
    sub.add_argument(
        "settings",
        nargs="+",
        help="default, `paper,beta=0.3`, `default@/venv/bin/python`, a peer's name,"
        " or `each`: default with each of its options as in paper, one at a time",
    )
    coco_options(sub, range(1, 16))
    sub.add_argument("--suite", default="bbob", help="(default: %(default)s)")
    sub.add_argument("--seeds", type=numbers, help="several runs on each instance (default: that of --seed)")
    sub.add_argument(
        "--rotate", action="store_true", help="give each setting the seed of the one before: no common design"
    )
    sub.add_argument("--move-bounds", action="store_true", help="move the box at random; the optimum stays inside")
    sub.add_argument("--offset", type=float, help="show f − f_opt + OFFSET")
    sub.add_argument("--scale", type=float, default=1.0, help="show SCALE times that (default: %(default)g)")
    sub.add_argument("--noise", type=noisy.noise, metavar="KIND:LEVEL", help="as in `noisy`: gaussian:0.1, …")

    for module in (noisy, recommend, choices, tuning, discrete, engineering, parallel, large, classics, tasks, fits):
        module.register(command)

    sub = command("ablation", run_ablation, "LABCAT, noPC, p20, ULSP, n10 on bbob, and whether the paper's claims hold")
    common_options(sub, "ablation")
    coco_options(sub, range(1, 16), [2, 5, 10])
    sub.add_argument("--preset", choices=PRESETS, default="paper", help="what is ablated (default: %(default)s)")

    sub = command("claims", run_claims, "the paper's other claims: σ_f, the prior, β → ∞, cost, the Rosenbrock figure")
    common_options(sub, "claims")
    coco_options(sub, range(1, 4), [2, 5])

    sub = command("compare", run_compare, "algorithms on a function of yours")
    common_options(sub, "compare")
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


# ---- commands


def run_synthetic(options: Any) -> None:
    if unknown := [name for name in options.functions if name not in PAPER]:
        raise ValueError(f"unknown function {unknown[0]!r}. Allowed: {', '.join(PAPER)}")
    both = options.shifted == "both" or (options.shifted == "auto" and "default" in options.preset)
    shifted = [False, True] if both else [options.shifted == "only"]
    counts = synthetic.runs_of(options.peers, options.runs)
    options.peers = list(counts)
    algorithms = [(a, options.runs if a.is_labcat else counts[a.name]) for a in chosen_algorithms(options)]
    runs = synthetic.plan(algorithms, options.functions, options.budget, options.seed, shifted)
    records, results = carry_out(options, runs, "synthetic")
    blocks = synthetic.summarise(records, options.out, draw=options.figures, floor=options.floor)
    present(options, f"Synthetic functions, {options.budget} evaluations", results, blocks)


def run_coco(options: Any) -> None:
    kind = suite(options.suite).kind
    if kind == "noisy":
        raise ValueError(f"{options.suite} has a command of its own: `noisy --suite {options.suite}`")
    fill(options, options.suite)
    observer = str(options.out / "exdata") if options.observer else None
    problems = coco_problems(options.suite, options.dims, options.functions, options.instances, observer)
    runs = coco.plan(chosen_algorithms(options, kind), problems, options.seed, options.budget_factor)
    records, results = carry_out(options, runs, options.suite)
    names = {"all": sorted(archive.archived()), "none": []}.get(",".join(options.archive), options.archive)
    blocks = coco.summarise(records, options.out, names, draw=options.figures)
    present(options, f"COCO {options.suite}", results, blocks)


def run_versus(options: Any) -> None:
    fill(options, options.suite)
    view = View(options.move_bounds, options.offset, options.scale)
    where = (options.suite, options.dims, options.functions, options.instances)
    problems = coco_problems(*where, view=view, noise=options.noise)
    algorithms = versus.settings(options.settings, "noisy" if options.noise else suite(options.suite).kind)
    versus.check(algorithms, problems[0])
    seeds = options.seeds or [options.seed]
    if options.rotate and len(seeds) < 2:
        raise ValueError("--rotate needs two seeds or more: --seeds 1-2")
    runs = versus.plan(algorithms, problems, seeds, options.budget_factor, rotate=options.rotate)
    records, results = carry_out(options, runs, "versus")
    present(options, "Versus", results, versus.summarise(records, runs, options.budget_factor))


def run_ablation(options: Any) -> None:
    fill(options, "bbob")
    problems = coco_problems("bbob", options.dims, options.functions, options.instances)
    runs = coco.plan(ablation.algorithms(options.preset), problems, options.seed, options.budget_factor)
    records, results = carry_out(options, runs, "ablation")
    present(options, "Ablation", results, ablation.summarise(records, options.out, draw=options.figures))


def run_claims(options: Any) -> None:
    fill(options, "bbob")
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
        [
            p.name,
            p.label,
            ", ".join(p.kinds),
            p.version or ("–" if p.missing else "built in"),
            p.install if p.requires else "–",
            note(p),
        ]
        for p in PEERS.values()
    ]
    header = ["name", "algorithm", "problems", "installed", "to install", "settings"]
    rows += [["–", name, "–", "–", "–", why] for name, why in UNAVAILABLE.items()]
    print(Table("Peers, installed only on request", header, rows, left=6).markdown())


def note(peer: Any) -> str:
    return "; ".join(text for text in (peer.settings, peer.remark) if text)


def run_report(options: Any) -> None:
    text = report.page(report.find_summaries(options.folder))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text, encoding="utf-8")
    print(options.output)
