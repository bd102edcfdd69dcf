"""The options as typed keywords, ``**switches: Unpack[Switches]``; for type checkers only.

Written by scripts/python-switches.
"""

from __future__ import annotations

from typing import Literal, TypedDict


class Switches(TypedDict, total=False):
    """Every one of `labcat.SWITCHES` that is no keyword of its own, as budget, target and tolerance."""

    precision: float
    """End a local run when its outputs differ by no more than this fraction of their widest spread (0: rounding)."""

    search: Literal["local", "global"]
    """Whether local runs are alone (local), or take turns with a model of the whole box (global)."""

    initial_points: int | None
    """Evaluations before the model starts (none: 2 d + 1 in paper, d + 1, at least 4, in default)."""

    centre_first: bool
    """Evaluate the middle of the box first."""

    rotation: bool
    """Rotate the frame to the weighted principal components."""

    match_axes: bool
    """Keep new principal axes next to the old ones they resemble."""

    warp: bool
    """Warp heavy-tailed outputs logarithmically."""

    noise: Literal["auto", "none"] | float
    """Noise in the values: auto (detected and estimated), none, or its standard deviation in units of the objective."""

    kernel: Literal["squared_exponential", "matern52", "matern32"]
    """Covariance function of the model."""

    signal: float
    """Signal standard deviation, as a multiple of the standard deviation of the outputs."""

    nugget: float
    """Standard deviation of the nugget, on normalised outputs."""

    prior_sigma: float | None
    """Standard deviation of the prior on ln length-scale (none: uniform)."""

    newton_steps: int
    """Length-scale steps per suggestion."""

    curvature: Literal["exact", "average_information"] | None
    """Second derivatives of the likelihood for Newton's step (none: exact for d <= 2, average_information above)."""

    length_scale_cap: float | None
    """No length-scale changes by more than this factor in a step (none: no limit)."""

    beta: float | None
    """Half the side of the trust region, in length-scales (none: 1/d within [0.1, 1])."""

    cache_factor: float
    """Observations per dimension that the model keeps."""

    adapt_beta: bool
    """Widen the trust region after successes, up to a length-scale, and narrow it after failures."""

    acquisition: Literal["expected_improvement", "log_expected_improvement", "lower_confidence_bound"]
    """The acquisition function, which rates candidates."""

    optimism: float
    """Factor on the model's standard deviation in the acquisition function."""

    candidates: int | None
    """Samples of the acquisition function per suggestion (none: 10 d)."""

    near: float
    """Share of the samples that are drawn near the best point, at all scales."""

    refine: int
    """Gradient steps on the acquisition function from the best candidate."""

    quadratic: bool
    """Try the minimum of a linear or quadratic regression once it predicts far better than the model."""

    nearby: bool
    """With quadratic: also try, from time to time, the minimum of a quadratic regression of the nearest observations."""

    quartic: bool
    """With quadratic: also try the minimum of a polynomial of degree four, if it predicts well."""

    restarts: bool
    """Start another local run when one has converged."""

    keep_best: bool
    """The best point so far replaces one point of a restart's design."""

    restart_design: float
    """Size of a restart's design, as a multiple of the first one."""

    explore: bool
    """Every other local run is an exploration run: a wide trust region, a smoother model, more optimism."""

    give_up: float | None
    """Give up a run if its best value is behind the best of all runs by more than this many times its range (none: never)."""
