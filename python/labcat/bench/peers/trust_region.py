"""Trust-region Bayesian optimisation: BADS, SRSM, TREGO, TuRBO."""

from __future__ import annotations

import logging
import math
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..algorithms import Peer
from ..objective import Objective
from .bayesian import DESIGN, domain_reduction, egobox
from .classic import SEED_RANGE


def bads(objective: Objective, seed: int) -> None:
    from pybads import BADS

    logging.getLogger("BADS").setLevel(logging.ERROR)
    start = objective.from_unit(objective.start(seed))
    options = {
        "max_fun_evals": objective.remaining,
        "random_seed": seed % SEED_RANGE,
        "display": "off",
        "uncertainty_handling": False,
    }
    box = (objective.lower, objective.upper)
    BADS(objective, start, *box, *box, options=options).optimize()  # hard bounds, then plausible bounds


def egobox_trego(objective: Objective, seed: int) -> None:
    egobox(objective, seed, trego=True)


def trieste_trego(objective: Objective, seed: int) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf
    import trieste
    from trieste.acquisition.rule import BatchTrustRegionBox, TREGOBox
    from trieste.models.gpflow import GaussianProcessRegression, build_gpr

    tf.random.set_seed(seed)
    np.random.seed(seed % SEED_RANGE)  # noqa: NPY002 (the package draws from it)
    space = trieste.space.Box([0.0] * objective.dim, [1.0] * objective.dim)
    observer = trieste.objectives.utils.mk_observer(
        lambda points: tf.constant([[objective.in_unit(u)] for u in points.numpy()], dtype=tf.float64)
    )
    data = observer(space.sample_halton(objective.initial_points, seed=seed))
    model = GaussianProcessRegression(build_gpr(data, space, likelihood_variance=1e-7))
    rule = BatchTrustRegionBox(TREGOBox(space))
    optimizer = trieste.bayesian_optimizer.BayesianOptimizer(observer, space)
    optimizer.optimize(objective.remaining, data, model, rule, track_state=False).try_get_final_dataset()


# ---- TuRBO (Eriksson et al., 2019), with the Gaussian processes and the Thompson sampling of BoTorch

LENGTH_INITIAL, LENGTH_MIN, LENGTH_MAX = 0.8, 0.5**7, 1.6
SUCCESS_TOLERANCE = 3


def turbo_1(objective: Objective, seed: int) -> None:
    turbo(objective, seed, regions=1)


def turbo_5(objective: Objective, seed: int) -> None:
    turbo(objective, seed, regions=5)


def turbo(objective: Objective, seed: int, regions: int) -> None:
    """Each region has its own data; the best Thompson sample over all regions is evaluated next."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    trust_regions = [TurboRegion.start(objective) for _ in range(regions)]
    while objective.remaining:
        samples = [region.thompson_sample() for region in trust_regions]
        chosen = min(range(regions), key=lambda i: samples[i][1])
        trust_regions[chosen].update(samples[chosen][0], objective)
        if trust_regions[chosen].length < LENGTH_MIN:
            trust_regions[chosen] = TurboRegion.start(objective)


@dataclass
class TurboRegion:
    points: list[Any]
    values: list[float]
    length: float = LENGTH_INITIAL
    successes: int = field(default=0)
    failures: int = field(default=0)

    @classmethod
    def start(cls, objective: Objective) -> TurboRegion:
        import torch
        from torch.quasirandom import SobolEngine

        design = SobolEngine(objective.dim, scramble=True).draw(objective.initial_points, dtype=torch.double)
        return cls(list(design), [objective.in_unit(u.numpy()) for u in design])

    def thompson_sample(self) -> tuple[Any, float]:
        """The best of the candidates under one draw from the posterior, and its value in that draw."""
        import torch

        model = self._fit()
        candidates = self._candidates(model)
        with torch.no_grad():
            draw = model.posterior(candidates).rsample().squeeze()
        best = int(draw.argmin())
        return candidates[best], float(draw[best])

    def _fit(self) -> Any:
        import torch
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.transforms import Standardize
        from gpytorch.kernels import MaternKernel, ScaleKernel
        from gpytorch.mlls import ExactMarginalLogLikelihood

        x = torch.stack(self.points)
        y = torch.tensor(self.values, dtype=torch.double).unsqueeze(-1)
        kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=x.shape[1]))
        model = SingleTaskGP(x, y, covar_module=kernel, outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    def _candidates(self, model: Any) -> Any:
        import torch
        from torch.quasirandom import SobolEngine

        centre = self.points[int(np.argmin(self.values))]
        scales = model.covar_module.base_kernel.lengthscale.detach().flatten()
        weights = scales / scales.log().mean().exp()
        low = (centre - weights * self.length / 2).clamp(0, 1)
        high = (centre + weights * self.length / 2).clamp(0, 1)
        dim = len(centre)
        count = min(100 * dim, 5000)
        sobol = low + (high - low) * SobolEngine(dim, scramble=True).draw(count, dtype=torch.double)
        moved = torch.rand(count, dim) <= min(20 / dim, 1.0)
        moved[~moved.any(dim=1), torch.randint(dim, (1,))] = True
        return torch.where(moved, sobol, centre)

    def update(self, point: Any, objective: Objective) -> None:
        value = objective.in_unit(point.numpy())
        best = min(self.values)
        improved = value < best - 1e-3 * math.fabs(best)
        self.points.append(point)
        self.values.append(value)
        self.successes, self.failures = (self.successes + 1, 0) if improved else (0, self.failures + 1)
        if self.successes == SUCCESS_TOLERANCE:
            self.length, self.successes = min(2 * self.length, LENGTH_MAX), 0
        elif self.failures == max(4, objective.dim):
            self.length, self.failures = self.length / 2, 0


TORCH = ("botorch", "torch")

PEERS = (
    Peer("bads", "BADS", bads, ("pybads",), ("pybads",), "its own initial mesh", takes_start=True),
    Peer("srsm", "SRSM", domain_reduction, ("bayesian-optimization",), ("bayes_opt",), DESIGN),
    Peer(
        "trego",
        "TREGO (trieste)",
        trieste_trego,
        ("trieste",),
        ("trieste",),
        DESIGN,
        "needs numpy < 2 and TensorFlow: a virtual environment of its own",
    ),
    Peer("egobox-trego", "TREGO (egobox)", egobox_trego, ("egobox",), ("egobox",), DESIGN),
    Peer("turbo-1", "TuRBO-1", turbo_1, TORCH, TORCH, DESIGN + ", 1 region", "torch is large"),
    Peer("turbo-5", "TuRBO-5", turbo_5, TORCH, TORCH, DESIGN + " in each of 5 regions", "torch is large"),
)
