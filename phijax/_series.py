"""Truncated Taylor series in several variables: derivatives carried through operations together, each computed once.

A series holds c_m = (d^m f) / m! for the multi-indices m of a set that is closed downwards; a coefficient that is left
out is zero. Sums are termwise, products are convolutions, and functions compose by their own one-variable series
(Griewank & Walther 2008, chapter 13). Cost: one operation a channel where a network is linear.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

Orders = tuple[int, ...]


class Series:
    """Coefficients by multi-index, within the closed set `indices`; arrays of one shape, or None for zero."""

    def __init__(self, coefficients: Mapping[Orders, Any], indices: frozenset[Orders]):
        self.coefficients = {orders: c for orders, c in coefficients.items() if c is not None}
        self.indices = indices

    @property
    def zero(self) -> Orders:
        """The multi-index of the value."""
        return (0,) * len(next(iter(self.indices)))

    @property
    def value(self) -> Any:
        """The coefficient of order zero."""
        return self.coefficients[self.zero]

    def derivative(self, orders: Orders) -> Any:
        """The derivative of these orders."""
        coefficient = self.coefficients.get(orders)
        if coefficient is None:
            return jnp.zeros_like(self.value)
        return coefficient * math.prod(map(math.factorial, orders))

    def linear(self, function: Callable[[Any], Any]) -> Series:
        """A linear function of each coefficient."""
        return Series({orders: function(c) for orders, c in self.coefficients.items()}, self.indices)

    def shifted(self, constant: Any) -> Series:
        """The series plus a constant."""
        return Series({**self.coefficients, self.zero: self.value + constant}, self.indices)

    def __add__(self, other: Series) -> Series:
        out = dict(self.coefficients)
        for orders, c in other.coefficients.items():
            out[orders] = out[orders] + c if orders in out else c
        return Series(out, self.indices)

    def __mul__(self, other: Series) -> Series:
        """The product, cut to the index set."""
        out: dict[Orders, Any] = {}
        for one, a in self.coefficients.items():
            for two, b in other.coefficients.items():
                orders = tuple(i + j for i, j in zip(one, two, strict=True))
                if orders in self.indices:
                    out[orders] = out[orders] + a * b if orders in out else a * b
        return Series(out, self.indices)

    def compose(self, taylor: Callable[[Array, int], list[Array]]) -> Series:
        """f of the series. taylor: (z, n) -> [f(z), f'(z), f''(z) / 2, ..., f^(n)(z) / n!], elementwise."""
        degree = max(map(sum, self.indices))
        outer = taylor(self.value, degree)
        inner = Series({o: c for o, c in self.coefficients.items() if o != self.zero}, self.indices)
        out = Series({self.zero: outer[0]}, self.indices)
        power = inner
        for order in range(1, degree + 1):
            if not power.coefficients:
                break
            factor = outer[order]
            out = out + power.linear(lambda c, factor=factor: factor * c)
            if order < degree:
                power = power * inner
        return out


def closed_indices(wanted: Iterable[Orders]) -> frozenset[Orders]:
    """The smallest set that holds `wanted` and every multi-index below one of it."""
    found: set[Orders] = set()

    def add(orders: Orders) -> None:
        if orders in found:
            return
        found.add(orders)
        for axis, order in enumerate(orders):
            if order:
                add((*orders[:axis], order - 1, *orders[axis + 1 :]))

    for orders in wanted:
        add(orders)
    return frozenset(found)


def variable(value: Array, axis: int, indices: frozenset[Orders], scale: float = 1.0) -> Series:
    """A coordinate, times `scale`: its value, and its slope along its own axis."""
    zero: Orders = (0,) * len(next(iter(indices)))
    unit = (*zero[:axis], 1, *zero[axis + 1 :])
    coefficients: dict[Orders, Any] = {zero: scale * value}
    if unit in indices:
        coefficients[unit] = jnp.full_like(value, scale)
    return Series(coefficients, indices)


def stack(parts: list[Series]) -> Series:
    """Scalar series as one series of vectors."""
    indices = parts[0].indices
    filled = jnp.zeros_like(parts[0].value)
    orders = {o for part in parts for o in part.coefficients}
    return Series(
        {o: jnp.stack([part.coefficients.get(o, filled) for part in parts]) for o in indices if o in orders}, indices
    )


def concatenate(parts: list[Series]) -> Series:
    """Series of vectors, end to end."""
    indices = parts[0].indices
    orders = {o for part in parts for o in part.coefficients}

    def of(part: Series, order: Orders) -> Any:
        return part.coefficients.get(order, jnp.zeros_like(part.value))

    return Series({o: jnp.concatenate([of(part, o) for part in parts]) for o in orders}, indices)


def carries_series(module: Any) -> bool:
    """Whether a module and all that it is made of have a `series` rule."""
    if not hasattr(module, "series"):
        return False
    parts = jax.tree.leaves(
        vars(module) if hasattr(module, "__dict__") else {}, is_leaf=lambda x: callable(x) and x is not module
    )
    return all(carries_series(part) for part in parts if callable(part))


# One-variable series of elementwise functions.


def tanh(z: Array, degree: int) -> list[Array]:
    """From y' = 1 - y^2."""
    c = [jnp.tanh(z)]
    for k in range(degree):
        square: Any = sum(c[i] * c[k - i] for i in range(k + 1))
        c.append(((1.0 if k == 0 else 0.0) - square) / (k + 1))
    return c


def sigmoid(z: Array, degree: int) -> list[Array]:
    """From y' = y - y^2."""
    c = [jax.nn.sigmoid(z)]
    for k in range(degree):
        c.append((c[k] - sum(c[i] * c[k - i] for i in range(k + 1))) / (k + 1))
    return c


def sin(z: Array, degree: int) -> list[Array]:
    """sin, cos, -sin, -cos, over the factorials."""
    s, c = jnp.sin(z), jnp.cos(z)
    cycle = [s, c, -s, -c]
    return [cycle[k % 4] / math.factorial(k) for k in range(degree + 1)]


def cos(z: Array, degree: int) -> list[Array]:
    """cos, -sin, -cos, sin, over the factorials."""
    s, c = jnp.sin(z), jnp.cos(z)
    cycle = [c, -s, -c, s]
    return [cycle[k % 4] / math.factorial(k) for k in range(degree + 1)]


def of_function(function: Callable[[Array], Array]) -> Callable[[Array, int], list[Array]]:
    """The series of any elementwise function, by nested forward mode."""

    def taylor(z: Array, degree: int) -> list[Array]:
        found, current = [function(z)], function
        for k in range(1, degree + 1):
            current = _slope(current)
            found.append(current(z) / math.factorial(k))
        return found

    return taylor


def _slope(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda z: jax.jvp(function, (z,), (jnp.ones_like(z),))[1]
