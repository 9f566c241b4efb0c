"""Layout: how the fields of a problem are spread over networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import sympy
from jaxtyping import Array, PRNGKeyArray

from phijax.formulation import Ansatz, Problem, build_ansatz, value_scale
from phijax.geometry import Region
from phijax.lowering.embedding import Embedding
from phijax.lowering.group import Group, GroupFunction
from phijax.lowering.network_checks import check_network
from phijax.lowering.parameters import initial_raw, value_of
from phijax.symbolic import Field

NetworkFactory = Callable[[PRNGKeyArray, int, int], Any]


class FieldModel(eqx.Module):
    """What is trained: networks by group of fields, and unconstrained values of the parameters, each of shape ()."""

    networks: dict[str, Any]
    parameters: dict[str, Array]


class Layout:
    """The groups of a problem, each with a network of its own, and the initial model.

    networks: one factory `(key, inputs, outputs) -> callable` for every group, or a mapping of field names to
    factories; fields of one factory, coordinates and region share a network.
    scales: sizes of the networks' outputs by field, where a run has recorded them; read off the conditions by default.
    directions: random directions along which a stochastic step estimates larger second-order operators.
    Raises ValueError where a mapping names an unknown field or leaves one out, and for a network that does not give a
    number for each field.
    """

    def __init__(
        self,
        problem: Problem,
        networks: NetworkFactory | Mapping[str, NetworkFactory],
        scales: Mapping[str, float] | None = None,
        directions: int | None = None,
    ):
        self.problem = problem
        self.scales = (
            {name: value_scale(problem, f) for name, f in problem.fields.items()} if scales is None else dict(scales)
        )
        self._factories: dict[str, NetworkFactory] = {}
        self.groups = {group.name: group for group in self._grouped(problem, networks)}
        for name, group in self.groups.items():
            fields = [field.name for field in group.fields]
            check_network(fields, self._factories[name], group.input_size, group.output_size)
        self.functions = {name: GroupFunction(group, directions) for name, group in self.groups.items()}
        self.group_of = {field.name: name for name, group in self.groups.items() for field in group.fields}

    def initial(self, key: PRNGKeyArray) -> FieldModel:
        """The model before training; each network from a key of its own, in order of the groups."""
        keys = jax.random.split(key, max(len(self.groups), 1))
        networks = {
            name: self._factories[name](keys[i], group.input_size, group.output_size)
            for i, (name, group) in enumerate(self.groups.items())
        }
        return FieldModel(networks, {p.name: initial_raw(p) for p in self.problem.parameters.values()})

    def network_of(self, group: str) -> NetworkFactory:
        """What makes the network of a group."""
        return self._factories[group]

    def parameter_values(self, model: FieldModel) -> dict[str, Array]:
        """{parameter: its value, ()}."""
        return {name: value_of(p, model.parameters[name]) for name, p in self.problem.parameters.items()}

    def _grouped(self, problem: Problem, networks: NetworkFactory | Mapping[str, NetworkFactory]) -> list[Group]:
        together: dict[Any, list[Field]] = {}
        for name, field in problem.fields.items():
            factory = _factory_of(networks, name, problem)
            together.setdefault((field.coordinates, field.func.on, id(factory)), []).append(field)
        groups = []
        ansatz = build_ansatz(problem)
        for fields in together.values():
            name = ",".join(field.name for field in fields)
            self._factories[name] = _factory_of(networks, fields[0].name, problem)
            region = problem.region_of(fields[0])
            groups.append(
                Group(
                    name,
                    tuple(fields),
                    tuple(_embedding(symbol, region, problem.domain) for symbol in fields[0].coordinates),
                    {field.name: ansatz.get(field.name, Ansatz()) for field in fields},
                    {field.name: self.scales[field.name] for field in fields},
                )
            )
        return groups


def _embedding(symbol: sympy.Symbol, region: Region, domain: Region) -> Embedding:
    low, high = region.bounds.get(symbol) or domain.bounds[symbol]
    return Embedding(low, high, symbol in (region.periodic | domain.periodic))


def _factory_of(networks: Any, field: str, problem: Problem) -> NetworkFactory:
    if not isinstance(networks, Mapping):
        return networks
    unknown = [name for name in networks if name not in problem.fields]
    if unknown:
        raise ValueError(
            f"network={{...}} names {unknown[0]!r}, which is no field; fields: {', '.join(problem.fields)}."
        )
    if field not in networks:
        raise ValueError(
            f"network={{...}} has no network for the field {field!r}; name every field, or give one for all."
        )
    return networks[field]
