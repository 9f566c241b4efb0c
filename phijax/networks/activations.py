"""Activation functions by name, each with the variance of the initial weights before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from phijax._options import did_you_mean
from phijax.series import functions


class Law(NamedTuple):
    """Variance scale / n of initial weights, where n is the number of inputs ("fan_in") or its mean with that of outputs."""

    scale: float
    fan: Literal["fan_in", "fan_avg"]


GLOROT = Law(1.0, "fan_avg")  # Glorot & Bengio (2010): for functions that are near to the identity at zero
LECUN = Law(1.0, "fan_in")  # LeCun, Bottou, Orr & Müller (1998): for those that pass most of the variance
HE = Law(2.0, "fan_in")  # He, Zhang, Ren & Sun (2015): for those that pass about half of it


class Activation(NamedTuple):
    """function: elementwise; weights: law of the initial weights before it.

    taylor: (z, n) -> the coefficients f(z), f'(z), ..., f^(n)(z) / n!, where there is a shorter way than JAX's.
    """

    function: Callable[[Float[Array, "*shape"]], Float[Array, "*shape"]]
    weights: Law = GLOROT
    taylor: functions.Taylor | None = None

    @property
    def series(self) -> functions.Taylor:
        """The coefficients of the function's Taylor series."""
        return functions.of_function(self.function) if self.taylor is None else self.taylor


# For z of unit variance E f(z)^2 is 0.5 of relu, 0.43 of gelu, 0.36 of silu, 0.65 of elu, and E f'(z)^2 0.29 of softplus:
# four layers of 64 leave of the variance of their input 20 % by He's law and 1 % by LeCun's for relu, 13 and 0.4 for gelu,
# 5 and 0.2 for silu, 6 and 0.3 for softplus; 90 and 12 for elu.
ACTIVATIONS: dict[str, Activation] = {
    "tanh": Activation(jnp.tanh, taylor=functions.tanh),
    "sin": Activation(jnp.sin, taylor=functions.sin),
    "sigmoid": Activation(jax.nn.sigmoid, taylor=functions.sigmoid),
    "softplus": Activation(jax.nn.softplus, HE),
    "gelu": Activation(lambda x: jax.nn.gelu(x, approximate=False), HE),
    "silu": Activation(jax.nn.silu, HE),
    "elu": Activation(jax.nn.elu, LECUN),
    "relu": Activation(jax.nn.relu, HE),
}


def activation(name: str, owner: str = "activation") -> Activation:
    """The entry of `name`; a ValueError names the nearest one that exists."""
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise ValueError(f"{owner}: activation={name!r} is not known. {did_you_mean(name, ACTIVATIONS)}")
    return ACTIVATIONS[name]
