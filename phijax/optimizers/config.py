"""Optimizers as plain dictionaries, for a run's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phijax._options import from_config
from phijax.optimizers.gauss_newton import GaussNewton
from phijax.optimizers.linear import LinearLeastSquares

FIRST_ORDER_STEPS = 20_000


def warmed_adam(peak: float = 1e-3, warmup: int = 500, steps: int = FIRST_ORDER_STEPS, end: float = 1e-6) -> Any:
    """Adam of optax whose rate rises to `peak` in `warmup` steps and falls along a cosine to `end` at `steps`."""
    import optax

    return optax.adam(optax.warmup_cosine_decay_schedule(0.0, peak, warmup, steps, end))


_KINDS: dict[str, Any] = {"GaussNewton": GaussNewton, "LinearLeastSquares": LinearLeastSquares, "Adam": warmed_adam}


def optimizer_from_config(config: Mapping[str, Any]) -> Any:
    """The optimizer of a table such as {"kind": "Adam", "peak": 1e-3}; an unknown kind or option is refused by name."""
    return from_config(config, _KINDS, "optimizer")
