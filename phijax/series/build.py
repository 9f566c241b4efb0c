"""Where series come from: coordinates, known functions, and other series end to end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from phijax.series.base import Series
from phijax.series.channels import Channel, Channels, Orders, factorial
from phijax.series.channelwise import ChannelSeries
from phijax.series.gradient import GradientSeries

MANY = 128  # coordinates from which on first derivatives travel in one array: apart they are faster, and compile longer


def as_one_array(channels: Channels) -> bool:
    """Whether a `GradientSeries` carries these channels: many first derivatives, and no single second one."""
    return (
        len(channels.axes) >= MANY
        and max(map(sum, channels.indices)) == 1
        and all(combination.order == 2 for combination in channels.combinations)
    )


def coordinates(at: Array, channels: Channels, directions: Array | None = None) -> Series:
    """The coordinates themselves, (d,), as the series from which all others come.

    directions: (s, d), along which the derivatives are taken in place of the coordinates' own.
    """
    unit = jnp.eye(at.shape[0], dtype=at.dtype) if directions is None else directions
    if as_one_array(channels):
        return GradientSeries(at, unit[jnp.asarray(channels.axes)], {}, channels)
    slopes = {orders: unit[orders.index(1)] for orders in channels.indices if sum(orders) == 1}
    return ChannelSeries({channels.zero: at, **slopes}, channels)


def known(found: Mapping[Channel, Any], channels: Channels) -> Series:
    """The series of a function whose derivatives are given, by channel."""
    if as_one_array(channels):
        slopes = jnp.stack([found[_unit(axis, channels)] for axis in channels.axes])
        sums: dict[Channel, Any] = {c: found[c] for c in channels.combinations}
        return GradientSeries(found[channels.zero], slopes, sums, channels)
    scaled = {c: value / factorial(c) if isinstance(c, tuple) else value for c, value in found.items()}
    return ChannelSeries(scaled, channels)


def concatenate(parts: list[Any]) -> Any:
    """Series of vectors, end to end."""
    channels = parts[0].channels
    if isinstance(parts[0], GradientSeries):
        slopes = [
            jnp.zeros((len(channels.axes), *p.value.shape), p.value.dtype) if p.slopes is None else p.slopes
            for p in parts
        ]
        sums = {
            c: jnp.concatenate([p.derivative(c) for p in parts])
            for c in channels.combinations
            if any(c in p.sums for p in parts)
        }
        return GradientSeries(
            jnp.concatenate([p.value for p in parts]), jnp.concatenate(slopes, axis=1), sums, channels
        )
    carried = {channel for part in parts for channel in part.coefficients}

    def of(part: ChannelSeries, channel: Channel) -> Any:
        return part.coefficients.get(channel, jnp.zeros_like(part.value))

    ordered = [c for c in (*sorted(channels.indices), *channels.combinations) if c in carried]
    return ChannelSeries({c: jnp.concatenate([of(part, c) for part in parts]) for c in ordered}, channels)


def carries_series(module: Any) -> bool:
    """Whether a module and all that it is made of have a `series` rule."""
    if not hasattr(module, "series"):
        return False
    parts = jax.tree.leaves(
        vars(module) if hasattr(module, "__dict__") else {}, is_leaf=lambda x: callable(x) and x is not module
    )
    return all(carries_series(part) for part in parts if callable(part))


def _unit(axis: int, channels: Channels) -> Orders:
    zero = channels.zero
    return (*zero[:axis], 1, *zero[axis + 1 :])
