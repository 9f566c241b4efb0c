"""Random features: one hidden layer that is drawn and never trained, so that a linear problem stays linear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from phijax._options import real, whole

from .activations import activation
from .frozen import frozen
from .layers import Elementwise, Linear, Sequential
from .specification import NetworkSpec, check_sizes


@dataclass(frozen=True)
class RandomFeatures(NetworkSpec):
    """Sums of `features` random waves, or other ridge functions, whose coefficients alone are trained.

    Rahimi & Recht 2007; as a method for equations, Dwivedi & Srinivasan 2020.
    scale: standard deviation of the weights, in radians per unit of the inputs, which lie in [-1, 1]; one number, or one
    for each input.
    """

    features: int = 1000
    scale: float | tuple[float, ...] = 4.0
    activation: str = "sin"

    def __post_init__(self) -> None:
        activation(self.activation, "RandomFeatures")
        object.__setattr__(self, "features", whole("RandomFeatures", "features", self.features, least=1))
        object.__setattr__(self, "scale", _scales(self.scale))

    def __call__(self, key: PRNGKeyArray, in_size: int, out_size: int) -> Sequential:
        """Weights from the first key of `split(key)`, shifts from the second; the coefficients begin at zero."""
        in_size, out_size = check_sizes("RandomFeatures", in_size, out_size)
        if isinstance(self.scale, tuple) and len(self.scale) != in_size:
            raise ValueError(
                f"RandomFeatures: scale={self.scale} has {len(self.scale)} numbers for {in_size} inputs; give one number, or "
                "one for each input, where a periodic coordinate has two."
            )
        weight_key, shift_key = jax.random.split(key)
        scale = jnp.broadcast_to(jnp.asarray(self.scale, jnp.zeros(()).dtype), (in_size,))
        weight = scale[:, None] * jax.random.normal(weight_key, (in_size, self.features))
        shift = jax.random.uniform(shift_key, (self.features,), minval=-np.pi, maxval=np.pi)
        waves = Sequential((Linear(weight, shift), Elementwise(self.activation)))
        coefficients = Linear(jnp.zeros((self.features, out_size)), jnp.zeros(out_size))
        return Sequential((frozen(waves), coefficients))


def _scales(scale: Any) -> float | tuple[float, ...]:
    def one(value: Any) -> float:
        return real("RandomFeatures", "scale", value, "above 0", lambda number: number > 0)

    if isinstance(scale, str) or not isinstance(scale, Sequence | np.ndarray) or np.ndim(scale) != 1:
        return one(scale)
    if not len(scale):
        raise ValueError("RandomFeatures: scale has no number; give one number, or one for each input.")
    return tuple(map(one, scale))
