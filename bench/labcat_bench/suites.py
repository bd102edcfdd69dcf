"""What is known of COCO's suites: dimensions, functions and their groups, and what kind of problem each holds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

Kind = Literal["box", "noisy", "mixed", "constrained", "residuals", "gradients"]
Groups = Mapping[str, Collection[int]]

GROUPS: Groups = {
    "all": range(1, 25),
    "sep": range(1, 6),
    "lcond": range(6, 10),
    "hcond": range(10, 15),
    "multi": range(15, 20),
    "mult2": range(20, 25),
}
TITLES = {
    "all": "all functions",
    "sep": "separable",
    "lcond": "unimodal, low conditioning",
    "hcond": "unimodal, high conditioning",
    "multi": "multimodal, adequate structure",
    "mult2": "multimodal, weak structure",
    "sphere": "sphere",
    "slope": "linear slope",
    "elli": "ellipsoids",
    "rastrigin": "Rastrigin's function",
    "moderate": "moderate noise",
    "severe": "severe noise",
    "smulti": "severe noise, multimodal",
}


@dataclass(frozen=True)
class Suite:
    """`without` names functions that cannot be scored, and why."""

    dims: tuple[int, ...]
    kind: Kind = "box"
    groups: Groups = field(default_factory=lambda: GROUPS)
    factor: int = 200  # the budget is this many evaluations per dimension
    without: Mapping[int, str] | None = None

    @property
    def functions(self) -> Collection[int]:
        return self.groups["all"]


USUAL = (2, 3, 5, 10, 20, 40)
UNKNOWN_VALUE = "COCO does not give its value without noise"
SUITES = {
    "bbob": Suite(USUAL),
    "bbob-boxed": Suite(USUAL),
    "bbob-largescale": Suite((20, 40, 80, 160, 320, 640), factor=50),
    "bbob-mixint": Suite((5, 10, 20, 40, 80, 160), "mixed"),
    "bbob-constrained": Suite(
        USUAL,
        "constrained",
        {
            "all": range(1, 55),
            "sphere": range(1, 7),
            "slope": range(13, 19),
            "elli": [*range(7, 13), *range(19, 25)],
            "hcond": range(25, 43),
            "rastrigin": range(43, 55),
        },
        100,
    ),
    "bbob-noisy": Suite(
        USUAL,
        "noisy",
        {
            "all": [*chain(range(101, 116), range(119, 131))],
            "moderate": range(101, 107),
            "severe": [*chain(range(107, 116), range(119, 122))],
            "smulti": range(122, 131),
        },
        without=dict.fromkeys(range(116, 119), UNKNOWN_VALUE),
    ),
}
REFUSED = {
    "bbob-biobj": "it has two objectives, and LABCAT has one",
    "bbob-biobj-ext": "it has two objectives, and LABCAT has one",
    "bbob-biobj-mixint": "it has two objectives and integer variables, and LABCAT has one objective",
}


class UnknownProblem(ValueError):
    """A suite, function, instance or dimension that cannot be benchmarked."""


def suite(name: str) -> Suite:
    if name in REFUSED:
        raise UnknownProblem(f"suite {name!r} cannot be run: {REFUSED[name]}. Allowed: {', '.join(SUITES)}")
    if name not in SUITES:
        raise UnknownProblem(f"unknown suite {name!r}. Allowed: {', '.join(SUITES)}")
    return SUITES[name]


def check(name: str, dims: Collection[int], functions: Collection[int], instances: Collection[int]) -> None:
    found = suite(name)
    if unknown := sorted(set(dims) - set(found.dims)):
        allowed = ", ".join(map(str, found.dims))
        raise UnknownProblem(f"dimension {unknown[0]} is not in suite {name}. Allowed: {allowed}")
    if unknown := sorted(set(functions) - set(found.functions)):
        number, allowed = unknown[0], f"{min(found.functions)}-{max(found.functions)}"
        if found.without and number in found.without:
            raise UnknownProblem(f"function {number} of suite {name} cannot be scored: {found.without[number]}")
        raise UnknownProblem(f"function {number} is not in suite {name}. Allowed: {allowed}")
    if unknown := [i for i in instances if i < 1]:
        raise UnknownProblem(f"instance {unknown[0]} is not allowed: instances count from 1")
