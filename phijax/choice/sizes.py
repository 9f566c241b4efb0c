"""Sizes of equations before anything is trained, read off the declaration: what units the user writes in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import sympy

from phijax.formulation import Constraint, Problem, Term
from phijax.formulation.numeric import largest, sample_domain
from phijax.lowering.normalize import Jet, hide_jets, jet_of, normalize
from phijax.lowering.residual import is_complex
from phijax.symbolic import Normal, Observed, Parameter, Quadrature

POINTS = 256
THICKNESS_POINTS = 4096


def term_sizes(problem: Problem, scales: Mapping[str, float]) -> dict[str, float]:
    """{loss term: largest of its addends}, each field as large as its scale and as smooth as its region is wide.

    Terms of which that cannot be told are left out.
    """
    found = {}
    for constraint in problem.trained.values():
        points = sample_domain(constraint.region, POINTS)
        for name, term in zip(constraint.term_names, constraint.terms, strict=True):
            size = max(size for size, _ in _addends(problem, constraint, term, points, scales))
            if np.isfinite(size) and size > 0:
                found |= dict.fromkeys(_loss_terms(constraint, name, term), size)
    return found


def _loss_terms(constraint: Constraint, name: str, term: Term) -> Iterator[str]:
    """Names of the losses of a term: a complex one has two."""
    if not is_complex(normalize(term.residual)):
        yield name
        return
    joint = "/" if name == constraint.name else "_"
    yield from (f"{name}{joint}{part}" for part in ("real", "imag"))


def response(problem: Problem, scales: Mapping[str, float]) -> float | None:
    """What an error as large as the fields, that fits the conditions at the edge, leaves in the equation that shows it
    most: of -lap u the first eigenvalue of a box as thick as the shape. None where the domain is a box, or it can't be told.
    """
    thick = _thickness(problem)
    if thick is None:
        return None
    sizes = [0.0]
    for constraint in problem.trained.values():
        if constraint.region.dimension == len(constraint.region.coordinates):
            points = sample_domain(constraint.region, POINTS)
            for term in constraint.terms:
                addends = _addends(problem, constraint, term, points, scales, thick)
                sizes.append(sum(size for size, of_fields in addends if of_fields))
    return max(sizes) if np.isfinite(max(sizes)) else None


def _thickness(problem: Problem) -> float | None:
    """Of a shape, half its width at a place that is typical: mean distances to the edge that of a ball or cube add up to
    half its width. None for boxes."""
    found = []
    for factor in problem.domain.factors:
        if 1 < len(factor.coordinates) == factor.dimension:
            spread = sample_domain(factor, THICKNESS_POINTS)
            names: Any = {symbol.name: column for symbol, column in spread.items()}
            depths = -np.asarray(factor.signed_distance(names))
            inside = depths[depths > 0]
            found += [(factor.dimension + 1) * float(np.mean(inside))] if inside.size else []
    return min(found, default=None)


def _addends(
    problem: Problem,
    constraint: Constraint,
    term: Term,
    points: dict[sympy.Symbol, np.ndarray],
    scales: Mapping[str, float],
    thick: float | None = None,
) -> list[tuple[float, bool]]:
    """Size of each addend, and whether it holds a field; NaN for integrals. thick: bounds the lengths that derivatives
    divide by, and makes them those of the longest wave that vanishes at the edge."""
    hidden, jets = hide_jets(normalize(term.residual))
    if hidden.has(Quadrature):
        return [(float("nan"), False)]
    numbers: dict[sympy.Basic, float] = {}
    for node, stand_in in jets.items():
        jet = jet_of(node)
        assert jet is not None
        numbers[stand_in] = scales[jet.name] / _width(problem, jet, thick)
    for symbol in hidden.free_symbols | hidden.atoms(Normal, Observed):
        if isinstance(symbol, Parameter):
            numbers[symbol] = symbol.initial or symbol.scale
        elif isinstance(symbol, Normal):
            numbers[symbol] = 1.0
        elif isinstance(symbol, Observed):
            numbers[symbol] = float(np.max(np.abs(constraint.columns[symbol.column].values)))
    held, stand_ins = numbers | dict(constraint.region.fixed), set(jets.values())
    addends = sympy.Add.make_args(sympy.expand(hidden))
    return [(largest(addend.subs(held), points)[0], bool(addend.free_symbols & stand_ins)) for addend in addends]


def _width(problem: Problem, jet: Jet, thick: float | None) -> float:
    """The product of the lengths by which a derivative divides: half of what a coordinate spans, each as often as it is
    taken; with `thick`, 2/pi of no more than that."""
    field = problem.fields[jet.name]
    width = 1.0
    assert isinstance(jet.channel, tuple)  # derivatives are combined later
    for symbol, order in zip(field.coordinates, jet.channel, strict=True):
        low, high = problem.domain.bounds[symbol]
        half = (float(high) - float(low)) / 2
        width *= (half if thick is None else 2 / np.pi * min(half, thick)) ** order
    return width
