"""Environment: what the symbols of an expression stand for at one point, with the fields' derivatives there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp
import sympy
from jaxtyping import Array

from phijax.lowering.normalize import Jet
from phijax.series import Channel
from phijax.symbolic import Normal

# (stacked coordinates (d,), derivatives wanted) -> {channel: {field: scalar}}
FieldFunction = Callable[[Array, set[Channel]], Mapping[Channel, Mapping[str, Array]]]


class Environment:
    """Values by symbol at one point, and derivatives of fields, computed when first asked for and then kept.

    symbols: scalars by symbol. groups: {field name: (group name, function of the group's coordinates and the
    derivatives wanted)}. requests: {(group name, arguments): every derivative that the expression needs there}.
    """

    def __init__(
        self,
        symbols: Mapping[sympy.Symbol, Array],
        groups: Mapping[str, tuple[str, FieldFunction]],
        requests: Mapping[tuple[str, tuple[sympy.Expr, ...]], set[Channel]],
    ):
        self.symbols, self.groups, self.requests = symbols, groups, requests
        self._jets: dict[tuple[str, tuple[sympy.Expr, ...]], Mapping[Channel, Mapping[str, Array]]] = {}
        self.overrides: dict[Any, Array] = {}

    def bind(self, symbols: Mapping[sympy.Symbol, Array]) -> Environment:
        """The same environment with some symbols bound anew, as under an integral; derivatives are taken there."""
        return Environment({**self.symbols, **symbols}, self.groups, self.requests)

    def replace(self, leaves: Mapping[Any, Array]) -> Environment:
        """The same environment with other values for some symbols and derivatives."""
        other = Environment(self.symbols, self.groups, self.requests)
        other._jets, other.overrides = self._jets, {**self.overrides, **leaves}
        return other

    def symbol(self, symbol: sympy.Symbol) -> Array:
        """Value of a symbol."""
        return self.overrides[symbol] if symbol in self.overrides else self.symbols[symbol]

    def jet(self, jet: Jet, arguments: tuple[Callable[[Environment], Array], ...]) -> Array:
        """A derivative of a field at its arguments, given as emitted functions."""
        if jet in self.overrides:
            return self.overrides[jet]
        group, function = self.groups[jet.name]
        key = (group, jet.args)
        if key not in self._jets:
            at = jnp.stack([jnp.asarray(argument(self), self.dtype) for argument in arguments])
            self._jets[key] = function(at, self.requests[key])
        return self._jets[key][jet.channel][jet.name]

    @property
    def dtype(self) -> Any:
        """Floating type of the point."""
        return next((v.dtype for s, v in self.symbols.items() if not isinstance(s, Normal)), jnp.zeros(()).dtype)
