"""Sinusoidal representation networks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phijax._options import real, whole
from phijax.series import Series
from phijax.series.functions import sin

from .layers import Linear, Sequential
from .specification import NetworkSpec, check_sizes


class Sine(eqx.Module):
    """sin(frequency x), entry by entry."""

    frequency: float = eqx.field(static=True)

    def __call__(self, x: Float[Array, " n"], *, key: PRNGKeyArray | None = None) -> Float[Array, " n"]:
        return jnp.sin(self.frequency * x)

    def series(self, x: Series, *, key: PRNGKeyArray | None = None) -> Series:
        return x.linear(lambda channel: self.frequency * channel).compose(sin)


@dataclass(frozen=True)
class SIREN(NetworkSpec):
    """A perceptron of sines, sin(w0 (x W + b)) in each hidden layer (Sitzmann, Martel, Bergman, Lindell & Wetzstein 2020).

    Weights are uniform in +-1/in in the first layer and in +-sqrt(6/in)/w0 in the others, where `in` is the number of the
    layer's inputs, so that all sines have inputs of a variance near one; biases are uniform in +-1/sqrt(in), that of the last
    layer is zero.
    width: units of each hidden layer. depth: number of hidden layers.
    w0: highest angular frequency of the first layer's waves over inputs in [-1, 1]; images take 30, smooth fields less.
    """

    width: int = 64
    depth: int = 4
    w0: float = 10.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", whole("SIREN", "width", self.width, least=1))
        object.__setattr__(self, "depth", whole("SIREN", "depth", self.depth, least=1))
        object.__setattr__(self, "w0", real("SIREN", "w0", self.w0, "above 0", lambda number: number > 0))

    def __call__(self, key: PRNGKeyArray, in_size: int, out_size: int) -> Sequential:
        """Layers from the keys of `split(key, depth + 1)`, first to last."""
        in_size, out_size = check_sizes("SIREN", in_size, out_size)
        first, *keys = jax.random.split(key, self.depth + 1)
        layers: list[eqx.Module] = [_uniform(first, in_size, self.width, 1 / in_size), Sine(self.w0)]
        bound = math.sqrt(6 / self.width) / self.w0
        for k in keys[:-1]:
            layers += [_uniform(k, self.width, self.width, bound), Sine(self.w0)]
        last = _uniform(keys[-1], self.width, out_size, bound)
        return Sequential((*layers, Linear(last.weight, jnp.zeros_like(last.bias))))


def _uniform(key: PRNGKeyArray, in_size: int, out_size: int, bound: float) -> Linear:
    """A layer with weights uniform in +-bound and biases in +-1/sqrt(in)."""
    weight_key, bias_key = jax.random.split(key)
    weight = jax.random.uniform(weight_key, (in_size, out_size), minval=-bound, maxval=bound)
    edge = in_size**-0.5
    return Linear(weight, jax.random.uniform(bias_key, (out_size,), minval=-edge, maxval=edge))
