"""Phases: where the seconds of a step go. No number of a run depends on them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

JACOBIAN, GRAM, SOLVE, CORRECTION, TRIALS = "Jacobian", "Gram matrix", "solves", "geodesic correction", "trial losses"
GRADIENT, SEARCH, UPDATE = "gradient", "line search", "inverse Hessian"


class Phases:
    """Wall seconds by name of the phase; what is timed must block until it is done."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Counts the time inside for `name`."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun
