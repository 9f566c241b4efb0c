"""Networks of an evolution in slabs of time: one after the other is trained, all together are the solution."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phijax._calls import keyed
from phijax.networks.frozen import Frozen
from phijax.series import Series


class Slab(eqx.Module):
    """A network on part `index` of `count` equal parts of time. Its inputs are those of the whole time, in [-1, 1].

    position: which of the inputs time is.
    """

    network: Any
    index: Int[Array, ""]
    count: int = eqx.field(static=True)
    position: int = eqx.field(static=True)

    def __call__(self, x: Float[Array, " in"], *, key: PRNGKeyArray | None = None) -> Float[Array, " out"]:
        local = self._slope(x) * x + self._offset(x)
        return self.network(local, **keyed(self.network, key))

    def series(self, x: Series, *, key: PRNGKeyArray | None = None) -> Series:
        slope, offset = self._slope(x.value), self._offset(x.value)
        local = x.linear(lambda channel: slope * channel).shifted(offset)
        return self.network.series(local, **keyed(self.network.series, key))

    def _slope(self, x: Array) -> Array:
        return jnp.ones_like(x).at[self.position].set(self.count)

    def _offset(self, x: Array) -> Array:
        return jnp.zeros_like(x).at[self.position].set(self.count - 1 - 2 * self.index)


class SlabNetworks(eqx.Module):
    """The networks of all slabs: `current` is under way in slab `index`, those before it are done and frozen.

    done: arrays of the networks of all slabs, stacked. tries: how often slab `index` was begun anew.
    As a network it is that of the slab in which a point lies, the last one reached beyond it.
    """

    current: Any
    done: Frozen
    index: Int[Array, ""]
    tries: Int[Array, ""]
    count: int = eqx.field(static=True)
    position: int = eqx.field(static=True)

    @classmethod
    def of(cls, network: Any, count: int, position: int) -> Self:
        """The first slab of `count`, with `network` to be trained."""
        arrays = eqx.filter(network, eqx.is_array)
        stacked = jax.tree.map(lambda leaf: jnp.zeros((count, *leaf.shape), leaf.dtype), arrays)
        return cls(network, Frozen(stacked), jnp.int32(0), jnp.int32(0), count, position)

    @property
    def under_way(self) -> Slab:
        """The slab that is trained."""
        return Slab(self.current, self.index, self.count, self.position)

    @property
    def before(self) -> Slab:
        """The slab before it; in the first one, what no value should be taken of."""
        return self._slab(jnp.maximum(self.index - 1, 0))

    def next(self) -> Self:
        """With the current network done, and the next slab begun from it."""
        return dataclasses.replace(
            self, done=self._with_current(), index=self.index + 1, tries=jnp.zeros_like(self.tries)
        )

    def again(self, network: Any) -> Self:
        """The same slab, begun anew from `network`."""
        return dataclasses.replace(self, current=network, tries=self.tries + 1)

    def rewound(self, index: int) -> Self:
        """With slab `index`, done or under way, as the current one."""
        done = self._with_current()
        slab = dataclasses.replace(self, done=done)._slab(jnp.int32(index))
        return dataclasses.replace(self, current=slab.network, done=done, index=slab.index)

    def __call__(self, x: Float[Array, " in"], *, key: PRNGKeyArray | None = None) -> Float[Array, " out"]:
        all_done = dataclasses.replace(self, done=self._with_current())
        here = jnp.floor((x[self.position] + 1) / 2 * self.count)
        here = jnp.clip(here, 0, self.index)

        def add(k: Array, out: Array) -> Array:
            return jnp.where(here == k, all_done._slab(k)(x, key=key), out)

        first = all_done._slab(jnp.int32(0))(x, key=key)
        # One network after the other on all points: gathering each point's own weights would take memory for them all.
        return jax.lax.fori_loop(1, self.count, add, first)

    def _slab(self, index: Array) -> Slab:
        arrays = jax.tree.map(lambda leaf: leaf[index], self.done.inner)
        network = eqx.combine(arrays, eqx.filter(self.current, eqx.is_array, inverse=True))
        return Slab(network, index, self.count, self.position)

    def _with_current(self) -> Frozen:
        arrays = eqx.filter(self.current, eqx.is_array)
        return Frozen(jax.tree.map(lambda all, own: all.at[self.index].set(own), self.done.inner, arrays))
