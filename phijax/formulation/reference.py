"""Reference: a known solution that a run is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from phijax._read_only import ReadOnly
from phijax.formulation.faults import Fault, nearest
from phijax.symbolic import as_expression

if TYPE_CHECKING:
    from phijax.formulation.problem import Problem


@dataclass(frozen=True)
class Reference:
    """A known solution.

    values: {field: expression}, {field: callable of coordinates by name}, and {parameter: number}, keyed by symbol or name.
    solver: in place of expressions, one callable of coordinate arrays by name that gives {field name: array}.
    error: its own relative L2 error, estimated. source: where it comes from.
    """

    values: Mapping[Any, Any] = field(default_factory=dict)
    solver: Callable[..., Mapping[str, np.ndarray]] | None = None
    error: float = 0.0
    source: str = "closed form"

    def __post_init__(self):
        named = {_name(key): value for key, value in self.values.items()}
        object.__setattr__(self, "values", ReadOnly(named))

    def parameter(self, name: str) -> float | None:
        """True value of a parameter, None where it is unknown."""
        value = self.values.get(name)
        return None if value is None else float(value)

    def __call__(self, fields: Mapping[str, tuple[sympy.Symbol, ...]], coordinates: Mapping[str, np.ndarray]) -> dict:
        """{field: values at the coordinates, (n,)}, for those of `fields` (name: its coordinates) that are known."""
        solved = self.solver(**coordinates) if self.solver is not None else {}
        out = {}
        for name, symbols in fields.items():
            if name in solved:
                out[name] = np.asarray(solved[name])
            elif name in self.values:
                out[name] = _evaluate(self.values[name], symbols, coordinates)
        return out

    def expression(self, name: str) -> sympy.Expr | None:
        """The closed form of a field, None where it has none."""
        value = self.values.get(name)
        return value if isinstance(value, sympy.Basic) else None


def reference_faults(problem: Problem) -> list[Fault]:
    """What cannot be compared with: no reference at all, a name that the problem has not, a value that is none."""
    reference, known = problem.reference, {**problem.fields, **problem.parameters}
    if not isinstance(reference, Reference):
        return [
            Fault(
                None, f"reference={reference!r} is no solution; give {{u: expression}}, or phi.Reference(solver=...)."
            )
        ]
    if reference.solver is not None and not callable(reference.solver):
        return [Fault(None, f"the reference's solver {reference.solver!r} cannot be called with coordinates by name.")]
    faults = []
    for name, value in reference.values.items():
        if name not in known:
            faults.append(
                Fault(None, f"the reference names {name!r}, which is no field or parameter; {nearest(name, known)}.")
            )
        elif not (callable(value) and not isinstance(value, sympy.Basic)):
            faults += _value_faults(name, value, getattr(known[name], "coordinates", ()))
    return faults


def _value_faults(name: str, value: Any, coordinates: tuple[sympy.Symbol, ...]) -> list[Fault]:
    try:
        free = as_expression(value).free_symbols - set(coordinates)
    except TypeError:
        return [Fault(None, f"the reference's value {value!r} of {name!r} is no number, expression or callable.")]
    if free:
        strange = min(symbol.name for symbol in free)  # type: ignore[attr-defined]
        known = nearest(strange, [symbol.name for symbol in coordinates])
        return [
            Fault(None, f"the reference's value of {name!r} depends on {strange!r}, and {name!r} does not; {known}.")
        ]
    return []


def _name(key: Any) -> str:
    return key if isinstance(key, str) else getattr(key, "name", str(key))


def _evaluate(value: Any, symbols: tuple[sympy.Symbol, ...], coordinates: Mapping[str, np.ndarray]) -> np.ndarray:
    shape = np.broadcast_shapes(*(np.shape(v) for v in coordinates.values()))
    if callable(value) and not isinstance(value, sympy.Basic):
        return np.broadcast_to(np.asarray(value(**{s.name: coordinates[s.name] for s in symbols})), shape)
    expression = as_expression(value)
    free = sorted(expression.free_symbols, key=lambda s: s.name)
    numeric = sympy.lambdify(free, expression, modules=["numpy", "scipy"])
    return np.broadcast_to(np.asarray(numeric(*(coordinates[s.name] for s in free))), shape)
