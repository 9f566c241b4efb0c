"""Sizes of equations before anything is trained, read off the declaration: what units the user writes in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import sympy

from phijax.formulation import Constraint, Problem, Term
from phijax.formulation.numeric import largest, sample_domain
from phijax.lowering.normalize import Jet, hide_jets, jet_of, normalize
from phijax.lowering.residual import is_complex
from phijax.symbolic import Normal, Observed, Parameter, Quadrature

POINTS = 256


def term_sizes(problem: Problem, scales: Mapping[str, float]) -> dict[str, float]:
    """{loss term: largest of its addends}, each field as large as its scale and as smooth as its region is wide.

    Terms of which that cannot be told are left out.
    """
    found = {}
    for constraint in problem.trained.values():
        points = sample_domain(constraint.region, POINTS)
        for name, term in zip(constraint.term_names, constraint.terms, strict=True):
            size = _size(problem, constraint, term, points, scales)
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


def _size(
    problem: Problem,
    constraint: Constraint,
    term: Term,
    points: dict[sympy.Symbol, np.ndarray],
    scales: Mapping[str, float],
) -> float:
    hidden, jets = hide_jets(normalize(term.residual))
    if hidden.has(Quadrature):
        return float("nan")
    numbers: dict[sympy.Basic, float] = {}
    for node, stand_in in jets.items():
        jet = jet_of(node)
        assert jet is not None
        numbers[stand_in] = scales[jet.name] / _width(problem, jet)
    for symbol in hidden.free_symbols | hidden.atoms(Normal, Observed):
        if isinstance(symbol, Parameter):
            numbers[symbol] = symbol.initial or symbol.scale
        elif isinstance(symbol, Normal):
            numbers[symbol] = 1.0
        elif isinstance(symbol, Observed):
            numbers[symbol] = float(np.max(np.abs(constraint.columns[symbol.column].values)))
    held = numbers | dict(constraint.region.fixed)
    addends = sympy.Add.make_args(sympy.expand(hidden))
    return max(largest(addend.subs(held), points)[0] for addend in addends)


def _width(problem: Problem, jet: Jet) -> float:
    """The product of the lengths by which a derivative divides: half of what a coordinate spans, each as often as it is
    taken."""
    field = problem.fields[jet.name]
    width = 1.0
    assert isinstance(jet.channel, tuple)  # derivatives are combined later
    for symbol, order in zip(field.coordinates, jet.channel, strict=True):
        low, high = problem.domain.bounds[symbol]
        width *= ((float(high) - float(low)) / 2) ** order
    return width
