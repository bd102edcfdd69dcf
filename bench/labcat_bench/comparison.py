"""`compare`: the table, the test and the curves for a user's own objective."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from . import figures
from .algorithms import Algorithm
from .algorithms import algorithms as resolve
from .coco import failures
from .functions import PAPER
from .objective import Function, Point
from .problems import UserProblem
from .results import Record, ResultsFile, metadata
from .runner import Run, run_all
from .summary import Block, Summary
from .synthetic import by_function, draw_regret, final, regret_table


@dataclass(frozen=True)
class Comparison:
    """What `compare` found. Print it for the table; `save` writes table and curves into a folder."""

    records: Sequence[Record]
    summary: Summary
    known_minimum: bool

    def __str__(self) -> str:
        return self.summary.markdown(figures=False)

    @property
    def final_values(self) -> dict[str, list[float]]:
        """The best value of each repeat, by algorithm (the regret if the minimum was given)."""
        values: dict[str, list[float]] = {}
        for record in self.records:
            values.setdefault(record["algorithm"], []).append(final(record))
        return values

    def figure(self) -> Any:
        """The curves as a matplotlib figure."""
        (curves,) = by_function(self.records, shifted=False).values()
        panel = {name: [figures.best_so_far(r["trace"], r["budget"]) for r in runs] for name, runs in curves.items()}
        return figures.regret_figure(
            {self.records[0]["function"]: panel}, "regret" if self.known_minimum else "best value"
        )

    def save(self, folder: str | Path) -> None:
        path = Path(folder)
        chosen = by_function(self.records, shifted=False)
        drawn = draw_regret(
            chosen, path, "compare", "Mean best value and one standard deviation", logarithmic=self.known_minimum
        )
        Summary(self.summary.title, self.summary.metas, [*self.summary.blocks, drawn]).save(path)


def compare(
    fun: Function,
    bounds: Sequence[tuple[float, float]],
    budget: int,
    algorithms: Sequence[str | Algorithm] = ("labcat", "random"),
    repeats: int = 10,
    *,
    minimum: float | None = None,
    seed: int = 0,
    workers: int = 1,
    executor: str | None = None,
    results: str | Path | None = None,
    name: str = "objective",
    progress: bool = False,
    command: str = "labcat_bench.compare",
) -> Comparison:
    """Minimise `fun` over the box with each algorithm, `repeats` times with `budget` evaluations.

    `algorithms` are names (`labcat`, `labcat-paper`, and those that `python -m labcat.bench peers` lists). With
    `minimum`, the known least value, regrets are compared instead of values. With `workers` above 1 the repeats run in
    processes, and `fun` must be importable there. With `results`, a file, finished repeats are kept and never made
    again. If `fun` raises, so does this, with an `ObjectiveError` that names the cause.
    """
    box = tuple((float(low), float(high)) for low, high in bounds)
    if budget < 1 or repeats < 1:
        raise ValueError(f"budget and repeats must be at least 1, not {budget} and {repeats}")
    for low, high in box:
        if not low < high:
            raise ValueError(f"each bound must be (low, high) with low < high, not ({low}, {high})")
    chosen = resolve(algorithms)
    problems = [UserProblem(fun, box, repeat, minimum, name) for repeat in range(repeats)]
    runs = [Run(algorithm, problem, budget, seed) for problem in problems for algorithm in chosen]
    with tempfile.TemporaryDirectory() as scratch:
        file = ResultsFile(Path(results) if results is not None else Path(scratch) / "results.jsonl")
        file.start(metadata(command))
        records = run_all(runs, file, workers=workers, cluster=executor, title="compare", show_progress=progress)
    table = by_function(records, shifted=False)
    value = "best value" if minimum is None else "regret"
    blocks: list[Block] = [regret_table(f"{name}, {budget} evaluations", table, value=value)]
    title = f"Comparison on {name}"
    return Comparison(records, Summary(title, file.origins, blocks + failures(records)), minimum is not None)


class FunctionReference:
    """A function named on the command line: `file.py:name`, `module:name`, or one of the paper's functions."""

    def __init__(self, reference: str) -> None:
        self.reference = reference
        self._function: Function | None = None
        self.load()

    def __call__(self, x: Point) -> float:
        return self.load()(x)

    def __getstate__(self) -> str:
        return self.reference

    def __setstate__(self, reference: str) -> None:
        self.__init__(reference)  # type: ignore[misc]

    @property
    def digest(self) -> str:
        """Changes with the file that the function is in."""
        place = self.reference.rpartition(":")[0]
        return hashlib.sha256(Path(place).read_bytes()).hexdigest() if place.endswith(".py") else ""

    def load(self) -> Function:
        if self._function is None:
            self._function = load_function(self.reference)
        return self._function


def load_function(reference: str) -> Function:
    if reference in PAPER:
        return PAPER[reference].value
    place, separator, attribute = reference.rpartition(":")
    if not separator:
        raise ValueError(f"unknown function {reference!r}. Allowed: FILE.py:NAME, MODULE:NAME, {', '.join(PAPER)}")
    try:
        module = _load_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
        found: Function = getattr(module, attribute)
    except (ImportError, AttributeError, OSError) as error:
        raise ValueError(f"cannot load {reference!r}: {error}") from error
    return found


def _load_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
