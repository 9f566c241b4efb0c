"""Module: what `Trainer.fit` trains, a model factory with a named objective. Holds no trained state."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from phijax._devices import ONE_DEVICE, Devices
from phijax.sampling.points import Points

Model = Any  # an equinox module, or any pytree
Losses = dict[str, Array]
Residuals = dict[str, Array]


@dataclass(frozen=True)
class Block:
    """The residuals of one constraint, all taken on the batch of one sampler.

    pointwise: (model, point, key) -> {term: scalar}, where `point` is one row of the batch entry; key may be None.
    rows_at_once: on how many rows forward and backward pass are taken together; None for all.
    sums: in how many sums, on which cores work side by side, the pieces are added up.
    devices: among which the rows of a batch are shared out.
    """

    pointwise: Callable[[Model, Any, PRNGKeyArray | None], Residuals]
    rows_at_once: int | None = None
    sums: int = 2
    devices: Devices = ONE_DEVICE

    def __call__(self, model: Model, batch: Any, key: PRNGKeyArray | None = None) -> Residuals:
        """{term: (n,)} over the n rows of `batch`; each row has a key of its own."""
        return self._rows(self.devices, model, batch, None if key is None else jax.random.split(key, rows(batch)))

    def rows(self, model: Model, batch: Any, keys: PRNGKeyArray | None) -> Residuals:
        """The same with a key a row, (n,), on the device at hand."""
        return self._rows(ONE_DEVICE, model, batch, keys)

    def _rows(self, devices: Devices, model: Model, batch: Any, keys: PRNGKeyArray | None) -> Residuals:
        order: list[str] = []

        def columns(rows: tuple, model: Model) -> tuple[Array, ...]:
            def row(point: Any, own: PRNGKeyArray | None) -> tuple[Array, ...]:
                found = self.pointwise(model, point, own)
                order[:] = found  # vmap would give a mapping back in alphabetical order
                return tuple(found.values())

            return jax.vmap(row, in_axes=(0, None if keys is None else 0))(*rows)

        return dict(zip(order, devices.each(columns, (batch, keys), model), strict=True))


def rows(batch: Any) -> int:
    """Number of rows of a batch entry."""
    return jax.tree.leaves(batch)[0].shape[0]


def batched_block(function: Callable) -> Block:
    """A block from a function of a whole batch, `function(model, batch[, key]) -> (n,) or {term: (n,)}`.

    Row i of its result must depend on row i of the batch alone; per-sample gradients are taken row by row.
    """
    takes_key = "key" in inspect.signature(function).parameters

    def pointwise(model: Model, point: Any, key: PRNGKeyArray | None) -> Residuals:
        one = jax.tree.map(lambda leaf: leaf[None], point)
        result = function(model, one, key=key) if takes_key else function(model, one)
        named = result if isinstance(result, Mapping) else {"": result}
        return {term: jnp.reshape(value, ()) for term, value in named.items()}

    return Block(pointwise)


@dataclass(frozen=True)
class Objective:
    """Named blocks in declaration order. Terms are named `constraint` or `constraint/term`."""

    blocks: Mapping[str, Block]

    @classmethod
    def from_functions(cls, functions: Mapping[str, Callable]) -> Objective:
        """An objective written by hand: {name: function(model, batch[, key])}, no DSL needed."""
        return cls({name: batched_block(function) for name, function in functions.items()})

    def on(self, devices: Devices) -> Objective:
        """The same, its batches shared out among devices."""
        return Objective({name: replace(block, devices=devices) for name, block in self.blocks.items()})

    @property
    def batch_keys(self) -> tuple[str, ...]:
        """Names of the batches that the objective reads, in declaration order."""
        return tuple(self.blocks)

    def residuals(self, model: Model, batch: Mapping[str, Any], key: PRNGKeyArray | None = None) -> Residuals:
        """{term: (n,)}; a stochastic model draws from `key`, a block from `fold_in(key, position)`."""
        out: Residuals = {}
        for name in self.blocks:
            for term, value in self.block_residuals(name, model, batch[name], key).items():
                out[full_name(name, term)] = value
        return out

    def block_residuals(self, name: str, model: Model, points: Any, key: PRNGKeyArray | None = None) -> Residuals:
        """{term: (n,)} of one block, from the same key as those of all."""
        key = None if key is None else jax.random.fold_in(key, tuple(self.blocks).index(name))
        return self.blocks[name](model, points, key)

    def losses(self, model: Model, batch: Mapping[str, Any], key: PRNGKeyArray | None = None) -> Losses:
        """{term: mean over its points of weight x residual^2}."""
        residuals = self.residuals(model, batch, key)
        return {term: jnp.mean(squares(value, batch[self.sampler_of(term)])) for term, value in residuals.items()}

    def sampler_of(self, term: str) -> str:
        """The batch on which `term` is taken."""
        return next(name for name in self.blocks if term == name or term.startswith(f"{name}/"))

    def terms(self, model: Model, batch: Mapping[str, Any]) -> tuple[str, ...]:
        """Names of the loss terms, in declaration order; nothing is computed."""
        order: list[str] = []

        def trace(model: Model, batch: Mapping[str, Any]) -> None:
            order.extend(self.residuals(model, batch))

        eqx.filter_eval_shape(trace, model, batch)
        return tuple(order)


def full_name(constraint: str, term: str) -> str:
    """`constraint/term`, or `constraint` where the term has no name of its own."""
    return f"{constraint}/{term}" if term else constraint


def squares(residual: Array, batch: Any) -> Array:
    """The squared residual, with the points' weights where they carry any."""
    square = residual**2
    return batch.weights * square if isinstance(batch, Points) and batch.weights is not None else square


class Weighting(Protocol):
    """Weights of points that depend on the model: the batch with them, constant under differentiation."""

    def __call__(
        self, objective: Objective, model: Model, batch: Mapping[str, Any], key: PRNGKeyArray | None
    ) -> Mapping[str, Any]: ...


def _no_unknowns(model: Model) -> dict[str, Array]:
    return {}


class Course(Protocol):
    """A run in parts: each goes through all of the optimizer's stages, on a model that the part before it leaves."""

    def next(self, model: Model, loss: float, key: PRNGKeyArray) -> tuple[Model | None, str]:
        """The model of the part to come, None where the run is over; and a sentence. loss: on new points."""
        ...

    def whereabouts(self, model: Model) -> str:
        """Such as "in slab 3 of 8"."""
        ...


@dataclass(frozen=True)
class Module:
    """A model factory, called once with the key of the model stream, and the objective it is trained on.

    precision: what the objective was compiled for; None leaves it to the Trainer.
    unknowns: model -> {name: scalar}, unknown parameters of the problem that are logged by name.
    course: how a run in parts goes on; None for a run that is one whole.
    weighting: weights of points, anew at every step; None for those that the points carry.
    fingerprint: of the problem that the objective stands for, which checkpoints keep; None where it is written by hand.
    settings: what the model's values depend on beside its arrays, which checkpoints keep; None where that is unknown.
    """

    factory: Callable[[PRNGKeyArray], Model]
    objective: Objective
    precision: str | None = None
    unknowns: Callable[[Model], Mapping[str, Array]] = _no_unknowns
    course: Course | None = None
    weighting: Weighting | None = None
    fingerprint: str | None = None
    settings: Mapping[str, Any] | None = None
