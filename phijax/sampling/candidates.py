"""What samplers that follow the residual have in common: candidates, and the density with which they are picked."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phijax.sampling.points import Points
from phijax.sampling.samplers import check_sampler


class Candidates(NamedTuple):
    """Points of one refresh, and the density, up to a factor, with which they are picked."""

    points: Any
    density: Float[Array, "m"]


def candidates(base: Any, key: PRNGKeyArray, count: int) -> Candidates:
    """`count` points of `base`, all points of one that holds fewer, before anything is known of their residuals."""
    points = base.sample(key, min(count, getattr(base, "size", count)))
    leaf = jax.tree.leaves(points)[0]
    return Candidates(points, jnp.ones(leaf.shape[:1], leaf.dtype))


def density(residuals: Float[Array, "m"], exponent: float, offset: float) -> Float[Array, "m"]:
    """|r|^exponent / mean + offset; flat where all residuals are zero, without the first part where one is not finite."""
    size = finite_size(residuals)
    largest = jnp.max(size)
    relative = jnp.where(largest > 0, size / jnp.where(largest > 0, largest, 1), 1) ** exponent
    return relative / jnp.mean(relative) + offset


def finite_size(residuals: Float[Array, "m"]) -> Float[Array, "m"]:
    """|r|, zero for one that is not finite."""
    size = jnp.abs(residuals)
    return jnp.where(jnp.isfinite(size), size, 0)


def picked(key: PRNGKeyArray, density: Float[Array, "m"], n: int) -> Any:
    """`n` different rows, each draw in proportion to the density (Gumbel top-n; Kool et al. 2019)."""
    noise = jax.random.gumbel(key, density.shape, density.dtype)
    return jax.lax.top_k(jnp.log(density) + noise, n)[1]


def weighted(owner: str, points: Any, factors: Float[Array, "n"]) -> Points:
    """Points whose weights are the factors times their own. ValueError for what has no weights."""
    if not isinstance(points, Points):
        raise ValueError(
            f"{owner}: its base gives {type(points).__name__}, which carries no weights; it must give Points."
        )
    return dataclasses.replace(points, weights=factors if points.weights is None else factors * points.weights)


def check_base(base: Any, owner: str) -> None:
    """ValueError for a base that draws no points, or has a state of its own."""
    check_sampler(base, owner)
    if hasattr(base, "init"):
        raise ValueError(f"{owner}: the base must be a sampler without state.")


def check_endless(base: Any, owner: str) -> None:
    """ValueError for a base that holds a finite set of points, among which none is new for long."""
    if hasattr(base, "size") or getattr(getattr(base, "region", None), "count", None) is not None:
        raise ValueError(
            f"{owner}: the base, a {type(base).__name__}, holds a finite set of points, so that none is new; use "
            f"ResidualAdaptive there."
        )
