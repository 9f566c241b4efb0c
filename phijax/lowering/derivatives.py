"""Derivatives of a function whose structure is unknown, by nested forward mode with shared tangents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from phijax.series import Channel, Combination, Orders


def channels_of(
    function: Callable[[Float[Array, " d"]], Any], at: Float[Array, " d"], wanted: Iterable[Channel]
) -> dict[Channel, Any]:
    """{channel: derivative or combination of derivatives} of `function`, a tree of scalars, at one point."""
    wanted = list(wanted)
    members = {o for c in wanted for o in ([o for o, _ in c.terms] if isinstance(c, Combination) else [c])}
    found = derivatives(function, at, members)

    def of(channel: Channel) -> Any:
        if not isinstance(channel, Combination):
            return found[channel]
        parts = [jax.tree.map(lambda value, w=w: w * value, found[orders]) for orders, w in channel.terms]
        return jax.tree.map(lambda *values: sum(values[1:], start=values[0]), *parts)

    return {channel: of(channel) for channel in wanted}


def derivatives(
    function: Callable[[Float[Array, " d"]], Any], at: Float[Array, " d"], wanted: Iterable[Orders]
) -> dict[Orders, Any]:
    """{orders: derivative} of `function` at one point, for multi-indices `wanted`; the value is of orders (0, ..., 0).

    One nesting for each that lies below no other, of as many levels as its order: levels double the cost, so that a
    Laplacian in d dimensions is d nestings of two, and not one of 2 d. What two of them have in common, and what is
    not read, is removed by the compiler.
    """
    wanted = set(wanted)
    found: dict[Orders, Any] = {}
    for top in sorted(wanted, key=lambda orders: (sum(orders), orders), reverse=True):
        if top not in found:
            below = {o for o in wanted - found.keys() if all(i <= j for i, j in zip(o, top, strict=True))}
            found |= _nested(function, at, below)
    return found


def _nested(
    function: Callable[[Float[Array, " d"]], Any], at: Float[Array, " d"], wanted: set[Orders]
) -> dict[Orders, Any]:
    """The same in one nesting, the whole set below each level differentiated once."""
    axis = next((i for i in reversed(range(at.shape[0])) if any(orders[i] for orders in wanted)), None)
    if axis is None:
        value = function(at)
        return dict.fromkeys(wanted, value)
    lower = {_lowered(orders, axis) if orders[axis] else orders for orders in wanted}
    direction = jnp.zeros_like(at).at[axis].set(1)
    values, slopes = jax.jvp(lambda c: _nested(function, c, lower), (at,), (direction,))
    return {orders: slopes[_lowered(orders, axis)] if orders[axis] else values[orders] for orders in wanted}


def _lowered(orders: Orders, axis: int) -> Orders:
    return (*orders[:axis], orders[axis] - 1, *orders[axis + 1 :])
