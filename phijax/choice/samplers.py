"""Samplers by rule: points that follow the residual, and weigh less at corners."""

from __future__ import annotations

import math
from typing import Any

from phijax.choice.choice import Choice
from phijax.choice.points import is_interior
from phijax.formulation import Constraint, Problem, contradicting_corners
from phijax.geometry import Region
from phijax.geometry.corners import reentrant_corners
from phijax.sampling import CornerWeights, RegionSampler, ResidualAdaptive
from phijax.sampling.corners import Corner
from phijax.training.stages import Plan

# How far from a corner without bounded derivatives equations weigh less, over half the region's width. A lid-driven flow
# after 250 steps has half the error with weights, and the same with twice the reach.
CORNER_REACH = 0.2


def samplers_of(problem: Problem, choice: Choice) -> dict[str, Any]:
    """The samplers of the constraints whose points follow the residual, or weigh less at corners."""
    refreshes = [stage.optimizer.refresh for stage in Plan.of(choice.optimizer).stages if stage.least_squares]
    # Every stage that holds its points begins its holds at multiples of this.
    period = max(math.gcd(*refreshes), 1) if refreshes else 100
    found: dict[str, Any] = {}
    for name, constraint in problem.trained.items():
        base = _weighted_at_corners(problem, constraint) if is_interior(constraint) else None
        if name in choice.adaptive:
            found[name] = ResidualAdaptive(base or RegionSampler(constraint.region), period=period)
        elif base is not None:
            found[name] = base
    return found


def corners_of(problem: Problem, region: Region) -> tuple[Corner, ...]:
    """Corners at which a solution has no bounded derivatives: they reach into the region, or what is given there clashes."""
    reaching = tuple(
        tuple((symbol.name, float(value) + 0.0) for symbol, value in zip(symbols, place, strict=True))  # no -0
        for symbols, places in reentrant_corners(region).items()
        for place in places
    )
    clashing = [
        corner for corner in contradicting_corners(problem) if corner not in reaching and _holds(region, corner)
    ]
    return (*reaching, *clashing)


def _holds(region: Region, corner: Corner) -> bool:
    if set(region.names) != {name for name, _ in corner}:
        return False
    room = 1e-9 * max(high - low for low, high in region.bounds.values())
    return bool(region.contains(dict(corner), room))  # type: ignore[arg-type]


def _weighted_at_corners(problem: Problem, constraint: Constraint) -> CornerWeights | None:
    """A sampler of an equation's points where its region has such corners, None where it has none."""
    region, corners = constraint.region, corners_of(problem, constraint.region)
    if not corners:
        return None
    across = {name for corner in corners for name, _ in corner}
    width = min(high - low for symbol, (low, high) in region.bounds.items() if symbol.name in across)
    return CornerWeights(RegionSampler(region), corners, CORNER_REACH * width / 2)
