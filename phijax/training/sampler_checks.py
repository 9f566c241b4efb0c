"""What a sampler of the user's own must give for a constraint, known from the shapes alone: nothing is drawn."""

from __future__ import annotations

from typing import Any

import jax

from phijax.formulation import Constraint
from phijax.sampling.points import Points
from phijax.sampling.stateful import begin
from phijax.symbolic import Normal, Observed


def check_sampler(constraint: Constraint, sampler: Any, count: int) -> None:
    """ValueError, naming the constraint, where the points lack a coordinate, normal or value that its terms need."""
    who = f"the sampler of {constraint.name!r}"
    if not hasattr(sampler, "sample"):
        raise ValueError(f"{who} is {sampler!r}; a sampler has a method sample(key, n) that returns Points.")
    stateful = hasattr(sampler, "init")
    draw = (lambda key: begin(sampler, key, count).points) if stateful else (lambda key: sampler.sample(key, count))
    points = jax.eval_shape(draw, jax.random.key(0))
    if not isinstance(points, Points):
        raise ValueError(f"{who} gives {type(points).__name__}; it must give Points(coordinates, normals).")
    residuals = [term.residual for term in constraint.terms]
    normals = {node.coordinate.name for residual in residuals for node in residual.atoms(Normal)}
    values = {node.column for residual in residuals for node in residual.atoms(Observed)}
    for what, needed, given in (
        ("coordinate", set(constraint.region.names), points.coordinates),
        ("normal along", normals, points.normals or {}),
        ("observed value of", values, points.values or {}),
    ):
        missing = sorted(needed - set(given))
        if missing:
            raise ValueError(f"{who} gives no {what} {missing[0]!r}, which its terms need; add it to its Points.")
    shapes = {leaf.shape for leaf in jax.tree.leaves(points)}
    if shapes != {(count,)}:
        raise ValueError(f"{who} gives columns of shapes {sorted(shapes)} when asked for {count} points: ({count},).")
