"""SOAP: Adam in the eigenbasis of Shampoo's preconditioner.

Vyas, Morwani, Zhao, Kwun, Shapira, Brandfonbrener, Janson & Kakade, "SOAP: Improving and stabilizing Shampoo using
Adam", 2024.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int

from phijax._options import real, whole


class Side(NamedTuple):
    """One side of a matrix: the running mean of G G^H (left) or G^H G (right), and an approximate eigenbasis of it."""

    statistic: Float[Array, "n n"]
    basis: Float[Array, "n n"]


class SOAPState(NamedTuple):
    """count: steps done. mean: of the gradients. square: mean squares of the gradients' entries in the eigenbasis.

    left, right: a `Side` for each parameter, None where there is none: for vectors, and sides that are too long.
    """

    count: Int[Array, ""]
    mean: Any
    square: Any
    left: Any
    right: Any


def soap(
    learning_rate: Any,
    b1: float = 0.95,
    b2: float = 0.95,
    eps: float = 1e-8,
    *,
    shampoo_decay: float | None = None,
    precondition_every: int = 10,
    max_dimension: int = 1024,
) -> optax.GradientTransformation:
    """SOAP with a learning rate, a number or a schedule; a step is of the size of Adam's, and the first is Adam's own.

    b1, b2: decay of the means of gradients and of their squares. shampoo_decay: of the statistics, None for b2.
    precondition_every: steps between eigenbases, each one power iteration and a QR of the last.
    max_dimension: of a side of a matrix that is preconditioned; other sides, vectors and scalars go as in Adam.
    """
    decay = b2 if shampoo_decay is None else shampoo_decay
    for name, value in (("b1", b1), ("b2", b2), ("shampoo_decay", decay)):
        real("soap", name, value, "of at least 0 and below 1", lambda number: 0 <= number < 1)
    real("soap", "eps", eps, "above 0", lambda number: number > 0)
    every = whole("soap", "precondition_every", precondition_every, least=1)
    longest = whole("soap", "max_dimension", max_dimension, least=0)
    scaling = _scaling((b1, b2, decay), eps, every, longest)
    return optax.chain(scaling, optax.scale_by_learning_rate(learning_rate))


def _scaling(decays: tuple[float, float, float], eps: float, every: int, longest: int) -> optax.GradientTransformation:
    """The direction of a step. The first basis is the identity. decays: b1, b2 and that of the statistics."""

    def init(params: Any) -> SOAPState:
        return SOAPState(
            jnp.zeros((), jnp.int32),
            jax.tree.map(jnp.zeros_like, params),
            jax.tree.map(lambda leaf: jnp.zeros_like(leaf, _real(leaf)), params),
            jax.tree.map(lambda leaf: _side(leaf, 0, longest), params),
            jax.tree.map(lambda leaf: _side(leaf, 1, longest), params),
        )

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, SOAPState]:
        del params
        count = state.count + 1
        leaves, structure = jax.tree.flatten(updates)
        own = [structure.flatten_up_to(part) for part in state[1:]]
        found = [
            _leaf_update(gradient, *parts, count=count, decays=decays, eps=eps, every=every)
            for gradient, *parts in zip(leaves, *own, strict=True)
        ]
        directions, *parts = (structure.unflatten(part) for part in zip(*found, strict=True))
        return directions, SOAPState(count, *parts)

    return optax.GradientTransformation(init, update)


def _leaf_update(
    gradient: Array,
    mean: Array,
    square: Array,
    left: Side | None,
    right: Side | None,
    *,
    count: Int[Array, ""],
    decays: tuple[float, float, float],
    eps: float,
    every: int,
) -> tuple[Array, Array, Array, Side | None, Side | None]:
    """(direction, mean, square, left, right) of one parameter.

    count: of steps, this one included. decays: b1, b2 and that of the statistics.
    """
    b1, b2, decay = decays
    mean = b1 * mean + (1 - b1) * gradient
    turned = _into(gradient, left, right)
    square = b2 * square + (1 - b2) * jnp.abs(turned) ** 2
    steps = count.astype(square.dtype)
    unbiased = jnp.sqrt(square / (1 - b2**steps)) + eps
    direction = _out_of(_into(mean / (1 - b1**steps), left, right) / unbiased, left, right)

    due = (count - 1) % every == 0
    return direction, mean, square, _renewed(left, gradient, decay, due), _renewed(right, gradient.conj().T, decay, due)


def _renewed(side: Side | None, own: Array, decay: float, due: Bool[Array, ""]) -> Side | None:
    """A side after a gradient, which is seen from it; its eigenbasis by one power iteration and a QR where that is due."""
    if side is None:
        return None
    statistic = decay * side.statistic + (1 - decay) * own @ own.conj().T
    basis = jax.lax.cond(due, lambda: jnp.linalg.qr(statistic @ side.basis)[0], lambda: side.basis)
    return Side(statistic, basis)


def _side(leaf: Array, axis: int, longest: int) -> Side | None:
    if leaf.ndim != 2 or not 1 < leaf.shape[axis] <= longest:
        return None
    size = leaf.shape[axis]
    return Side(jnp.zeros((size, size), leaf.dtype), jnp.eye(size, dtype=leaf.dtype))


def _into(matrix: Array, left: Side | None, right: Side | None) -> Array:
    """A matrix in the eigenbases: Q_L^H M Q_R."""
    return _between(matrix, left and left.basis.conj().T, right and right.basis)


def _out_of(matrix: Array, left: Side | None, right: Side | None) -> Array:
    """The way back: Q_L M Q_R^H."""
    return _between(matrix, left and left.basis, right and right.basis.conj().T)


def _between(matrix: Array, before: Array | None, after: Array | None) -> Array:
    matrix = matrix if before is None else before @ matrix
    return matrix if after is None else matrix @ after


def _real(leaf: Array) -> Any:
    return jnp.finfo(leaf.dtype).dtype
