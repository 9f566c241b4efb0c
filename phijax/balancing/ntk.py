"""Weights by the traces of the terms' neural tangent kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
from jaxtyping import Array, Float

from .base import Params, Scalars
from .residuals import kernel_traces
from .shares import InverseBalancer


@dataclass(frozen=True)
class NTK(InverseBalancer):
    """Equal mean rates of convergence: weight_i -> sum_j(k_j) / k_i, with k_i the trace of term i's kernel over its n_i.

    The trace is exact, the sum over samples of |gradient of the residual|^2: gradients g and -g give 2 |g|^2. For
    equal numbers of samples this is the rule of Wang, Yu & Perdikaris (2022), sum over own; the division by n_i
    belongs to losses that are means, and makes the weights independent of how many samples a term has.

    every: steps from one update to the next, at least 1.
    smoothing: share of the present weight that is kept, from 0 to below 1; the paper has none.
    refresh: whether each update has a new diagnostic batch.
    largest: bound of a target weight.

    A term whose trace is zero or not finite keeps its weight and is left out of the sum.
    """

    every: int = 100
    smoothing: float = 0.0
    refresh: bool = False
    largest: float = 1e12
    mean: ClassVar[bool] = False

    def diagnostics(
        self, params: Params, *, losses: Any, residuals: Callable[[Params], dict[str, Float[Array, " n"]]]
    ) -> Scalars:
        """The trace of each term's kernel over its number of samples, taken in blocks of samples."""
        traces = kernel_traces(residuals, params)
        shapes = jax.eval_shape(residuals, params)
        return {term: trace / shapes[term].size for term, trace in traces.items()}
