"""Random Fourier features in front of a network."""

from __future__ import annotations

from dataclasses import dataclass, field

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phijax._options import real, whole
from phijax.series import Series, concatenate
from phijax.series.functions import cos, sin

from .frozen import frozen
from .layers import Sequential
from .mlp import MLP
from .specification import NetworkFactory, NetworkSpec, check_sizes


class FourierEmbedding(eqx.Module):
    """x -> (cos 2 pi x B, sin 2 pi x B), with the frequencies B in cycles per unit of x."""

    frequencies: Float[Array, "in features"]

    def __call__(self, x: Float[Array, " in"], *, key: PRNGKeyArray | None = None) -> Float[Array, " twice_features"]:
        phase = 2.0 * jnp.pi * (x @ self.frequencies)
        return jnp.concatenate([jnp.cos(phase), jnp.sin(phase)])

    def series(self, x: Series, *, key: PRNGKeyArray | None = None) -> Series:
        phase = x.linear(lambda channel: 2.0 * jnp.pi * (channel @ self.frequencies))
        return concatenate([phase.compose(cos), phase.compose(sin)])


@dataclass(frozen=True)
class FourierFeatures(NetworkSpec):
    """Random Fourier features, drawn once and frozen, then a network (Tancik et al., 2020).

    network: what follows: a specification, or any function (key, in_size, out_size) -> network.
    features: number of random frequencies; the network has two inputs for each.
    scale: standard deviation of the frequencies, in cycles per unit of the inputs.
    """

    network: NetworkFactory = field(default_factory=MLP)
    features: int = 32
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not callable(self.network):
            raise ValueError(
                f"FourierFeatures: network={self.network!r} must be a specification such as MLP(), "
                "or a function (key, in_size, out_size) -> network."
            )
        object.__setattr__(self, "features", whole("FourierFeatures", "features", self.features, least=1))
        scale = real("FourierFeatures", "scale", self.scale, "above 0", lambda scale: scale > 0.0)
        object.__setattr__(self, "scale", scale)

    def __call__(self, key: PRNGKeyArray, in_size: int, out_size: int) -> Sequential:
        """Frequencies from the first key of `split(key)`, the network from the second."""
        in_size, out_size = check_sizes("FourierFeatures", in_size, out_size)
        frequency_key, network_key = jax.random.split(key)
        frequencies = self.scale * jax.random.normal(frequency_key, (in_size, self.features))
        network = self.network(network_key, 2 * self.features, out_size)
        return Sequential((frozen(FourierEmbedding(frequencies)), network))  # type: ignore[arg-type]
