"""Samplers by rule: points that follow the residual, and weigh less at corners."""

from __future__ import annotations

import math
from typing import Any

from phijax.choice.choice import Choice
from phijax.choice.points import is_interior
from phijax.formulation import Constraint, Problem
from phijax.geometry.corners import reentrant_corners
from phijax.sampling import CornerWeights, RegionSampler, ResidualAdaptive
from phijax.training.stages import Plan

# How far from a corner that reaches into a region equations weigh less, over half the region's width.
CORNER_REACH = 0.2


def samplers_of(problem: Problem, choice: Choice) -> dict[str, Any]:
    """The samplers of the constraints whose points follow the residual, or weigh less at corners."""
    refreshes = [stage.optimizer.refresh for stage in Plan.of(choice.optimizer).stages if stage.least_squares]
    # Every stage that holds its points begins its holds at multiples of this.
    period = max(math.gcd(*refreshes), 1) if refreshes else 100
    found: dict[str, Any] = {}
    for name, constraint in problem.trained.items():
        base = _weighted_at_corners(constraint) if is_interior(constraint) else None
        if name in choice.adaptive:
            found[name] = ResidualAdaptive(base or RegionSampler(constraint.region), period=period)
        elif base is not None:
            found[name] = base
    return found


def _weighted_at_corners(constraint: Constraint) -> CornerWeights | None:
    """A sampler of an equation's points where its region has corners that reach into it, None where it has none."""
    region, found = constraint.region, reentrant_corners(constraint.region)
    corners = tuple(
        tuple((symbol.name, float(value)) for symbol, value in zip(symbols, place, strict=True))
        for symbols, places in found.items()
        for place in places
    )
    if not corners:
        return None
    width = min(region.bounds[symbol][1] - region.bounds[symbol][0] for symbols in found for symbol in symbols)
    return CornerWeights(RegionSampler(region), corners, CORNER_REACH * width / 2)
