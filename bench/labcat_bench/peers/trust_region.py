"""Trust-region Bayesian optimisation: BADS, SRSM, TREGO, TuRBO."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
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


# ---- TuRBO (Eriksson et al., 2019): the authors' settings, with the Gaussian processes of BoTorch

LENGTH_INITIAL, LENGTH_MIN, LENGTH_MAX = 0.8, 0.5**7, 1.6
SUCCESS_TOLERANCE = 3
TRAINING_STEPS, LEARNING_RATE = 50, 0.1  # of Adam, for each fit
BATCH = 10


def turbo_1(objective: Objective, seed: int) -> None:
    turbo(objective, seed, regions=1)


def turbo_5(objective: Objective, seed: int) -> None:
    turbo(objective, seed, regions=5)


def turbo_1_batch(objective: Objective, seed: int) -> None:
    turbo(objective, seed, regions=1, batch=BATCH)


def turbo_5_batch(objective: Objective, seed: int) -> None:
    turbo(objective, seed, regions=5, batch=BATCH)


def turbo(objective: Objective, seed: int, regions: int, batch: int = 1) -> None:
    """Each region has its own data; the best of a Thompson sample over all regions is evaluated next, once per draw."""
    import torch

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    tolerance = max(4 if regions == 1 else 5, objective.dim)
    trust_regions = [TurboRegion.start(objective) for _ in range(regions)]
    while objective.remaining:
        samples = [region.thompson_sample(batch) for region in trust_regions]
        chosen: list[list[Any]] = [[] for _ in samples]
        for draw in range(batch):
            lowest = [float(values[draw].min()) for _, values in samples]
            best = lowest.index(min(lowest))
            candidates, values = samples[best]
            taken = int(values[draw].argmin())
            chosen[best].append(candidates[taken])
            values[:, taken] = math.inf
        for i, points in enumerate(chosen):
            if points:
                trust_regions[i].update(points, objective, tolerance)
            if trust_regions[i].length < LENGTH_MIN and objective.remaining:
                trust_regions[i] = TurboRegion.start(objective)


@dataclass
class TurboRegion:
    points: list[Any]
    values: list[float]
    length: float = LENGTH_INITIAL
    successes: int = 0
    failures: int = 0
    model: Any = None  # fitted to these points, until there are more

    @classmethod
    def start(cls, objective: Objective) -> TurboRegion:
        import torch
        from torch.quasirandom import SobolEngine

        design = SobolEngine(objective.dim, scramble=True).draw(objective.initial_points, dtype=torch.double)
        return cls(list(design), [objective.in_unit(u.numpy()) for u in design])

    def thompson_sample(self, draws: int) -> tuple[Any, Any]:
        """Candidates, and their values in each of so many draws from the posterior."""
        import torch

        centre, spread = self._standard()
        if self.model is None:
            self.model = self._fit(centre, spread)
        candidates = self._candidates()
        with torch.no_grad():
            values = self.model.posterior(candidates, observation_noise=True).rsample(torch.Size([draws])).squeeze(-1)
        return candidates, centre + spread * values

    def _standard(self) -> tuple[float, float]:
        spread = float(np.std(self.values))
        return float(np.median(self.values)), 1.0 if spread < 1e-6 else spread

    def _fit(self, centre: float, spread: float) -> Any:
        import torch
        from botorch.models import SingleTaskGP
        from botorch.optim.fit import fit_gpytorch_mll_torch
        from gpytorch.constraints import Interval
        from gpytorch.kernels import MaternKernel, ScaleKernel
        from gpytorch.likelihoods import GaussianLikelihood
        from gpytorch.mlls import ExactMarginalLogLikelihood

        x = torch.stack(self.points)
        y = (torch.tensor(self.values, dtype=torch.double).unsqueeze(-1) - centre) / spread
        matern = MaternKernel(nu=2.5, ard_num_dims=x.shape[1], lengthscale_constraint=Interval(0.005, 2.0))
        kernel = ScaleKernel(matern, outputscale_constraint=Interval(0.05, 20.0))
        noise = GaussianLikelihood(noise_constraint=Interval(5e-4, 0.2))
        matern.lengthscale, kernel.outputscale, noise.noise = 0.5, 1.0, 0.005  # where the training begins
        model = SingleTaskGP(x, y, likelihood=noise, covar_module=kernel, outcome_transform=None)
        fit_gpytorch_mll_torch(
            ExactMarginalLogLikelihood(noise, model),
            step_limit=TRAINING_STEPS,
            stopping_criterion=None,
            optimizer=partial(torch.optim.Adam, lr=LEARNING_RATE),
        )
        return model.eval()

    def _candidates(self) -> Any:
        import torch
        from torch.quasirandom import SobolEngine

        centre = self.points[int(np.argmin(self.values))]
        scales = self.model.covar_module.base_kernel.lengthscale.detach().flatten()
        weights = scales / scales.log().mean().exp()
        low = (centre - weights * self.length / 2).clamp(0, 1)
        high = (centre + weights * self.length / 2).clamp(0, 1)
        dim = len(centre)
        count = min(100 * dim, 5000)
        sobol = low + (high - low) * SobolEngine(dim, scramble=True).draw(count, dtype=torch.double)
        moved = torch.rand(count, dim) <= min(20 / dim, 1.0)
        moved[~moved.any(dim=1), torch.randint(dim, (1,))] = True
        return torch.where(moved, sobol, centre)

    def update(self, points: Sequence[Any], objective: Objective, tolerance: int) -> None:
        """Failures are counted by points, successes by batches."""
        values = [objective.in_unit(point.numpy()) for point in points]
        best = min(self.values)
        improved = min(values) < best - 1e-3 * math.fabs(best)
        self.points += points
        self.values += values
        self.model = None
        self.successes, self.failures = (self.successes + 1, 0) if improved else (0, self.failures + len(points))
        if self.successes == SUCCESS_TOLERANCE:
            self.length, self.successes = min(2 * self.length, LENGTH_MAX), 0
        elif self.failures >= tolerance:
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
    Peer(
        "turbo-1-batch",
        f"TuRBO-1 (batches of {BATCH})",
        turbo_1_batch,
        TORCH,
        TORCH,
        DESIGN + ", 1 region, as the paper's seconds say it was used",
        "torch is large",
    ),
    Peer(
        "turbo-5-batch",
        f"TuRBO-5 (batches of {BATCH})",
        turbo_5_batch,
        TORCH,
        TORCH,
        DESIGN + " in each of 5 regions, as the paper's seconds say",
        "torch is large",
    ),
)
