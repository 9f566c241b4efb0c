"""Series with one array for all first derivatives: many coordinates, second order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from phijax.series.base import Series, accumulate
from phijax.series.channels import Channel, Channels
from phijax.series.functions import Taylor


class GradientSeries(Series):
    """A value, its gradient as one array with an axis of its own in front, and second-order combinations.

    For many coordinates: what the compiler sees does not grow with their number.
    slopes: (axes, ...) or None for zero. sums: by combination, one that is left out is zero.
    """

    def __init__(self, value: Any, slopes: Any, sums: Mapping[Channel, Any], channels: Channels):
        self.value, self.slopes, self.sums, self.channels = value, slopes, dict(sums), channels

    def derivative(self, channel: Channel) -> Any:
        if channel == self.channels.zero:
            return self.value
        if isinstance(channel, tuple):
            slopes = None if self.slopes is None else self.slopes[self.channels.axes.index(channel.index(1))]
            return jnp.zeros_like(self.value) if slopes is None else slopes
        return self.sums.get(channel, jnp.zeros_like(self.value))

    def linear(self, function: Callable[[Any], Any]) -> GradientSeries:
        slopes = None if self.slopes is None else jax.vmap(function)(self.slopes)
        return self._with(function(self.value), slopes, {channel: function(c) for channel, c in self.sums.items()})

    def shifted(self, constant: Any) -> GradientSeries:
        return self._with(self.value + constant, self.slopes, self.sums)

    def __add__(self, other: GradientSeries) -> GradientSeries:
        slopes = self.slopes if other.slopes is None else other.slopes
        if self.slopes is not None and other.slopes is not None:
            slopes = self.slopes + other.slopes
        sums = dict(self.sums)
        for channel, c in other.sums.items():
            accumulate(sums, channel, c)
        return self._with(self.value + other.value, slopes, sums)

    def __mul__(self, other: GradientSeries) -> GradientSeries:
        a, b = self.value, other.value
        scaled = self._scaled(b) + other._scaled(a)
        sums = dict(scaled.sums)
        if self.slopes is not None and other.slopes is not None:
            for channel, c in self._forms(self.slopes, other.slopes).items():
                accumulate(sums, channel, c)
        return self._with(a * b, scaled.slopes, sums)

    def compose(self, taylor: Taylor) -> GradientSeries:
        outer = taylor(self.value, self.channels.order)
        out = self._scaled(outer[1]) if len(outer) > 1 else self
        sums = dict(out.sums)
        if self.slopes is not None:
            for channel, c in self._forms(self.slopes, self.slopes).items():
                accumulate(sums, channel, outer[2] * c)
        return self._with(outer[0], out.slopes, sums)

    def _scaled(self, factor: Any) -> GradientSeries:
        slopes = None if self.slopes is None else factor[None] * self.slopes
        return self._with(self.value, slopes, {channel: factor * c for channel, c in self.sums.items()})

    def _forms(self, a: Any, b: Any) -> dict[Channel, Any]:
        """The quadratic form of each combination: its value for the product of two gradients."""
        axes = self.channels.axes
        out: dict[Channel, Any] = {}
        for combination in self.channels.combinations:
            squares = {orders.index(2): w for orders, w in combination.terms if 2 in orders}
            weights = [2.0 * squares.get(axis, 0.0) for axis in axes]
            if any(weights):
                accumulate(out, combination, _contracted(a, b, tuple(weights)))
            for orders, w in combination.terms:
                if 2 not in orders:
                    i, j = (axes.index(axis) for axis, order in enumerate(orders) if order)
                    accumulate(out, combination, w * (a[i] * b[j] + a[j] * b[i]))
        return out

    def _with(self, value: Any, slopes: Any, sums: Mapping[Channel, Any]) -> GradientSeries:
        return GradientSeries(value, slopes, sums, self.channels)


@functools.partial(jax.custom_jvp, nondiff_argnums=(2,))
def _contracted(a: Any, b: Any, weights: tuple[float, ...]) -> Any:
    """The sum of weight x a x b over the axis in front.

    Written out, so that it is one pass along the axis behind: the reduction that XLA makes of a sum goes across it,
    entry by entry. Slopes of the sum itself are sums again, whose transpose is no reduction.
    """
    terms = (w * (x * y) for w, x, y in zip(weights, a, b, strict=True) if w)
    return functools.reduce(jnp.add, terms)


@_contracted.defjvp
def _contracted_slope(weights: tuple[float, ...], primals: tuple, tangents: tuple) -> tuple[Any, Any]:
    (a, b), (da, db) = primals, tangents
    column = jnp.asarray(weights, a.dtype).reshape(-1, *[1] * (a.ndim - 1))
    return _contracted(a, b, weights), jnp.sum(column * (da * b + a * db), axis=0)
