"""The sympy nodes that an equation may hold, by name. Lowering has a rule for each; storage writes and reads no other."""

from __future__ import annotations

import sympy
from sympy.logic import boolalg

_ELEMENTARY = """
sin cos tan cot sec csc asin acos atan acot asec acsc atan2 sinh cosh tanh coth sech csch asinh acosh atanh acoth
asech acsch sinc exp log erf erfc erfinv gamma loggamma digamma polygamma Abs sign floor ceiling frac Mod Rem re im
arg conjugate Min Max Heaviside Piecewise Sum Product UnevaluatedExpr Add Mul Pow Equality Unequality
StrictGreaterThan GreaterThan StrictLessThan LessThan
"""

NODES: dict[str, type[sympy.Basic]] = {
    **{name: getattr(sympy, name) for name in _ELEMENTARY.split()},
    "Not": boolalg.Not,
    "And": boolalg.And,
    "Or": boolalg.Or,
    "Xor": boolalg.Xor,
    "ITE": boolalg.ITE,
    "Tuple": sympy.Tuple,
    "ExprCondPair": sympy.functions.elementary.piecewise.ExprCondPair,
    "Derivative": sympy.Derivative,
    "Subs": sympy.Subs,
    "Integral": sympy.Integral,
}

CONSTANTS: dict[str, sympy.Basic] = {
    "pi": sympy.pi,
    "E": sympy.E,
    "I": sympy.I,
    "GoldenRatio": sympy.GoldenRatio,
    "EulerGamma": sympy.EulerGamma,
    "Catalan": sympy.Catalan,
    "true": sympy.true,
    "false": sympy.false,
}
