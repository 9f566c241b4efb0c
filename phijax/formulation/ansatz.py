"""Exact conditions: fields as `lift + factor * network`, so that conditions hold whatever the weights.

The lift takes the prescribed values, one coordinate after the other: what the lift so far misses on the faces of a
coordinate is added, blended linearly between them (the boolean sum of Gordon 1971). The factor vanishes where values
are prescribed; after Lagaris, Likas & Fotiadis (1998).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import sympy

from phijax.formulation.constraint import Constraint, Term
from phijax.formulation.faults import Fault
from phijax.formulation.numeric import largest, sample_domain
from phijax.formulation.patterns import derivative_condition, value_condition
from phijax.geometry import Ball, Region
from phijax.geometry.selection import Selection
from phijax.symbolic import Field, Parameter, kind_of, text

if TYPE_CHECKING:
    from phijax.formulation.problem import Problem

Bounds = Mapping[sympy.Symbol, tuple[float, float]]
# Length, in the unit of time, over which the factor of a start at rest saturates; measured best on the wave equation.
REST_TIME = sympy.Rational(1, 10)


@dataclass(frozen=True)
class Ansatz:
    """`lift + factor * network` for one field, as expressions of its coordinates."""

    lift: sympy.Expr = sympy.S.Zero
    factor: sympy.Expr = sympy.S.One

    @property
    def trivial(self) -> bool:
        """Whether the field is the network's output itself."""
        return self.lift == 0 and self.factor == 1


@dataclass
class _Prescribed:
    """What exact conditions prescribe for one field. values: {(coordinate, bound): value}; round: ball and value."""

    values: dict[tuple[sympy.Symbol, sympy.Expr], tuple[str, sympy.Expr]] = field(default_factory=dict)
    slopes: dict[tuple[sympy.Symbol, sympy.Expr], tuple[str, sympy.Expr]] = field(default_factory=dict)
    round: list[tuple[Ball, str, sympy.Expr]] = field(default_factory=list)


def build_ansatz(problem: Problem) -> dict[str, Ansatz]:
    """The ansatz of each field that has exact conditions. The problem's checks have passed."""
    prescribed, _ = _collect(problem)
    return {name: _assemble(_bounds(problem, name), given) for name, given in prescribed.items()}


def exact_faults(problem: Problem, faulty: Collection[str] = ()) -> list[Fault]:
    """Exact conditions that cannot be built, or that contradict each other where they meet.

    faulty: constraints that have another fault already, and are left out.
    """
    prescribed, faults = _collect(problem, faulty)
    if faults:
        return faults
    return [fault for name, given in prescribed.items() for fault in _contradictions(problem, name, given)]


def _bounds(problem: Problem, name: str) -> Bounds:
    """Bounds of the part of the domain on which a field lives, by coordinate in the domain's order."""
    own = problem.region_of(problem.fields[name]).bounds
    return {symbol: own.get(symbol, ends) for symbol, ends in problem.domain.bounds.items()}


def _collect(problem: Problem, faulty: Collection[str] = ()) -> tuple[dict[str, _Prescribed], list[Fault]]:
    found: dict[str, _Prescribed] = {}
    faults: list[Fault] = []
    for constraint in problem.constraints.values():
        for term in constraint.terms if constraint.exact and constraint.name not in faulty else ():
            message = _place(problem, constraint, term, found)
            if message:
                faults.append(
                    Fault(
                        constraint.name, f"{text(term.written)} cannot be made exact: {message}; leave out exact=True."
                    )
                )
    return found, faults


def _place(problem: Problem, constraint: Constraint, term: Term, found: dict[str, _Prescribed]) -> str | None:
    """Notes what the term prescribes; a reason where it prescribes nothing that can be built."""
    if constraint.on_domain or constraint.kind != "equation":
        return "it holds on no part of a boundary"
    value = value_condition(term)
    if value is not None:
        target, known = value
        given = found.setdefault(target.name, _Prescribed())
        return _note_faces(problem, constraint, target, known, given)
    unknown = sorted(parameter.name for parameter in term.residual.atoms(Parameter))
    if unknown:
        return f"it holds the unknown {unknown[0]!r}, and only what is known beforehand can be built in"
    fixed = [symbol for symbol in constraint.region.fixed if kind_of(symbol) == "time"]
    slope = derivative_condition(term, fixed[0]) if fixed else None
    if slope is None:
        return "only values, and velocities at the start, can be built in"
    target, known = slope
    message = _foreign(target, known)
    if message:
        return message
    given = found.setdefault(target.name, _Prescribed())
    given.slopes[fixed[0], constraint.region.fixed[fixed[0]]] = (constraint.name, known)
    return None


def _note_faces(
    problem: Problem, constraint: Constraint, target: Field, known: sympy.Expr, given: _Prescribed
) -> str | None:
    message = _foreign(target, known)
    if message:
        return message
    bounds = _bounds(problem, target.name)
    for _, piece in constraint.region.pieces:
        sides = {symbol: bound for symbol, bound in piece.fixed.items() if symbol in target.coordinates}
        ball = _whole_ball(problem.domain, piece)
        if ball is not None:
            given.round.append((ball, constraint.name, known))
        elif len(sides) == 1 and _covers(bounds, piece, sides):
            (symbol, bound), *_ = sides.items()
            if (symbol, bound) in given.values:
                return f"{given.values[symbol, bound][0]!r} already prescribes {target.name} there"
            given.values[symbol, bound] = (constraint.name, known.subs(symbol, bound))
        else:
            return f"{piece} is no whole side of the domain"
    return None


def _foreign(target: Field, known: sympy.Expr) -> str | None:
    foreign = sorted(symbol.name for symbol in known.free_symbols - set(target.coordinates))
    return f"the value depends on {foreign[0]!r}, and {target} does not" if foreign else None


def _covers(bounds: Bounds, piece: Region, sides: Mapping[sympy.Symbol, sympy.Expr]) -> bool:
    """Whether a piece is a whole side, at the fixed coordinate, of what has these bounds."""
    if isinstance(piece, Selection):
        return False
    (symbol, bound), *_ = sides.items()
    low, high = bounds[symbol]
    if not any(abs(float(bound) - end) <= 1e-12 * (high - low) for end in (low, high)):
        return False
    return all(
        abs(ends[i] - bounds[other][i]) <= 1e-9 * (1 + abs(bounds[other][i]))
        for other, ends in piece.bounds.items()
        if other != symbol
        for i in (0, 1)
    )


def _whole_ball(domain: Region, piece: Region) -> Ball | None:
    """The ball of the domain whose whole surface `piece` is, over all of the other coordinates."""
    if isinstance(piece, Selection) or piece.fixed:
        return None
    for factor in domain.factors:
        if isinstance(factor, Ball) and any(surface in piece.factors for _, surface in factor.boundary.pieces):
            return factor
    return None


def _assemble(bounds: Bounds, given: _Prescribed) -> Ansatz:
    lift, factor = sympy.Integer(0), sympy.Integer(1)
    for ball, _, value in given.round:
        lift = value
        factor *= 1 - sum((s - c) ** 2 for s, c in zip(ball.coordinates, ball.center, strict=True)) / ball.radius**2
    # Time goes first: what walls add is then zero at the start whenever the conditions agree there.
    axes = list(bounds)
    order = sorted({symbol for symbol, _ in given.values}, key=lambda s: (kind_of(s) != "time", axes.index(s)))
    for symbol in order:
        faces = {bound: value for (other, bound), (_, value) in given.values.items() if other == symbol}
        slopes = {bound: value for (other, bound), (_, value) in given.slopes.items() if other == symbol}
        lift += _correction(lift, symbol, faces, slopes)
        factor *= _vanishing(bounds[symbol], symbol, faces, slopes)
    return Ansatz(lift, factor)


def _correction(lift: sympy.Expr, symbol: sympy.Symbol, faces: Mapping, slopes: Mapping) -> sympy.Expr:
    missing = {bound: value - lift.subs(symbol, bound) for bound, value in faces.items()}
    if len(missing) == 2:
        (low, at_low), (high, at_high) = sorted(missing.items(), key=lambda item: float(item[0]))
        return (at_low * (high - symbol) + at_high * (symbol - low)) / (high - low)
    ((bound, missed),) = missing.items()
    if bound in slopes:
        missed += (symbol - bound) * (slopes[bound] - lift.diff(symbol).subs(symbol, bound))
    return missed


def _vanishing(ends: tuple[float, float], symbol: sympy.Symbol, faces: Mapping, slopes: Mapping) -> sympy.Expr:
    """A factor of about unit size that vanishes at the faces, with its slope where a slope is prescribed too."""
    low, high = map(sympy.nsimplify, ends)
    result = sympy.Integer(1)
    for bound in faces:
        distance = (symbol - bound) if float(bound) < sum(ends) / 2 else (bound - symbol)
        if bound in slopes:
            result *= distance**2 / (distance**2 + REST_TIME**2)
        else:
            result *= distance / (high - low)
    return result * 4 if len(faces) == 2 else result


def _contradictions(problem: Problem, name: str, given: _Prescribed) -> Iterator[Fault]:
    for (symbol, bound), (constraint, _) in given.slopes.items():
        if (symbol, bound) not in given.values:
            yield Fault(
                constraint,
                f"the velocity of {name!r} can only be exact together with its value: make the condition on {name!r} at "
                f"{symbol.name} = {bound} exact too, or leave out exact=True.",
            )
            return
    lift = _assemble(_bounds(problem, name), given).lift
    points = sample_domain(problem.domain, 64)
    everyone = {other for other, _ in [*given.values.values(), *given.slopes.values()]} | {c for _, c, _ in given.round}
    for constraint, missed, value, places in _missed(lift, given, points):
        gap, where = largest(missed, places)
        if gap > 1e-8 * (1 + largest(value, places)[0]):
            others = ", ".join(map(repr, sorted(everyone - {constraint}))) or "the other conditions"
            yield Fault(
                constraint,
                f"as an exact condition on {name!r} it contradicts {others} where they meet (by {gap:.3g}, "
                f"seen from {_shown(where)}); leave out exact=True for one of them.",
            )
            return


def _missed(
    lift: sympy.Expr, given: _Prescribed, points: dict[sympy.Symbol, np.ndarray]
) -> Iterator[tuple[str, sympy.Expr, sympy.Expr, dict[sympy.Symbol, np.ndarray]]]:
    """(constraint, what the lift misses of its value, the value, points at which it is prescribed)."""
    for (symbol, bound), (constraint, value) in given.values.items():
        yield constraint, lift.subs(symbol, bound) - value, value, points
    for (symbol, bound), (constraint, value) in given.slopes.items():
        yield constraint, (lift.diff(symbol) - value).subs(symbol, bound), value.subs(symbol, bound), points
    for ball, constraint, value in given.round:
        yield constraint, lift - value, value, _on_sphere(ball, points)


def _on_sphere(ball: Ball, points: dict[sympy.Symbol, np.ndarray]) -> dict[sympy.Symbol, np.ndarray]:
    """The points, those at the center left out, moved along the ball's radii to its surface."""
    offsets = {s: points[s] - float(c) for s, c in zip(ball.coordinates, ball.center, strict=True)}
    distance = np.sqrt(sum(offset**2 for offset in offsets.values()))
    kept = distance > 0
    factor = float(ball.radius) / distance[kept]
    moved = {s: points[s][kept] + (factor - 1) * offsets[s][kept] for s in offsets}
    return {s: moved[s] if s in moved else column[kept] for s, column in points.items()}


def _shown(where: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:.3g}" for name, value in where.items())
