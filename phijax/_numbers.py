"""What counts as a number among arguments: NumPy's too, and never True or False."""

from __future__ import annotations

import math
import numbers
from typing import Any


def is_whole(value: Any, least: int = 1) -> bool:
    """Whether the value is a whole number of at least `least`."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and value >= least  # type: ignore[operator]


def is_positive(value: Any) -> bool:
    """Whether the value is a positive finite real number."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 < float(value) < math.inf


def plain(value: Any) -> Any:
    """A whole number as Python's own; anything else as it is, for a check to name."""
    return int(value) if isinstance(value, numbers.Integral) and not isinstance(value, bool) else value
