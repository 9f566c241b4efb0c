"""What a sampler of the user's own must give for a constraint, known from the shapes, and then from its first points."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from phijax.formulation import Constraint, DeclarationWarning
from phijax.sampling.points import Points
from phijax.sampling.probe import check_pure, drawn, is_own, probe, probe_pool
from phijax.symbolic import Normal, Observed

OUTSIDE = 1e-4  # of the region's size: what rounding moves a point by is far less


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
    if is_own(sampler):
        _check_values(constraint, who, drawn(sampler, count, jax.random.key(0)))


def _check_values(constraint: Constraint, who: str, points: Points) -> None:
    """ValueError for numbers that no loss can be made of; a warning for points where the constraint does not stand."""
    columns: dict[str, Any] = {name: np.asarray(points.coordinates[name]) for name in constraint.region.names}

    def told(row: int) -> str:
        return ", ".join(f"{name}={column[row]:.6g}" for name, column in columns.items())

    lost = np.flatnonzero(~np.all([np.isfinite(column) for column in columns.values()], axis=0))
    if lost.size:
        raise ValueError(f"{who} gives a point that is nowhere: {told(lost[0])}.")
    weights = np.ones(1) if points.weights is None else np.asarray(points.weights)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise ValueError(
            f"{who} gives the weight {weights[wrong[0]]:.6g} to the point {told(wrong[0])}; a weight is at least 0, and the "
            f"mean of them one."
        )
    if constraint.columns:  # observed values come with points of their own
        return
    size = max((high - low for low, high in constraint.region.bounds.values()), default=1.0)
    outside = np.flatnonzero(~np.asarray(constraint.region.inside(columns, OUTSIDE * size)))
    if outside.size:
        warnings.warn(
            f"{who} gives {outside.size} of {columns[constraint.region.names[0]].size} points outside of its region, first "
            f"{told(outside[0])}; its terms are trained there, too.",
            DeclarationWarning,
            stacklevel=4,
        )


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
