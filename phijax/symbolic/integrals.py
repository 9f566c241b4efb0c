"""Integrals in equations, by a fixed quadrature rule that holds at each value of the other coordinates."""

from __future__ import annotations

from typing import Any

import sympy

from phijax._numbers import is_whole
from phijax.symbolic.charts import element, is_curvilinear
from phijax.symbolic.coordinates import Coordinate, kind_of
from phijax.symbolic.fields import fields_in
from phijax.symbolic.normals import normal
from phijax.symbolic.values import as_expression

DEFAULT_POINTS = 32


class OverRegion(sympy.AtomicExpr):
    """The region of an integral, as an atom that sympy leaves whole."""

    __slots__ = ("region",)
    region: Any

    def __new__(cls, region: Any) -> OverRegion:
        node = super().__new__(cls)
        node.region = region
        return node

    def _hashable_content(self):
        return (self.region,)

    def __reduce__(self):
        return OverRegion, (self.region,)

    def compare(self, other: sympy.Basic) -> int:
        """As sympy's, which sums of integrals are sorted by; regions themselves have no order."""
        if not isinstance(other, OverRegion) or self == other:
            return super().compare(other)
        one, two = ((str(node.region), repr(node.region)) for node in (self, other))
        return (one > two) - (one < two)

    def sort_key(self, order=None):
        """Orders atoms of this kind by what they print."""
        return (self.class_key(), (1, (str(self.region),)), sympy.S.One.sort_key(), sympy.S.One)

    def _sympystr(self, printer: Any) -> str:
        return str(self.region)

    def _latex(self, printer: Any, *_: Any) -> str:
        return self.region.latex()


class Quadrature(sympy.Expr):
    """Integral of an expression over limits (x, a, b) or a region, by a rule of `points` an axis.

    args: the integrand; Tuple(x, a, b) or OverRegion; the number of points.
    """

    is_commutative = True

    @property
    def bound_symbols(self) -> tuple[sympy.Symbol, ...]:
        """The coordinates integrated over, and the components of the normal of a boundary integrated over."""
        where = self.args[1]
        if not isinstance(where, OverRegion):
            return (where[0],)
        return (*where.region.coordinates, *map(normal, where.region.coordinates if where.region.has_normals else ()))

    @property
    def free_symbols(self) -> set[sympy.Symbol]:
        """Symbols on which the value depends."""
        where = self.args[1]
        limits = set() if isinstance(where, OverRegion) else where[1].free_symbols | where[2].free_symbols
        return (self.args[0].free_symbols - set(self.bound_symbols)) | limits

    def _eval_is_real(self) -> bool | None:
        return self.args[0].is_real

    def _eval_subs(self, old: sympy.Basic, new: sympy.Basic) -> sympy.Expr | None:
        """Bound symbols are let alone, and none of `new` becomes bound."""
        integrand, where, points = self.args
        bound = set(self.bound_symbols)
        over_region = isinstance(where, OverRegion)
        if old in bound:
            return self if over_region else self.func(integrand, _limits(where[0], where, old, new), points)
        captured = bound & sympy.sympify(new).free_symbols
        if not captured or not isinstance(old, sympy.Symbol) or not integrand.has(old):
            return None
        if over_region:
            raise ValueError(f"{new} cannot be put for {old} in {self}, which integrates over {captured.pop()} itself.")
        inner = _unused(where[0], self, new)
        return self.func(integrand.subs(where[0], inner).subs(old, new), _limits(inner, where, old, new), points)

    def _eval_derivative(self, s: sympy.Symbol) -> sympy.Expr:
        """Leibniz's rule."""
        integrand, where, _ = self.args
        inside = sympy.Integer(0) if s in self.bound_symbols else self._of(integrand.diff(s))
        if isinstance(where, OverRegion):
            return inside
        symbol, low, high = where
        return inside + integrand.subs(symbol, high) * high.diff(s) - integrand.subs(symbol, low) * low.diff(s)

    def _of(self, integrand: sympy.Expr) -> sympy.Expr:
        return sympy.Integer(0) if integrand == 0 else self.func(integrand, *self.args[1:])

    def _sympystr(self, printer: Any) -> str:
        integrand, where, _ = self.args
        return f"integral({printer._print(integrand)}, {printer._print(where)})"

    def _latex(self, printer: Any, *_: Any) -> str:
        integrand, where, _ = self.args
        if isinstance(where, OverRegion):
            symbols = " ".join(printer._print(s) for s in where.region.coordinates)
            return rf"\int_{{{printer._print(where)}}} {printer._print(integrand)}\, d{symbols}"
        symbol, low, high = (printer._print(part) for part in where)
        return rf"\int_{{{low}}}^{{{high}}} {printer._print(integrand)}\, d{symbol}"


def _limits(symbol: sympy.Symbol, limits: sympy.Tuple, old: sympy.Basic, new: sympy.Basic) -> sympy.Tuple:
    return sympy.Tuple(symbol, limits[1].subs(old, new), limits[2].subs(old, new))


def _unused(symbol: sympy.Symbol, *expressions: sympy.Basic) -> sympy.Symbol:
    """A symbol like this one, of a name that occurs in none of the expressions."""
    taken = {s.name for expression in expressions for s in expression.atoms(sympy.Symbol)}
    name = f"{symbol.name}_"
    while name in taken:
        name += "_"
    return Coordinate(name, kind_of(symbol)) if isinstance(symbol, Coordinate) else sympy.Symbol(name, real=True)


def integral(expression: Any, *limits: Any, over: Any = None, points: int = DEFAULT_POINTS) -> sympy.Expr:
    """Integral of an expression, over limits `(x, a, b)`, one or several, or `over` a region.

    Limits may hold coordinates, as in `integral(u, (s, 0, x))`. points: nodes of the rule along each axis.
    Over a region in curvilinear coordinates it is the length, area or volume that is integrated over, r dr dtheta in
    polar ones; coordinates of the chart that neither region nor integrand has are symmetries, and angles among them
    count in full, so that the ball of the radius alone has 4 pi r^2 dr. Limits take dr as it is written.
    Raises ValueError where neither or both are given, or a limit is no (symbol, low, high).
    """
    if bool(limits) == (over is not None):
        raise ValueError(
            "integral needs limits, as in integral(u, (x, 0, 1)), or a region, as in integral(u, over=space)."
        )
    if not is_whole(points):
        raise ValueError(f"integral: points={points!r} must be a whole number of at least 1.")
    expression = as_expression(expression)
    if over is not None:
        return _over_region(expression, over, sympy.Integer(int(points)))
    for limit in limits:
        if (
            not isinstance(limit, tuple | list | sympy.Tuple)
            or len(limit) != 3
            or not isinstance(limit[0], sympy.Symbol)
        ):
            raise ValueError(f"integral limit {limit!r} must be (symbol, low, high), as in (x, 0, 1).")
        symbol, low, high = map(as_expression, limit)
        if symbol in low.free_symbols | high.free_symbols:
            # In integral(u, (x, 0, x)) the inner x is bound and the limit is the current x: two symbols.
            inner = _unused(symbol, expression, low, high)
            expression, symbol = expression.subs(symbol, inner), inner
        expression = Quadrature(expression, sympy.Tuple(symbol, low, high), sympy.Integer(int(points)))
    return expression


def _over_region(expression: sympy.Expr, region: Any, points: sympy.Integer) -> sympy.Expr:
    if not is_curvilinear(region.coordinates):
        return Quadrature(expression, OverRegion(region), points)
    pieces = [piece for _, piece in region.pieces] or [region]
    if len(pieces) > 1:  # each has its own element: dtheta on one side, dr on another
        return sum((_over_region(expression, piece, points) for piece in pieces), sympy.Integer(0))
    used = expression.free_symbols.union(*(field.coordinates for field in fields_in(expression).values()))
    varying = [symbol for symbol in region.coordinates if symbol not in region.fixed]
    return Quadrature(expression * element(varying, region.fixed, used), OverRegion(region), points)
