"""Taylor coefficients of elementwise functions: (z, n) -> [f(z), f'(z), f''(z) / 2, ..., f^(n)(z) / n!]."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

Taylor = Callable[[Array, int], list[Array]]


def tanh(z: Array, degree: int) -> list[Array]:
    """From y' = 1 - y^2."""
    c = [jnp.tanh(z)]
    for k in range(degree):
        square = _square(c, k)
        c.append((1.0 - square if k == 0 else -square) / (k + 1))
    return c


def sigmoid(z: Array, degree: int) -> list[Array]:
    """From y' = y - y^2."""
    c = [jax.nn.sigmoid(z)]
    for k in range(degree):
        c.append((c[k] - _square(c, k)) / (k + 1))
    return c


def sin(z: Array, degree: int) -> list[Array]:
    """sin, cos, -sin, -cos, over the factorials."""
    s, c = jnp.sin(z), jnp.cos(z)
    return _cycle([s, c, -s, -c], degree)


def cos(z: Array, degree: int) -> list[Array]:
    """cos, -sin, -cos, sin, over the factorials."""
    s, c = jnp.sin(z), jnp.cos(z)
    return _cycle([c, -s, -c, s], degree)


def of_function(function: Callable[[Array], Array]) -> Taylor:
    """The coefficients of any elementwise function, by nested forward mode."""

    def taylor(z: Array, degree: int) -> list[Array]:
        found, current = [function(z)], function
        for k in range(1, degree + 1):
            current = _slope(current)
            found.append(current(z) / math.factorial(k))
        return found

    return taylor


def _square(c: list[Array], k: int) -> Any:
    """The k-th coefficient of the square of a series."""
    twice: Any = sum(2.0 * c[i] * c[k - i] for i in range((k + 1) // 2))
    return twice + c[k // 2] * c[k // 2] if k % 2 == 0 else twice


def _cycle(values: list[Array], degree: int) -> list[Array]:
    return [values[k % 4] / math.factorial(k) for k in range(degree + 1)]


def _slope(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda z: jax.jvp(function, (z,), (jnp.ones_like(z),))[1]
