"""Integrals inside residuals, by Gauss-Legendre on moving limits or by a region's own rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from phijax.lowering.environment import Environment
from phijax.symbolic import OverRegion, Quadrature


def emit_quadrature(node: Quadrature, emit: Callable) -> Callable[[Environment], Any]:
    """Sum of weights times the integrand at nodes, at the current values of all other symbols."""
    integrand, where, points = node.args
    inside = emit(integrand)
    count = int(points)
    if isinstance(where, OverRegion):
        rule = where.region.quadrature(count)
        nodes = {symbol: rule.coordinates[symbol.name] for symbol in where.region.coordinates}

        def over_region(env: Environment) -> Any:
            placed = {symbol: _like(env, values) for symbol, values in nodes.items()}
            return jnp.sum(_like(env, rule.weights) * jax.vmap(lambda at: inside(env.bind(at)) + _zero(env))(placed))

        return over_region

    symbol, low, high = where
    lower, upper = emit(low), emit(high)
    unit, weights = np.polynomial.legendre.leggauss(count)

    def between(env: Environment) -> Any:
        a, b = lower(env), upper(env)
        at = a + (b - a) * (_like(env, unit) + 1) / 2
        total = jnp.sum(_like(env, weights) * jax.vmap(lambda s: inside(env.bind({symbol: s})) + _zero(env))(at))
        return (b - a) / 2 * total

    return between


def _like(env: Environment, values: np.ndarray) -> Any:
    return jnp.asarray(values, env.dtype)


def _zero(env: Environment) -> Any:
    return jnp.zeros((), env.dtype)
