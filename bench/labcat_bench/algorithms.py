"""Algorithms by name: LABCAT with its presets and options, and the peers."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from .adapters import run_labcat
from .objective import Objective
from .suites import Kind

PRESETS = ("paper", "default")
KINDS: Mapping[Kind, str] = {
    "box": "real variables in a box",
    "noisy": "noisy values",
    "mixed": "integers and categories",
    "constrained": "constraints",
    "residuals": "residuals",
    "gradients": "gradients",
}


class UnknownAlgorithm(ValueError):
    """No algorithm of that name."""


class NotInstalled(Exception):
    """The package of a peer is missing."""


@dataclass(frozen=True)
class Peer:
    """An adapter over another package: `run` makes one run with a seed; the harness restarts it within the budget."""

    name: str
    label: str
    run: Callable[[Objective, int], None]
    requires: tuple[str, ...] = ()  # names on PyPI, for pip
    imports: tuple[str, ...] = ()  # what must be importable
    settings: str = ""  # initial design, start, restarts: what a reader must know
    remark: str = ""
    takes_start: bool = False  # begins at a given point: at random, or first in the centre
    kinds: tuple[Kind, ...] = ("box",)  # the kinds of problem that it can be run on

    @property
    def missing(self) -> list[str]:
        return [module for module in self.imports if importlib.util.find_spec(module) is None]

    @property
    def install(self) -> str:
        return "pip install " + " ".join(self.requires)

    @property
    def version(self) -> str:
        """The installed versions, or the empty string if something is missing."""
        if self.missing:
            return ""
        return ", ".join(f"{name} {metadata.version(name)}" for name in map(distribution_name, self.requires))


def distribution_name(requirement: str) -> str:
    """`smac>=2` is a requirement on the distribution `smac`."""
    for mark in "[<>=!~ ":
        requirement = requirement.split(mark)[0]
    return requirement


@dataclass(frozen=True)
class Algorithm:
    """What a run uses: LABCAT with a preset and options, or a peer. Plain data, so that any worker can resolve it."""

    name: str
    label: str
    options: Mapping[str, Any] = field(default_factory=dict)
    python: str = ""  # the interpreter whose LABCAT it is, if not this one's
    build: str = ""  # of LABCAT, where results of several are kept apart

    @property
    def is_labcat(self) -> bool:
        return self.name == "labcat"

    def run(self, objective: Objective, seed: int) -> None:
        if self.is_labcat:
            run_labcat(objective, seed, self.options)
        else:
            objective.centre_first = bool(self.options.get("centre_first"))
            peer(self.name).run(objective, seed)


def labcat_algorithm(preset: str = "default", /, label: str | None = None, **switches: Any) -> Algorithm:
    if preset not in PRESETS:
        raise UnknownAlgorithm(f"unknown preset {preset!r}. Allowed: {', '.join(PRESETS)}")
    if label is None:
        changes = ", ".join(f"{name}={value}" for name, value in switches.items())
        label = f"LABCAT ({preset}{', ' if changes else ''}{changes})"
    return Algorithm("labcat", label, {"preset": preset, **switches})


def literal(text: str) -> Any:
    """The value of an option as written on a command line: `0.5`, `10`, `false`, `none`, or a word."""
    constants = {"none": None, "true": True, "false": False}
    if text.lower() in constants:
        return constants[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def peers() -> Iterable[Peer]:
    from .peers import PEERS

    return PEERS.values()


def peer(name: str) -> Peer:
    found = {p.name: p for p in peers()}
    if name not in found:
        raise UnknownAlgorithm(f"unknown peer {name!r}. Allowed: {', '.join(found)}")
    return found[name]


def peer_algorithm(name: str, kind: Kind = "box") -> Algorithm:
    """The peer, checked to be installed and fit for this kind of problem; `bobyqa@centre` begins in the centre of the box, as LABCAT's default does."""
    word, separator, start = name.partition("@")
    found = peer(word)
    if separator and (start != "centre" or not found.takes_start):
        allowed = ", ".join(f"{p.name}@centre" for p in peers() if p.takes_start)
        raise UnknownAlgorithm(f"unknown start {name!r}. Allowed: {allowed}")
    if kind not in found.kinds:
        allowed = ", ".join(p.name for p in peers() if kind in p.kinds)
        raise UnknownAlgorithm(f"{found.label} is not for {KINDS[kind]}. Allowed: {allowed}")
    if found.missing:
        raise NotInstalled(f"{found.label} is not installed: {found.install}")
    return Algorithm(word, f"{found.label} (centre)", {"centre_first": True}) if start else Algorithm(word, found.label)


def algorithm(name: str) -> Algorithm:
    """An algorithm by its one-word name: `labcat`, `labcat-paper`, or a peer."""
    if name == "labcat":
        return labcat_algorithm()
    if name in (f"labcat-{preset}" for preset in PRESETS):
        return labcat_algorithm(name.removeprefix("labcat-"))
    return peer_algorithm(name)


def algorithms(names: Iterable[str | Algorithm]) -> list[Algorithm]:
    return [name if isinstance(name, Algorithm) else algorithm(name) for name in names]
