"""Emission: sympy nodes to JAX operations, by a dispatch table over node types. An unknown node is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import sympy
from jax.scipy import special
from sympy.logic import boolalg

from phijax.lowering.environment import Environment
from phijax.lowering.faults import LoweringError
from phijax.lowering.hyperbolic import csch, sech
from phijax.lowering.normalize import Jet, jet_of
from phijax.lowering.tables import known_function
from phijax.symbolic import Known, Quadrature

Emitted = Callable[[Environment], Any]


def _sinc(z):
    return jnp.sinc(z / jnp.pi)


def _inverse(function: Callable) -> Callable:
    return lambda z: 1 / function(z)


def _of_inverse(function: Callable) -> Callable:
    return lambda z: function(1 / z)


def _acot(z):
    # Not arctan(1 / z), which has no slope at 0.  The jump at 0 is sympy's.
    return jnp.where(jnp.real(z) >= 0, jnp.pi / 2, -jnp.pi / 2) - jnp.arctan(z)


# Functions of one or several arguments, each emitted and then passed on.
FUNCTIONS: dict[type, Callable] = {
    sympy.sin: jnp.sin,
    sympy.cos: jnp.cos,
    sympy.tan: jnp.tan,
    sympy.cot: _inverse(jnp.tan),
    sympy.sec: _inverse(jnp.cos),
    sympy.csc: _inverse(jnp.sin),
    sympy.asin: jnp.arcsin,
    sympy.acos: jnp.arccos,
    sympy.atan: jnp.arctan,
    sympy.acot: _acot,
    sympy.asec: _of_inverse(jnp.arccos),
    sympy.acsc: _of_inverse(jnp.arcsin),
    sympy.atan2: jnp.arctan2,
    sympy.sinh: jnp.sinh,
    sympy.cosh: jnp.cosh,
    sympy.tanh: jnp.tanh,
    sympy.coth: _inverse(jnp.tanh),
    sympy.sech: sech,
    sympy.csch: csch,
    sympy.asinh: jnp.arcsinh,
    sympy.acosh: jnp.arccosh,
    sympy.atanh: jnp.arctanh,
    sympy.acoth: _of_inverse(jnp.arctanh),
    sympy.asech: _of_inverse(jnp.arccosh),
    sympy.acsch: _of_inverse(jnp.arcsinh),
    sympy.sinc: _sinc,
    sympy.exp: jnp.exp,
    sympy.log: jnp.log,
    sympy.erf: special.erf,
    sympy.erfc: special.erfc,
    sympy.erfinv: special.erfinv,
    sympy.gamma: special.gamma,
    sympy.loggamma: special.gammaln,
    sympy.digamma: special.digamma,
    sympy.sign: jnp.sign,
    sympy.floor: jnp.floor,
    sympy.ceiling: jnp.ceil,
    sympy.Mod: jnp.mod,
    sympy.Rem: jnp.fmod,
    sympy.re: jnp.real,
    sympy.im: jnp.imag,
    sympy.arg: jnp.angle,
    sympy.conjugate: jnp.conj,
    sympy.StrictGreaterThan: jnp.greater,
    sympy.GreaterThan: jnp.greater_equal,
    sympy.StrictLessThan: jnp.less,
    sympy.LessThan: jnp.less_equal,
    sympy.Equality: jnp.equal,
    sympy.Unequality: jnp.not_equal,
    boolalg.Not: jnp.logical_not,
    boolalg.ITE: jnp.where,
}

# Operations of any number of arguments, folded from the left.
FOLDS: dict[type, Callable] = {
    sympy.Add: jnp.add,
    sympy.Mul: jnp.multiply,
    sympy.Min: jnp.minimum,
    sympy.Max: jnp.maximum,
    boolalg.And: jnp.logical_and,
    boolalg.Or: jnp.logical_or,
    boolalg.Xor: jnp.logical_xor,
}


def emit(expression: sympy.Basic) -> Emitted:
    """A function of an Environment that computes a normalized expression.

    Raises LoweringError naming the first sub-expression that JAX has no counterpart for.
    """
    jet = jet_of(expression)
    if jet is not None:
        return _emit_jet(jet)
    for kind in type(expression).__mro__:
        if kind in FUNCTIONS:
            return _emit_function(FUNCTIONS[kind], expression.args)
        if kind in FOLDS:
            return _emit_fold(FOLDS[kind], expression.args)
        if kind in RULES:
            return RULES[kind](expression)
    raise LoweringError(
        f"{type(expression).__name__} in the sub-expression {expression} has no counterpart in JAX; rewrite it with "
        f"elementary functions, or bring it as phi.function({expression.func.__name__!r}, callable)."
    )


def _emit_function(function: Callable, args: tuple[sympy.Basic, ...]) -> Emitted:
    parts = [emit(arg) for arg in args]
    return lambda env: function(*(_array(part(env)) for part in parts))


def _emit_fold(operation: Callable, args: tuple[sympy.Basic, ...]) -> Emitted:
    # Numbers come first in sympy's order; Python scalars leave the dtype of arrays alone.
    first, *rest = [emit(arg) for arg in args]

    def fold(env: Environment) -> Any:
        total = first(env)
        for part in rest:
            other = part(env)
            total = _plain(operation, total, other)
        return total

    return fold


def _plain(operation: Callable, a: Any, b: Any) -> Any:
    if operation is jnp.add:
        return a + b
    if operation is jnp.multiply:
        return a * b
    return operation(a, b)


def _floating(value: Any, env: Environment) -> Any:
    value = jnp.asarray(value)
    return value if jnp.issubdtype(value.dtype, jnp.inexact) else value.astype(env.dtype)


def _array(value: Any) -> Any:
    return jnp.asarray(value) if isinstance(value, bool | int | float | complex) else value


def _emit_jet(jet: Jet) -> Emitted:
    arguments = tuple(emit(arg) for arg in jet.args)
    return lambda env: env.jet(jet, arguments)


def _emit_number(number: sympy.Expr) -> Emitted:
    if not number.is_finite:
        raise LoweringError(f"{number} in an expression is not finite.")
    value = int(number) if number.is_Integer and abs(int(number)) < 2**31 else float(number)
    return lambda env: value


def _emit_symbol(symbol: sympy.Symbol) -> Emitted:
    return lambda env: env.symbol(symbol)


def _emit_power(power: sympy.Pow) -> Emitted:
    base, exponent = power.args
    if isinstance(base, sympy.Abs) and exponent.is_Integer and int(exponent) % 2 == 0 and not base.args[0].is_real:
        # |z|^2 without the root, whose gradient has no limit at zero.
        inner, half = emit(base.args[0]), int(exponent) // 2
        return lambda env: jnp.real(inner(env) * jnp.conj(inner(env))) ** half
    inner = emit(base)
    if exponent.is_Number and float(exponent).is_integer():  # 2.0 too, whose slopes of a power of floats end at 0
        whole = int(exponent)
        return lambda env: inner(env) ** whole if whole > 0 else 1 / inner(env) ** -whole
    if exponent == sympy.Rational(1, 2):
        return lambda env: jnp.sqrt(_array(inner(env)))
    if exponent == sympy.Rational(-1, 2):
        return lambda env: 1 / jnp.sqrt(_array(inner(env)))
    if exponent.is_number and exponent.is_real:
        constant = float(exponent)
        return lambda env: _array(inner(env)) ** constant
    raised = emit(exponent)
    return lambda env: jnp.power(_array(inner(env)), raised(env))


def _emit_abs(node: sympy.Abs) -> Emitted:
    inner = emit(node.args[0])
    return lambda env: jnp.abs(_array(inner(env)))


def _emit_heaviside(node: sympy.Heaviside) -> Emitted:
    argument, at_zero = (emit(arg) for arg in node.args)
    return lambda env: jnp.heaviside(_array(argument(env)), at_zero(env))


def _emit_known(node: Known) -> Emitted:
    function = known_function(node.func)
    try:  # the user's own code, which may raise anything, is run once where its constraint is known
        jax.eval_shape(function, *[jax.ShapeDtypeStruct((), jnp.result_type(float))] * len(node.args))
    except ImportError:
        pass  # one of a stored problem, whose module is not here: values of the fields do without it
    except ValueError as error:
        raise LoweringError(str(error)) from error
    parts = [emit(arg) for arg in node.args]
    # A whole number, as in k(0), is a floating-point one to it: a table would be rounded to the type of its argument.
    return lambda env: function(*(_floating(part(env), env) for part in parts))


def _emit_polygamma(node: sympy.polygamma) -> Emitted:
    order, argument = node.args
    if not (order.is_Integer and order.is_nonnegative):
        raise LoweringError(f"polygamma of the order {order} has no counterpart in JAX; a whole number is needed.")
    inner, count = emit(argument), int(order)
    if count == 0:
        return lambda env: special.digamma(_array(inner(env)))
    return lambda env: special.polygamma(count, _array(inner(env)))


def _emit_quadrature(node: Quadrature) -> Emitted:
    from phijax.lowering.quadrature import emit_quadrature

    integral = emit_quadrature(node, emit)
    return lambda env: env.overrides[node] if node in env.overrides else integral(env)


def _emit_piecewise(node: sympy.Piecewise) -> Emitted:
    from phijax.lowering.piecewise import emit_piecewise

    return emit_piecewise(node, emit)


RULES: dict[type, Callable[[Any], Emitted]] = {
    sympy.Symbol: _emit_symbol,
    sympy.Number: _emit_number,
    sympy.NumberSymbol: _emit_number,
    sympy.core.numbers.ImaginaryUnit: lambda node: lambda env: 1j,
    boolalg.BooleanTrue: lambda node: lambda env: True,
    boolalg.BooleanFalse: lambda node: lambda env: False,
    sympy.Pow: _emit_power,
    sympy.Abs: _emit_abs,
    sympy.Heaviside: _emit_heaviside,
    sympy.polygamma: _emit_polygamma,
    sympy.Piecewise: _emit_piecewise,
    Known: _emit_known,
    Quadrature: _emit_quadrature,
}
