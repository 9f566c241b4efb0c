"""What lowering has no rule for is refused when a problem is compiled, by constraint and sub-expression (contract D4)."""

import math

import jax.numpy as jnp
import pytest
import sympy
from sympy import Eq

import phijax as phi
from phijax.lowering import LoweringError
from phijax.lowering.emit import emit
from phijax.networks import MLP
from phijax.training.compiling import compile as compiled

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
x = phi.coordinate("x")
u = phi.field("u", x)
interval = phi.Interval(x, 0, 1)


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        (
            Eq(u, sympy.besselj(0, x) + 1),
            r"constraint 'law': besselj in the sub-expression besselj\(0, x\) has no counterpart in JAX; rewrite it with "
            r"elementary functions, or bring it as phi.function\('besselj', callable\)",
        ),
        (Eq(sympy.LambertW(u), x), r"constraint 'law': LambertW in the sub-expression LambertW\(u\(x\)\)"),
        (Eq(sympy.Abs(u).diff(x, 2), x), r"constraint 'law': DiracDelta in the sub-expression DiracDelta\(u\(x\)\)"),
        (Eq(u, sympy.Integral(u, x)), r"constraint 'law': the integral .* has no limits; write it with phi.integral"),
        (Eq(u, sympy.Sum(x, (sympy.Symbol("n", integer=True), 1, sympy.oo))), "'law'"),
        (Eq(u.diff(x), phi.integral(u, (x, 0, sympy.oo))), "'law': .*not finite"),
        (Eq(u, sympy.polygamma(x, u)), "constraint 'law': polygamma of the order x has no counterpart"),
        (Eq(u, sympy.LambertW(u).diff(x) + sympy.zeta(u).diff(x)), "constraint 'law'"),
    ],
)
def test_unknown_node_is_refused_with_the_constraint_and_the_sub_expression(equation, message):
    with pytest.raises((LoweringError, phi.DeclarationError), match=message):
        compiled(phi.Problem(interval, {"law": equation}), network=MLP(width=4, depth=1))


@pytest.mark.parametrize("number", [sympy.oo, -sympy.oo, sympy.nan])
def test_a_number_that_is_not_finite_is_refused(number):
    with pytest.raises(LoweringError, match=f"{number} in an expression is not finite"):
        emit(number)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (math.sin, r"fails on an array \(TypeError: .*\); write it with jax.numpy or numpy operations on arrays"),
        (lambda z: z / (1 // 0), r"fails on an array \(ZeroDivisionError: .*\); write it with jax.numpy"),
        (lambda z: None, "gives NoneType; a number, or an array of them, is needed"),
        (lambda z: "one", "gives str; a number, or an array of them, is needed"),
        (lambda z: jnp.zeros(3), r"gives shape \(3,\) for one point; one value a point is needed"),
    ],
)
def test_a_function_that_fails_is_named_with_its_constraint(source, message):
    problem = phi.Problem(interval, {"law": Eq(u.diff(x), phi.function("f", source)(x))})
    with pytest.raises(LoweringError, match=f"constraint 'law': the function 'f' {message}"):
        compiled(problem, network=MLP(width=4, depth=1))


def test_a_function_that_is_said_to_be_real_and_gives_complex_values_is_named():
    law = phi.function("f", lambda z: jnp.exp(1j * z), complex=False)
    with pytest.raises(LoweringError, match=r"the function 'f' gives complex values; make it by phi.function\('f', "):
        compiled(phi.Problem(interval, {"law": Eq(u, law(x))}), network=MLP(width=4, depth=1))


def test_unknown_node_of_one_term_of_a_system_names_the_term():
    problem = phi.Problem(interval, {"flow": {"mass": Eq(u, 0), "heat": Eq(u, sympy.zeta(x))}})
    with pytest.raises(LoweringError, match=r"constraint 'flow': 'heat': zeta in the sub-expression zeta\(x\)"):
        compiled(problem, network=MLP(width=4, depth=1))


def test_integral_over_a_part_that_has_no_rule_is_refused_by_constraint():
    y, z = phi.coordinates("y z")
    v, box = phi.field("v", x, y, z), phi.Box((x, 0, 1), (y, 0, 1), (z, 0, 1))
    odd = box.boundary(where=sympy.sin(9 * x + y + z) > 0)
    problem = phi.Problem(box, {"flux": Eq(phi.integral(v, over=odd), 1)})
    with pytest.raises(LoweringError, match=r"constraint 'flux': integral over .*has no rule"):
        compiled(problem, network=MLP(width=4, depth=1))


def test_a_problem_with_nothing_to_train_is_refused():
    with pytest.raises(ValueError, match="'empty' has no constraint to train on"):
        compiled(phi.Problem(interval, {}, name="empty"))
