"""Second-order operators in many coordinates, estimated along random directions from the step's own key.

With v of independent signs E[v v'] = 1, so that v'Hv estimates the trace of a Hessian H and v_i (Hv)_j its entry (Hutchinson
1990; Bekas, Kokiopoulou & Saad 2007; in networks Hu et al. 2024, Shi et al. 2024). Without bias, for the operator: its
square, and so the loss, is larger by the estimate's variance, which falls as one over the number of directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from phijax.series import Channel, Combination, Orders

ALONG = 0x616C6F6E  # folded into the model's key: no layer folds so large a number


class Parts(NamedTuple):
    """Channels of one place by how they are taken. combined: second-order sums; single: many second derivatives."""

    exact: set[Channel]
    combined: list[Combination]
    single: list[Orders]


def parted(wanted: Iterable[Channel], directions: int | None) -> Parts:
    """What is estimated: second order alone, and where it has more derivatives than there are directions."""
    exact = set(wanted)
    if directions is None:
        return Parts(exact, [], [])
    combined = sorted(
        (c for c in exact if isinstance(c, Combination) and c.order == 2 and len(c.terms) > directions),
        key=lambda c: c.terms,
    )
    single = sorted(c for c in exact if not isinstance(c, Combination) and sum(c) == 2)
    single = single if len(single) > directions else []
    return Parts(exact - {*combined, *single}, combined, single)


class Path(NamedTuple):
    """Directions from a point, (s, d), and the channels along them whose sum is the estimate."""

    directions: Float[Array, "s d"]
    channel: Combination


def path(operator: Combination, count: int, size: int, key: PRNGKeyArray) -> Path:
    """`count` random directions v for squares, or pairs (v, Av) for an operator A of mixed or negative parts."""
    signs = jax.random.rademacher(key, (count, size), jnp.zeros(()).dtype)
    pure = all(2 in orders for orders, _ in operator.terms)
    if pure and all(weight >= 0 for _, weight in operator.terms):
        roots = np.zeros(size)
        for orders, weight in operator.terms:
            roots[orders.index(2)] = np.sqrt(weight)
        squares = tuple((_orders(count, i, i), 1.0 / count) for i in range(count))
        return Path(signs * jnp.asarray(roots, signs.dtype)[None, :], Combination(squares))
    pairs = tuple((_orders(2 * count, i, count + i), 1.0 / count) for i in range(count))
    return Path(jnp.concatenate([signs, _applied(operator, signs)]), Combination(pairs))


def singles(values: Callable[[Any], Mapping[str, Any]], at: Any, wanted: list[Orders], count: int, key: Any) -> Any:
    """{orders: {field: estimate}} of second derivatives, from Hessian-vector products along `count` directions."""
    signs = jax.random.rademacher(key, (count, at.shape[0]), at.dtype)

    def slope(v: Array) -> Mapping[str, Array]:
        return jax.jvp(jax.jacrev(values), (at,), (v,))[1]

    along = jax.vmap(slope)(signs)

    def entry(orders: Orders, products: Array) -> Array:
        i, j = (axis for axis, order in enumerate(orders) for _ in range(order))
        return jnp.mean(signs[:, i] * products[:, j])

    return {orders: {name: entry(orders, products) for name, products in along.items()} for orders in wanted}


def _applied(operator: Combination, v: Array) -> Array:
    """A v for each row of v, where the operator is the sum of A_ij times the derivative by i and j."""
    out = jnp.zeros_like(v)
    pairs = [[axis for axis, order in enumerate(orders) for _ in range(order)] for orders, _ in operator.terms]
    i, j = np.array(pairs).T
    half = jnp.asarray([weight / 2 for _, weight in operator.terms], v.dtype)[None, :]
    return out.at[:, i].add(half * v[:, j]).at[:, j].add(half * v[:, i])


def _orders(size: int, *axes: int) -> Orders:
    return tuple(axes.count(axis) for axis in range(size))
