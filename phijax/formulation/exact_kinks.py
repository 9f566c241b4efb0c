"""Kinks of exact conditions: what is prescribed goes into the field as it is, and no network takes a kink out again.

Looked for are jumps of what is prescribed, and of its derivatives up to the order of the equations: across the seam of a
periodic coordinate, where a term such as |z| or a Piecewise switches, at the rows of a table, and at the center of a ball.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy

from phijax.formulation.breaks import SLACK, Break, Searched, find_break
from phijax.formulation.exact_conditions import Prescribed, collect
from phijax.formulation.faults import Fault
from phijax.formulation.numeric import largest, sample_domain
from phijax.formulation.patterns import orders
from phijax.symbolic import Known, Table

if TYPE_CHECKING:
    from phijax.formulation.problem import Problem

CURE = "no network takes it out again; leave out exact=True: a soft condition goes below the error that it leaves"
NAMES = {0: "value", 1: "slope", 2: "second derivative"}


@dataclass(frozen=True)
class _Given:
    """What a constraint puts into a field. orders: of the equations, by coordinate."""

    constraint: str
    field: str
    known: Searched
    periodic: frozenset[sympy.Symbol]
    orders: dict[sympy.Symbol, int]

    @property
    def seams(self) -> list[tuple[sympy.Symbol, tuple[float, float]]]:
        """Periodic coordinates on which it depends, with their ends."""
        return [(s, self.known.region.bounds[s]) for s in self.known.relevant if s in self.periodic]

    def gap(self, symbol: sympy.Symbol, order: int) -> tuple[float, dict[str, float]]:
        """By how much a derivative differs at the ends of a coordinate, zero for what is rounding, and where."""
        derivative, points = self.known.derivative(symbol, order), sample_domain(self.known.region, 64)
        low, high = self.known.region.bounds[symbol]
        gap, where = largest(derivative.subs(symbol, high) - derivative.subs(symbol, low), points)
        names = {s.name for s in self.known.relevant if s != symbol}
        where = {name: value for name, value in where.items() if name in names}
        return gap if gap > SLACK * self.known.size(derivative) else 0.0, where


def seam_faults(problem: Problem, prescribed: Mapping[str, Prescribed]) -> Iterator[Fault]:
    """Exact values that differ at the two ends of a periodic coordinate."""
    for given in _everything(problem, prescribed):
        for symbol, (low, high) in given.seams:
            gap, where = given.gap(symbol, 0)
            if gap:
                name, place = symbol.name, f" (as at {_shown(where)})" if where else ""
                yield Fault(
                    given.constraint,
                    f"as an exact condition on {given.field!r} it has values that differ by {gap:.3g} between "
                    f"{name} = {low:g} and {name} = {high:g}{place}, and {name} is periodic; prescribe what is periodic too.",
                )


def kink_warnings(problem: Problem) -> Iterator[Fault]:
    """Exact conditions that put a kink into their field, one warning for each."""
    told: set[tuple[str, str]] = set()
    for given in _everything(problem, collect(problem)[0]):
        found = None if (given.constraint, given.field) in told else _kink(given)
        if found:
            told.add((given.constraint, given.field))
            yield Fault(None, f"{given.constraint!r}, exact, puts a kink into {given.field!r}: {found}; {CURE}.")


def _everything(problem: Problem, prescribed: Mapping[str, Prescribed]) -> Iterator[_Given]:
    for name, given in prescribed.items():
        field = problem.fields[name]
        region = problem.region_of(field)
        order = {symbol: _order(problem, name, symbol) for symbol in field.coordinates}
        for constraint, expression, center in _expressions(given):
            known = Searched(sympy.sympify(expression), region, center)
            yield _Given(constraint, name, known, region.periodic | problem.domain.periodic, order)


def _expressions(given: Prescribed) -> Iterator[tuple[str, Any, dict[sympy.Symbol, float]]]:
    """(constraint, known expression, center of the ball that it is extended into)."""
    for constraint, value in given.values.values():
        yield constraint, value, {}
    for slope in given.slopes.values():
        yield from ((slope.constraint, expression, {}) for expression in (slope.value, slope.share))
    balls = [(ball, constraint, [value]) for ball, constraint, value in given.round]
    balls += [(ball, slope.constraint, [slope.value, slope.share]) for ball, slope in given.rims]
    for ball, constraint, expressions in balls:
        center = {s: float(c) for s, c in zip(ball.coordinates, ball.center, strict=True)}
        yield from ((constraint, expression, center) for expression in expressions)


def _order(problem: Problem, name: str, symbol: sympy.Symbol) -> int:
    terms = (term for constraint in problem.constraints.values() if not constraint.exact for term in constraint.terms)
    return max([1, *(orders(term.residual, symbol).get(name, 0) for term in terms)])


def _kink(given: _Given) -> str | None:
    if not given.known.relevant:
        return None
    found = _seam_kink(given) or _table_kink(given)
    if found:
        return found
    inside = find_break(given.known, given.orders)
    return _said(inside) if inside else None


def _seam_kink(given: _Given) -> str | None:
    for symbol, (low, high) in given.seams:
        for order in range(1, given.orders[symbol] + 1):
            gap, _ = given.gap(symbol, order)
            if gap:
                name = symbol.name
                return f"its {_named(order)} by {name} jumps by {gap:.3g} from {name} = {high:g} on to {name} = {low:g}"
    return None


def _table_kink(given: _Given) -> str | None:
    """Tables of one column are interpolated with a slope that is continuous, of several with values that are."""
    for node in sorted(given.known.expression.atoms(Known), key=str):
        if isinstance(node.func.source, Table):
            broken = 2 if len(node.args) == 1 else 1
            if any(node.has(s) and given.orders[s] >= broken for s in given.known.relevant):
                return f"the {_named(broken)} of the table {node.func.base_name!r} jumps at its rows"
    return None


def _said(found: Break) -> str:
    what = f"{_named(found.order)} by {found.symbol.name}" if found.order else "value"
    does = "grows without bound" if found.size == float("inf") else f"jumps by {found.size:.3g}"
    return f"its {what} {does} at {_shown({s.name: value for s, value in found.at.items()})}"


def _named(order: int) -> str:
    return NAMES.get(order, f"derivative of order {order}")


def _shown(where: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value if abs(value) > 1e-12 else 0:.3g}" for name, value in where.items())
