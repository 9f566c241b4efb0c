"""First pass: every derivative is one of a field, every integral has a rule, every field evaluation names its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy

from phijax.lowering.faults import LoweringError
from phijax.series import Channel, Combination
from phijax.symbolic import Field, Quadrature, as_expression, text
from phijax.symbolic.integrals import DEFAULT_POINTS

# Linear over the reals: they change places with a derivative by a real coordinate, which sympy does not assume.
REAL_LINEAR = (sympy.re, sympy.im, sympy.conjugate)


@dataclass(frozen=True)
class Jet:
    """A derivative of a field at arguments: `channel` goes by position of the field's coordinates, zero for the value."""

    field: type
    args: tuple[sympy.Expr, ...]
    channel: Channel

    @property
    def name(self) -> str:
        """Name of the field."""
        return self.field.__name__


class Combined(sympy.Expr):
    """A combination of derivatives of a field application that is evaluated as a whole: (application, (orders, weight)...)."""

    @property
    def jet(self) -> Jet:
        """What it stands for."""
        field, *terms = self.args
        combination = Combination(tuple((tuple(map(int, orders)), float(weight)) for orders, weight in terms))
        return Jet(field.func, field.args, combination)


def normalize(expression: Any) -> sympy.Expr:
    """An equal expression whose derivatives are of fields alone and whose integrals are quadratures.

    Raises LoweringError for a derivative that sympy does not know, and an integral without limits.
    """
    return _real_jets(_visit(as_expression(expression)))


def jet_of(node: sympy.Basic) -> Jet | None:
    """The derivative of a field that a node stands for; None where it is anything else."""
    if isinstance(node, Field):
        return Jet(node.func, node.args, (0,) * len(node.args))
    if isinstance(node, Combined):
        return node.jet
    if isinstance(node, sympy.Derivative) and isinstance(node.expr, Field):
        field = node.expr
        orders = [0] * len(field.args)
        for symbol, count in node.variable_count:
            holding = [position for position, arg in enumerate(field.args) if arg.has(symbol)]
            if len(holding) != 1 or field.args[holding[0]] != symbol or not count.is_Integer:
                return None
            orders[holding[0]] += int(count)
        return Jet(field.func, field.args, tuple(orders))
    if isinstance(node, sympy.Subs):
        inner = jet_of(node.expr)
        if inner is None:
            return None
        values = dict(zip(node.variables, node.point, strict=True))
        return Jet(inner.field, tuple(arg.xreplace(values) for arg in inner.args), inner.channel)
    return None


def _visit(node: sympy.Basic) -> sympy.Basic:
    for kind, rule in _RULES.items():
        if isinstance(node, kind):
            return rule(node)
    return node.func(*map(_visit, node.args)) if node.args else node


def _derivative(node: sympy.Derivative) -> sympy.Basic:
    inner = _visit(node.expr)
    whole = sympy.Derivative(inner, *node.variable_count, evaluate=False)
    if jet_of(whole) is not None:
        return whole
    if isinstance(inner, sympy.floor | sympy.ceiling):
        return sympy.Integer(0)  # it is so but at the jumps, where there is no derivative
    if isinstance(inner, sympy.Mod):
        value, divisor = inner.args
        return _visit((value - divisor * sympy.floor(value / divisor)).diff(*node.variable_count))
    if isinstance(inner, REAL_LINEAR):
        return inner.func(_visit(inner.args[0].diff(*node.variable_count)))
    result = inner.diff(*node.variable_count)
    if any(type(left.expr) is type(inner) for left in result.atoms(sympy.Derivative)) and not isinstance(inner, Field):
        raise LoweringError(f"the derivative {text(node)} is not known to sympy; write it out.")
    return _visit(result)


def _subs(node: sympy.Subs) -> sympy.Basic:
    jet = jet_of(node)
    if jet is not None and all(_visit(arg) == arg for arg in jet.args):
        return node
    pairs = list(zip(node.variables, map(_visit, node.point), strict=True))
    inner = _visit(node.expr)
    if jet_of(inner) is not None:
        return sympy.Subs(inner, *zip(*pairs, strict=True))
    # All at once, by way of new symbols: sympy's own simultaneous=True turns d v(x, y)/dx at (y, x) into d v(x, x)/dx.
    for variable in node.variables:
        stand_in = sympy.Dummy(variable.name, real=True)
        inner = inner.subs(variable, stand_in)
        pairs = [(stand_in if symbol == variable else symbol, value) for symbol, value in pairs]
    return _visit(inner.subs(pairs))


def _integral(node: sympy.Integral) -> sympy.Basic:
    result = _visit(node.function)
    for limit in node.limits:
        if len(limit) != 3:
            raise LoweringError(
                f"the integral {text(node)} has no limits; write it with phi.integral(expression, (x, a, b))."
            )
        result = Quadrature(result, sympy.Tuple(limit[0], *map(_visit, limit[1:])), sympy.Integer(DEFAULT_POINTS))
    return result


def _written_out(node: sympy.Basic) -> sympy.Basic:
    result = node.doit()
    if type(result) is type(node):
        raise LoweringError(f"{text(node)} cannot be written out; give it limits that are whole numbers.")
    return _visit(result)


def _fraction(node: sympy.frac) -> sympy.Basic:
    return _visit(node.args[0] - sympy.floor(node.args[0]))


_RULES: dict[type, Callable[[Any], sympy.Basic]] = {
    sympy.Derivative: _derivative,
    sympy.Subs: _subs,
    sympy.Integral: _integral,
    sympy.Sum: _written_out,
    sympy.Product: _written_out,
    sympy.UnevaluatedExpr: lambda node: _visit(node.args[0]),
    sympy.frac: _fraction,
}


def _real_jets(expression: sympy.Basic) -> sympy.Basic:
    """The same with what sympy can say once it knows that derivatives of real fields are real: it takes them for complex.

    |u_x|' is then sign(u_x) u_xx, and not (re(u_x) re(u_xx) + ...) sign(u_x) / u_x, which has no value where u_x = 0.
    """
    hidden, jets = hide_jets(expression)
    return hidden.xreplace({stand_in: node for node, stand_in in jets.items()})


def hide_jets(expression: sympy.Basic) -> tuple[sympy.Basic, dict[sympy.Basic, sympy.Dummy]]:
    """The expression with every derivative of a field replaced by a real or complex symbol, and these by derivative."""
    jets: dict[sympy.Basic, sympy.Dummy] = {}

    def hide(node: sympy.Basic) -> sympy.Basic:
        jet = jet_of(node)
        if jet is not None:
            kind = {"complex": True} if jet.field.is_complex_field else {"real": True}
            return jets.setdefault(node, sympy.Dummy(f"j{len(jets)}", **kind))
        if not node.args:
            return node
        args = [hide(arg) for arg in node.args]
        return _without_root(node.func(*args)) if args != list(node.args) else node

    return hide(expression), jets


def _without_root(node: sympy.Basic) -> sympy.Basic:
    """sign(z) / z as 1 / |z|, which cancels with the |z| of a derivative of |z|^2; and z * conjugate(z) as |z|^2."""
    if not isinstance(node, sympy.Mul):
        return node
    factors = node.as_powers_dict()
    for factor in list(factors):
        z = factor.args[0] if isinstance(factor, sympy.sign | sympy.conjugate) else None
        if isinstance(factor, sympy.sign) and factors[factor] == 1 and factors.get(z) == -1:
            node = node / factor * z / sympy.Abs(z)
        elif isinstance(factor, sympy.conjugate) and factors[factor] == 1 and factors.get(z) == 1:
            node = node / factor / z * sympy.Abs(z) ** 2
    return node
