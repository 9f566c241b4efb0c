"""Weights by the norms of the terms' gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from .base import Params, Scalars
from .residuals import squared_norm
from .shares import InverseBalancer


@dataclass(frozen=True)
class GradNorm(InverseBalancer):
    """Weighted gradients of equal norm: weight_i -> mean_j(g_j) / g_i with g_i = |gradient of the raw loss i|.

    The rule is mean over own: norms 4 and 1 give 0.625 and 2.5. It is that of Wang, Sankaran, Wang & Perdikaris
    (2023), sum over own, divided by the number of terms, so that weights stay around one. Wang, Teng & Perdikaris
    (2021) compare the largest entry of the residual's gradient with the mean entry of each other term's instead, and
    keep the residual's weight at 1.

    every: steps from one update to the next, at least 1.
    smoothing: share of the present weight that is kept, from 0 to below 1.
    refresh: whether each update has a new diagnostic batch.
    largest: bound of a target weight.

    A term whose gradient is zero or not finite keeps its weight and is left out of the mean.
    """

    every: int = 100
    smoothing: float = 0.9
    refresh: bool = False
    largest: float = 1e6
    mean: ClassVar[bool] = True

    def diagnostics(self, params: Params, *, losses: Callable[[Params], Scalars], residuals: Any) -> Scalars:
        """The norm of the gradient of each raw loss."""
        trained, rest = eqx.partition(params, eqx.is_inexact_array)

        # One gradient a term costs about one gradient of the sum: the compiler drops what a term does not read.
        def norm(term: str) -> Any:
            return jnp.sqrt(squared_norm(jax.grad(lambda p: losses(eqx.combine(p, rest))[term])(trained)))

        return {term: norm(term) for term in jax.eval_shape(losses, params)}
