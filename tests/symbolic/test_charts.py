"""Polar, cylindrical and spherical charts: operators against Cartesian ones by sympy, identities, sides, integrals."""

import json
import pickle

import numpy as np
import pytest
import sympy
from sympy import Eq, Rational, cos, exp, log, pi, sin

import phijax as phi
from phijax.formulation.manufactured import substitute
from phijax.formulation.serialization import from_json, to_json

x, y, z = sympy.symbols("x y z", real=True)
r, theta = phi.polar("r theta")
height = phi.coordinate("z")
rc, tc, zc = phi.cylindrical("r theta z")
rs, ts, ps = phi.spherical("r theta phi")

# (coordinates, their Cartesian place, unit vectors as columns); the third is the polar chart times a plain height.
CHARTS = {
    "polar": ((r, theta), (r * cos(theta), r * sin(theta))),
    "cylindrical": ((rc, tc, zc), (rc * cos(tc), rc * sin(tc), zc)),
    "polar and height": ((r, theta, height), (r * cos(theta), r * sin(theta), height)),
    "spherical": ((rs, ts, ps), (rs * sin(ts) * cos(ps), rs * sin(ts) * sin(ps), rs * cos(ts))),
}
# Smooth, of no symmetry, with numbers drawn once by hand.
SCALARS = (
    x**2 * y + Rational(3, 7) * x * y + exp(x / 3) * sin(y - Rational(1, 5)),
    sin(Rational(7, 5) * x) * cos(y / 2) + Rational(2, 3) * y**3 - x,
    exp(-y / 4) * cos(x + Rational(2, 3)) + x * y**2,
)
DEPTH = (1 + Rational(3, 5) * z + z**2, cos(z + Rational(1, 3)), exp(z / 2))
AT = (1.37, 0.81, 0.53)


def cartesian(d):
    """(axes, a scalar, a vector) in d dimensions."""
    axes = (x, y, z)[:d]
    parts = [s * (depth if d == 3 else 1) for s, depth in zip(SCALARS, DEPTH, strict=True)]
    return axes, parts[0], sympy.Matrix(parts[:d])


def basis(coordinates, place):
    """Unit vectors of the chart, one a column, from the derivatives of the place."""
    jacobian = sympy.Matrix(place).jacobian(coordinates)
    columns = [jacobian[:, i] for i in range(len(coordinates))]
    lengths = [sympy.sqrt(sympy.simplify(column.dot(column))).replace(sympy.Abs, lambda a: a) for column in columns]
    return sympy.Matrix.hstack(*(column / length for column, length in zip(columns, lengths, strict=True)))


class Case:
    """One chart, with the same scalar and vector as Cartesian expressions and as the chart's."""

    def __init__(self, name):
        self.axes, self.place = CHARTS[name]
        self.cartesian, f, v = cartesian(len(self.axes))
        self.moved = dict(zip(self.cartesian, self.place, strict=True))
        self.f, self.v = f, v
        self.basis = basis(self.axes, self.place)
        self.field = phi.field("f", *self.axes)
        self.fields = [phi.field(f"v{i}", *self.axes) for i in range(len(self.axes))]
        along = self.basis.T * v.subs(self.moved, simultaneous=True)
        self.given = {self.field: f.subs(self.moved, simultaneous=True), **dict(zip(self.fields, along, strict=True))}

    def number(self, expression):
        return sympy.lambdify(self.axes, sympy.Matrix([expression]), "numpy", cse=True)(*AT[: len(self.axes)])

    def in_chart(self, expression):
        """Of the operators applied to the fields, with the given functions in their places."""
        matrix = expression if isinstance(expression, sympy.MatrixBase) else sympy.Matrix([expression])
        return self.number(matrix.applyfunc(lambda e: substitute(e, self.given)))

    def expected(self, expression, turn=True):
        """A Cartesian scalar, or vector turned into the chart's directions."""
        moved = sympy.Matrix([expression]).subs(self.moved, simultaneous=True)
        return self.number(self.basis.T * moved if turn else moved)


@pytest.fixture(scope="module", params=list(CHARTS))
def case(request):
    return Case(request.param)


def test_scalars_have_the_cartesian_gradient_and_laplacian(case):
    gradient = sympy.Matrix([case.f.diff(a) for a in case.cartesian])
    np.testing.assert_allclose(case.in_chart(phi.grad(case.field)), case.expected(gradient), rtol=1e-11)
    laplacian = sum(case.f.diff(a, 2) for a in case.cartesian)
    np.testing.assert_allclose(
        case.in_chart(phi.laplacian(case.field)), case.expected(laplacian, turn=False), rtol=1e-11
    )


def test_vectors_have_the_cartesian_divergence_curl_and_laplacian(case):
    v, axes = case.v, case.cartesian
    divergence = sum(v[i].diff(a) for i, a in enumerate(axes))
    np.testing.assert_allclose(case.in_chart(phi.div(case.fields)), case.expected(divergence, turn=False), rtol=1e-11)
    laplacian = sympy.Matrix([sum(part.diff(a, 2) for a in axes) for part in v])
    np.testing.assert_allclose(case.in_chart(phi.laplacian(case.fields)), case.expected(laplacian), rtol=1e-11)
    if len(axes) == 2:
        rotation = v[1].diff(x) - v[0].diff(y)
    else:
        rotation = sympy.Matrix([v[2].diff(y) - v[1].diff(z), v[0].diff(z) - v[2].diff(x), v[1].diff(x) - v[0].diff(y)])
    found = case.in_chart(phi.curl(case.fields))
    np.testing.assert_allclose(found, case.expected(rotation, turn=len(axes) == 3), rtol=1e-11)


def test_the_gradient_of_a_vector_turns_as_a_tensor_and_the_normal_derivative_is_a_row_of_it(case):
    cartesian = case.v.jacobian(case.cartesian).subs(case.moved, simultaneous=True)
    turned = case.number(case.basis.T * cartesian * case.basis)
    np.testing.assert_allclose(case.in_chart(phi.grad(case.fields)), turned, rtol=1e-11)
    normals = {phi.normal(axis): (0, 1, 0)[i] for i, axis in enumerate(case.axes)}
    along = phi.normal_derivative(case.fields).subs(normals)
    np.testing.assert_allclose(case.in_chart(along), turned[:, 1:2], rtol=1e-11)


def test_identities_hold_for_any_field(case):
    curl_of_gradient = phi.curl(phi.grad(case.field))
    assert sympy.simplify(sympy.Matrix([curl_of_gradient])) == sympy.zeros(*sympy.Matrix([curl_of_gradient]).shape)
    whole = phi.curl(case.fields) if len(case.axes) == 3 else phi.curl(case.field)
    assert sympy.simplify(sympy.expand(phi.div(whole, over=case.axes))) == 0
    assert sympy.simplify(sympy.expand(phi.div(phi.grad(case.field)) - phi.laplacian(case.field))) == 0


def test_printed_as_in_the_books():
    u = phi.field("u", r, theta)
    assert sympy.expand(phi.laplacian(u)) == u.diff(r, 2) + u.diff(r) / r + u.diff(theta, 2) / r**2
    a, b = phi.fields("a b", r, theta)
    first, second = phi.laplacian((a, b))
    assert sympy.expand(first - phi.laplacian(a)) == sympy.expand(-a / r**2 - 2 * b.diff(theta) / r**2)
    assert sympy.expand(second - phi.laplacian(b)) == sympy.expand(-b / r**2 + 2 * a.diff(theta) / r**2)


# ---- symmetries ------------------------------------------------------------------------------------------------------


def test_coordinates_that_a_field_lacks_are_symmetries():
    u, w = phi.field("u", r), phi.field("w", rs)
    assert sympy.expand(phi.laplacian(u)) == u.diff(r, 2) + u.diff(r) / r
    assert sympy.expand(phi.laplacian(w)) == w.diff(rs, 2) + 2 * w.diff(rs) / rs
    assert sympy.expand(phi.div((w,))) == w.diff(rs) + 2 * w / rs
    assert sympy.expand(phi.laplacian((w,))[0]) == w.diff(rs, 2) + 2 * w.diff(rs) / rs - 2 * w / rs**2
    axial = phi.field("p", rc, zc)
    assert sympy.expand(phi.laplacian(axial)) == axial.diff(rc, 2) + axial.diff(rc) / rc + axial.diff(zc, 2)


def test_an_axisymmetric_flow_of_two_components_is_that_of_three_without_swirl():
    a, b = phi.fields("a b", rc, zc)
    whole = (a, sympy.Integer(0), b)
    over = (rc, tc, zc)
    assert sympy.expand(phi.div((a, b)) - phi.div(whole, over=over)) == 0
    assert sympy.expand(phi.curl((a, b)) + phi.curl(whole, over=over)[1]) == 0
    three = phi.laplacian(whole, over=over)
    assert (phi.laplacian((a, b)) - sympy.Matrix([three[0], three[2]])).expand() == sympy.zeros(2, 1)
    psi = phi.field("psi", rc, zc)
    assert sympy.simplify(sympy.expand(phi.div(phi.curl(psi)))) == 0


def test_a_tuple_that_is_no_vector_of_the_chart_is_refused():
    with pytest.raises(ValueError, match=r"laplacian of 1 components .* over 2 space coordinates"):
        phi.laplacian((phi.field("a", r, theta),))
    with pytest.raises(ValueError, match="polar takes 2 names in one string"):
        phi.polar("r theta z")


# ---- symbols ---------------------------------------------------------------------------------------------------------


def test_a_coordinate_knows_its_chart_and_equals_another_of_the_same():
    again, _ = phi.polar("r theta")
    assert again == r
    assert hash(again) == hash(r)
    assert len({r, rc, rs, phi.coordinate("r")}) == 4
    assert pickle.loads(pickle.dumps(rs)) == rs
    assert pickle.loads(pickle.dumps(rs)).chart == ("spherical", "r", "theta", "phi")


def annulus_problem():
    u = phi.field("u", r, theta)
    annulus = phi.Interval(r, 1, 2) * phi.Interval(theta, 0, 2 * pi, periodic=True)
    return phi.Problem(
        annulus,
        {
            "pde": Eq(phi.laplacian(u), 0),
            "inner": phi.on(annulus.side("r-"), Eq(phi.normal_derivative(u), -1)),
            "outer": phi.on(annulus.side("r+"), Eq(u, log(2))),
            "mean": Eq(phi.integral(u, over=annulus), pi * (4 * log(2) - Rational(3, 2))),
        },
    )


def test_a_problem_keeps_the_chart_in_its_file_and_in_print():
    problem = annulus_problem()
    again = from_json(json.loads(json.dumps(to_json(problem))))
    assert again.fingerprint == problem.fingerprint
    assert again.domain == problem.domain
    assert again.domain.coordinates[0].chart == ("polar", "r", "theta")
    assert "u_r/r" in str(problem)


# ---- regions ---------------------------------------------------------------------------------------------------------


def test_the_axis_is_no_side_and_says_so():
    disk = phi.Interval(r, 0, 1) * phi.Interval(theta, 0, 2 * pi, periodic=True)
    assert [name for name, _ in disk.boundary.pieces] == ["r+"]
    assert "r reaches the axis of its chart, which is no side; use at(r=...)" in disk.side("r-").faults[0]
    assert "r reaches the axis" in disk.side("left").faults[0]
    ball = phi.Interval(rs, 0, 1) * phi.Interval(ts, 0, pi) * phi.Interval(ps, 0, 2 * pi, periodic=True)
    assert [name for name, _ in ball.boundary.pieces] == ["r+"]
    wedge = phi.Interval(r, 0, 1) * phi.Interval(theta, 0, pi / 3)
    assert [name for name, _ in wedge.boundary.pieces] == ["r+", "theta-", "theta+"]
    assert disk.at(r=0).faults == ()


def test_round_shapes_over_a_chart_are_refused():
    with pytest.raises(ValueError, match=r"Ball: r is of a polar chart, .* products of phi.Interval"):
        phi.Disk((r, theta))


def test_a_radius_begins_at_zero_and_the_angle_from_an_axis_ends_at_pi():
    with pytest.raises(ValueError, match="the bounds of r are -1 and 1; in its polar chart it is between 0 and oo"):
        phi.Interval(r, -1, 1)
    with pytest.raises(
        ValueError, match=r"the bounds of theta are 0 and 2\*pi; in its spherical chart it is between 0"
    ):
        phi.Interval(ts, 0, 2 * pi)
    assert phi.Interval(theta, -pi, pi).measure == pytest.approx(2 * np.pi)
