"""Known functions in the networks' place, in float64: the value of a term is then known."""

from collections.abc import Callable, Mapping
from functools import reduce
from operator import mul
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy

import phijax as phi
from phijax._precision import precision_scope
from phijax.lowering import ExactLayout, Expressions, constraint_expressions
from phijax.sampling import RegionSampler
from phijax.sampling.points import Points
from phijax.symbolic import Quadrature, allowed


def problem_of(*unknowns: Any) -> phi.Problem:
    """A problem that holds the given fields and parameters and says nothing of interest about them."""
    symbols = dict.fromkeys(symbol for field in unknowns for symbol in getattr(field, "coordinates", ()))
    ends = {symbol: allowed(symbol) for symbol in symbols}
    domain = reduce(mul, (phi.Interval(symbol, max(-50, low), min(50, high)) for symbol, (low, high) in ends.items()))
    return phi.Problem(domain, {"all": {unknown.name: unknown - sympy.pi**7 for unknown in unknowns}})


def value(expression: Any, fields: Mapping[Any, Any], **at: Any) -> Any:
    """The expression at one point, or at several, with the fields (and parameters) as given."""
    problem = problem_of(*fields)
    with precision_scope("float64"):
        layout = ExactLayout(problem, fields)
        lowered = Expressions(layout, {"": expression}, split_complex=False)
        point = Points({name: jnp.asarray(number, float) for name, number in at.items()})
        function = lambda one: lowered.pointwise(layout.model(), one)[""]
        if not any(np.ndim(number) for number in at.values()):
            return np.asarray(function(point)).item()
        return np.asarray(jax.vmap(function)(point))


def inject(problem: phi.Problem, fields: Mapping[Any, Any], constraint: str, **at: Any) -> dict[str, np.ndarray]:
    """{label: residual} of one constraint, on given points or on 16 of its region."""
    with precision_scope("float64"):
        layout = ExactLayout(problem, fields)
        lowered = constraint_expressions(layout, problem.constraints[constraint])
        if at:
            columns = np.broadcast_arrays(*(np.asarray(column, float) for column in at.values()))
            points = Points({name: jnp.asarray(column) for name, column in zip(at, columns, strict=True)})
        else:
            points = RegionSampler(problem.constraints[constraint].region).sample(jax.random.key(0), 16)
        residuals = jax.jit(jax.vmap(lambda point: lowered.pointwise(layout.model(), point)))(points)
        return {label: np.asarray(residual) for label, residual in residuals.items()}


def exact_value(expression: Any, fields: Mapping[Any, Any], **at: float) -> complex | float:
    """The same by sympy alone, in 30 digits."""
    for field, given in fields.items():
        if isinstance(field, sympy.Symbol):
            expression = expression.subs(field, given)
            continue
        coordinates, given = field.coordinates, sympy.sympify(given)

        def at_arguments(*arguments: Any, coordinates=coordinates, given=given) -> Any:
            fresh = [sympy.Dummy() for _ in coordinates]
            moved = given.subs(list(zip(coordinates, fresh, strict=True)))
            return moved.subs(list(zip(fresh, arguments, strict=True)))

        expression = expression.replace(field.func, at_arguments)
    expression = expression.doit()
    if expression.has(Quadrature):
        return _compiled(expression)(dict(at))
    number = complex(expression.evalf(30, subs={s: sympy.Float(at[s.name], 40) for s in expression.free_symbols}))
    return number.real if number.imag == 0 else number


def _compiled(expression: sympy.Expr) -> Callable[[Mapping[str, float]], float]:
    """An expression with integrals as a function of values by name, in SciPy."""
    integrals: dict[sympy.Basic, sympy.Dummy] = {}

    def hide(node: sympy.Basic) -> sympy.Basic:
        if isinstance(node, Quadrature):
            return integrals.setdefault(node, sympy.Dummy(f"integral_{len(integrals)}"))
        return node.func(*map(hide, node.args)) if node.args else node

    bare = hide(expression)
    functions = {stand_in.name: _integrated(node) for node, stand_in in integrals.items()}
    symbols = sorted(bare.free_symbols, key=lambda s: s.name)
    numeric = sympy.lambdify(symbols, bare, modules=["scipy", "numpy"])

    def function(at: Mapping[str, float]) -> float:
        known = {**at, **{name: integral(at) for name, integral in functions.items()}}
        return numeric(*(known[symbol.name] for symbol in symbols))

    return function


def _integrated(node: Quadrature) -> Callable[[Mapping[str, float]], float]:
    """By the 24 nodes of Gauss and Legendre."""
    inside, (symbol, *limits) = _compiled(node.args[0]), node.args[1]
    low, high = map(_compiled, limits)
    nodes, weights = np.polynomial.legendre.leggauss(24)

    def function(at: Mapping[str, float]) -> float:
        a, b = low(at), high(at)
        places = a + (b - a) * (1 + nodes) / 2
        return (b - a) / 2 * sum(w * inside({**at, symbol.name: s}) for w, s in zip(weights, places, strict=True))

    return function
