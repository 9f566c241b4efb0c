"""Complex fields: parts, moduli and their derivatives, and residuals of two parts."""

import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from injection import inject, problem_of, value
from sympy import Abs, Eq, I, conjugate, exp, im, re, sech

import phijax as phi
from phijax._precision import precision_scope
from phijax.formulation.serialization import from_json, to_json
from phijax.lowering import ExactLayout, constraint_expressions

x, t = phi.coordinate("x"), phi.time("t")
h = phi.field("h", x, t, complex=True)
AT = {"x": 0.3, "t": 0.2}
WAVE = exp(I * x)
domain = phi.Interval(x, -sympy.pi, sympy.pi, periodic=True) * phi.Interval(t, 0, sympy.pi / 2)
schrodinger = phi.Problem(
    domain,
    {
        "linear": Eq(I * h.diff(t) + h.diff(x, 2) / 2, 0),
        "cubic": Eq(I * h.diff(t) + h.diff(x, 2) / 2 + Abs(h) ** 2 * h, 0),
        "initial": phi.on(domain.at(t=0), Eq(h, exp(I * x))),
        "modulus": phi.on(domain.at(t=1), Eq(Abs(h) ** 2, 1)),
    },
)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (re(h).diff(x), -np.sin(0.3)),
        (im(h).diff(x), np.cos(0.3)),
        (conjugate(h).diff(x), -np.sin(0.3) - 1j * np.cos(0.3)),
        (sympy.arg(h).diff(x), 1.0),
        (sympy.arg(h), 0.3),
        (Abs(h), 1.0),
        (Abs(h).diff(x), 0.0),
        (h * conjugate(h), 1.0),
        (h.diff(x, 2), -np.exp(0.3j)),
        (h**3, np.exp(0.9j)),
        (1 / h, np.exp(-0.3j)),
        (exp(I * h.diff(x)), np.exp(-np.exp(0.3j))),
        (phi.integral(h, (x, 0, sympy.pi)), 2j),
        (sympy.sign(h), np.exp(0.3j)),
    ],
    ids=str,
)
def test_functions_of_a_complex_wave(expression, expected):
    assert value(expression, {h: WAVE}, **AT) == pytest.approx(expected, rel=1e-14, abs=1e-15)


def test_parts_with_plain_symbols_as_coordinates_are_differentiated_as_by_real_ones():
    X = sympy.Symbol("X")
    f = phi.field("f", X, complex=True)
    assert value(re(f).diff(X), {f: exp(I * X)}, X=0.3) == pytest.approx(-np.sin(0.3), rel=1e-14)


def test_squared_modulus_and_its_slope_exist_where_the_field_is_zero():
    wave = x * exp(I * x)
    assert value((Abs(h) ** 2).diff(x), {h: wave}, **AT) == pytest.approx(0.6, rel=1e-14)
    assert value((Abs(h) ** 2).diff(x), {h: wave}, x=0.0, t=0.0) == 0.0
    assert value((h * conjugate(h)).diff(x, 2), {h: wave}, x=0.0, t=0.0) == pytest.approx(2.0, rel=1e-14)


def test_both_parts_of_the_linear_equation_vanish_on_a_plane_wave():
    found = inject(schrodinger, {h: exp(I * (x - t / 2))}, "linear")
    assert set(found) == {"real", "imag"}
    assert max(np.abs(part).max() for part in found.values()) < 1e-15


def test_both_parts_of_the_cubic_equation_vanish_on_the_bright_soliton():
    found = inject(schrodinger, {h: sech(x) * exp(I * t / 2)}, "cubic")
    assert max(np.abs(part).max() for part in found.values()) < 1e-14


def test_parts_of_a_residual_are_its_real_and_its_imaginary_part():
    found = inject(schrodinger, {h: (3 + 4 * I) * x**2}, "linear", x=[1.0], t=[0.5])
    assert (found["real"][0], found["imag"][0]) == (3.0, 4.0)
    assert np.abs(inject(schrodinger, {h: exp(I * x)}, "initial")["imag"]).max() < 1e-16


def test_a_real_equation_of_a_complex_field_has_one_part():
    found = inject(schrodinger, {h: 2 * exp(I * x)}, "modulus")
    assert list(found) == [""]
    assert found[""] == pytest.approx(np.full(16, 3.0), rel=1e-14)


def test_labels_of_parts_in_a_system():
    problem = phi.Problem(domain, {"pair": {"a": Eq(h, I), "b": Eq(re(h), 0)}})
    with precision_scope("float64"):
        lowered = constraint_expressions(ExactLayout(problem, {h: x}), problem.constraints["pair"])
    assert lowered.labels == ("a_real", "a_imag", "b")


def test_real_and_complex_fields_in_one_equation():
    v = phi.field("v", x, t)
    expression = Abs(h) ** 2 * v.diff(x) + re(conjugate(h) * h.diff(x))
    assert problem_of(h, v).fields["h"].func.is_complex_field
    assert value(expression, {h: 2 * WAVE, v: x**2}, **AT) == pytest.approx(4 * 0.6, rel=1e-14)


turning = phi.function("f", lambda z: jnp.exp(1j * z))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (re(turning(x)), np.cos(0.3)),
        (conjugate(turning(x)), np.exp(-0.3j)),
        (re(turning(x)).diff(x), -np.sin(0.3)),
        (turning(2 * x).diff(x, 2), -4 * np.exp(0.6j)),
        (im(phi.function("g", jnp.exp)(h)), np.exp(np.cos(0.3)) * np.sin(np.sin(0.3))),
        (phi.function("g", jnp.abs)(h), 1.0),
    ],
    ids=str,
)
def test_parts_of_a_complex_valued_function(expression, expected):
    assert value(expression, {h: WAVE}, **AT) == pytest.approx(expected, rel=1e-14, abs=1e-15)


def test_the_residual_of_a_complex_valued_function_has_two_parts_also_when_stored():
    problem = from_json(to_json(phi.Problem(domain, {"law": Eq(h.diff(x), phi.function("conj", jnp.conj)(h))})))
    layout = ExactLayout(problem, {h: WAVE})
    assert constraint_expressions(layout, problem.constraints["law"]).labels == ("real", "imag")


@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
def test_a_complex_valued_function_in_a_real_equation_is_refused_by_name():
    w, line = phi.field("w", x), phi.Interval(x, 0, 1)
    with pytest.raises(
        phi.DeclarationError, match=r"'law': w_x = f.* holds the complex values of 'f' and no complex field"
    ):
        phi.Problem(line, {"law": Eq(w.diff(x), turning(x))})
    with pytest.raises(phi.DeclarationError, match=r"'start': w = w_value.* take their real part, as in re"):
        phi.Problem(line, {"start": phi.on(line.side("left"), {w: lambda x: 1j * x}, exact=True)})
    phi.Problem(line, {"law": Eq(w.diff(x), turning(x) * conjugate(turning(x)))})
