"""Points that stay where the residual is large (R3; Daw, Bu, Wang, Perdikaris & Karpatne 2023)."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from phijax._numbers import plain
from phijax._options import whole
from phijax.sampling.candidates import check_base, check_endless, finite_size
from phijax.sampling.samplers import Sampler

_OWNER = "RetainResampleRelease"


class Judged(NamedTuple):
    """The points so far, and which of them stay."""

    points: Any
    stays: Bool[Array, "n"]


class RetainResampleRelease(eqx.Module):
    """Every `period` steps keeps the points with |r| above its mean, and replaces the others by new ones of `base`.

    So points gather where the residual stays large, and leave as it falls. The paper refreshes at every step.
    Raises ValueError for a base of finitely many points, among which none is new.
    """

    base: Sampler
    period: int = eqx.field(static=True, default=10, converter=plain)

    def __check_init__(self) -> None:
        check_base(self.base, _OWNER)
        check_endless(self.base, _OWNER)
        whole(_OWNER, "period", self.period, least=1)

    def init(self, key: PRNGKeyArray) -> None:
        """The first pool begins the state, since it is told the number of points."""
        return

    def pool(self, state: Any, key: PRNGKeyArray, n: int) -> tuple[Judged, Any]:
        """The points so far, to be judged by their residuals."""
        points = self.base.sample(key, n) if state is None else state
        return Judged(points, jnp.zeros(n, bool)), points

    def update(self, state: Judged, residuals: Float[Array, "n"]) -> Judged:
        """Which points stay, from the magnitudes of their residuals; none with one that is not finite."""
        size = finite_size(residuals)
        return Judged(state.points, size > jnp.mean(size))

    def sample(self, state: Judged, key: PRNGKeyArray, n: int) -> tuple[Any, Any]:
        """`n` points, new ones in the rows of those that do not stay."""
        # In their own order from the first on: rows of a low-discrepancy sequence that were chosen by where they lay
        # before fall together again.
        order = jnp.maximum(jnp.cumsum(~state.stays) - 1, 0)
        new = jax.tree.map(lambda leaf: leaf[order], self.base.sample(key, n))
        points = jax.tree.map(lambda old, other: jax.vmap(jnp.where)(state.stays, old, other), state.points, new)
        return points, points
