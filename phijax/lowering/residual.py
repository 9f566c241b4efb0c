"""Residual functions: the terms of a constraint, or any expression of the fields, at one point of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import sympy
from jaxtyping import Array, PRNGKeyArray

from phijax.formulation import Constraint
from phijax.lowering.combine import combine
from phijax.lowering.emit import emit
from phijax.lowering.environment import Environment
from phijax.lowering.faults import LoweringError
from phijax.lowering.layout import FieldModel, Layout
from phijax.lowering.normalize import hide_jets, normalize
from phijax.lowering.parameters import value_of
from phijax.series import Channels
from phijax.symbolic import Known, Normal, Observed


class Expressions:
    """Several expressions lowered together: every derivative that one of them needs is computed once a point.

    expressions: {label: sympy expression}. A complex one becomes two values, `label/real` and `label/imag`.
    Raises LoweringError, naming the label and the sub-expression, where something has no counterpart in JAX.
    """

    def __init__(self, layout: Layout, expressions: Mapping[str, sympy.Expr], split_complex: bool = True):
        self.layout = layout
        self._split = split_complex
        self._normalized: dict[str, sympy.Expr] = {}
        for label, expression in expressions.items():
            try:
                self._normalized[label] = normalize(expression)
                emit(self._normalized[label])
            except LoweringError as error:
                raise LoweringError(f"{label!r}: {error}" if label else str(error)) from None
        self._normalized, self.requests = combine(self._normalized, layout.group_of)
        self._emitted = {label: emit(expression) for label, expression in self._normalized.items()}
        self._symbols = set().union(*(e.free_symbols | _hidden_symbols(e) for e in self._normalized.values()), set())

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the values, in order."""
        return tuple(part for label in self._normalized for part in self._parts(label))

    def channels(self, group: str) -> int:
        """How many channels travel through the network of a group for one point."""
        function, count = self.layout.functions[group], 0
        for (owner, _), wanted in self.requests.items():
            if owner == group:
                parts = function.parted(wanted)
                count += len(Channels.of(function.through_network(parts.exact))) if parts.exact else 0
                count += sum((function.directions or 0) + 2 for _ in parts.combined)
        return count

    def _parts(self, label: str) -> tuple[str, ...]:
        if not (self._split and is_complex(self._normalized[label])):
            return (label,)
        return tuple(f"{label}_{part}" if label else part for part in ("real", "imag"))

    def pointwise(self, model: FieldModel, point: Any, key: PRNGKeyArray | None = None) -> dict[str, Array]:
        """{label: scalar} at one point, a row of `Points`."""
        env = Environment(self._bindings(model, point), self._groups(model, key), self.requests)
        out: dict[str, Array] = {}
        for label, emitted in self._emitted.items():
            value = emitted(env)
            if isinstance(value, bool | int | float):
                value = jnp.asarray(value, env.dtype)
            parts = self._parts(label)
            if len(parts) == 2:
                out[parts[0]], out[parts[1]] = jnp.real(value), jnp.imag(value)
            else:
                out[label] = value if not self._split else jnp.real(value)
        return out

    def _bindings(self, model: FieldModel, point: Any) -> dict[sympy.Symbol, Array]:
        coordinates = {s.name: s for s in self.layout.problem.domain.coordinates}
        bound = {coordinates[name]: value for name, value in point.coordinates.items() if name in coordinates}
        for symbol in self._symbols:
            if isinstance(symbol, Normal) and point.normals is not None:
                bound[symbol] = point.normals[symbol.coordinate.name]
            elif isinstance(symbol, Observed):
                bound[symbol] = point.values[symbol.column]
        for name, parameter in self.layout.problem.parameters.items():
            bound[parameter] = value_of(parameter, model.parameters[name])
        return bound

    def _groups(self, model: FieldModel, key: PRNGKeyArray | None) -> dict[str, tuple[str, Any]]:
        groups: dict[str, tuple[str, Any]] = {}
        for position, (name, function) in enumerate(self.layout.functions.items()):
            network = model.networks[name]
            own = None if key is None else jax.random.fold_in(key, position)

            def at(c: Array, wanted: set, function=function, network=network, own=own) -> Mapping:
                return function(network, c, wanted, own)

            for field in self.layout.groups[name].fields:
                groups[field.name] = (name, at)
        return groups


def _hidden_symbols(expression: sympy.Expr) -> set[sympy.Symbol]:
    return expression.atoms(Normal, Observed)


def is_complex(expression: sympy.Expr) -> bool:
    """Whether the value may have an imaginary part."""
    hidden, jets = hide_jets(expression)
    if hidden.is_extended_real:
        return False
    holds = expression.has(sympy.I) or any(not stand_in.is_real for stand_in in jets.values())
    return holds or any(not symbol.is_real for symbol in expression.atoms(Observed, Known))


def constraint_expressions(layout: Layout, constraint: Constraint) -> Expressions:
    """The terms of one constraint, lowered together."""
    try:
        return Expressions(layout, {term.label: term.residual for term in constraint.terms})
    except LoweringError as error:
        raise LoweringError(f"constraint {constraint.name!r}: {error}") from None
