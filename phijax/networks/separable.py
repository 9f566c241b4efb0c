"""A network that is a sum of products of functions of one input each."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phijax._calls import keyed
from phijax._options import whole
from phijax.series import Series

from .mlp import MLP
from .specification import NetworkFactory, NetworkSpec, check_sizes


class SumOfProducts(eqx.Module):
    """sum over r of body_1(x_1)[o, r] body_2(x_2)[o, r] ... for each output o; body i draws from `fold_in(key, i)`.

    bodies: a network (1,) -> (outputs x rank,) for each input.
    """

    bodies: tuple[Any, ...]
    outputs: int = eqx.field(static=True)
    rank: int = eqx.field(static=True)

    def __call__(self, x: Float[Array, " in"], *, key: PRNGKeyArray | None = None) -> Float[Array, " out"]:
        parts = [body(x[i : i + 1], **keyed(body, _own(key, i))) for i, body in enumerate(self.bodies)]
        return self._summed(functools.reduce(operator.mul, parts))

    def series(self, x: Series, *, key: PRNGKeyArray | None = None) -> Series:
        parts = [
            body.series(x.linear(lambda channel, i=i: channel[i : i + 1]), **keyed(body.series, _own(key, i)))
            for i, body in enumerate(self.bodies)
        ]
        return functools.reduce(operator.mul, parts).linear(self._summed)

    def _summed(self, products: Float[Array, " out_rank"]) -> Float[Array, " out"]:
        return jnp.sum(products.reshape(self.outputs, self.rank), axis=1)


def _own(key: PRNGKeyArray | None, position: int) -> PRNGKeyArray | None:
    return None if key is None else jax.random.fold_in(key, position)


@dataclass(frozen=True)
class Separable(NetworkSpec):
    """Sums of products of functions of one input each (Cho, Nam, Yang, Yun, Hong & Park 2023), at scattered points.

    For few coordinates: a product of many small factors is small. A periodic coordinate has two inputs, hence two bodies.
    body: the network of each input: a specification, or any function (key, in_size, out_size) -> network.
    rank: number of products that are summed for each output.
    """

    body: NetworkFactory = field(default_factory=lambda: MLP(width=32, depth=3))
    rank: int = 32

    def __post_init__(self) -> None:
        if not callable(self.body) or isinstance(self.body, type):
            raise ValueError(
                f"Separable: body={self.body!r} must be a specification such as MLP(), or a function "
                "(key, in_size, out_size) -> network."
            )
        object.__setattr__(self, "rank", whole("Separable", "rank", self.rank, least=1))

    def __call__(self, key: PRNGKeyArray, in_size: int, out_size: int) -> SumOfProducts:
        """Bodies from the keys of `split(key, in_size)`, in the order of the inputs."""
        in_size, out_size = check_sizes("Separable", in_size, out_size)
        keys = jax.random.split(key, in_size)
        return SumOfProducts(tuple(self.body(k, 1, out_size * self.rank) for k in keys), out_size, self.rank)
