"""Least-squares system: the stacked residual vector of named blocks over a flat parameter vector, and its derivatives."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, UInt32

from phijax._devices import ONE_DEVICE, Devices, marked
from phijax.optimizers.fingerprint import fingerprint
from phijax.sampling.points import Points

Batch = Mapping[str, Any]
Weights = Mapping[str, Any]
Marks = Mapping[str, Any]  # which rows count, by block; None where all do
PIECE = 256  # points whose gradient is taken together: what a backward pass keeps of them stays in the cache
Pointwise = Callable[[Any, Any], Mapping[str, Array]]


class LeastSquaresSystem:
    """The residual vector r(theta) of a loss that is a weighted sum of mean squares: the loss is r . r.

    blocks: {name: pointwise(params, point) -> {term: scalar}}, `point` one row of `batch[name]`. A term is named
    `name/term`, or `name` where `term` is empty, and scaled by sqrt(weight / n), n its number of points, and by
    the square root of each point's weight where the points carry any.
    params: the pytree of arrays that theta flattens; it gives the structure, not a value.
    carried: arrays that the blocks read and that are not trained, where `params` has None.
    devices: among which the points are shared out.

    Every function is jitted once and takes (theta, batch, weights), weights {term: scalar}: new points, new weights and
    other carried arrays compile nothing. Rows are ordered by device, then block, then point, then term, and never depend
    on the weights; a row that fills up a device's share is zero.
    """

    def __init__(
        self, blocks: Mapping[str, Pointwise], params: Any, carried: Any = None, devices: Devices = ONE_DEVICE
    ):
        self.theta, self.unravel = ravel_pytree(params)
        self.devices, self._carried = devices, carried
        blocks, unravel = dict(blocks), self.unravel

        def jitted(method: Callable, jit: Callable = devices.jit) -> Callable:
            return jit(lambda carried, *given: method(_Rows(blocks, unravel, carried, devices), *given))

        self._residual, self._jacobian = jitted(_Rows.residual), jitted(_Rows.jacobian, devices.kept)
        self._curvature, self._losses_along = jitted(_Rows.curvature), jitted(_Rows.losses_along)
        self._value_and_gradient = jitted(_Rows.value_and_gradient)

    def carrying(self, carried: Any) -> LeastSquaresSystem:
        """The same system with other values of what is not trained."""
        other = copy.copy(self)
        other._carried = carried
        return other

    def residual(self, theta: Float[Array, " P"], batch: Batch, weights: Weights) -> Float[Array, " N"]:
        """r."""
        return self._residual(self._carried, theta, batch, weights)

    def jacobian(
        self, theta: Float[Array, " P"], batch: Batch, weights: Weights
    ) -> tuple[Float[Array, " N"], Float[Array, "N P"]]:
        """r and dr/dtheta, the latter where it was taken: by rows on the devices."""
        r, jacobian = self._jacobian(self._carried, theta, batch, weights)
        return self.devices.whole(r), jacobian

    def value_and_gradient(
        self, theta: Float[Array, " P"], batch: Batch, weights: Weights
    ) -> tuple[Float[Array, ""], Float[Array, " P"]]:
        """r . r and its gradient; memory does not grow with the points."""
        return self._value_and_gradient(self._carried, theta, batch, weights)

    def fingerprint(self, theta: Float[Array, " P"], batch: Batch, weights: Weights) -> UInt32[Array, ""]:
        """A number that stays while all that r depends on does."""
        return fingerprint((self._carried, theta, batch, weights))

    def curvature(
        self, theta: Float[Array, " P"], d: Float[Array, " P"], batch: Batch, weights: Weights
    ) -> Float[Array, " N"]:
        """r''[d, d], the second derivative of r along d."""
        return self._curvature(self._carried, theta, d, batch, weights)

    def losses_along(
        self,
        theta: Float[Array, " P"],
        d: Float[Array, " P"],
        a: Float[Array, " P"],
        steps: Float[Array, " S"],
        batch: Batch,
        weights: Weights,
    ) -> Float[Array, " S"]:
        """Losses at theta + eta d + eta^2 a / 2 for each eta of `steps`."""
        return self._losses_along(self._carried, theta, d, a, steps, batch, weights)


@dataclass(frozen=True)
class _Rows:
    """The functions of a system, before they are jitted."""

    blocks: Mapping[str, Pointwise]
    unravel: Callable[[Array], Any]
    carried: Any
    devices: Devices

    def _rows(self, name: str, theta: Float[Array, " P"], point: Any) -> dict[str, Array]:
        """Residuals of one point of one block, by the full name of their term."""
        params = self.unravel(theta)
        terms = self.blocks[name](params if self.carried is None else eqx.combine(params, self.carried), point)
        return {f"{name}/{term}" if term else name: value for term, value in terms.items()}

    def _terms(self, name: str, theta: Float[Array, " P"], entry: Any) -> list[str]:
        """Full names of a block's terms; nothing is computed."""
        point = jax.tree.map(lambda leaf: leaf[0], entry)
        names: list[str] = []
        jax.eval_shape(lambda theta, point: names.extend(self._rows(name, theta, point)), theta, point)
        return names

    def _scales(self, name: str, theta: Float[Array, " P"], entry: Any, weights: Weights) -> Float[Array, "n k"]:
        """Factors of a block's residuals: sqrt(term weight x point weight / n)."""
        n = jax.tree.leaves(entry)[0].shape[0]
        terms = self._terms(name, theta, entry)
        by_term = jnp.stack([jnp.asarray(_weight(weights, term), theta.dtype) for term in terms]) / n
        by_point = jnp.ones(n, theta.dtype)
        if isinstance(entry, Points) and entry.weights is not None:
            by_point = entry.weights.astype(theta.dtype)
        return jnp.sqrt(by_point[:, None] * by_term[None, :])

    def _given(self, theta: Float[Array, " P"], batch: Batch, weights: Weights) -> dict[str, tuple]:
        """The points of each block with their scales."""
        return {name: (batch[name], self._scales(name, theta, batch[name], weights)) for name in self.blocks}

    def _scaled(
        self, name: str, theta: Float[Array, " P"], point: Any, scale: Float[Array, " k"]
    ) -> Float[Array, " k"]:
        return scale * jnp.stack(list(self._rows(name, theta, point).values()))

    def _all_scaled(self, given: Mapping[str, tuple], marks: Marks, theta: Float[Array, " P"]) -> Float[Array, " N"]:
        """r of the points at hand."""

        def block(name: str, entry: Any, scales: Array) -> Array:
            one = lambda point, scale: self._scaled(name, theta, point, scale)
            return jax.vmap(one)(entry, marked(scales, marks[name])).ravel()

        return jnp.concatenate([block(name, *given[name]) for name in self.blocks])

    def residual(self, theta: Float[Array, " P"], batch: Batch, weights: Weights) -> Float[Array, " N"]:
        return self.devices.stacked(self._all_scaled, self._given(theta, batch, weights), theta)

    def jacobian(
        self, theta: Float[Array, " P"], batch: Batch, weights: Weights
    ) -> tuple[Float[Array, " N"], Float[Array, "N P"]]:
        # One vector-Jacobian product for each term of each point.
        def share(given: Mapping[str, tuple], marks: Marks, theta: Array) -> tuple[Array, Array]:
            def block(name: str, entry: Any, scales: Array) -> tuple[Array, Array]:
                # Scaled inside the differentiated function: a factor on the finished rows is another pass over memory.
                def one(point: Any, scale: Array) -> tuple[Array, Array]:
                    value, pullback = jax.vjp(lambda theta: self._scaled(name, theta, point, scale), theta)
                    basis = jnp.eye(value.shape[0], dtype=value.dtype)
                    return value, jnp.stack([pullback(row)[0] for row in basis])

                values, rows = jax.vmap(one)(entry, marked(scales, marks[name]))
                return values.ravel(), rows.reshape(-1, theta.shape[0])

            values, rows = zip(*(block(name, *given[name]) for name in self.blocks), strict=True)
            return jnp.concatenate(values), jnp.concatenate(rows)

        return self.devices.stacked(share, self._given(theta, batch, weights), theta)

    def value_and_gradient(
        self, theta: Float[Array, " P"], batch: Batch, weights: Weights
    ) -> tuple[Float[Array, ""], Float[Array, " P"]]:
        def share(given: Mapping[str, tuple], marks: Marks, theta: Array) -> tuple[Array, Array]:
            def block(name: str, entry: Any, scales: Array) -> tuple[Array, Array]:
                def loss(theta: Array, points: Any, scales: Array) -> Array:
                    rows = jax.vmap(lambda point, scale: self._scaled(name, theta, point, scale))(points, scales)
                    return jnp.sum(rows**2)

                piece = (entry, marked(scales, marks[name]))
                return _summed(lambda piece: jax.value_and_grad(loss)(theta, *piece), piece)

            parts = (block(name, *given[name]) for name in self.blocks)
            return jax.tree.map(lambda *parts: sum(parts[1:], start=parts[0]), *parts)

        return self.devices.summed(share, self._given(theta, batch, weights), theta)

    def curvature(
        self, theta: Float[Array, " P"], d: Float[Array, " P"], batch: Batch, weights: Weights
    ) -> Float[Array, " N"]:
        def share(given: Mapping[str, tuple], marks: Marks, theta: Array, d: Array) -> Array:
            def slope(at: Array) -> Array:
                return jax.jvp(lambda q: self._all_scaled(given, marks, q), (at,), (d,))[1]

            return jax.jvp(slope, (theta,), (d,))[1]

        return self.devices.stacked(share, self._given(theta, batch, weights), theta, d)

    def losses_along(
        self,
        theta: Float[Array, " P"],
        d: Float[Array, " P"],
        a: Float[Array, " P"],
        steps: Float[Array, " S"],
        batch: Batch,
        weights: Weights,
    ) -> Float[Array, " S"]:
        def share(given: Mapping[str, tuple], marks: Marks, theta: Array, d: Array, a: Array, steps: Array) -> Array:
            def loss(eta: Array) -> Array:
                return jnp.sum(self._all_scaled(given, marks, theta + eta * d + eta**2 / 2 * a) ** 2)

            return jax.lax.map(loss, steps)

        return self.devices.summed(share, self._given(theta, batch, weights), theta, d, a, steps)


def _summed(of: Callable[[Any], Any], rows: Any) -> Any:
    """The sum of `of` over pieces of PIECE rows, one after the other, and what is left."""
    n = jax.tree.leaves(rows)[0].shape[0]
    count = n // PIECE
    if count < 2:
        return of(rows)
    whole = count * PIECE
    pieces = jax.tree.map(lambda leaf: leaf[:whole].reshape(count, PIECE, *leaf.shape[1:]), rows)
    first = of(jax.tree.map(lambda leaf: leaf[0], pieces))

    def add(total: Any, piece: Any) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, total, of(piece)), None

    total = jax.lax.scan(add, first, jax.tree.map(lambda leaf: leaf[1:], pieces))[0]
    if whole == n:
        return total
    return jax.tree.map(jnp.add, total, of(jax.tree.map(lambda leaf: leaf[whole:], rows)))


def _weight(weights: Weights, term: str) -> Any:
    if term not in weights:
        raise ValueError(
            f"no weight for the loss term {term!r}; weights were given for {', '.join(weights) or 'none'}."
        )
    return weights[term]
