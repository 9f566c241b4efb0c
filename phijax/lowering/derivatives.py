"""Derivatives of a function of few coordinates, each computed once, by nested forward mode with shared tangents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Orders = tuple[int, ...]


def derivatives(
    function: Callable[[Float[Array, "d"]], Any], at: Float[Array, "d"], wanted: Iterable[Orders]
) -> dict[Orders, Any]:
    """{orders: derivative} of `function` at one point, for multi-indices `wanted`; the value is of orders (0, ..., 0).

    Every nesting differentiates the whole set below it once; what is not read is removed by the compiler.
    """
    wanted = set(wanted)
    axis = next((i for i in reversed(range(at.shape[0])) if any(orders[i] for orders in wanted)), None)
    if axis is None:
        value = function(at)
        return dict.fromkeys(wanted, value)
    lower = {_lowered(orders, axis) if orders[axis] else orders for orders in wanted}
    direction = jnp.zeros_like(at).at[axis].set(1)
    values, slopes = jax.jvp(lambda c: derivatives(function, c, lower), (at,), (direction,))
    return {orders: slopes[_lowered(orders, axis)] if orders[axis] else values[orders] for orders in wanted}


def _lowered(orders: Orders, axis: int) -> Orders:
    return (*orders[:axis], orders[axis] - 1, *orders[axis + 1 :])
