"""Fields that are made of a network's own derivatives, as exact slopes make them: u = lift + sum of weight x derivative."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from phijax.formulation import Ansatz
from phijax.lowering.emit import Emitted, emit
from phijax.series import Channel, Channels, Combination, Orders, Series, known


class Sloped:
    """The ansatz of one field, emitted. `orders`: the network's derivatives that it takes, its value among them."""

    def __init__(self, ansatz: Ansatz, size: int):
        self.orders: tuple[Orders, ...] = ((0,) * size, *ansatz.slopes)
        self._lift = emit(ansatz.lift)
        self._weights = [emit(weight) for weight in (ansatz.factor, *ansatz.slopes.values())]

    def series(self, raw: Mapping[Channel, Any], channels: Channels, series_of: Callable[[Emitted], Series]) -> Series:
        """The field from the network's derivatives. series_of: the series of a known expression."""
        value = series_of(self._lift)
        for orders, weight in zip(self.orders, self._weights, strict=True):
            found = {channel: raw[raised(channel, orders)] for channel in (*channels.indices, *channels.combinations)}
            value = value + series_of(weight) * known(found, channels)
        return value


def raised(channel: Channel, by: Orders) -> Channel:
    """The channel of a derivative's derivative."""
    if isinstance(channel, Combination):
        return Combination(tuple((raised(orders, by), weight) for orders, weight in channel.terms))
    return tuple(order + more for order, more in zip(channel, by, strict=True))


def raised_channels(channels: Channels, by: Iterable[Orders]) -> set[Channel]:
    """Every channel of the network that fields of these channels take."""
    every = (*channels.indices, *channels.combinations)
    return {raised(channel, orders) for orders in by for channel in every}
