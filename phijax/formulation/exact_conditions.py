"""Reads exact conditions: what they prescribe for each field on whole sides of the domain, and on whole spheres."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import sympy

from phijax.formulation.constraint import Constraint, Term
from phijax.formulation.faults import Fault
from phijax.formulation.numeric import sample_domain, values
from phijax.formulation.patterns import FirstOrder, first_order_condition, value_condition
from phijax.geometry import Ball, Region, Sphere
from phijax.geometry.selection import Selection
from phijax.geometry.trimmed import Flipped
from phijax.symbolic import Normal, Parameter, kind_of, normal, text

if TYPE_CHECKING:
    from phijax.formulation.problem import Problem

Bounds = Mapping[sympy.Symbol, tuple[float, float]]
Points = dict[sympy.Symbol, np.ndarray]
Side = tuple[sympy.Symbol, sympy.Expr]
ALL_THAT_CAN_BE_BUILT = "only values, slopes across a side, and sums of both can be built in"


@dataclass(frozen=True)
class Slope:
    """slope + share x u = value; the slope by the side's coordinate, or along the outward normal of a sphere."""

    constraint: str
    value: sympy.Expr
    share: sympy.Expr = sympy.S.Zero


@dataclass
class Prescribed:
    """What exact conditions prescribe for one field, by side, and by ball on its surface. Values: (constraint, value)."""

    values: dict[Side, tuple[str, sympy.Expr]] = field(default_factory=dict)
    slopes: dict[Side, Slope] = field(default_factory=dict)
    round: list[tuple[Ball, str, sympy.Expr]] = field(default_factory=list)
    rims: list[tuple[Ball, Slope]] = field(default_factory=list)
    holes: set[Ball] = field(default_factory=set)  # those of the balls that are cut out of the domain

    @property
    def constraints(self) -> set[str]:
        """Names of the constraints that prescribe anything."""
        slopes = [*self.slopes.values(), *(slope for _, slope in self.rims)]
        named = {name for name, _ in self.values.values()} | {name for _, name, _ in self.round}
        return named | {slope.constraint for slope in slopes}

    def settled(self) -> Prescribed:
        """The same where a side's value, if it is known too, has been taken out of the slope beside it."""
        slopes = {
            side: Slope(slope.constraint, slope.value - slope.share * self.values[side][1])
            if side in self.values
            else slope
            for side, slope in self.slopes.items()
        }
        return Prescribed(self.values, slopes, self.round, self.rims, self.holes)


def collect(problem: Problem, faulty: Collection[str] = ()) -> tuple[dict[str, Prescribed], list[Fault]]:
    """{field: what is prescribed}, and what cannot be built in. faulty: constraints that are left out."""
    found: dict[str, Prescribed] = {}
    faults: list[Fault] = []
    for constraint in problem.constraints.values():
        for term in constraint.terms if constraint.exact and constraint.name not in faulty else ():
            message = _place(problem, constraint, term, found)
            if message:
                reason = f"{text(term.written)} cannot be made exact: {message}; leave out exact=True."
                faults.append(Fault(constraint.name, reason))
    faults += [fault for given in found.values() if given.holes for fault in _beside_holes(given)]
    return {name: given.settled() for name, given in found.items()}, faults


def _beside_holes(given: Prescribed) -> list[Fault]:
    """Slopes in space, which cannot be built in beside values on a hole."""
    slopes = [slope for (symbol, _), slope in given.slopes.items() if kind_of(symbol) != "time"]
    slopes += [slope for _, slope in given.rims]
    reason = "a slope cannot be made exact beside a value on a hole; leave out exact=True for one of them."
    return [Fault(slope.constraint, reason) for slope in slopes]


def bounds_of(problem: Problem, name: str) -> Bounds:
    """Bounds of the part of the domain on which a field lives, by coordinate in the domain's order."""
    own = problem.region_of(problem.fields[name]).bounds
    return {symbol: own.get(symbol, ends) for symbol, ends in problem.domain.bounds.items()}


def on_side(points: Points, side: Side) -> Points:
    """The points, moved to a side."""
    symbol, bound = side
    return {s: np.full_like(column, float(bound)) if s == symbol else column for s, column in points.items()}


def on_sphere(ball: Ball, points: Points) -> Points:
    """The points, those at the center left out, moved along the ball's radii to its surface."""
    offsets = {s: points[s] - float(c) for s, c in zip(ball.coordinates, ball.center, strict=True)}
    distance = np.sqrt(sum(offset**2 for offset in offsets.values()))
    kept = distance > 0
    factor = float(ball.radius) / distance[kept]
    moved = {s: points[s][kept] + (factor - 1) * offsets[s][kept] for s in offsets}
    return {s: moved[s] if s in moved else column[kept] for s, column in points.items()}


def outward(ball: Ball) -> dict[sympy.Symbol, sympy.Expr]:
    """The outward normal of a sphere by coordinate, as expressions that are smooth inside too."""
    return {s: (s - c) / ball.radius for s, c in zip(ball.coordinates, ball.center, strict=True)}


def _place(problem: Problem, constraint: Constraint, term: Term, found: dict[str, Prescribed]) -> str | None:
    """Notes what the term prescribes; a reason where it prescribes nothing that can be built."""
    if constraint.on_domain or constraint.kind != "equation":
        return "it holds on no part of a boundary"
    value = value_condition(term)
    condition = FirstOrder(value[0], sympy.S.One, {}, value[1]) if value else first_order_condition(term)
    if condition is None:
        unknown = sorted(parameter.name for parameter in term.residual.atoms(Parameter))
        if unknown:
            return f"it holds the unknown {unknown[0]!r}, and only what is known beforehand can be built in"
        return ALL_THAT_CAN_BE_BUILT
    message = _foreign(condition)
    if message:
        return message
    placing = _Placing(problem, constraint.name, condition, found.setdefault(condition.field.name, Prescribed()))
    return next(filter(None, (placing.on(piece) for _, piece in constraint.region.pieces)), None)


def _foreign(condition: FirstOrder) -> str | None:
    coefficients = [condition.known, condition.share, *condition.slopes.values()]
    symbols = {symbol for coefficient in coefficients for symbol in coefficient.free_symbols}
    known = set(condition.field.coordinates)
    foreign = sorted(s.name for s in symbols if not isinstance(s, Normal) and s not in known)
    return f"the value depends on {foreign[0]!r}, and {condition.field} does not" if foreign else None


@dataclass(frozen=True)
class _Placing:
    """One condition on the way into what its field has prescribed."""

    problem: Problem
    name: str
    condition: FirstOrder
    given: Prescribed

    def on(self, piece: Region) -> str | None:
        """Notes it on one piece of a boundary; a reason where that cannot be."""
        sides = {symbol: bound for symbol, bound in piece.fixed.items() if symbol in self.condition.field.coordinates}
        ball, hole = _whole_ball(self.problem.domain, piece)
        if ball is not None:
            return self._on_sphere(ball, hole)
        if len(sides) == 1:
            (side,) = sides.items()
            own = self.problem.region_of(self.condition.field)
            if side[0] in own.periodic | self.problem.domain.periodic:
                return f"{side[0].name!r} is periodic, so that {piece} is no side"
            if _covers(bounds_of(self.problem, self.condition.field.name), piece, side):
                return self._on_side(side, piece)
        return f"{piece} is no whole side of the domain"

    def _on_side(self, side: Side, piece: Region) -> str | None:
        symbol, bound = side
        signs = piece.constant_normal
        normals = {n: signs.get(n.coordinate, 0) for n in _normals(self.condition)}
        here = self.condition.map(lambda e: sympy.sympify(e.xreplace(normals)).subs(symbol, bound))
        along = sorted(s.name for s, slope in here.slopes.items() if s != symbol and not _vanishes(slope))
        if along:
            return f"it holds the derivative by {along[0]!r}, which is along the side and not across it"
        across = here.slopes.get(symbol, sympy.S.Zero)
        points = on_side(sample_domain(self.problem.domain, 64), side)
        if _vanishes(across):
            if side in self.given.values:
                return f"{self.given.values[side][0]!r} already prescribes {here.field.name} there"
            self.given.values[side] = (self.name, here.known / here.share)
            return _zero("u itself", here.share, points)
        if side in self.given.slopes:
            return f"{self.given.slopes[side].constraint!r} already prescribes the slope of {here.field.name} there"
        self.given.slopes[side] = Slope(self.name, here.known / across, here.share / across)
        return _zero("the slope", across, points)

    def _on_sphere(self, ball: Ball, hole: bool) -> str | None:
        flat = {n: sympy.S.Zero for n in _normals(self.condition) if n.coordinate not in ball.coordinates}
        here, name = self.condition.map(lambda e: e.xreplace(flat)), self.condition.field.name
        others = [(b, c) for b, c, _ in self.given.round] + [(b, s.constraint) for b, s in self.given.rims]
        taken = [constraint for other, constraint in others if other == ball]
        along = _along_normal(here, ball)
        if taken:
            return f"{taken[0]!r} already prescribes {name} there"
        if along is None:
            return "its derivatives are not along the normal"
        direction = {normal(s): n for s, n in outward(ball).items()}
        share, known, along = (e.xreplace(direction) for e in (here.share, here.known, along))
        points = on_sphere(ball, sample_domain(self.problem.domain, 64))
        if along == 0:
            self.given.round.append((ball, self.name, known / share))
            self.given.holes |= {ball} if hole else set()
            return _zero("u itself", share, points)
        if hole:
            return "it is a slope on the rim of a hole, where only values can be built in"
        self.given.rims.append((ball, Slope(self.name, known / along, share / along)))
        return _zero("the slope", along, points)


def _normals(condition: FirstOrder) -> set[Normal]:
    return set().union(*(e.atoms(Normal) for e in (condition.known, condition.share, *condition.slopes.values())))


def _along_normal(condition: FirstOrder, ball: Ball) -> sympy.Expr | None:
    """k where the derivatives are k times that along the normal; zero for none, None for other directions."""
    directions = outward(ball)
    slopes = {s: slope for s, slope in condition.slopes.items() if not _vanishes(slope)}
    if not slopes:
        return sympy.S.Zero
    if set(slopes) != set(directions):
        return None
    ratios = {sympy.cancel(slopes[s] / normal(s)) for s in directions}
    if any(ratio.has(Normal) for ratio in ratios):  # written out, as x u_x + y u_y
        plain = {normal(s): n for s, n in directions.items()}
        ratios = {sympy.cancel(slopes[s].xreplace(plain) / n) for s, n in directions.items()}
    return ratios.pop() if len(ratios) == 1 else None


def _vanishes(expression: sympy.Expr) -> bool:
    return expression == 0 or sympy.expand(expression) == 0


def _zero(what: str, coefficient: sympy.Expr, points: Points) -> str | None:
    """A reason where a coefficient that is divided by has a zero."""
    if coefficient.is_number:
        return None
    size = values(coefficient, points)
    size = size[np.isfinite(size)]
    changes = not np.any(size.imag) and len(size) and size.real.min() <= 0 <= size.real.max()
    if changes or np.any(np.abs(size) <= 1e-9 * np.max(np.abs(size), initial=0.0)):
        return f"the coefficient {text(coefficient)} of {what} has a zero there"
    return None


def _covers(bounds: Bounds, piece: Region, side: Side) -> bool:
    """Whether a piece is a whole side, at the fixed coordinate, of what has these bounds."""
    if isinstance(piece, Selection):
        return False
    symbol, bound = side
    low, high = bounds[symbol]
    if not any(abs(float(bound) - end) <= 1e-12 * (high - low) for end in (low, high)):
        return False
    return all(
        abs(ends[i] - bounds[other][i]) <= 1e-9 * (1 + abs(bounds[other][i]))
        for other, ends in piece.bounds.items()
        if other != symbol
        for i in (0, 1)
    )


def _whole_ball(domain: Region, piece: Region) -> tuple[Ball | None, bool]:
    """The ball whose whole surface `piece` is, over all of the other coordinates, and whether it is a hole of the domain."""
    if isinstance(piece, Selection) or piece.fixed:
        return None, False
    for factor in domain.factors:
        for _, face in factor.faces():
            surface = face.base if isinstance(face, Flipped) else face
            if isinstance(surface, Sphere) and face in piece.factors:
                return Ball(surface.coordinates, surface.center, surface.radius), surface is not face
    return None, False
