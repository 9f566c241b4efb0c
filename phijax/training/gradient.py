"""Losses with the gradient of their weighted sum, taken over a few rows at a time where a whole batch leaves the cache.

Forward and backward pass of one piece follow each other, so that nothing is kept for the backward pass of the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from phijax._devices import ONE_DEVICE, Devices, marked
from phijax.training.module import Block, Model, Objective, full_name, rows, squares

Losses = dict[str, Array]


@dataclass(frozen=True)
class WeightedGradient:
    """The losses of one batch and the gradient of sum weight x loss, for any parameters.

    model: parameters -> model. key: of the model where it is stochastic. weights: by term. Each of the devices takes its
    share of the rows, in pieces of its own, and their sums are exchanged once.
    """

    objective: Objective
    model: Callable[[Any], Model]
    batch: Mapping[str, Any]
    key: Any
    weights: Mapping[str, Array]
    devices: Devices = ONE_DEVICE

    def __call__(self, params: Any) -> tuple[Losses, Any]:
        """(losses, gradient)."""
        given = {name: (self.batch[name], self._keys(name)) for name in self.objective.blocks}
        counts = {name: rows(self.batch[name]) for name in given}

        def share(given: Mapping[str, Any], marks: Mapping[str, Array | None], params: Any) -> tuple[Losses, Any]:
            losses: Losses = {}
            total: Any = None
            for name, block in self.objective.blocks.items():
                found, gradient = self._of_block(name, block, params, (*given[name], marks[name]), counts[name])
                losses |= found
                total = gradient if total is None else jax.tree.map(jnp.add, total, gradient)
            return losses, total

        return self.devices.summed(share, given, params)

    def _keys(self, name: str) -> Any:
        """A key for each row of a block, as those of the objective; None where the model is not stochastic."""
        if self.key is None:
            return None
        position = tuple(self.objective.blocks).index(name)
        return jax.random.split(jax.random.fold_in(self.key, position), rows(self.batch[name]))

    def total(self, params: Any) -> Array:
        """The weighted sum as a function to be differentiated, whose gradient is taken in pieces as well."""

        @jax.custom_vjp
        def total(params: Any) -> Array:
            return forward(params)[0]

        def forward(params: Any) -> tuple[Array, Any]:
            losses, gradient = self(params)
            return sum(self.weights[term] * losses[term] for term in losses), gradient  # type: ignore[return-value]

        def backward(gradient: Any, slope: Array) -> tuple[Any]:
            return (jax.tree.map(lambda leaf: slope * leaf, gradient),)

        total.defvjp(forward, backward)
        return total(params)

    def _of_block(self, name: str, block: Block, params: Any, given: tuple, n: int) -> tuple[Losses, Any]:
        """given: rows, their keys, and which of them count. n: of all devices."""

        def of_piece(params: Any, piece: Any) -> tuple[Array, Losses]:
            points, keys, counted = piece
            found = block.rows(self.model(params), points, keys)
            shares = {full_name(name, t): jnp.sum(marked(squares(r, points), counted)) / n for t, r in found.items()}
            return sum(self.weights[term] * share for term, share in shares.items()), shares  # type: ignore[return-value]

        both = jax.value_and_grad(of_piece, has_aux=True)

        def of(piece: Any) -> tuple[Losses, Any]:
            (_, shares), gradient = both(params, piece)
            return shares, gradient

        terms = [term for term in self.weights if self.objective.sampler_of(term) == name]
        zero = ({term: jnp.zeros(()) for term in terms}, jax.tree.map(jnp.zeros_like, params))
        found: Any = None
        rows_at_once = block.rows_at_once if jax.default_backend() == "cpu" else None
        for pieces, count in _pieces(given, rows(given[0]), rows_at_once):
            part = of(pieces) if count == 1 else _summed(of, pieces, count, zero, block.sums)
            found = part if found is None else jax.tree.map(jnp.add, found, part)
        return found


def _pieces(whole: Any, n: int, size: int | None) -> Iterator[tuple[Any, int]]:
    """(rows, 1), or (rows with an axis of pieces in front, their number) and then the rows that are left."""
    if size is None or n < 2 * size:
        yield whole, 1
        return
    count = piece_count(n, size)
    each = n // count
    yield jax.tree.map(lambda leaf: leaf[: count * each].reshape(count, each, *leaf.shape[1:]), whole), count
    if count * each < n:
        yield jax.tree.map(lambda leaf: leaf[count * each :], whole), 1


def piece_count(n: int, size: int) -> int:
    """The least number of equal pieces of at most `size` rows that leave none over, or few where there is none such.

    An even number goes before others, so that it can be parted.
    """
    least = -(-n // size)
    even = [count for count in range(least, 2 * least) if n % count == 0]
    return next((count for count in even if count % 2 == 0), even[0] if even else n // size)


def _summed(of: Callable[[Any], Any], pieces: Any, count: int, zero: Any, sums: int) -> Any:
    """The sum over all pieces, in so many sums that do not wait for each other, or in one where they do not divide.

    Two cores take 0.65 to 0.75 of the time of one, which itself loses up to 4 %; with four sums small networks gain more
    and wide ones less. Their number does not go by the cores, so that these change no bits.
    """
    chains = sums if count % sums == 0 else 1

    def add(totals: Any, group: Any) -> tuple[Any, None]:
        parts = [of(jax.tree.map(lambda leaf, c=c: leaf[c], group)) for c in range(chains)]
        return [jax.tree.map(jnp.add, total, part) for total, part in zip(totals, parts, strict=True)], None

    groups = jax.tree.map(lambda leaf: leaf.reshape(count // chains, chains, *leaf.shape[1:]), pieces)
    totals = jax.lax.scan(add, [zero] * chains, groups)[0]
    return jax.tree.map(lambda *own: sum(own[1:], start=own[0]), *totals)
