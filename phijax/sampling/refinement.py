"""Points that become more where the residual is large (RAR; Lu, Meng, Mao & Karniadakis 2021, Wu et al. 2023)."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phijax._numbers import plain
from phijax._options import flag, real, whole
from phijax.sampling.candidates import Candidates, candidates, check_base, check_endless, density, picked, weighted
from phijax.sampling.points import Points
from phijax.sampling.samplers import Sampler

_OWNER = "ResidualRefinement"


class Refined(NamedTuple):
    """n rows, of which the first are in use and the others repeat them; weights are those of the base.

    refreshes: of the run so far; the first draws the points to start with, each later one adds some.
    """

    points: Points
    refreshes: Int[Array, ""]


class Offered(NamedTuple):
    """The points so far, and those that may be added."""

    so_far: Refined
    offer: Candidates


class ResidualRefinement(eqx.Module):
    """Starts with `start` points and adds `add` of them every `period` steps, up to the number n of the batch.

    They are drawn from `pool_factor` n points of `base` with density |r|^exponent / mean + offset (RAR-D, Wu et al. 2023);
    greedy: those of the largest |r| instead (RAR-G, Lu et al. 2021). start: n/2 unless said.
    A batch has n rows from the first step on. Those not yet in use have weight zero, the others n / number in use, so
    that a loss is the mean over the points in use.
    Raises ValueError for a base of finitely many points, which would be added twice.
    """

    base: Sampler
    start: int | None = eqx.field(static=True, default=None, converter=plain)
    add: int = eqx.field(static=True, default=10, converter=plain)
    period: int = eqx.field(static=True, default=100, converter=plain)
    pool_factor: int = eqx.field(static=True, default=8, converter=plain)
    exponent: float = eqx.field(static=True, default=2.0)
    offset: float = eqx.field(static=True, default=0.0)
    greedy: bool = eqx.field(static=True, default=False)

    def __check_init__(self) -> None:
        check_base(self.base, _OWNER)
        check_endless(self.base, _OWNER)
        for name in (
            ("add", "period", "pool_factor") if self.start is None else ("start", "add", "period", "pool_factor")
        ):
            whole(_OWNER, name, getattr(self, name), least=1)
        for name in ("exponent", "offset"):
            real(_OWNER, name, getattr(self, name), "of at least 0", lambda number: number >= 0)
        flag(_OWNER, "greedy", self.greedy)

    def init(self, key: PRNGKeyArray) -> None:
        """The first pool begins the state, since it is told the number of points."""
        return

    def pool(self, state: Refined | None, key: PRNGKeyArray, n: int) -> tuple[Offered, Any]:
        """Candidates for the rows to come, to be judged by their residuals."""
        start_key, pool_key = jax.random.split(key)
        begin = lambda: self._begun(start_key, n)
        if state is None:
            so_far = Refined(begin(), jnp.int32(-1))
        else:
            points = jax.lax.cond(state.refreshes == 0, begin, lambda: state.points)
            so_far = Refined(points, state.refreshes)
        offer = candidates(self.base, pool_key, self.pool_factor * n)
        return Offered(so_far, offer), offer.points

    def update(self, state: Offered, residuals: Float[Array, "m"]) -> Offered:
        """The density of the candidates, from the magnitudes of their residuals."""
        exponent, offset = (1.0, 0.0) if self.greedy else (self.exponent, self.offset)
        return Offered(state.so_far, Candidates(state.offer.points, density(residuals, exponent, offset)))

    def sample(self, state: Offered, key: PRNGKeyArray, n: int) -> tuple[Refined, Points]:
        """`n` rows: those so far, with the picked candidates in the first rows that were not in use."""
        (points, refreshes), offer = state
        before, after = self._in_use(refreshes, n), self._in_use(refreshes + 1, n)
        count = min(self.add, n - self._start(n))
        best = jax.lax.top_k(offer.density, count)[1] if self.greedy else picked(key, offer.density, count)
        row = before + jnp.arange(count)
        row = jnp.where(row < after, row, n)  # row n is out of range, and dropped
        points = jax.tree.map(lambda old, new: old.at[row].set(new[best], mode="drop"), points, offer.points)
        share = jnp.where(jnp.arange(n) < after, n / after.astype(offer.density.dtype), 0)
        return Refined(points, refreshes + 1), weighted(_OWNER, points, share)

    def _begun(self, key: PRNGKeyArray, n: int) -> Any:
        """The points to start with, again and again to the last row, so that every row is a point of the region."""
        start = self._start(n)
        points = self.base.sample(key, start)
        row = jnp.arange(n) % start
        return jax.tree.map(lambda leaf: leaf[row], points)

    def _in_use(self, refreshes: Int[Array, ""], n: int) -> Int[Array, ""]:
        return jnp.minimum(self._start(n) + self.add * jnp.maximum(refreshes - 1, 0), n)

    def _start(self, n: int) -> int:
        start = max(n // 2, 1) if self.start is None else self.start
        if start >= n:
            raise ValueError(
                f"{_OWNER}: it starts with {start} of {n} points, which leaves none to add; ask for more points, or "
                f"start with fewer."
            )
        return start
