"""Corners of a plane domain at which what is given cannot all hold, so that no solution has bounded derivatives there."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import sympy

from phijax.formulation.boundary_checks import boundary_values
from phijax.formulation.numeric import values
from phijax.geometry import Region
from phijax.geometry.meeting import meeting_points
from phijax.symbolic import Field, kind_of

if TYPE_CHECKING:
    from phijax.formulation.problem import Problem

Corner = tuple[tuple[str, float], ...]  # coordinates by name
Place = dict[sympy.Symbol, float]
Given = dict[Field, sympy.Expr]
_SAME = 1e-6  # of sizes
_MOST_PIECES = 64  # more are a curve in small parts, whose pairs would take longer than they are worth


@functools.lru_cache(maxsize=16)
def contradicting_corners(problem: Problem) -> tuple[Corner, ...]:
    """Where two pieces of the boundary meet and give a field two values; or, on sides along the coordinates, values whose
    slopes break an equation of first order, as divergence is broken at the ends of a lid that slows down towards them.

    Empty for domains that are not of two coordinates of space.
    """
    symbols = problem.domain.coordinates
    if len(symbols) != 2 or any(kind_of(symbol) != "space" for symbol in symbols):
        return ()
    sides = _given_by_piece(problem)
    found: dict[tuple[float, ...], Corner] = {}
    for (one, given), (other, other_given) in combinations(sides if len(sides) <= _MOST_PIECES else (), 2):
        pairs = [(given[field], other_given[field]) for field in given.keys() & other_given.keys()]
        for place in _corners(one, other) if pairs else ():
            clashes = any(_differ(pair, place) for pair in pairs)
            if clashes or _breaks_an_equation(problem, (one, other), (given, other_given), place):
                corner = tuple((symbol.name, float(place[symbol])) for symbol in symbols)
                found.setdefault(tuple(round(value, 6) for _, value in corner), corner)
    return tuple(found.values())


def _given_by_piece(problem: Problem) -> list[tuple[Region, Given]]:
    """The pieces of the boundary with the fields that are given there, and their values."""
    found: dict[Region, Given] = {}
    for _, piece, field, value in boundary_values(problem):
        if piece.dimension == 1 and value.free_symbols <= set(problem.domain.coordinates):
            found.setdefault(piece, {})[field] = value
    return list(found.items())


def _corners(one: Region, other: Region) -> Iterator[Place]:
    """Where two pieces meet, each place once; none where they run along each other."""
    if len(one.fixed) == len(other.fixed) == 1:
        place = {symbol: float(value) for region in (one, other) for symbol, value in region.fixed.items()}
        if len(place) == 2 and all(_reaches(region, place) for region in (one, other)):
            yield place
        return
    points = meeting_points(one, other)
    rows = np.unique(np.round(np.stack([points[name] for name in one.names], axis=1), 6), axis=0)
    if len(rows) <= 2:  # two curves that cross; more are a stretch of both
        yield from (dict(zip(one.coordinates, map(float, row), strict=True)) for row in rows)


def _reaches(region: Region, place: Place) -> bool:
    bounds = region.bounds
    room = _SAME * max(high - low for low, high in bounds.values())
    return all(low - room <= place[symbol] <= high + room for symbol, (low, high) in bounds.items())


def _differ(pair: tuple[sympy.Expr, sympy.Expr], place: Place) -> bool:
    if pair[0] == pair[1]:
        return False
    one, other = (_number(value, place) for value in pair)
    return abs(one - other) > _SAME * (1 + abs(one))


def _breaks_an_equation(
    problem: Problem, pieces: tuple[Region, Region], given: tuple[Given, Given], place: Place
) -> bool:
    """Whether slopes along two sides, which are all of the slopes at their corner, leave an equation of theirs unequal."""
    if any(len(piece.fixed) != 1 for piece in pieces):
        return False
    known: dict[sympy.Basic, sympy.Expr] = {}
    for field in given[0].keys() & given[1].keys():
        known[field] = given[0][field]
        for piece, own in zip(pieces, given, strict=True):
            (along,) = set(piece.coordinates) - set(piece.fixed)
            known[sympy.Derivative(field, along)] = own[field].diff(along)
    numbers = {node: sympy.Float(_number(expression, place)) for node, expression in known.items()}
    terms = [term for c in problem.constraints.values() if c.on_domain and c.kind == "equation" for term in c.terms]
    return any(_left_over(term.residual, numbers, place) for term in terms)


def _left_over(residual: sympy.Expr, numbers: Mapping[sympy.Basic, sympy.Expr], place: Place) -> bool:
    """Whether the equation says something of known numbers alone, and that is wrong."""
    slopes = residual.atoms(sympy.Derivative)
    if not slopes or not slopes <= numbers.keys():
        return False
    addends = [addend.xreplace(dict(numbers)) for addend in sympy.Add.make_args(residual)]
    if any(addend.has(Field) or addend.free_symbols - place.keys() for addend in addends):
        return False
    each = np.array([_number(addend, place) for addend in addends])
    return bool(abs(each.sum()) > _SAME * (1 + abs(each).sum()))


def _number(expression: sympy.Expr, place: Place) -> float:
    """The expression at a place; NaN, which differs from nothing, where it has no number."""
    at = expression.xreplace({symbol: sympy.Float(value) for symbol, value in place.items()})
    if at.is_number and at.is_real and at.is_finite:
        return float(at)
    return float(values(expression, {symbol: np.array([value]) for symbol, value in place.items()})[0].real)
