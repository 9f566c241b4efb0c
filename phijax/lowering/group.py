"""Groups: fields that share a network, and how its outputs become the fields and their derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import sympy
from jaxtyping import Array, Float, PRNGKeyArray

from phijax._calls import keyed
from phijax.formulation import Ansatz
from phijax.lowering.derivatives import Strategy, channels_of, derivatives, members_of, strategy_for
from phijax.lowering.embedding import Embedding, embed, embed_series
from phijax.lowering.emit import Emitted, emit
from phijax.lowering.environment import Environment
from phijax.lowering.estimate import ALONG, Parts, parted, path, singles
from phijax.lowering.sloped import Sloped, raised_channels
from phijax.series import Channel, Channels, Series, carries_series, known
from phijax.symbolic import Field


@dataclass(frozen=True)
class Group:
    """Fields that share one network, since they have the same coordinates and the same region."""

    name: str
    fields: tuple[Field, ...]
    embeddings: tuple[Embedding, ...]
    ansatz: Mapping[str, Ansatz]
    scales: Mapping[str, float]

    @property
    def coordinates(self) -> tuple[sympy.Symbol, ...]:
        """Coordinates of every field of the group, in the order in which a point is stacked."""
        return self.fields[0].coordinates

    @property
    def input_size(self) -> int:
        """Number of inputs of the network."""
        return sum(embedding.size for embedding in self.embeddings)

    @property
    def output_size(self) -> int:
        """Number of outputs of the network; a complex field takes two."""
        return sum(2 if field.func.is_complex_field else 1 for field in self.fields)


class GroupFunction:
    """The fields of one group as a function of their stacked coordinates.

    directions: how many random ones stand for more second derivatives than that, where there is a key; None for all.
    """

    def __init__(self, group: Group, directions: int | None = None):
        self.group, self.directions = group, directions
        lifted = {name: ansatz for name, ansatz in group.ansatz.items() if not ansatz.trivial}
        self._lifts = {
            name: (emit(ansatz.lift), emit(ansatz.factor)) for name, ansatz in lifted.items() if not ansatz.slopes
        }
        size = len(group.coordinates)
        self._sloped = {name: Sloped(ansatz, size) for name, ansatz in lifted.items() if ansatz.slopes}

    def __call__(
        self, network: Any, at: Float[Array, " d"], wanted: Iterable[Channel], key: PRNGKeyArray | None = None
    ) -> Mapping[Channel, Mapping[str, Array]]:
        """{channel: {field: scalar}} at one point; a stochastic network draws from `key`, and so do estimates.

        Networks whose layers all have a rule carry the derivatives through together; others are left to JAX's modes.
        """
        parts = self.parted(wanted)
        if key is None or not (parts.combined or parts.single):
            return self._exact(network, at, wanted, key)
        found = dict(self._exact(network, at, parts.exact, key)) if parts.exact else {}
        for i, operator in enumerate(parts.combined):
            way = path(operator, self._count, at.shape[0], jax.random.fold_in(key, ALONG + 1 + i))
            found[operator] = self._exact(network, at, [way.channel], key, way.directions)[way.channel]
        if parts.single:
            own = jax.random.fold_in(key, ALONG)
            found |= singles(lambda c: self._values(network, c, key), at, parts.single, self._count, own)
        return found

    def parted(self, wanted: Iterable[Channel]) -> Parts:
        """What is estimated, and what is not. Complex fields and exact conditions have no gradient to take a slope of.

        Exact slopes take derivatives of the network by its coordinates, which no other direction stands for.
        """
        if self._sloped:
            return Parts(set(wanted), [], [])
        parts = parted(wanted, self.directions)
        if self._lifts or any(field.func.is_complex_field for field in self.group.fields):
            return Parts(parts.exact | set(parts.single), parts.combined, [])
        return parts

    @property
    def _count(self) -> int:
        assert self.directions is not None, "nothing is estimated without directions"
        return self.directions

    def _exact(
        self,
        network: Any,
        at: Float[Array, " d"],
        wanted: Iterable[Channel],
        key: PRNGKeyArray | None,
        directions: Float[Array, "s d"] | None = None,
    ) -> Mapping[Channel, Mapping[str, Array]]:
        """The channels by the coordinates, or along `directions`."""
        if self._sloped:
            return self._from_derivatives(network, at, Channels.of(wanted), key)
        if carries_series(network):
            return self._carried(network, at, Channels.of(wanted), key, directions)
        if directions is not None:
            origin = jnp.zeros(len(directions), at.dtype)
            return channels_of(lambda s: self._values(network, at + s @ directions, key), origin, wanted)
        return channels_of(lambda c: self._values(network, c, key), at, wanted, self.strategy(network, at, wanted))

    def strategy(self, network: Any, at: Any, wanted: Iterable[Channel]) -> Strategy:
        """How derivatives of a network without rules are taken."""
        if self._sloped:
            raw = self.through_network(wanted)
            return strategy_for(lambda c: self._outputs_of(network, c, None), at, members_of(raw))
        if self._lifts:  # known expressions may have no gradient where they have a slope, as a root at zero
            return derivatives
        return strategy_for(lambda c: self._values(network, c, None), at, members_of(wanted))

    def through_network(self, wanted: Iterable[Channel]) -> set[Channel]:
        """The channels that travel through the network for these of the fields; exact slopes take higher ones."""
        if not self._sloped:
            return set(wanted)
        orders = {orders for field in self._sloped.values() for orders in field.orders}
        return raised_channels(Channels.of(wanted), orders)

    def _outputs_of(self, network: Any, at: Float[Array, " d"], key: PRNGKeyArray | None) -> dict[str, Array]:
        inputs = embed(self.group.embeddings, at)
        outputs = network(inputs, **keyed(network, key))
        values = {}
        for field, position in self._outputs():
            value = self.group.scales[field.name] * outputs[position]
            if field.func.is_complex_field:
                value = value + 1j * self.group.scales[field.name] * outputs[position + 1]
            values[field.name] = value
        return values

    def _values(self, network: Any, at: Float[Array, " d"], key: PRNGKeyArray | None) -> dict[str, Array]:
        values = self._outputs_of(network, at, key)
        for name, emitted in self._lifts.items():
            lift, factor = (part(self._environment(at)) for part in emitted)
            values[name] = lift + factor * values[name]
        return values

    def _carried(
        self,
        network: Any,
        at: Float[Array, " d"],
        channels: Channels,
        key: PRNGKeyArray | None,
        directions: Float[Array, "s d"] | None = None,
    ) -> dict[Channel, dict[str, Array]]:
        values = self._outputs_series(network, at, channels, key, directions)
        for name, emitted in self._lifts.items():
            lift, factor = (self._known(part, at, channels, directions) for part in emitted)
            values[name] = lift + factor * values[name]
        return _derivatives(values, channels)

    def _outputs_series(
        self, network: Any, at: Array, channels: Channels, key: PRNGKeyArray | None, directions: Array | None = None
    ) -> dict[str, Series]:
        inputs = embed_series(self.group.embeddings, at, channels, directions)
        outputs = network.series(inputs, **keyed(network.series, key))
        values = {}
        for field, position in self._outputs():
            scale = self.group.scales[field.name]
            value = outputs.linear(lambda c, p=position, s=scale: s * c[p])
            if field.func.is_complex_field:
                value = value + outputs.linear(lambda c, p=position + 1, s=scale: 1j * s * c[p])
            values[field.name] = value
        return values

    def _from_derivatives(
        self, network: Any, at: Float[Array, " d"], channels: Channels, key: PRNGKeyArray | None
    ) -> dict[Channel, dict[str, Array]]:
        """Fields of which some are made of derivatives of their network, which are found first."""
        every = (*channels.indices, *channels.combinations)
        wanted = self.through_network(every)
        if carries_series(network):
            travelling = Channels.of(wanted)
            raw = _derivatives(self._outputs_series(network, at, travelling, key), travelling)
        else:
            strategy = self.strategy(network, at, every)
            raw = channels_of(lambda c: self._outputs_of(network, c, key), at, wanted, strategy)
        values = {}
        for field in self.group.fields:
            own = {channel: found[field.name] for channel, found in raw.items()}
            if field.name in self._sloped:
                series_of = lambda emitted: self._known(emitted, at, channels)
                values[field.name] = self._sloped[field.name].series(own, channels, series_of)
                continue
            values[field.name] = known({channel: own[channel] for channel in every}, channels)
            if field.name in self._lifts:
                lift, factor = (self._known(part, at, channels) for part in self._lifts[field.name])
                values[field.name] = lift + factor * values[field.name]
        return _derivatives(values, channels)

    def _known(
        self,
        emitted: Emitted,
        at: Float[Array, " d"],
        channels: Channels,
        directions: Float[Array, "s d"] | None = None,
    ) -> Series:
        """The series of a known expression of the coordinates."""

        def function(c: Array) -> Array:
            return emitted(self._environment(c)) + jnp.zeros_like(c[0])

        wanted = (*channels.indices, *channels.combinations)
        if directions is None:
            return known(channels_of(function, at, wanted), channels)
        origin = jnp.zeros(len(directions), at.dtype)
        return known(channels_of(lambda s: function(at + s @ directions), origin, wanted), channels)

    def _outputs(self) -> Iterator[tuple[Field, int]]:
        """Each field with the position of its (first) output."""
        position = 0
        for field in self.group.fields:
            yield field, position
            position += 2 if field.func.is_complex_field else 1

    def _environment(self, at: Float[Array, " d"]) -> Environment:
        return Environment(dict(zip(self.group.coordinates, at, strict=True)), {}, {})


def _derivatives(values: Mapping[str, Series], channels: Channels) -> dict[Channel, dict[str, Array]]:
    """{channel: {field: derivative}}."""
    every = (*channels.indices, *channels.combinations)
    return {channel: {name: value.derivative(channel) for name, value in values.items()} for channel in every}
