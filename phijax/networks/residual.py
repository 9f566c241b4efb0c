"""Networks whose blocks add to what they are given: residual ones, and those whose share of it is learned."""

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


class Residual(eqx.Module):
    """x + inner(x)."""

    inner: Sequential

    def __call__(self, x: Float[Array, " n"], *, key: PRNGKeyArray | None = None) -> Float[Array, " n"]:
        return x + self.inner(x)

    def series(self, x: Series, *, key: PRNGKeyArray | None = None) -> Series:
        return x + self.inner.series(x)


@dataclass(frozen=True)
class ResNet(NetworkSpec):
    """A residual network, blocks of two layers (He et al., 2016; in this form E & Yu, 2018).

    width: units of every hidden layer. blocks: number of residual blocks after the first layer.
    activation: name of the function after each hidden layer, one of `ACTIVATIONS`.
    factorized: random weight factorization: True, or the mean and the deviation of the logarithms of the units' scales.
    """

    width: int = 64
    blocks: int = 2
    activation: str = "tanh"
    factorized: bool | tuple[float, float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", whole("ResNet", "width", self.width, least=1))
        object.__setattr__(self, "blocks", whole("ResNet", "blocks", self.blocks, least=1))
        activation(self.activation, "ResNet")
        object.__setattr__(self, "factorized", check_factorized("ResNet", self.factorized))

    def __call__(self, key: PRNGKeyArray, in_size: int, out_size: int) -> Sequential:
        """Layers from the keys of `split(key, 2 blocks + 2)`, first to last."""
        in_size, out_size = check_sizes("ResNet", in_size, out_size)
        keys = jax.random.split(key, 2 * self.blocks + 2)
        law = activation(self.activation).weights

        def layer(key: PRNGKeyArray, size: int) -> tuple[eqx.Module, eqx.Module]:
            return linear(key, size, self.width, law, self.factorized), Elementwise(self.activation)

        pairs = zip(keys[1:-1:2], keys[2:-1:2], strict=True)
        blocks = [Residual(Sequential((*layer(one, self.width), *layer(two, self.width)))) for one, two in pairs]
        return Sequential(
            (*layer(keys[0], in_size), *blocks, linear(keys[-1], self.width, out_size, factorized=self.factorized))
        )


class AdaptiveBlock(eqx.Module):
    """share x h + (1 - share) x, where h is three layers of x, the first two gated by U and V."""

    layers: tuple[Sequential, Sequential, Sequential]
    share: Float[Array, ""]

    def __call__(self, x: Float[Array, " n"], u: Float[Array, " n"], v: Float[Array, " n"]) -> Float[Array, " n"]:
        hidden = x
        for layer in self.layers[:2]:
            gate = layer(hidden)
            hidden = gate * u + (1.0 - gate) * v
        return self.share * self.layers[2](hidden) + (1.0 - self.share) * x

    def series(self, x: Series, u: Series, v: Series) -> Series:
        difference = u + v.linear(jnp.negative)
        hidden = x
        for layer in self.layers[:2]:
            hidden = v + layer.series(hidden) * difference
        new = self.layers[2].series(hidden)
        return new.linear(lambda c: self.share * c) + x.linear(lambda c: (1.0 - self.share) * c)


class Adaptive(eqx.Module):
    """Adaptive blocks between an embedding and a linear layer; U, V are the encoders of the embedding."""

    embedding: Sequential
    encoders: tuple[Sequential, Sequential]
    blocks: tuple[AdaptiveBlock, ...]
    last: Linear | FactorizedLinear

    def __call__(self, x: Float[Array, " in"], *, key: PRNGKeyArray | None = None) -> Float[Array, " out"]:
        hidden = self.embedding(x)
        u, v = (encoder(hidden) for encoder in self.encoders)
        for block in self.blocks:
            hidden = block(hidden, u, v)
        return self.last(hidden)

    def series(self, x: Series, *, key: PRNGKeyArray | None = None) -> Series:
        hidden = self.embedding.series(x)
        u, v = (encoder.series(hidden) for encoder in self.encoders)
        for block in self.blocks:
            hidden = block.series(hidden, u, v)
        return self.last.series(hidden)


@dataclass(frozen=True)
class PirateNet(NetworkSpec):
    """An adaptive residual network: each block's share of the result begins at zero (Wang, Li, Chen & Perdikaris, 2024).

    So it is linear in its embedding at the start, and becomes as deep as training makes it. Inputs of `width` numbers,
    as of `FourierFeatures(PirateNet(width=64), features=32)`, are the embedding; others are mapped to it.
    width: units of every hidden layer. blocks: number of adaptive blocks, of three layers each.
    activation: name of the function of hidden layers and encoders, one of `ACTIVATIONS`.
    factorized: random weight factorization: True, or the mean and the deviation of the logarithms of the units' scales.
    """

    width: int = 64
    blocks: int = 3
    activation: str = "tanh"
    factorized: bool | tuple[float, float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", whole("PirateNet", "width", self.width, least=1))
        object.__setattr__(self, "blocks", whole("PirateNet", "blocks", self.blocks, least=1))
        activation(self.activation, "PirateNet")
        object.__setattr__(self, "factorized", check_factorized("PirateNet", self.factorized))

    def __call__(self, key: PRNGKeyArray, in_size: int, out_size: int) -> Adaptive:
        """Layers from the keys of `split(key, 3 blocks + 4)`: embedding, two encoders, blocks, last layer."""
        in_size, out_size = check_sizes("PirateNet", in_size, out_size)
        keys = jax.random.split(key, 3 * self.blocks + 4)
        law = activation(self.activation).weights

        def layer(key: PRNGKeyArray) -> Sequential:
            hidden = linear(key, self.width, self.width, law, self.factorized)
            return Sequential((hidden, Elementwise(self.activation)))

        threes = zip(keys[3:-1:3], keys[4:-1:3], keys[5:-1:3], strict=True)
        return Adaptive(
            embedding=Sequential(
                () if in_size == self.width else (linear(keys[0], in_size, self.width, factorized=self.factorized),)
            ),
            encoders=(layer(keys[1]), layer(keys[2])),
            blocks=tuple(AdaptiveBlock((layer(a), layer(b), layer(c)), jnp.zeros(())) for a, b, c in threes),
            last=linear(keys[-1], self.width, out_size, factorized=self.factorized),
        )
