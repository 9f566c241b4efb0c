"""Periodic pairs, read: a field and its slopes agree at the two ends of a coordinate, or on two congruent sides."""

from __future__ import annotations

import sympy

from phijax._numbers import is_whole
from phijax.formulation.conditions import Periodic
from phijax.formulation.constraint import Constraint, Term
from phijax.formulation.faults import Fault, nearest
from phijax.geometry import Interval, Region, extend
from phijax.geometry.congruence import motion
from phijax.symbolic import Normal


def read_periodic(name: str, pair: Periodic, domain: Region) -> tuple[Constraint | None, list[Fault]]:
    """The constraint that a pair stands for, or what is wrong with it."""
    if isinstance(pair.coordinate, Region):
        return _read_sides(name, pair, domain)
    message = _why_not_periodic(pair, domain)
    if message:
        return None, [Fault(name, message)]
    interval = next(factor for factor in domain.factors if pair.coordinate in factor.coordinates)
    low, high = interval.lower, interval.upper  # type: ignore[attr-defined]
    terms = []
    for order in range(pair.order + 1):
        derivative = pair.field.diff(pair.coordinate, order)
        left, right = derivative.subs(pair.coordinate, low), derivative.subs(pair.coordinate, high)
        label = _label(pair) + f"_{pair.coordinate.name}" * (order > 0) + str(order) * (order > 1)
        terms.append(Term(label, sympy.Eq(left, right, evaluate=False), left - right))
    return Constraint(name, domain.at({pair.coordinate: low}), tuple(terms)), []


def _read_sides(name: str, pair: Periodic, domain: Region) -> tuple[Constraint | None, list[Fault]]:
    one, other = pair.coordinate, pair.other
    if not isinstance(other, Region):
        return None, [Fault(name, f"is periodic from {one} to {other!r}; give the other side, as a region.")]
    if not is_whole(pair.order, least=0) or pair.order > 1:
        return None, [
            Fault(name, f"order={pair.order!r} is not 0 or 1: on two sides values agree, and slopes across them.")
        ]
    region, faults = one, one.faults + other.faults
    if not faults:
        region = extend(one, domain)
        faults = region.faults
    if faults:
        return None, [Fault(name, fault) for fault in faults]
    try:
        there = motion(one, other)
    except ValueError as problem:
        return None, [Fault(name, f"{problem}.")]
    axes = list(there)
    away = lambda expression: sympy.Subs(expression, axes, [there[axis] for axis in axes])
    right = pair.field.subs(there, simultaneous=True)
    terms = [Term(_label(pair), sympy.Eq(pair.field, right, evaluate=False), pair.field - right)]
    if pair.order:
        normals = sympy.Matrix([Normal(axis) for axis in axes])
        turned = sympy.Matrix(there.turn) * normals
        slope = sum(n * pair.field.diff(axis) for n, axis in zip(normals, axes, strict=True))
        beyond = sum(n * away(pair.field.diff(axis)) for n, axis in zip(turned, axes, strict=True))
        terms.append(Term(f"{_label(pair)}_n", sympy.Eq(slope, beyond, evaluate=False), slope - beyond))
    return Constraint(name, region, tuple(terms)), []


def _label(pair: Periodic) -> str:
    return str(getattr(pair.field, "name", "value"))


def _why_not_periodic(pair: Periodic, domain: Region) -> str | None:
    symbol, order = pair.coordinate, pair.order
    name = getattr(symbol, "name", symbol)
    if symbol not in domain.coordinates:
        known = nearest(str(name), [known.name for known in domain.coordinates])
        return f"is periodic in {name!r}, which is no coordinate of the domain; {known}."
    if not isinstance(pair.field, sympy.Expr) or symbol not in pair.field.free_symbols:
        return f"{pair.field} does not depend on {name!r}, so it is periodic in it as it is; leave the constraint out."
    if not is_whole(order, least=0):
        return f"order={order!r} is not 0, 1, 2, ...: the highest derivative that agrees at both ends."
    factor = next(factor for factor in domain.factors if symbol in factor.coordinates)
    if not isinstance(factor, Interval):
        return (
            f"{name!r} runs over {factor}, which has no two ends to agree; for other shapes give two sides, as in "
            f"phi.periodic(u, one, other)."
        )
    if symbol in domain.periodic:
        return f"{name!r} is periodic in the domain already, by Interval(..., periodic=True); leave the constraint out."
    return None
