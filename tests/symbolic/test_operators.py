"""Differential operators: their identities, the order of the axes, vectors, and names that begin alike."""

import pytest
import sympy

import phijax as phi
from phijax.formulation.manufactured import substitute

x, y, z = phi.coordinates("x y z")
t = phi.time("t")
Re = phi.coordinate("Re", kind="parameter")
f = phi.field("f", x, y, z)
g = phi.field("g", x, y, z)
F = phi.fields("F1 F2 F3", x, y, z)
p, q = phi.fields("p q", x, y)


def same(left, right):
    difference = left - right
    zero = sympy.zeros(*difference.shape) if isinstance(difference, sympy.MatrixBase) else 0
    return sympy.simplify(difference.expand()) == zero


def test_identities_of_vector_calculus_in_space():
    vector = sympy.Matrix(F)
    assert phi.curl(phi.grad(f)) == sympy.zeros(3, 1)
    assert phi.div(phi.curl(vector)) == 0
    assert same(phi.div(phi.grad(f)), phi.laplacian(f))
    assert same(phi.div(f * vector), f * phi.div(vector) + phi.grad(f).dot(vector))
    assert same(phi.laplacian(f * g), f * phi.laplacian(g) + 2 * phi.grad(f).dot(phi.grad(g)) + g * phi.laplacian(f))
    assert same(phi.curl(phi.curl(vector)), phi.grad(phi.div(vector)) - phi.laplacian(vector))


def test_identities_in_the_plane():
    assert phi.curl(p) == sympy.Matrix([p.diff(y), -p.diff(x)])
    assert phi.curl((p, q)) == q.diff(x) - p.diff(y)
    assert phi.div(phi.curl(p)) == 0
    assert phi.curl(phi.curl(p)) == -phi.laplacian(p)


def test_operators_of_a_given_field_are_those_of_sympy():
    given = {f: x**2 * y * z**3, g: sympy.sin(x * y)}
    assert substitute(phi.laplacian(f), given) == 2 * y * z**3 + 6 * x**2 * y * z
    assert substitute(phi.grad(f)[2], given) == 3 * x**2 * y * z**2
    assert same(substitute(phi.laplacian(g), given), -(x**2 + y**2) * sympy.sin(x * y))


def test_only_space_is_differentiated():
    w = phi.field("w", t, x, Re, y)
    assert phi.grad(w) == sympy.Matrix([w.diff(x), w.diff(y)])
    assert phi.laplacian(w) == w.diff(x, 2) + w.diff(y, 2)
    assert phi.dt(w) == w.diff(t)
    assert phi.dt(w, 2) == w.diff(t, 2)
    assert phi.dt((w, w**2)) == sympy.Matrix([w.diff(t), 2 * w * w.diff(t)])


def test_laplacian_of_a_vector_is_taken_component_by_component_whatever_their_names():
    for names in ("ab cd", "u ux", "x2 x", "u u_x"):
        one, two = (phi.field(f"{name}_", x, y) if name == "x" else phi.field(name, x, y) for name in names.split())
        found = substitute(phi.laplacian((one, two)), {one: x**2 + y**2, two: x**2 - y**2})
        assert found == sympy.Matrix([4, 0])


def test_gradient_of_a_vector_is_the_matrix_of_its_components_by_the_axes():
    assert phi.grad((p, q)) == sympy.Matrix([[p.diff(x), p.diff(y)], [q.diff(x), q.diff(y)]])


def test_normal_derivative_is_the_sum_of_normal_components_times_slopes():
    nx, ny = phi.normal(x), phi.normal(y)
    assert phi.normal_derivative(p) == nx * p.diff(x) + ny * p.diff(y)
    assert phi.normal_derivative((p, q))[1] == nx * q.diff(x) + ny * q.diff(y)
    assert phi.normal_derivative(p).diff(x) == nx * p.diff(x, 2) + ny * p.diff(x, y)


# ---- the order of the axes -------------------------------------------------------------------------------------------


def test_the_order_is_the_fields_own_and_not_that_of_names():
    turned = phi.field("turned", z, x)
    assert phi.grad(turned) == sympy.Matrix([turned.diff(z), turned.diff(x)])
    assert phi.div((p, turned.subs({z: y})), over=(x, y)) == p.diff(x) + turned.subs(z, y).diff(y)


@pytest.mark.parametrize("name", ["a", "k", "zeta"])
def test_a_coefficient_of_fewer_coordinates_does_not_turn_the_axes(name):
    k = phi.field(name, y)
    expected = k * p.diff(x, 2) + k * p.diff(y, 2) + k.diff(y) * p.diff(y)
    assert same(phi.div(k * phi.grad(p)), expected)
    assert phi.grad(k * p)[0] == k * p.diff(x)


def test_an_order_that_the_fields_leave_open_is_refused_where_it_matters():
    k, m = phi.field("k", x), phi.field("m", y)
    message = r"the fields in k, m do not settle the order of the space coordinates x, y; name them with over=\(x, y\)"
    with pytest.raises(ValueError, match=message):
        phi.div((k, m))
    with pytest.raises(ValueError, match="do not settle the order"):
        phi.curl((phi.field("a", x, y), phi.field("b", y, x)))
    assert phi.div((k, m), over=(x, y)) == k.diff(x) + m.diff(y)
    assert phi.laplacian(k * m) == k.diff(x, 2) * m + k * m.diff(y, 2)
    assert phi.normal_derivative(k + m) == phi.normal(x) * k.diff(x) + phi.normal(y) * m.diff(y)


def test_coordinates_that_stand_in_the_expression_are_differentiated_too():
    k = phi.field("k", y)
    assert phi.laplacian(x**2 * k) == 2 * k + x**2 * k.diff(y, 2)
    assert phi.laplacian(x**2 * y**3) == 2 * y**3 + 6 * x**2 * y
    assert phi.grad(x * p) == sympy.Matrix([p + x * p.diff(x), x * p.diff(y)])


def test_symbols_that_are_no_coordinates_are_not_differentiated():
    nu, lam = sympy.Symbol("nu"), phi.parameter("lam")
    assert phi.div(nu * lam * phi.grad(p)) == nu * lam * phi.laplacian(p).expand() or same(
        phi.div(nu * lam * phi.grad(p)), nu * lam * phi.laplacian(p)
    )
    assert phi.laplacian(phi.normal(x) * p) == phi.normal(x) * p.diff(x, 2) + phi.normal(x) * p.diff(y, 2)


# ---- what cannot be ----------------------------------------------------------------------------------------------------

REFUSED = {
    "components": (
        lambda: phi.div((p, q, p)),
        ValueError,
        r"div of 3 components \(p\(x, y\), q\(x, y\), p\(x, y\)\) over 2 space coordinates \(x, y\): give one component a",
    ),
    "scalar": (
        lambda: phi.div(p),
        TypeError,
        r"p\(x, y\) is no vector; write its components as a tuple, as in \(u, v\)",
    ),
    "curl on a line": (lambda: phi.curl(phi.field("w", x)), ValueError, r"curl of the scalar w\(x\) needs two space"),
    "curl in four": (
        lambda: phi.curl(phi.fields("a b c d", x, y, z, phi.coordinate("s"))),
        ValueError,
        "curl exists in two and three dimensions, not over x, y, z, s",
    ),
    "no coordinate": (lambda: phi.grad(sympy.Integer(3)), ValueError, "3 has no space coordinate to differentiate by"),
    "no time": (
        lambda: phi.dt(p),
        ValueError,
        r"dt\(p\(x, y\)\) needs one coordinate of time, made by phi.time; found none",
    ),
    "two times": (lambda: phi.dt(phi.field("w", t, phi.time("s"))), ValueError, "needs one coordinate of time"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_operator_that_has_no_meaning_says_why(name):
    use, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        use()
