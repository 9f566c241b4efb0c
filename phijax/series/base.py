"""Series: a quantity with its derivatives, and the operations that layers are made of.

Sums are termwise, products are convolutions, and functions compose by their own one-variable series (Griewank &
Walther 2008, chapter 13). Cost: one operation a channel where a network is linear.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, Self

from phijax.series.channels import Channel
from phijax.series.functions import Taylor


class Series(abc.ABC):
    """A vector (or scalar) with its derivatives by the coordinates; what a layer's rule maps to another.

    A rule is written with these operations alone: `linear`, `shifted`, `compose`, `+`, `*` and `concatenate`.
    """

    value: Any

    @abc.abstractmethod
    def derivative(self, channel: Channel) -> Any:
        """The derivative, or the combination of derivatives, of one channel."""

    @abc.abstractmethod
    def linear(self, function: Callable[[Any], Any]) -> Self:
        """A linear function of the vector: it is applied to each channel."""

    @abc.abstractmethod
    def shifted(self, constant: Any) -> Self:
        """The vector plus a constant."""

    @abc.abstractmethod
    def compose(self, taylor: Taylor) -> Self:
        """An elementwise function of the vector, by its Taylor coefficients; see `phijax.series.functions`."""

    @abc.abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abc.abstractmethod
    def __mul__(self, other: Self) -> Self: ...


def accumulate(into: dict[Channel, Any], channel: Channel, term: Any) -> None:
    """Adds a term to what a channel has so far."""
    into[channel] = into[channel] + term if channel in into else term
