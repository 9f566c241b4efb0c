"""What a sampler of the user's own must give for a constraint, known from the shapes alone: nothing is drawn."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from phijax.formulation import Constraint
from phijax.sampling.points import Points
from phijax.sampling.probe import check_pure, probe, probe_pool
from phijax.symbolic import Normal, Observed


def check_sampler(constraint: Constraint, sampler: Any, count: int) -> None:
    """ValueError, naming the constraint, where its points are not such as its terms need."""
    who = f"the sampler of {constraint.name!r}"
    points = probe(who, sampler, count, jax.random.key(0))
    check_pure(who, sampler, count, jax.random.key(0))
    _check_columns(constraint, who, points)
    shapes = {leaf.shape for leaf in jax.tree.leaves(points)}
    if shapes != {(count,)}:
        raise ValueError(f"{who} gives columns of shapes {sorted(shapes)} when asked for {count} points: ({count},).")
    if hasattr(sampler, "pool"):
        _check_columns(constraint, f"the pool of {who}", probe_pool(who, sampler, count, jax.random.key(0)))


def _check_columns(constraint: Constraint, who: str, points: Any) -> None:
    """ValueError for points that lack a column, or have one that holds no floating-point numbers."""
    if not isinstance(points, Points):
        raise ValueError(f"{who} gives {type(points).__name__}; it must give Points(coordinates, normals).")
    residuals = [term.residual for term in constraint.terms]
    normals = {
        node.coordinate.name for residual in residuals for node in residual.free_symbols if isinstance(node, Normal)
    }
    values = {node.column for residual in residuals for node in residual.atoms(Observed)}
    for what, needed, given in (
        ("coordinate", set(constraint.region.names), points.coordinates),
        ("normal along", normals, points.normals or {}),
        ("observed value of", values, points.values or {}),
    ):
        missing = sorted(needed - set(given))
        if missing:
            raise ValueError(f"{who} gives no {what} {missing[0]!r}, which its terms need; add it to its Points.")
        kinds = jnp.inexact if what.startswith("observed") else jnp.floating
        for name in sorted(needed):
            column = given[name]
            dtype = getattr(column, "dtype", None)  # none of a list, whose shape is told below
            if dtype is not None and not jnp.issubdtype(dtype, kinds):
                raise ValueError(
                    f"{who} gives the {what} {name!r} as {dtype}; give floating-point numbers, as by .astype(float)."
                )
