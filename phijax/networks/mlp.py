"""The plain multilayer perceptron."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
from jaxtyping import PRNGKeyArray

from phijax._options import real, whole

from .activations import activation
from .layers import Dropout, Elementwise, Sequential, linear
from .specification import NetworkSpec, check_factorized, check_sizes

_DEPTH = 4


@dataclass(frozen=True)
class MLP(NetworkSpec):
    """A multilayer perceptron; depth 0 is one linear map.

    width: units of each hidden layer, or one number a layer.
    depth: number of hidden layers, 4 unless said; with a width a layer it follows from them.
    activation: name of the function after each hidden layer, one of `ACTIVATIONS`.
    dropout: probability with which a hidden unit is left out where the network is called with a key.
    factorized: random weight factorization: True, or the mean and the deviation of the logarithms of the units' scales.
    """

    width: int | tuple[int, ...] = 64
    depth: int | None = None
    activation: str = "tanh"
    dropout: float = 0.0
    factorized: bool | tuple[float, float] | None = None

    def __post_init__(self) -> None:
        width, depth = _widths(self.width, self.depth)
        activation(self.activation, "MLP")
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "depth", depth)
        dropout = real("MLP", "dropout", self.dropout, "from 0 to below 1", lambda rate: 0.0 <= rate < 1.0)
        object.__setattr__(self, "dropout", dropout)
        object.__setattr__(self, "factorized", check_factorized("MLP", self.factorized))

    def __call__(self, key: PRNGKeyArray, in_size: int, out_size: int) -> Sequential:
        """Layers from the keys of `split(key, depth + 1)`, first to last."""
        in_size, out_size = check_sizes("MLP", in_size, out_size)
        hidden = self.width if isinstance(self.width, tuple) else (self.width,) * (self.depth or 0)
        sizes = (in_size, *hidden)
        *keys, last = jax.random.split(key, len(sizes))
        law = activation(self.activation).weights
        layers: list[eqx.Module] = []
        for k, before, after in zip(keys, sizes[:-1], sizes[1:], strict=True):
            layers += [linear(k, before, after, law, self.factorized), Elementwise(self.activation)]
            layers += [Dropout(self.dropout)] if self.dropout > 0 else []
        return Sequential((*layers, linear(last, sizes[-1], out_size, factorized=self.factorized)))


def _widths(width: Any, depth: Any) -> tuple[int | tuple[int, ...], int]:
    if not isinstance(width, Sequence) or isinstance(width, str):
        return whole("MLP", "width", width, least=1), _DEPTH if depth is None else whole("MLP", "depth", depth, least=0)
    widths = tuple(whole("MLP", "width of a layer", units, least=1) for units in width)
    if depth is not None and depth != len(widths):
        raise ValueError(
            f"MLP: width={widths} has {len(widths)} hidden layers and depth={depth!r} says otherwise; leave depth out."
        )
    return widths, len(widths)
