"""Line search for the strong Wolfe conditions, by bracketing and cubic interpolation.

Nocedal & Wright, "Numerical Optimization", 2006, algorithms 3.5 and 3.6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

DECREASE, CURVATURE = 1e-4, 0.9
EVALUATIONS = 25
EXPANSION = (2.0, 10.0)  # least and most by which a step that is too short grows
MARGIN = 0.1  # of a bracket, that is kept off its ends


class Point(NamedTuple):
    """A point of the line. length: of the step to it. loss, slope: there, along the line. gradient: at will."""

    length: float
    loss: float
    slope: float
    gradient: Any = None


def strong_wolfe(at: Callable[[float], Point], start: Point, first: float) -> Point:
    """A point of sufficient decrease and small slope, else the lowest that was seen, which may be `start`.

    at: the point of a step length; one whose loss is not finite counts as too long. start: of length 0 and falling.
    first: the length to begin with.
    """
    lowest = low = start
    high: Point | None = None
    length = first
    for _ in range(EVALUATIONS):
        point = at(length)
        lowest = point if point.loss < lowest.loss else lowest
        if not point.loss <= start.loss + DECREASE * length * start.slope or point.loss >= low.loss:
            high = point
        elif abs(point.slope) <= -CURVATURE * start.slope:
            return point
        else:
            onward = 1.0 if high is None else high.length - low.length
            before = low
            if point.slope * onward >= 0:
                high = low
            low = point
            if high is None:
                least, most = (factor * length for factor in EXPANSION)
                length = _within(_cubic(before, low), least, most)
                continue
        width = high.length - low.length
        if abs(width) <= np.finfo(float).eps * max(high.length, low.length):
            break
        length = _within(_cubic(low, high), *sorted((low.length + MARGIN * width, high.length - MARGIN * width)))
    return lowest


def _cubic(one: Point, other: Point) -> float:
    """Where the cubic with the losses and slopes of both is least; not a number where it has no minimum."""
    width = other.length - one.length
    with np.errstate(all="ignore"):
        mean = one.slope + other.slope - 3 * np.float64(other.loss - one.loss) / width
        root = np.copysign(np.sqrt(mean**2 - one.slope * other.slope), width)
        return float(other.length - width * (other.slope + root - mean) / (other.slope - one.slope + 2 * root))


def _within(value: float, least: float, most: float) -> float:
    """`value` between the two, their middle where it is no number."""
    return min(max(value, least), most) if np.isfinite(value) else (least + most) / 2
