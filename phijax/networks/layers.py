"""Layers: one small class a kind. All leaves are arrays; what is no array is static.

Each maps one point, (in,) -> (out,), as `layer(x, *, key=None)`; only a stochastic layer reads `key`. `series`, of the
same arguments, is the layer's rule for derivatives: it maps the series of its input to that of its output. A layer that
has none is differentiated by JAX.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phijax.series import Series

from .activations import GLOROT, Law, activation


class Linear(eqx.Module):
    """x @ weight + bias."""

    weight: Float[Array, "in out"]
    bias: Float[Array, " out"]

    def __call__(self, x: Float[Array, " in"], *, key: PRNGKeyArray | None = None) -> Float[Array, " out"]:
        return x @ self.weight + self.bias

    def series(self, x: Series, *, key: PRNGKeyArray | None = None) -> Series:
        return x.linear(lambda channel: channel @ self.weight).shifted(self.bias)


class FactorizedLinear(eqx.Module):
    """x @ (direction * exp(log_scale)) + bias, a scale for each unit: random weight factorization (Wang et al., 2022)."""

    direction: Float[Array, "in out"]
    log_scale: Float[Array, " out"]
    bias: Float[Array, " out"]

    def __call__(self, x: Float[Array, " in"], *, key: PRNGKeyArray | None = None) -> Float[Array, " out"]:
        return x @ self._weight + self.bias

    def series(self, x: Series, *, key: PRNGKeyArray | None = None) -> Series:
        weight = self._weight
        return x.linear(lambda channel: channel @ weight).shifted(self.bias)

    @property
    def _weight(self) -> Float[Array, "in out"]:
        return self.direction * jnp.exp(self.log_scale)[None]


class Elementwise(eqx.Module):
    """The activation function of that name, entry by entry."""

    name: str = eqx.field(static=True)

    def __call__(self, x: Float[Array, " n"], *, key: PRNGKeyArray | None = None) -> Float[Array, " n"]:
        return activation(self.name).function(x)

    def series(self, x: Series, *, key: PRNGKeyArray | None = None) -> Series:
        return x.compose(activation(self.name).series)


class Dropout(eqx.Module):
    """With a key, each entry is zero with probability `rate` and 1/(1 - rate) of itself otherwise; without, unchanged.

    Srivastava et al. (2014), scaled in training so that nothing needs scaling afterwards.
    """

    rate: float = eqx.field(static=True)

    def __call__(self, x: Float[Array, " n"], *, key: PRNGKeyArray | None = None) -> Float[Array, " n"]:
        return x if key is None else self._cut(x, key)

    def series(self, x: Series, *, key: PRNGKeyArray | None = None) -> Series:
        return x if key is None else x.linear(lambda channel: self._cut(channel, key))

    def _cut(self, x: Float[Array, " n"], key: PRNGKeyArray) -> Float[Array, " n"]:
        kept = jax.random.bernoulli(key, 1.0 - self.rate, x.shape)
        return jnp.where(kept, x / (1.0 - self.rate), 0.0)


class Sequential(eqx.Module):
    """Layers one after the other; layer i draws from `fold_in(key, i)`. Is a layer itself."""

    layers: tuple[eqx.Module, ...]

    def __call__(self, x: Float[Array, " in"], *, key: PRNGKeyArray | None = None) -> Float[Array, " out"]:
        for position, layer in enumerate(self.layers):
            x = layer(x, key=None if key is None else jax.random.fold_in(key, position))  # type: ignore[operator]
        return x

    def series(self, x: Series, *, key: PRNGKeyArray | None = None) -> Series:
        for position, layer in enumerate(self.layers):
            own = None if key is None else jax.random.fold_in(key, position)
            x = layer.series(x, key=own)  # type: ignore[attr-defined]
        return x


def linear(
    key: PRNGKeyArray,
    in_size: int,
    out_size: int,
    law: Law = GLOROT,
    factorized: bool | tuple[float, float] | None = None,
) -> Linear | FactorizedLinear:
    """A layer with zero bias and normal weights of the law's variance, cut at two deviations.

    factorized: mean and deviation of the logarithms of the units' scales, as `check_factorized` gives them; the weights
    themselves are the same.
    All numbers are of the precision that holds where this is called.
    """
    draw = jax.nn.initializers.variance_scaling(law.scale, law.fan, "truncated_normal")
    dtype = jnp.zeros(()).dtype
    weight, bias = draw(key, (in_size, out_size), dtype), jnp.zeros(out_size, dtype)
    if not isinstance(factorized, tuple):
        return Linear(weight, bias)
    mean, deviation = factorized
    log_scale = mean + deviation * jax.random.normal(jax.random.fold_in(key, 1), (out_size,), dtype)
    return FactorizedLinear(weight / jnp.exp(log_scale)[None], log_scale, bias)
