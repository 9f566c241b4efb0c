"""Samplers of regions and pools. A sampler is any object with a pure, jittable `sample(key, n) -> Points`."""

from __future__ import annotations

import difflib
import math
from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, PRNGKeyArray

from phijax._numbers import is_whole, plain
from phijax._precision import ambient_precision
from phijax.geometry import PointCloud, Region
from phijax.sampling.points import Points
from phijax.sampling.unit import METHODS, draw

_MAX_ROUNDS = 1000  # of acceptance; each is made to fill the batch with some to spare


@runtime_checkable
class Sampler(Protocol):
    """What `NamedBatchSource` draws from. `sample` returns exactly n rows, from the key alone."""

    def sample(self, key: PRNGKeyArray, n: int) -> Any: ...


class RegionSampler(eqx.Module):
    """Uniform points of a region, new for each key.

    method: "sobol" (scrambled: low discrepancy), "halton", "latin" (a Latin hypercube), "uniform" (independent), or
    "grid" (the same for every key; n is a power of a whole number).
    Where the region has a map from the cube, points go through it. A part chosen by a condition is covered by a region
    that has one, and points are accepted until n are found: uniform, but with no promise of low discrepancy.
    A cloud of points gives all of them, in order, when n is their number, else n of them at random with replacement.
    Raises ValueError for another method and for a region that holds no points, with the region's own sentences.
    """

    region: Region = eqx.field(static=True)
    method: str = eqx.field(static=True, default="sobol")

    def __check_init__(self) -> None:
        if self.method not in METHODS:
            close = difflib.get_close_matches(str(self.method), METHODS, n=1)
            cure = f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(map(repr, METHODS))}."
            raise ValueError(f"method={self.method!r} is no way to sample; {cure}")
        if self.region.faults:
            raise ValueError(" ".join(self.region.faults))
        if self.method == "grid" and self.region.cube_dimension is None:
            raise ValueError(f"{self.region} has no map from a cube, so it takes no grid; choose another method.")

    def sample(self, key: PRNGKeyArray, n: int) -> Points:
        """Exactly `n` points; with normals where the region has one."""
        if isinstance(self.region, PointCloud):
            rows = self.region.rows(ambient_precision())
            return PoolSampler(Points(rows.coordinates, rows.normals)).sample(key, n)
        if self.region.cube_dimension is None:
            return _accepted(self.region, self.method, key, n)
        return Points(*self.region.from_cube(draw(self.method, key, n, self.region.cube_dimension)))


def _accepted(region: Region, method: str, key: PRNGKeyArray, n: int) -> Points:
    """The first `n` of the cover's points that are the region's, round after round."""
    cover, share = region.cover, region.measure / region.cover.measure
    size = math.ceil(1.1 * n / share) + 32
    dimension = cover.cube_dimension or 0

    def candidates(count: Array | int) -> tuple[Points, Bool[Array, "m"]]:
        unit = draw(method, jax.random.fold_in(key, count), size, dimension)
        placement = cover.from_cube(unit)
        return Points(*placement), region.accept(unit, placement)

    def again(state: tuple) -> Bool[Array, ""]:
        rounds, found, _ = state
        return (found < n) & (rounds < _MAX_ROUNDS)

    def one_round(state: tuple) -> tuple:
        rounds, found, points = state
        drawn, accepted = candidates(rounds)
        row = jnp.where(accepted, found + jnp.cumsum(accepted) - 1, n)  # row n is out of range, and dropped
        points = jax.tree.map(lambda kept, new: kept.at[row].set(new, mode="drop"), points, drawn)
        return rounds + 1, found + jnp.sum(accepted), points

    like = jax.eval_shape(lambda: candidates(0)[0])
    empty = jax.tree.map(lambda leaf: jnp.zeros((n,), leaf.dtype), like)
    _, found, points = jax.lax.while_loop(again, one_round, (0, jnp.sum(jnp.zeros(0, bool)), empty))
    # Rows that no round filled repeat those found, so that none lies outside the region.
    index = jnp.arange(n) % jnp.maximum(jnp.minimum(found, n), 1)
    return jax.tree.map(lambda leaf: leaf[index], points)


class Grid(eqx.Module):
    """Middles of equal cells of the cube, mapped onto the region: `per_axis` of them an axis, at every step the same."""

    region: Region = eqx.field(static=True)
    per_axis: int = eqx.field(static=True, converter=plain)

    def __check_init__(self) -> None:
        if self.region.faults:
            raise ValueError(" ".join(self.region.faults))
        if self.region.cube_dimension is None:
            raise ValueError(f"{self.region} has no map from a cube, so it takes no grid; use RegionSampler.")
        if not is_whole(self.per_axis):
            raise ValueError(f"Grid on {self.region}: per_axis={self.per_axis!r} must be a whole number of at least 1.")

    @property
    def size(self) -> int:
        """Number of points."""
        return self.per_axis ** (self.region.cube_dimension or 0)

    def sample(self, key: PRNGKeyArray, n: int) -> Points:
        """All of the points; ValueError unless `n` is their number."""
        if n != self.size:
            raise ValueError(
                f"a grid of per_axis={self.per_axis} on {self.region} has {self.size} points, not {n}; "
                f"ask for {self.size} or change per_axis."
            )
        return Points(*self.region.from_cube(draw("grid", key, n, self.region.cube_dimension or 0)))


class PoolSampler(eqx.Module):
    """Rows of a finite pool: `Points`, a mapping of arrays, or any tree of arrays with one leading axis.

    The whole pool, in order, when n is its size; fewer are drawn at random with replacement; more are refused.
    """

    pool: Any

    def __check_init__(self) -> None:
        leaves = jax.tree.leaves(self.pool)
        if not leaves or any(np.ndim(leaf) == 0 for leaf in leaves):
            raise ValueError("a pool is a tree of arrays that share their leading axis; got one without rows.")
        lengths = {np.shape(leaf)[0] for leaf in leaves}
        if len(lengths) > 1:
            raise ValueError(f"the arrays of a pool must have one length; got {', '.join(map(str, sorted(lengths)))}.")

    @property
    def size(self) -> int:
        """Number of rows."""
        return np.shape(jax.tree.leaves(self.pool)[0])[0]

    def sample(self, key: PRNGKeyArray, n: int) -> Any:
        """`n` rows as the pool's own kind of tree, floating-point columns in the ambient precision."""
        if n > self.size:
            raise ValueError(
                f"the pool has {self.size} rows, fewer than the {n} asked for; ask for at most {self.size}."
            )
        pool = jax.tree.map(ambient, self.pool)
        if n == self.size:
            return pool
        rows = jax.random.randint(key, (n,), 0, self.size)
        return jax.tree.map(lambda leaf: leaf[rows], pool)


def ambient(leaf: Any) -> Array:
    """An array as JAX holds it, floating-point numbers in the ambient precision."""
    dtype = ambient_precision() if jnp.issubdtype(jnp.result_type(leaf), jnp.floating) else None
    return jnp.asarray(leaf, dtype)


def check_sampler(sampler: Any, owner: str) -> None:
    """ValueError, naming the owner, for what draws no points."""
    if isinstance(sampler, type) or not callable(getattr(sampler, "sample", None)):
        raise ValueError(f"{owner}: {sampler!r} is no sampler; it needs a method sample(key, n) that returns Points.")


class Held(eqx.Module):
    """The points of `sampler`, kept for `every` steps: those of the last step that is divisible by it. No state."""

    sampler: Sampler
    every: int = eqx.field(static=True, converter=plain)

    def __check_init__(self) -> None:
        check_sampler(self.sampler, "Held")
        if hasattr(self.sampler, "init"):
            raise ValueError("Held takes a sampler without state; one with state says itself when it refreshes.")
        if not is_whole(self.every):
            raise ValueError(f"Held: every={self.every!r} must be a whole number of at least 1.")

    def sample(self, key: PRNGKeyArray, n: int) -> Any:
        """Points for a key; the source gives the key of the step at which they are due."""
        return self.sampler.sample(key, n)
