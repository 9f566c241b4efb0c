"""Integrals inside residuals, by Gauss-Legendre on moving limits or by a region's own rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from phijax.geometry import Region
from phijax.geometry.placement import Rule
from phijax.lowering.environment import Environment
from phijax.lowering.faults import LoweringError
from phijax.symbolic import Normal, OverRegion, Quadrature


def emit_quadrature(node: Quadrature, emit: Callable) -> Callable[[Environment], Any]:
    """Sum of weights times the integrand at nodes, at the current values of all other symbols."""
    integrand, where, points = node.args
    inside = emit(integrand)
    count = int(points)
    if isinstance(where, OverRegion):
        rule = _rule_of(where.region, count)
        normals = {Normal(s): rule.normals[s.name] for s in where.region.coordinates if s.name in (rule.normals or {})}
        nodes = {symbol: rule.coordinates[symbol.name] for symbol in where.region.coordinates} | normals

        def over_region(env: Environment) -> Any:
            def at(*row: Any) -> Any:
                return inside(env.bind(dict(zip(nodes, row, strict=True)))) + _zero(env)

            values = jax.vmap(at)(*(_like(env, column) for column in nodes.values()))
            return jnp.sum(_like(env, rule.weights) * values)

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


def _rule_of(region: Region, count: int) -> Rule:
    try:
        return region.quadrature(count)
    except ValueError as error:
        raise LoweringError(f"integral over {region}: {error}") from error


def _like(env: Environment, values: np.ndarray) -> Any:
    return jnp.asarray(values, env.dtype)


def _zero(env: Environment) -> Any:
    return jnp.zeros((), env.dtype)
