"""Exact conditions: fields made of a network so that conditions hold whatever the weights.

A field is u = lift + M(factor x network). The lift takes what is prescribed, one coordinate after the other: what it so
far misses on the faces of a coordinate is added, blended by the polynomials that are one on one condition and zero on
the others (the boolean sum of Gordon 1971). The factor vanishes where values are prescribed (Lagaris, Likas & Fotiadis
1998). M takes care of slopes: where du/ds + h u is prescribed, w becomes w - H (dw/ds + h w), and H is zero and of unit
slope on that face, and vanishes on the other as far as anything is prescribed there.

M is local: it takes the network's derivative where the field is, in the manner of Sukumar & Srivastava (2022), and not
on the face, as the theory of functional connections does (Mortari & Leake 2019). The network's derivatives rise by one
order a coordinate with slopes, be they on one face or on both, which is half as many operations again for a heat
equation; a face would be a second evaluation, its opposite a third, the edges between k such coordinates 3^k of them.
Coordinate by coordinate, and not by one distance to the whole boundary, M and the lift are smooth up to the corners.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import sympy

from phijax.formulation.exact_conditions import Bounds, Prescribed, Slope, bounds_of, collect, outward
from phijax.formulation.hermite import Node, cardinals
from phijax.geometry import Ball
from phijax.symbolic import kind_of

if TYPE_CHECKING:
    from phijax.formulation.problem import Problem

# Length, in the unit of time, over which the factor of a start at rest saturates; measured best on the wave equation.
REST_TIME = sympy.Rational(1, 10)
Orders = tuple[int, ...]
Weights = dict[Orders, sympy.Expr]  # by the derivative that they go with, along the field's coordinates in order


@dataclass(frozen=True)
class Ansatz:
    """lift + factor x network + the sum of slopes[orders] x derivative of the network, for one field.

    All are expressions of its coordinates; orders go along these, in order.
    """

    lift: sympy.Expr = sympy.S.Zero
    factor: sympy.Expr = sympy.S.One
    slopes: Mapping[Orders, sympy.Expr] = field(default_factory=dict)

    @property
    def trivial(self) -> bool:
        """Whether the field is the network's output itself."""
        return self.lift == 0 and self.factor == 1 and not self.slopes

    def around(self, network: sympy.Expr, coordinates: tuple[sympy.Symbol, ...]) -> sympy.Expr:
        """The field, with an expression of its coordinates in the network's place."""
        result = self.lift + self.factor * network
        for orders, weight in self.slopes.items():
            result += weight * network.diff(*zip(coordinates, orders, strict=True))
        return result


def build_ansatz(problem: Problem) -> dict[str, Ansatz]:
    """The ansatz of each field that has exact conditions. The problem's checks have passed."""
    prescribed, _ = collect(problem)
    return {
        name: assemble(problem.fields[name].coordinates, bounds_of(problem, name), given)
        for name, given in prescribed.items()
    }


def assemble(coordinates: tuple[sympy.Symbol, ...], bounds: Bounds, given: Prescribed) -> Ansatz:
    """The ansatz of a field of these coordinates, whatever contradictions there are."""
    lift, factor = sympy.Integer(0), sympy.Integer(1)
    axes = [_Axis.of(symbol, bounds[symbol], given) for symbol in _order(bounds, given)]
    if given.holes:
        in_space = [axis for axis in axes if kind_of(axis.symbol) != "time"]
        lift, factor = _around_holes(in_space, given)
        axes = [axis for axis in axes if axis not in in_space]
    else:
        for ball, _, value in given.round:
            lift = value
            factor *= _depth_of(ball, given)
    for axis in axes:
        lift += axis.correction(lift)
        factor *= axis.factor
    operators = [operator for axis in axes for operator in axis.operators]
    for ball, slope in given.rims:
        lift += _rim_correction(lift, ball, slope, axes)
        factor *= _limit(slope.share, ball.radius)
        operators.append(_rim_operator(ball, slope))
    own = (0,) * len(coordinates)
    weights: Weights = {own: factor}
    for operator in operators:
        weights = operator.applied(weights, coordinates)
    return Ansatz(lift, weights.pop(own), weights)


def _order(bounds: Bounds, given: Prescribed) -> list[sympy.Symbol]:
    """Time goes first: what walls add is then zero at the start whenever the conditions agree there.

    Last are those whose coefficients vary along a side, since only they may not be corrected any more.
    """
    axes = list(bounds)
    varying = {symbol for (symbol, _), slope in given.slopes.items() if slope.share.free_symbols}
    found = {symbol for symbol, _ in [*given.values, *given.slopes]}
    return sorted(found, key=lambda s: (s in varying, kind_of(s) != "time", axes.index(s)))


@dataclass(frozen=True)
class _Operator:
    """w becomes w - the sum of along[x] x dw/dx - share x w."""

    along: Mapping[sympy.Symbol, sympy.Expr]
    share: sympy.Expr

    def applied(self, weights: Weights, coordinates: tuple[sympy.Symbol, ...]) -> Weights:
        """Weights of the network's derivatives after the operator, from those before it."""
        found: Weights = {}
        for orders, weight in weights.items():
            change = sum(part * weight.diff(symbol) for symbol, part in self.along.items())
            found[orders] = found.get(orders, 0) + weight * (1 - self.share) - change
            for symbol, part in self.along.items():
                raised = tuple(order + (s == symbol) for s, order in zip(coordinates, orders, strict=True))
                found[raised] = found.get(raised, 0) - part * weight
        return found


@dataclass(frozen=True)
class _Axis:
    """What is prescribed on the faces of one coordinate: values and slopes by where the face is."""

    symbol: sympy.Symbol
    ends: tuple[float, float]
    faces: Mapping[sympy.Expr, sympy.Expr]
    slopes: Mapping[sympy.Expr, Slope]

    @classmethod
    def of(cls, symbol: sympy.Symbol, ends: tuple[float, float], given: Prescribed) -> _Axis:
        """The axis of one coordinate, out of all that is prescribed for a field."""
        faces = {bound: value for (other, bound), (_, value) in given.values.items() if other == symbol}
        slopes = {bound: slope for (other, bound), slope in given.slopes.items() if other == symbol}
        return cls(symbol, ends, faces, slopes)

    @property
    def length(self) -> sympy.Expr:
        """From one end to the other."""
        low, high = map(sympy.nsimplify, self.ends)
        return high - low

    @property
    def homogeneous(self) -> _Axis:
        """The same with zero prescribed."""
        slopes = {bound: Slope(slope.constraint, sympy.S.Zero, slope.share) for bound, slope in self.slopes.items()}
        return _Axis(self.symbol, self.ends, dict.fromkeys(self.faces, sympy.S.Zero), slopes)

    def correction(self, lift: sympy.Expr) -> sympy.Expr:
        """What the lift misses on the faces, blended between them."""
        missing = {bound: value - lift.subs(self.symbol, bound) for bound, value in self.faces.items()}
        if len(missing) == 2 and not self.slopes:
            (low, at_low), (high, at_high) = sorted(missing.items(), key=lambda item: float(item[0]))
            return (at_low * (high - self.symbol) + at_high * (self.symbol - low)) / (high - low)
        nodes: dict[Node, sympy.Expr] = {(bound, 0): missed for bound, missed in missing.items()}
        for bound, slope in self.slopes.items():
            if slope.share != 0 or not self.faces:
                nodes.setdefault((bound, 0), sympy.S.Zero)
            so_far = lift.diff(self.symbol) + slope.share * lift
            nodes[bound, 1] = slope.value - so_far.subs(self.symbol, bound)
        blends = self._cardinals(list(nodes))
        return sympy.Add(*(missed * blends[node] for node, missed in nodes.items()))

    @property
    def factor(self) -> sympy.Expr:
        """Of about unit size; it vanishes where values are prescribed, with its slope where that is prescribed too."""
        result = sympy.Integer(1)
        for bound in self.faces:
            distance = (self.symbol - bound) if self._is_low(bound) else (bound - self.symbol)
            if bound in self.slopes:
                rest = REST_TIME if kind_of(self.symbol) == "time" else self.length / 10
                result *= distance**2 / (distance**2 + rest**2)
            else:
                result *= distance / self.length
        for slope in self._alone.values():
            result *= _limit(slope.share, self.length)
        return result * 4 if len(self.faces) == 2 else result

    @property
    def operators(self) -> list[_Operator]:
        """The one that makes slopes hold where no value is prescribed, if there is any."""
        if not self._alone:
            return []
        values = {**self.faces, **self.slopes}
        heights = self._cardinals([*((bound, 0) for bound in values), *((bound, 1) for bound in self.slopes)])
        along = sympy.Add(*(heights[bound, 1] for bound in self._alone))
        share = sympy.Add(*(heights[bound, 1] * slope.share for bound, slope in self._alone.items()))
        return [_Operator({self.symbol: along}, share)]

    @property
    def _alone(self) -> dict[sympy.Expr, Slope]:
        """Slopes on faces where the value is open."""
        return {bound: slope for bound, slope in self.slopes.items() if bound not in self.faces}

    def _is_low(self, bound: sympy.Expr) -> bool:
        return float(bound) < sum(self.ends) / 2

    def _cardinals(self, nodes: Sequence[Node]) -> dict[Node, sympy.Expr]:
        low, high = map(sympy.nsimplify, self.ends)
        for bound, _ in nodes:
            low, high = (bound, high) if self._is_low(bound) else (low, bound)
        return cardinals(self.symbol, low, high, nodes)


def _depth_of(ball: Ball, given: Prescribed) -> sympy.Expr:
    """Zero on the sphere and positive in the domain, of about unit size."""
    square, radius = _squared_radius(ball), ball.radius**2
    return (square - radius) / (square + radius) if ball in given.holes else 1 - square / radius


def _around_holes(axes: Sequence[_Axis], given: Prescribed) -> tuple[sympy.Expr, sympy.Expr]:
    """Lift and factor of values on holes, and on an outer circle or sides that do not touch them.

    Each value counts by the product of what vanishes on all of the other places (inverse-distance weights, in the manner
    of Rvachev, Sheiko, Shapiro & Tsukanov 2001).
    """
    parts = [(_depth_of(ball, given), value) for ball, _, value in given.round]
    box, inside = sympy.Integer(0), sympy.Integer(1)
    for axis in axes:
        box += axis.correction(box)
        inside *= axis.factor
    if any(axis.faces for axis in axes):
        parts.append((inside, box))
    values = {value for _, value in parts}
    others = [sympy.Mul(*(depth for j, (depth, _) in enumerate(parts) if j != i)) for i in range(len(parts))]
    factor = sympy.Mul(*(depth for depth, _ in parts))
    if len(values) == 1:
        return values.pop(), factor
    return sympy.Add(*(weight * v for weight, (_, v) in zip(others, parts, strict=True))) / sympy.Add(*others), factor


def _limit(share: sympy.Expr, length: sympy.Expr) -> sympy.Expr:
    """Keeps a field of the network's size where u is prescribed all but itself, as by a large number of Biot."""
    return 1 / (1 + abs(share) * length) if share.is_number else sympy.S.One


def _squared_radius(ball: Ball) -> sympy.Expr:
    return sum((s - c) ** 2 for s, c in zip(ball.coordinates, ball.center, strict=True))


def _depth(ball: Ball) -> sympy.Expr:
    """Zero on the sphere, and of the slope -1 along its normal."""
    return (ball.radius**2 - _squared_radius(ball)) / (2 * ball.radius)


def _rim_operator(ball: Ball, slope: Slope) -> _Operator:
    depth = _depth(ball)
    return _Operator({s: -depth * n for s, n in outward(ball).items()}, -depth * slope.share)


def _rim_correction(lift: sympy.Expr, ball: Ball, slope: Slope, axes: Sequence[_Axis]) -> sympy.Expr:
    """What the lift misses on the sphere; of its extension inside, what the faces of other coordinates allow."""
    so_far = sum(n * lift.diff(s) for s, n in outward(ball).items()) + slope.share * lift
    missing = slope.value - so_far
    for axis in axes:
        missing += axis.homogeneous.correction(missing)
    return -_depth(ball) * missing
