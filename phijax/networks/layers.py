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

from .activations import activation


class Linear(eqx.Module):
    """x @ weight + bias."""

    weight: Float[Array, "in out"]
    bias: Float[Array, " out"]

    def __call__(self, x: Float[Array, " in"], *, key: PRNGKeyArray | None = None) -> Float[Array, " out"]:
        return x @ self.weight + self.bias

    def series(self, x: Series, *, key: PRNGKeyArray | None = None) -> Series:
        return x.linear(lambda channel: channel @ self.weight).shifted(self.bias)


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


def linear(key: PRNGKeyArray, in_size: int, out_size: int, gain: float = 1.0) -> Linear:
    """A layer with zero bias and normal weights of variance 2 gain^2/(in + out) (Glorot & Bengio, 2010).

    The weights are cut at two deviations. All numbers are of the precision that holds where this is called.
    """
    glorot = jax.nn.initializers.variance_scaling(gain**2, "fan_avg", "truncated_normal")
    dtype = jnp.zeros(()).dtype
    return Linear(glorot(key, (in_size, out_size), dtype), jnp.zeros(out_size, dtype))
