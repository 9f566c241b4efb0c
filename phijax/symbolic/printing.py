"""Expressions as text that reads like the mathematics: u_t + u*u_x, u_x(1, t), pi before x."""

from __future__ import annotations

from typing import Any

import sympy
from sympy.printing.str import StrPrinter

from phijax.symbolic.fields import Field


class _Printer(StrPrinter):
    def _print_Function(self, node: sympy.Function) -> str:
        # Not _print_Field: sympy looks no further than AppliedUndef for the printer of an undefined function.
        return self._jet(node, "", node.args) if isinstance(node, Field) else super()._print_Function(node)

    def _print_Derivative(self, node: sympy.Derivative) -> str:
        if isinstance(node.expr, Field):
            return self._jet(node.expr, self._subscript(node), node.expr.args)
        return super()._print_Derivative(node)

    def _print_Subs(self, node: sympy.Subs) -> str:
        inner = node.expr
        if isinstance(inner, sympy.Derivative) and isinstance(inner.expr, Field):
            values = dict(zip(node.variables, node.point, strict=True))
            names = dict(zip(inner.expr.args, inner.expr.coordinates, strict=True))
            subscript = "".join(str(names.get(symbol, symbol)) * int(count) for symbol, count in inner.variable_count)
            return self._jet(inner.expr, subscript, tuple(arg.xreplace(values) for arg in inner.expr.args))
        return super()._print_Subs(node)

    def _subscript(self, node: sympy.Derivative) -> str:
        return "".join(str(symbol) * int(count) for symbol, count in node.variable_count)

    def _jet(self, field: Field, subscript: str, args: tuple[sympy.Expr, ...]) -> str:
        name = f"{field.name}_{subscript}" if subscript else field.name
        if args == field.coordinates:
            return name
        return f"{name}({', '.join(self._print(arg) for arg in args)})"

    def _print_Equality(self, node: sympy.Equality) -> str:
        return f"{self._print(node.lhs)} = {self._print(node.rhs)}"


def text(expression: Any) -> str:
    """An expression, equation or matrix in one line."""
    return _Printer({"full_prec": False}).doprint(expression)
