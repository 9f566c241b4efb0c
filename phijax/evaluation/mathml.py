"""Problems as MathML, which browsers set without any script."""

from __future__ import annotations

from html import escape
from typing import Any

import sympy
from sympy.printing.mathml import MathMLPresentationPrinter

from phijax.formulation import Constraint, Problem, Term
from phijax.formulation.printing import equation_text
from phijax.symbolic import Field


class _Printer(MathMLPresentationPrinter):
    def _print_AppliedUndef(self, node: Any) -> Any:
        if isinstance(node, Field) and node.args == node.coordinates:
            return self._print(sympy.Symbol(node.name))
        return self._print_Function(node)

    def _print_Derivative(self, node: Any) -> Any:
        """u with its variables below, as in u_xx."""
        if not isinstance(node.expr, Field):
            return super()._print_Derivative(node)
        printed: Any = self._print  # gives nodes of XML, though it is declared to give text
        whole, below = self.dom.createElement("msub"), self.dom.createElement("mrow")
        for symbol, count in node.variable_count:
            for _ in range(int(count)):
                below.appendChild(printed(symbol))
        whole.appendChild(printed(node.expr))
        whole.appendChild(below)
        return whole


LONGEST = 20_000  # characters of one equation: beyond, no one reads it
SHOWN = 160


def equation_mathml(term: Term) -> str:
    """`left = right`, as it was written; as text where sympy has no MathML for a part of it, and cut where very long."""
    written: Any = term.written
    if not isinstance(written, sympy.Equality):
        written = sympy.Eq(term.residual, 0, evaluate=False)
    try:
        printed = _Printer().doprint(written)
    except (NotImplementedError, AttributeError, TypeError, ValueError):
        return f"<code>{escape(equation_text(term))}</code>"
    if len(printed) > LONGEST:
        return f"<code>{escape(equation_text(term)[:SHOWN])} ...</code>"
    return f'<math display="inline">{printed}</math>'


def problem_html(problem: Problem) -> str:
    """A table: name, equation, where it holds."""
    rows = [row for constraint in problem.constraints.values() for row in _rows(constraint)]
    domain = f"<p>on {region_html(problem.domain)}, unknown: {escape(_unknowns(problem))}</p>"
    return f'{domain}<table class="problem">{"".join(rows)}</table>'


def region_html(region: Any) -> str:
    """A region in one line, such as (x, t) ∈ [0, 1] × [0, 2]."""
    names = ", ".join(region.names)
    names = names if len(region.names) == 1 else f"({names})"
    return f"{escape(names)} ∈ {escape(region.body()).replace(' x ', ' × ')}"


def _rows(constraint: Constraint) -> list[str]:
    place = "" if constraint.on_domain else f"on {region_html(constraint.region)}"
    place += " (exact)" if constraint.exact else ""
    if constraint.kind == "free":
        return [_row(constraint.name, "no condition", place)]
    terms = zip(constraint.term_names, constraint.terms, strict=True)
    return [_row(name, equation_mathml(term), place) for name, term in terms]


def _row(name: str, equation: str, place: str) -> str:
    return f"<tr><th>{escape(name)}</th><td>{equation}</td><td>{place}</td></tr>"


def _unknowns(problem: Problem) -> str:
    return ", ".join([*map(str, problem.fields.values()), *problem.parameters])
