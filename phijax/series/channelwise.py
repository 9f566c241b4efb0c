"""Series with one array a channel: few coordinates, any orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp

from phijax.series.base import Series, accumulate
from phijax.series.channels import Channel, Channels, factorial, products
from phijax.series.functions import Taylor


class ChannelSeries(Series):
    """One array a channel. Coefficients are derivatives over factorials; one that is left out is zero."""

    def __init__(self, coefficients: Mapping[Channel, Any], channels: Channels):
        self.coefficients = {channel: c for channel, c in coefficients.items() if c is not None}
        self.channels = channels

    @property
    def value(self) -> Any:
        return self.coefficients[self.channels.zero]

    def derivative(self, channel: Channel) -> Any:
        coefficient = self.coefficients.get(channel)
        if coefficient is None:
            return jnp.zeros_like(self.value)
        return coefficient * factorial(channel) if isinstance(channel, tuple) else coefficient

    def linear(self, function: Callable[[Any], Any]) -> ChannelSeries:
        return self._with({channel: function(c) for channel, c in self.coefficients.items()})

    def shifted(self, constant: Any) -> ChannelSeries:
        return self._with({**self.coefficients, self.channels.zero: self.value + constant})

    def __add__(self, other: ChannelSeries) -> ChannelSeries:
        out = dict(self.coefficients)
        for channel, c in other.coefficients.items():
            accumulate(out, channel, c)
        return self._with(out)

    def __mul__(self, other: ChannelSeries) -> ChannelSeries:
        zero = self.channels.zero
        a, b = self.coefficients.get(zero), other.coefficients.get(zero)
        out: dict[Channel, Any] = {}
        if b is not None:
            out = {channel: c * b for channel, c in self.coefficients.items()}
        if a is not None:
            for channel, c in other.coefficients.items():
                if channel != zero:
                    accumulate(out, channel, a * c)
        for channel, c in self._convolved(other).items():
            accumulate(out, channel, c)
        return self._with(out)

    def compose(self, taylor: Taylor) -> ChannelSeries:
        zero, degree = self.channels.zero, self.channels.order
        outer = taylor(self.value, degree)
        inner = self._with({channel: c for channel, c in self.coefficients.items() if channel != zero})
        out: dict[Channel, Any] = {zero: outer[0]}
        power = inner
        for order in range(1, degree + 1):
            for channel, c in power.coefficients.items():
                accumulate(out, channel, outer[order] * c)
            if order < degree:
                power = self._with(inner._convolved(power))
        return self._with(out)

    def _convolved(self, other: ChannelSeries) -> dict[Channel, Any]:
        """The parts of a product to which both give a derivative."""
        out: dict[Channel, Any] = {}
        for channel, factor, i, j in products(self.channels):
            if i in self.coefficients and j in other.coefficients:
                if self is other and j < i:
                    continue  # counted with its mirror image
                factor = 2.0 * factor if self is other and i != j else factor
                term = self.coefficients[i] * other.coefficients[j]
                accumulate(out, channel, term if factor == 1.0 else factor * term)
        return out

    def _with(self, coefficients: Mapping[Channel, Any]) -> ChannelSeries:
        return ChannelSeries(coefficients, self.channels)
