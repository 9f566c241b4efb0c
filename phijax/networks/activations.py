"""Activation functions by name, each with the gain of its initial weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from phijax._options import did_you_mean
from phijax.series import functions


class Activation(NamedTuple):
    """function: elementwise; gain: standard deviation of the weights before it, relative to Glorot & Bengio (2010).

    taylor: (z, n) -> the coefficients f(z), f'(z), ..., f^(n)(z) / n!, where there is a shorter way than JAX's.
    """

    function: Callable[[Float[Array, "*shape"]], Float[Array, "*shape"]]
    gain: float = 1.0
    taylor: functions.Taylor | None = None

    @property
    def series(self) -> functions.Taylor:
        """The coefficients of the function's Taylor series."""
        return functions.of_function(self.function) if self.taylor is None else self.taylor


# Rectifiers pass about half of the variance, hence sqrt 2 (He et al., 2015); the others are near to linear at zero.
_RECTIFIER = math.sqrt(2.0)

ACTIVATIONS: dict[str, Activation] = {
    "tanh": Activation(jnp.tanh, taylor=functions.tanh),
    "sin": Activation(jnp.sin, taylor=functions.sin),
    "sigmoid": Activation(jax.nn.sigmoid, taylor=functions.sigmoid),
    "softplus": Activation(jax.nn.softplus),
    "gelu": Activation(lambda x: jax.nn.gelu(x, approximate=False), _RECTIFIER),
    "silu": Activation(jax.nn.silu, _RECTIFIER),
    "elu": Activation(jax.nn.elu, _RECTIFIER),
    "relu": Activation(jax.nn.relu, _RECTIFIER),
}


def activation(name: str, owner: str = "activation") -> Activation:
    """The entry of `name`; a ValueError names the nearest one that exists."""
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise ValueError(f"{owner}: activation={name!r} is not known. {did_you_mean(name, ACTIVATIONS)}")
    return ACTIVATIONS[name]
