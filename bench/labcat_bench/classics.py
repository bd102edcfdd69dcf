"""The `classics` command: 53 classic problems with a starting point, and data profiles of Moré and Wild (2009).

A run solves a problem to τ where f − f_best ≤ τ (f(x0) − f_best), f_best being the least value known or found by any
run at hand. Evaluations are counted in simplex gradients, n + 1 of them. With noise a point counts by its true value.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import versus
from .classic_functions import CASES, Case
from .coco import decimal, failures
from .objective import Array, Objective
from .results import Record
from .runner import Run
from .shared import Command, carry_out, common_options, numbers, positive, present, words
from .started import Measured, StartedObjective, finite
from .summary import Block, Table, Text

DEFAULT = ["default", "newuoa", "bobyqa", "cobyqa", "cma", "random"]
DEFAULT_RESIDUALS = ["dfo-ls", "lm", "default", "default,least_squares=true"]
TAUS = [1e-1, 1e-3, 1e-5, 1e-7]
GRADIENTS = [5, 10, 25, 50, 100]
LEVEL = 1e-3
DRAWS = 1000  # of the problems, for the error of a median

# Least values known of the sums of squares, where they are not 0.
MINIMA = {
    "linear-full-rank-9": 36.0, "linear-rank-one-7": 8.380281690140845, "linear-rank-one-zero-7": 9.880597014925373,
    "bard-3": 8.214877306578963e-3, "kowalik-osborne-4": 3.0750560384924e-4, "meyer-3": 87.94585517,
    "watson-6": 2.287670053552e-3, "watson-9": 1.39976013e-6, "watson-12": 4.72238e-10, "jennrich-sampson-2": 124.362182355615,
    "brown-dennis-4": 85822.20162635629, "chebyquad-8": 3.5168737e-3, "chebyquad-10": 4.7727136963e-3, "chebyquad-11": 2.7997616e-3,
    "osborne-1-5": 5.46489469748e-5, "osborne-2-11": 4.01377362935e-2, "bdqrtic-8": 10.2389734, "bdqrtic-10": 18.2811617,
    "bdqrtic-11": 22.2605912, "bdqrtic-12": 26.2727663,
}  # fmt: skip


# ---- what an algorithm is shown: the residuals of a point, and their sum

Shown = Callable[[Array, Array, np.random.Generator, float], Array]  # of the point, its residuals, the level of noise


def oscillation(x: Array) -> float:
    """A deterministic noise between −1 and 1, as in Moré and Wild."""
    waves = 0.9 * math.sin(100 * float(np.abs(x).sum())) * math.cos(100 * float(np.abs(x).max()))
    waves += 0.1 * math.cos(float(np.linalg.norm(x)))
    return waves * (4 * waves**2 - 3)


VARIANTS: Mapping[str, tuple[str, Shown]] = {
    "smooth": ("sum of squares", lambda x, r, rng, level: r),
    "nonsmooth": ("sum of absolute values", lambda x, r, rng, level: r),
    "oscillating": (
        "value times 1 + level · φ(x), deterministic",
        lambda x, r, rng, level: r * math.sqrt(1 + level * oscillation(x)),
    ),
    "relative": (
        "each residual times 1 + level · N(0, 1)",
        lambda x, r, rng, level: r * (1 + level * rng.standard_normal(r.size)),
    ),
    "absolute": (
        "each residual plus level · N(0, 1)",
        lambda x, r, rng, level: r + level * rng.standard_normal(r.size),
    ),
}


def total(variant: str, residuals: Array) -> float:
    return float(np.abs(residuals).sum() if variant == "nonsmooth" else np.sum(residuals**2))


@dataclass(frozen=True)
class ClassicProblem:
    case: str
    variant: str = "smooth"
    box_factor: float = 10.0
    level: float = 0.0
    run: int = 0

    @property
    def definition(self) -> Case:
        return CASES[self.case]

    @property
    def id(self) -> str:
        noise = f"-{self.level:g}" if self.level else ""
        return f"{self.case}-{self.variant}{noise}-b{self.box_factor:g}-r{self.run}"

    @property
    def fields(self) -> dict[str, Any]:
        return {"function": self.case, "variant": self.variant, "d": self.definition.n, "run": self.run}

    @property
    def seed_words(self) -> list[int]:
        return [zlib.crc32(self.case.encode()), self.run]

    @property
    def first_value(self) -> float:
        return total(self.variant, finite(self.definition.residuals(self.definition.start)))

    def measure(self, x: Array, rng: np.random.Generator) -> Measured:
        residuals = finite(self.definition.residuals(x))
        shown = VARIANTS[self.variant][1](x, residuals, rng, self.level)
        return Measured(total(self.variant, residuals), total(self.variant, shown), shown)

    @contextmanager
    def open(self, budget: int, seed: int = 0) -> Iterator[Objective]:
        rng = np.random.default_rng([seed, *self.seed_words])
        x0 = self.definition.start
        radius = np.maximum(1.0, np.abs(x0))
        lower, upper = x0 - self.box_factor * radius, x0 + self.box_factor * radius
        step = 1 / (2 * self.box_factor)  # the radius of Moré and Wild: max(1, |x0|)
        yield StartedObjective(lambda x: self.measure(x, rng), lower, upper, budget, x0=x0, first_step=step)


# ---- the command


def register(command: Command) -> None:
    text = "53 classic problems with a starting point: data profiles, paired differences"
    sub = command("classics", run, text)
    common_options(sub, "classics")
    sub.add_argument("settings", nargs="*", help=f"as in `versus` (default: {' '.join(DEFAULT)})")
    sub.add_argument(
        "--residuals",
        action="store_true",
        help=f"least squares: methods that see residuals take part (default: {' '.join(DEFAULT_RESIDUALS)})",
    )
    sub.add_argument("--variant", choices=list(VARIANTS), default="smooth", help="(default: %(default)s)")
    sub.add_argument("--level", type=float, default=LEVEL, help="of the noise (default: %(default)g)")
    sub.add_argument(
        "--box-factor", type=float, default=10.0, help="box x0 ± this · max(1, |x0|) (default: %(default)g)"
    )
    sub.add_argument("--problems", type=words, default=list(CASES), help="names or parts of names (default: all)")
    sub.add_argument("--runs", type=positive, default=1, help="per problem (default: %(default)s)")
    sub.add_argument(
        "--gradients",
        type=numbers,
        default=GRADIENTS,
        help="simplex gradients shown; the most is the budget (default: 5,10,25,50,100)",
    )
    sub.add_argument("--taus", type=taus, default=TAUS, help="precisions (default: 1e-1,1e-3,1e-5,1e-7)")


def taus(text: str) -> list[float]:
    return [float(word) for word in words(text)]


def chosen_cases(names: Sequence[str]) -> list[str]:
    found = [case for case in CASES if any(name in case for name in names)]
    if unknown := [name for name in names if not any(name in case for case in CASES)]:
        raise ValueError(f"unknown problem {unknown[0]!r}. Allowed: {', '.join(CASES)}, or parts of these names")
    return found


def run(options: Any) -> None:
    if options.box_factor <= 0:
        raise ValueError(f"--box-factor {options.box_factor:g} is not above 0")
    if options.residuals and options.variant == "nonsmooth":
        raise ValueError("--residuals is for sums of squares: leave --variant nonsmooth out")
    level = options.level if options.variant not in ("smooth", "nonsmooth") else 0.0
    problems = [
        ClassicProblem(case, options.variant, options.box_factor, level, k)
        for case in chosen_cases(options.problems)
        for k in range(options.runs)
    ]
    texts = options.settings or (DEFAULT_RESIDUALS if options.residuals else DEFAULT)
    algorithms = versus.settings_beside(texts, "residuals" if options.residuals else "box")
    versus.check([a for a in algorithms if a.is_labcat], problems[0])
    most = max(options.gradients)
    runs = [Run(a, p, most * (p.definition.n + 1), options.seed) for p in problems for a in algorithms]
    records, results = carry_out(options, runs, "classics", apart=True)
    where = {record["key"]: each.problem for each, record in zip(runs, records, strict=True)}
    solved = Solved.of(records, where, options.taus)  # type: ignore[arg-type]
    blocks = summarise(solved, options)
    present(options, "Classic problems with a starting point", results, blocks + failures(records))


# ---- data profiles


@dataclass(frozen=True)
class Solved:
    """For each algorithm and τ, the simplex gradients that each problem and run took; infinite where unsolved."""

    taus: Sequence[float]
    gradients: Mapping[str, Mapping[float, Mapping[tuple[str, int], float]]]
    best: Mapping[str, float]

    @classmethod
    def of(cls, records: Sequence[Record], problems: Mapping[str, ClassicProblem], taus: Sequence[float]) -> Solved:
        best = best_values(records)
        found: dict[str, dict[float, dict[tuple[str, int], float]]] = {}
        for record in records:
            problem = problems[record["key"]]
            least = best[problem.case]
            by_tau = found.setdefault(record["algorithm"], {tau: {} for tau in taus})
            for tau in taus:
                target = least + tau * (problem.first_value - least)
                taken = evaluations_to(record, target) / (problem.definition.n + 1)
                by_tau[tau][problem.case, problem.run] = taken
        return cls(taus, found, best)

    def share(self, algorithm: str, tau: float, within: float) -> float:
        return float(np.mean([taken <= within for taken in self.gradients[algorithm][tau].values()]))

    def difference(self, algorithm: str, base: str, tau: float, within: float) -> tuple[float, float]:
        """Of the shares, and its standard error over problems, means over runs."""
        changes: dict[str, list[float]] = {}
        for key, taken in self.gradients[algorithm][tau].items():
            change = float(taken <= within) - float(self.gradients[base][tau][key] <= within)
            changes.setdefault(key[0], []).append(change)
        means = [float(np.mean(values)) for values in changes.values()]
        error = float(np.std(means, ddof=1)) / math.sqrt(len(means)) if len(means) > 1 else math.nan
        return float(np.mean(means)), error

    def ratio(self, algorithm: str, base: str, tau: float, *, both: bool) -> tuple[float, float, int]:
        """Median of the evaluations over those of `base`, over the problems that both or either solved; its standard
        error by drawing problems, each with all its runs, anew; the number of problems and runs."""
        ratios: dict[str, list[float]] = {}
        for key, taken in self.gradients[algorithm][tau].items():
            other = self.gradients[base][tau][key]
            solved = [math.isfinite(taken), math.isfinite(other)]
            if all(solved) or (any(solved) and not both):
                ratios.setdefault(key[0], []).append(0.0 if math.isinf(other) else taken / other)
        groups = list(ratios.values())
        if not groups:
            return math.nan, math.nan, 0
        rng = np.random.default_rng(0)
        drawn = [
            float(np.median(np.concatenate([groups[k] for k in rng.integers(len(groups), size=len(groups))])))
            for _ in range(DRAWS)
        ]
        finite = [median for median in drawn if math.isfinite(median)]
        every = np.concatenate(groups)
        return float(np.median(every)), float(np.std(finite)) if finite else math.nan, len(every)


def evaluations_to(record: Record, target: float) -> float:
    return float(next((n for n, value in record["trace"] if value <= target), math.inf))


def best_values(records: Sequence[Record]) -> dict[str, float]:
    """Known, or found by any of these runs. Absolute values have a known least one only where the squares' is 0."""
    best: dict[str, float] = {}
    for record in records:
        case = record["function"]
        known = MINIMA.get(case.removesuffix("-x10"), 0.0)
        if case not in best:
            best[case] = math.inf if record["variant"] == "nonsmooth" and known else known
        best[case] = min([best[case], *(value for _, value in record["trace"][-1:])])
    return best


def summarise(solved: Solved, options: Any) -> list[Block]:
    problems = len({case for by_tau in solved.gradients.values() for case, _ in by_tau[solved.taus[0]]})
    what = f"{problems} problems, {options.variant}, box x0 ± {options.box_factor:g}·max(1, |x0|)"
    blocks: list[Block] = [Text(f"Variant `{options.variant}`: {VARIANTS[options.variant][0]}.")]
    blocks += [profile(solved, tau, options.gradients, what) for tau in solved.taus]
    if options.residuals:
        blocks.append(ratios(solved))
    return blocks


def profile(solved: Solved, tau: float, within: Sequence[int], what: str) -> Table:
    names = list(solved.gradients)
    base = names[0]
    rows = []
    for name in names:
        row = [name]
        for k in within:
            share = decimal(solved.share(name, tau, k))
            row.append(share if name == base else f"{share} ({paired(*solved.difference(name, base, tau, k))})")
        rows.append(row)
    return Table(
        f"Solved to τ = {tau:g} within k simplex gradients ({what})",
        ["algorithm", *(f"k = {k}" for k in within)],
        rows,
        f"In brackets: the paired difference to {base} and its standard error over problems.",
    )


def paired(mean: float, error: float) -> str:
    return f"{versus.signed(mean)} ± {'–' if math.isnan(error) else decimal(error)}"


def ratios(solved: Solved) -> Table:
    names = list(solved.gradients)
    base = names[0]

    def cell(name: str, tau: float, both: bool) -> str:
        ratio, error, count = solved.ratio(name, base, tau, both=both)
        if not math.isfinite(ratio):
            return f"{'–' if math.isnan(ratio) else '∞'} ({count})"
        return f"{ratio:.2f} ± {error:.2f} ({count})"

    return Table(
        f"Evaluations, as a multiple of those of {base}: medians",
        ["algorithm", *(f"τ = {tau:g}" for tau in solved.taus)],
        [[name, *("; ".join(cell(name, t, both) for both in (True, False)) for t in solved.taus)] for name in names],
        "Over the problems that both have solved; over those that either has, where unsolved counts as infinitely many"
        " evaluations. ±: the standard error over problems. In brackets: the number of these problems and runs.",
    )
