"""Residuals that can be differentiated row by row, and the sums over rows of squared gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from phijax._devices import ONE_DEVICE, Devices, marked

from .base import Params, Scalars

_NUMBERS_IN_FLIGHT = 2**22  # entries of per-row gradients held at once: 32 MiB in float64
_MOST_ROWS = 256


@dataclass(frozen=True, eq=False)
class RowwiseResiduals:
    """Residuals of a batch by term, from functions of one row.

    functions: by constraint, (params, row) -> {term: scalar}. rows: by constraint, a tree of arrays with leading axis n.
    devices: among which the rows are shared out where they are differentiated.

    Called with parameters it gives {term: (n,)}, as any `residuals` function does. With a plain function, the gradient
    of one row costs a pass over all rows; here it costs one row.
    """

    functions: Mapping[str, Callable[[Params, Any], Scalars]]
    rows: Mapping[str, Any]
    devices: Devices = ONE_DEVICE

    def __call__(self, params: Params) -> dict[str, Float[Array, " n"]]:
        out: dict[str, Array] = {}
        for name, function in self.functions.items():
            out |= jax.vmap(function, (None, 0))(params, self.rows[name])
        return out


def kernel_traces(
    residuals: Callable[[Params], dict[str, Float[Array, " n"]]], params: Params, block: int | None = None
) -> Scalars:
    """Sum over rows s of |d r_s / d params|^2 by term: the trace of the term's neural tangent kernel, exact.

    residuals: params -> {term: (n,)}. block: rows at once; by default what bounds the memory to some 32 MiB.
    """
    trained, rest = eqx.partition(params, eqx.is_inexact_array)
    size = sum(leaf.size for leaf in jax.tree.leaves(trained))
    block = block or max(1, min(_MOST_ROWS, _NUMBERS_IN_FLIGHT // max(size, 1)))
    if isinstance(residuals, RowwiseResiduals):
        return _by_row(residuals, trained, rest, block)
    return _by_cotangent(lambda p: residuals(eqx.combine(p, rest)), trained, block)


def _by_row(residuals: RowwiseResiduals, trained: Any, rest: Any, block: int) -> Scalars:
    traces: Scalars = {}
    for name, function in residuals.functions.items():

        def squares(row: Any, function: Any = function) -> Scalars:
            gradients = jax.jacrev(lambda p: function(eqx.combine(p, rest), row))(trained)
            return {term: squared_norm(gradient) for term, gradient in gradients.items()}

        def share(rows: Any, marks: Any, squares: Any = squares, name: str = name) -> Scalars:
            by_row = jax.lax.map(squares, rows[name], batch_size=block)
            return {term: jnp.sum(marked(values, marks[name])) for term, values in by_row.items()}

        traces |= residuals.devices.summed(share, {name: residuals.rows[name]})
    return traces


def _by_cotangent(residuals: Any, trained: Any, block: int) -> Scalars:
    traces: Scalars = {}
    for term in jax.eval_shape(residuals, trained):
        values, pullback = jax.vjp(lambda p, term=term: residuals(p)[term], trained)

        def square(row: Any, values: Any = values, pullback: Any = pullback) -> Array:
            one_hot = jnp.zeros_like(values).at[row].set(1.0)
            return squared_norm(pullback(one_hot)[0])

        traces[term] = jnp.sum(jax.lax.map(square, jnp.arange(values.shape[0]), batch_size=block))
    return traces


def squared_norm(tree: Any) -> Float[Array, ""]:
    """Sum of the squared moduli of all entries."""
    return sum((jnp.sum(jnp.abs(leaf) ** 2) for leaf in jax.tree.leaves(tree)), start=jnp.zeros(()))
