"""Known functions in the networks' place: a solution put into the equations, with no training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from phijax.formulation import Problem, value_scale
from phijax.lowering.derivatives import channels_of
from phijax.lowering.emit import emit
from phijax.lowering.environment import Environment
from phijax.lowering.layout import FieldModel
from phijax.lowering.normalize import normalize
from phijax.lowering.parameters import initial_raw
from phijax.series import Channel
from phijax.symbolic import Field


class ExactLayout:
    """A layout whose fields are given expressions of their coordinates; it serves wherever a Layout does.

    fields: {field: expression} for every field of the problem; parameters: {parameter: value}, else the initial ones.
    Raises ValueError for a field without an expression.
    """

    def __init__(self, problem: Problem, values: Mapping[Any, Any]):
        self.problem = problem
        named = {getattr(key, "name", key): value for key, value in values.items()}
        missing = [name for name in problem.fields if name not in named]
        if missing:
            raise ValueError(f"no expression is given for the field {missing[0]!r}.")
        self.scales = {name: value_scale(problem, field) for name, field in problem.fields.items()}
        self.fields = {name: normalize(named[name]) for name in problem.fields}
        self.parameters = {p: named[name] for name, p in problem.parameters.items() if name in named}
        self.groups = {name: _OneField(field) for name, field in problem.fields.items()}
        self.group_of = {name: name for name in problem.fields}
        self.functions = {name: self._function(name, field) for name, field in problem.fields.items()}

    def model(self) -> FieldModel:
        """A model without networks."""
        raw = {}
        for name, parameter in self.problem.parameters.items():
            raw[name] = _raw(parameter, float(self.parameters.get(parameter, parameter.initial)))
        return FieldModel(dict.fromkeys(self.groups), raw)

    def _function(self, name: str, field: Field) -> Any:
        emitted = emit(self.fields[name])
        kind = complex if field.func.is_complex_field else float

        def values(c: Array) -> dict[str, Array]:
            value = emitted(Environment(dict(zip(field.coordinates, c, strict=True)), {}, {}))
            return {
                name: jnp.asarray(value, jnp.result_type(c, kind)) if kind is complex else jnp.asarray(value, c.dtype)
            }

        def at(network: Any, c: Array, wanted: set[Channel], key: Any = None) -> Mapping[Channel, dict[str, Array]]:
            return channels_of(values, c, wanted)

        return at


class _OneField:
    def __init__(self, field: Field):
        self.fields, self.coordinates = (field,), field.coordinates


def _raw(parameter: Any, value: float) -> Array:
    settings = (parameter.name, value, parameter.positive_only, parameter.bounds, parameter.scale)
    return initial_raw(type(parameter)(*settings))
