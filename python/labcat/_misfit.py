"""Least squares: weights of residuals, and losses that bound the influence of outliers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ._errors import InvalidError
from ._values import as_value, as_vector

Array: TypeAlias = "npt.NDArray[np.float64]"
Loss: TypeAlias = Literal["linear", "soft_l1", "huber", "cauchy", "arctan"]
Derivatives: TypeAlias = "tuple[Array, Array, Array]"


def _linear(z: Array) -> Derivatives:
    return z, np.ones_like(z), np.zeros_like(z)


def _soft_l1(z: Array) -> Derivatives:
    root = np.sqrt(1 + z)
    return 2 * z / (1 + root), 1 / root, -0.5 / root**3


def _huber(z: Array) -> Derivatives:
    inside, root = z <= 1, np.sqrt(np.maximum(z, 1))
    return np.where(inside, z, 2 * root - 1), np.where(inside, 1, 1 / root), np.where(inside, 0, -0.5 / root**3)


def _cauchy(z: Array) -> Derivatives:
    return np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2


def _arctan(z: Array) -> Derivatives:
    return np.arctan(z), 1 / (1 + z**2), -2 * z / (1 + z**2) ** 2


_LOSSES: Mapping[str, Callable[[Array], Derivatives]] = {
    "linear": _linear,
    "soft_l1": _soft_l1,
    "huber": _huber,
    "cauchy": _cauchy,
    "arctan": _arctan,
}
"""ρ(z) of the squared residual, and its first two derivatives."""


@dataclass(frozen=True)
class Misfit:
    """The sum that least squares minimise: f² Σ ρ((r / σ f)²), with f the scale of the loss ρ and σ of each residual."""

    loss: str = "linear"
    f_scale: float = 1.0
    sigma: tuple[float, ...] | float | None = None
    absolute_sigma: bool = False

    @staticmethod
    def checked(loss: object, f_scale: object, sigma: object, absolute_sigma: object) -> Misfit:
        """The misfit for the arguments of a user."""
        if loss not in _LOSSES:
            raise InvalidError(f"loss is {loss!r}; allowed: {', '.join(map(repr, _LOSSES))}")
        scale = as_value(f_scale, "f_scale", "a number above 0")
        if not (np.isfinite(scale) and scale > 0):
            raise InvalidError(f"f_scale is {scale:g}; allowed: a number above 0")
        if not isinstance(absolute_sigma, (bool, np.bool_)):
            raise InvalidError(f"absolute_sigma is {absolute_sigma!r}; allowed: True, False")
        if sigma is None:
            return Misfit(str(loss), scale, None, bool(absolute_sigma))
        each = as_vector(sigma, "sigma")
        wrong = [s for s in each if not (np.isfinite(s) and s > 0)]
        if wrong or not each:
            raise InvalidError(f"sigma has {wrong[0] if wrong else 'no numbers'}; allowed: numbers above 0")
        return Misfit(str(loss), scale, each[0] if np.ndim(sigma) == 0 else tuple(each), bool(absolute_sigma))  # type: ignore[arg-type]

    @property
    def is_plain(self) -> bool:
        """Whether it is Σ r² itself."""
        return self.loss == "linear" and self.sigma is None

    def described(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "loss": self.loss,
            "f_scale": self.f_scale,
            "sigma": list(self.sigma) if isinstance(self.sigma, tuple) else self.sigma,
            "absolute_sigma": self.absolute_sigma,
        }

    def _sigma(self, m: int) -> Array:
        if isinstance(self.sigma, tuple) and len(self.sigma) != m:
            raise InvalidError(f"sigma has {len(self.sigma)} numbers: there are {m} residuals")
        return np.asarray(1.0 if self.sigma is None else self.sigma)

    def _losses(self, weighted: Array) -> Derivatives:
        with np.errstate(over="ignore", invalid="ignore"):
            return _LOSSES[self.loss]((weighted / self.f_scale) ** 2)

    def told(self, residuals: Array) -> Array:
        """Numbers whose squares sum to the misfit, with the signs of the residuals; numbers that are not finite stay as they are."""
        if self.is_plain:
            return residuals
        weighted = residuals / self._sigma(len(residuals))
        if self.loss != "linear":
            root = self.f_scale * np.sqrt(self._losses(weighted)[0])
            weighted = np.where(np.isfinite(weighted), np.copysign(root, weighted), weighted)
        return weighted

    def told_jacobian(self, residuals: Array, jacobian: Array) -> Array:
        """The derivatives of those numbers, of finite residuals with these derivatives."""
        sigma = self._sigma(len(residuals))
        loss, first, _ = self._losses(residuals / sigma)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            z = (residuals / sigma / self.f_scale) ** 2
            scale = first * np.where(z > 0, np.sqrt(z / loss), 1.0) / sigma
        return np.broadcast_to(scale, residuals.shape)[:, None] * jacobian

    def cost(self, residuals: Array) -> float:
        """Half the misfit."""
        return float(0.5 * np.sum(self.told(residuals) ** 2))

    def gradient(self, residuals: Array, jacobian: Array) -> Array:
        """The gradient of the cost by the parameters."""
        sigma = self._sigma(len(residuals))
        weighted = residuals / sigma
        found: Array = jacobian.T @ (self._losses(weighted)[1] * weighted / sigma)
        return found

    def curved(self, residuals: Array, jacobian: Array) -> Array:
        """A matrix whose JᵀJ is the Gauss–Newton approximation of the second derivatives of the cost."""
        sigma = self._sigma(len(residuals))
        weighted = residuals / sigma
        _, first, second = self._losses(weighted)
        scale = np.maximum(first + 2 * second * (weighted / self.f_scale) ** 2, np.finfo(np.float64).eps)
        return np.broadcast_to(np.sqrt(scale) / sigma, residuals.shape)[:, None] * jacobian
