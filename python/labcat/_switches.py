"""The switches as typed keywords, ``**switches: Unpack[Switches]``; for type checkers only."""

from __future__ import annotations

from typing import Literal, TypedDict


class Switches(TypedDict, total=False):
    """Every one of `labcat.SWITCHES` that is no keyword of its own.

    Left out are those that `minimize` and `Optimizer` name: budget, target, tolerance, and seed,
    which is `rng`.
    """

    beta: float | None
    cache_factor: float
    prior_sigma: float | None
    rotation: bool
    newton_steps: int
    initial_points: int | None
    candidates: int | None
    restarts: bool
    noise: float
    signal: float
    kernel: Literal["squared_exponential", "matern52"]
    acquisition: Literal[
        "expected_improvement", "log_expected_improvement", "lower_confidence_bound"
    ]
    optimism: float
    near: float
    clip: bool
    refine: int
    centre_first: bool
    match_axes: bool
    warp: bool
    adapt_beta: bool
    quadratic: bool
    explore: bool
    precision: float
