"""The multilayer perceptron with two encoders that gate its hidden layers."""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phijax._options import whole
from phijax.series import Series

from .activations import activation
from .layers import Elementwise, FactorizedLinear, Linear, Sequential, linear
from .specification import NetworkSpec, check_factorized, check_sizes


class Gated(eqx.Module):
    """H = first(x), then H = (1 - Z) U + Z V with Z = layer(H) for each gated layer; U, V are the encoders of x."""

    encoders: tuple[Sequential, Sequential]
    first: Sequential
    gated: tuple[Sequential, ...]
    last: Linear | FactorizedLinear

    def __call__(self, x: Float[Array, " in"], *, key: PRNGKeyArray | None = None) -> Float[Array, " out"]:
        u, v = (encoder(x) for encoder in self.encoders)
        hidden = self.first(x)
        for layer in self.gated:
            gate = layer(hidden)
            hidden = (1.0 - gate) * u + gate * v
        return self.last(hidden)

    def series(self, x: Series, *, key: PRNGKeyArray | None = None) -> Series:
        u, v = (encoder.series(x) for encoder in self.encoders)
        difference = v + u.linear(jnp.negative)
        hidden = self.first.series(x)
        for layer in self.gated:
            hidden = u + layer.series(hidden) * difference
        return self.last.series(hidden)


@dataclass(frozen=True)
class ModifiedMLP(NetworkSpec):
    """A gated perceptron for stiff gradient flow (Wang, Teng & Perdikaris, 2021, section 2.6).

    width: units of every hidden layer and of both encoders.
    depth: number of hidden layers; the first is plain and each later one gated, so at least 2.
    activation: name of the function of hidden layers and encoders, one of `ACTIVATIONS`.
    factorized: random weight factorization: True, or the mean and the deviation of the logarithms of the units' scales.
    """

    width: int = 64
    depth: int = 4
    activation: str = "tanh"
    factorized: bool | tuple[float, float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", whole("ModifiedMLP", "width", self.width, least=1))
        object.__setattr__(self, "depth", whole("ModifiedMLP", "depth", self.depth, least=2))
        activation(self.activation, "ModifiedMLP")
        object.__setattr__(self, "factorized", check_factorized("ModifiedMLP", self.factorized))

    def __call__(self, key: PRNGKeyArray, in_size: int, out_size: int) -> Gated:
        """Layers from the keys of `split(key, depth + 3)`: two encoders, hidden layers, last layer."""
        in_size, out_size = check_sizes("ModifiedMLP", in_size, out_size)
        keys = jax.random.split(key, self.depth + 3)
        law = activation(self.activation).weights

        def layer(key: PRNGKeyArray, size: int) -> Sequential:
            hidden = linear(key, size, self.width, law, self.factorized)
            return Sequential((hidden, Elementwise(self.activation)))

        return Gated(
            encoders=(layer(keys[0], in_size), layer(keys[1], in_size)),
            first=layer(keys[2], in_size),
            gated=tuple(layer(k, self.width) for k in keys[3:-1]),
            last=linear(keys[-1], self.width, out_size, factorized=self.factorized),
        )
