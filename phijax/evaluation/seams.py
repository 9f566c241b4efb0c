"""Seams: how far the fields of neighbouring slabs of time are apart where they meet."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from phijax._precision import precision_scope
from phijax.evaluation.chunks import ChunkedFunction
from phijax.evaluation.residuals import fresh_points

POINTS = 1024


def largest_jump(compiled: Any, model: Any, precision: str) -> tuple[float, float] | None:
    """(largest root mean square over the start of a slab of what its fields differ by from the slab before it, time).

    What is compared is what the initial conditions prescribe. None with fewer than two slabs.
    """
    course = compiled.module.course
    if course is None or course.reached(model) < 2:
        return None
    jumps = []
    with precision_scope(precision):
        for name in course.evolution.initial:
            constraint, block = compiled.problem.constraints[name], compiled.module.objective.blocks[name]
            points = fresh_points(constraint, jax.random.key(0), POINTS)
            rows = ChunkedFunction(lambda model, point, block=block: block.pointwise(model, point, None), precision)
            for index in range(1, course.reached(model)):
                found = rows(
                    course.at(model, index),
                    lambda begin, end, points=points: jax.tree.map(lambda leaf: leaf[begin:end], points),
                    points.size,
                )
                jumps += [(float(np.sqrt(np.mean(np.abs(v) ** 2))), course.time_of(index)) for v in found.values()]
    return max(jumps)
