"""Channels: which derivatives travel together through a network."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass

Orders = tuple[int, ...]


@dataclass(frozen=True)
class Combination:
    """A sum of weight x derivative, all of one total order, that travels as a whole. A Laplacian is one.

    Only what lies below its members has to travel with it, not the members themselves (for second order the forward
    Laplacian of Li et al. 2024).
    """

    terms: tuple[tuple[Orders, float], ...]

    @property
    def order(self) -> int:
        """Total order of its members."""
        return sum(self.terms[0][0])


Channel = Orders | Combination


@dataclass(frozen=True)
class Channels:
    """indices: multi-indices, closed downwards, so that the value is among them. combinations: beside these."""

    indices: frozenset[Orders]
    combinations: tuple[Combination, ...] = ()

    @classmethod
    def of(cls, wanted: Iterable[Channel]) -> Channels:
        """The fewest channels that give those wanted."""
        wanted = set(wanted)
        combinations = tuple(sorted((c for c in wanted if isinstance(c, Combination)), key=lambda c: c.terms))
        below = {lower for c in combinations for orders, _ in c.terms for lower in _one_lower(orders)}
        return cls(closed({o for o in wanted if not isinstance(o, Combination)} | below), combinations)

    def __len__(self) -> int:
        return len(self.indices) + len(self.combinations)

    @property
    def zero(self) -> Orders:
        """The multi-index of the value."""
        return (0,) * len(next(iter(self.indices)))

    @property
    def order(self) -> int:
        """The highest total order."""
        return max(max(map(sum, self.indices)), *(c.order for c in self.combinations), 0)

    @property
    def axes(self) -> tuple[int, ...]:
        """Coordinates whose first derivatives travel."""
        return tuple(orders.index(1) for orders in sorted(self.indices, reverse=True) if sum(orders) == 1)


Product = tuple[Channel, float, Orders, Orders]


@functools.lru_cache(maxsize=256)
def products(channels: Channels) -> tuple[Product, ...]:
    """(channel, factor, i, j): the coefficient of `channel` of a product has factor x a_i x b_j, i and j not zero.

    Coefficients are derivatives over factorials; those of a combination are plain derivatives.
    """
    inner = [orders for orders in sorted(channels.indices) if any(orders)]
    found: list[Product] = []
    for i in inner:
        for j in inner:
            both = _plus(i, j)
            if both in channels.indices:
                found.append((both, 1.0, i, j))
            for combination in channels.combinations:
                weight = dict(combination.terms).get(both)
                if weight is not None:
                    found.append((combination, weight * factorial(both), i, j))
    return tuple(found)


def closed(wanted: Iterable[Orders]) -> frozenset[Orders]:
    """The smallest set that holds `wanted` and every multi-index below one of it."""
    found: set[Orders] = set()
    left = list(wanted)
    while left:
        orders = left.pop()
        if orders not in found:
            found.add(orders)
            left.extend(_one_lower(orders))
    return frozenset(found)


def factorial(orders: Orders) -> int:
    """The factorial of a multi-index."""
    return math.prod(map(math.factorial, orders))


def _one_lower(orders: Orders) -> list[Orders]:
    return [(*orders[:i], order - 1, *orders[i + 1 :]) for i, order in enumerate(orders) if order]


def _plus(one: Orders, two: Orders) -> Orders:
    return tuple(i + j for i, j in zip(one, two, strict=True))
