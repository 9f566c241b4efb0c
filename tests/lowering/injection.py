"""Known functions in the networks' place, in float64: the value of a term is then known."""

from collections.abc import Mapping
from functools import reduce
from operator import mul
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy.integrals.quadrature import gauss_legendre

import phijax as phi
from phijax._precision import precision_scope
from phijax.lowering import ExactLayout, Expressions, constraint_expressions
from phijax.sampling import RegionSampler
from phijax.sampling.points import Points
from phijax.symbolic import Quadrature


def problem_of(*unknowns: Any) -> phi.Problem:
    """A problem that holds the given fields and parameters and says nothing of interest about them."""
    symbols = dict.fromkeys(symbol for field in unknowns for symbol in getattr(field, "coordinates", ()))
    domain = reduce(mul, (phi.Interval(symbol, -50, 50) for symbol in symbols))
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
        residuals = jax.vmap(lambda point: lowered.pointwise(layout.model(), point))(points)
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
    number = complex(_number(expression.doit(), at))
    return number.real if number.imag == 0 else number


def _number(expression: sympy.Expr, at: Mapping[str, float]) -> sympy.Expr:
    """The expression in 30 digits; integrals by the 24 nodes of Gauss and Legendre, in as many digits."""
    expression = expression.subs({s: sympy.Float(at[s.name], 40) for s in expression.free_symbols})
    nodes, weights = gauss_legendre(24, 30)

    def integrated(integrand: sympy.Expr, where: sympy.Tuple, _: Any) -> sympy.Expr:
        symbol, low, high = where[0], _number(where[1], at), _number(where[2], at)
        places = [low + (high - low) * (1 + node) / 2 for node in nodes]
        values = [_number(integrand.subs(symbol, place), at) for place in places]
        return (high - low) / 2 * sum(w * v for w, v in zip(weights, values, strict=True))

    return expression.replace(Quadrature, integrated).evalf(30)
