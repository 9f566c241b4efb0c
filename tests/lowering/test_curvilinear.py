"""Problems in charts, with exact solutions in the place of the network: residuals, fluxes and integrals by number."""

import jax
import numpy as np
import pytest
from injection import inject, value
from sympy import Eq, Rational, cos, log, pi, sin

import phijax as phi
from phijax._precision import precision_scope
from phijax.lowering import Layout, constraint_expressions
from phijax.sampling import RegionSampler

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
r, theta = phi.polar("r theta")
rs, ts, ps = phi.spherical("r theta phi")
rc, tc, zc = phi.cylindrical("r theta z")
annulus = phi.Interval(r, 1, 2) * phi.Interval(theta, 0, 2 * pi, periodic=True)
u, w = phi.field("u", r, theta), phi.field("w", rs)


def test_the_logarithm_solves_the_annulus_with_its_fluxes():
    problem = phi.Problem(
        annulus,
        {
            "pde": Eq(phi.laplacian(u), 0),
            "inner": phi.on(annulus.side("r-"), Eq(phi.normal_derivative(u), -1)),
            "outer": phi.on(annulus.side("r+"), Eq(phi.normal_derivative(u), Rational(1, 2))),
            "gauge": phi.on(annulus.side("r+"), Eq(u, log(2))),
        },
    )
    for name in problem.constraints:
        np.testing.assert_allclose(inject(problem, {u: log(r)}, name)[""], 0, atol=1e-13)


def test_a_wedge_has_the_flux_per_length_on_its_straight_sides():
    wedge = phi.Interval(r, 0, 1) * phi.Interval(theta, 0, pi / 3)
    given = {u: r * cos(theta - pi / 7)}  # a straight slope: n . (cos pi/7, sin pi/7) on both sides
    flux = phi.on(wedge.boundary(theta), Eq(phi.normal_derivative(u), 0))
    problem = phi.Problem(wedge, {"pde": Eq(phi.laplacian(u), 0), "flux": flux})
    np.testing.assert_allclose(inject(problem, given, "pde")[""], 0, atol=1e-10)
    found = np.unique(np.round(inject(problem, given, "flux")[""], 12))
    # outward normals (0, -1) and (-sin pi/3, cos pi/3)
    expected = [-np.sin(np.pi / 7), -np.sin(np.pi / 3) * np.cos(np.pi / 7) + np.cos(np.pi / 3) * np.sin(np.pi / 7)]
    np.testing.assert_allclose(found, sorted(expected), rtol=1e-10)


def test_a_radial_ball_in_which_heat_is_made_is_finite_up_to_its_middle():
    ball = phi.Interval(rs, 0, 1)
    problem = phi.Problem(
        ball,
        {
            "pde": Eq(phi.laplacian(w), -6),
            "wall": phi.on(ball.boundary, Eq(phi.normal_derivative(w), -2)),
            "middle": phi.on(ball.at(r=0), Eq(w.diff(rs), 0)),
            "total": Eq(phi.integral(w, over=ball), 4 * pi * Rational(2, 15)),
            "surface": Eq(phi.integral(w + 1, over=ball.boundary), 4 * pi),
        },
    )
    for name in problem.constraints:
        np.testing.assert_allclose(inject(problem, {w: 1 - rs**2}, name)[""], 0, atol=1e-12)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_points_stay_off_the_axis_so_that_the_equation_is_finite(precision):
    disk = phi.Interval(r, 0, 1) * phi.Interval(theta, 0, 2 * pi, periodic=True)
    with precision_scope(precision):
        points = RegionSampler(disk).sample(jax.random.key(0), 4096)
        assert np.all(np.isfinite(1 / np.asarray(points.coordinates["r"]) ** 2))


def test_integrals_are_over_length_area_and_volume():
    number = lambda expression: value(expression, {u: 1 + r * cos(theta)}, r=1.5, theta=0.3)
    assert number(phi.integral(u, over=annulus)) == pytest.approx(3 * np.pi, rel=1e-13)
    assert number(phi.integral(u, over=annulus.boundary)) == pytest.approx(6 * np.pi, rel=1e-13)
    ray = phi.Interval(r, 1, 2)  # at each angle: along the ray
    assert number(phi.integral(u, over=ray)) == pytest.approx(1 + 1.5 * np.cos(0.3), rel=1e-13)
    assert number(phi.integral(u, (r, 1, 2))) == pytest.approx(1 + 1.5 * np.cos(0.3), rel=1e-13)
    cap = phi.Interval(rs, 0, 2) * phi.Interval(ts, 0, pi / 3)
    v = phi.field("v", rs, ts)
    over_cap = value(phi.integral(v, over=cap), {v: rs**2 + 0 * ts}, r=1.0, theta=1.0)
    assert over_cap == pytest.approx(2 * np.pi * (32 / 5) * 0.5, rel=1e-13)


def test_a_swirl_between_cylinders_is_steady_stokes_flow():
    a, b = phi.fields("a b", rc, tc)
    ring = phi.Interval(rc, 1, 2) * phi.Interval(tc, 0, 2 * pi, periodic=True)
    momentum = phi.laplacian((a, b, 0 * a), over=(rc, tc, zc))
    problem = phi.Problem(
        ring, {"flow": {"r": Eq(momentum[0], 0), "theta": Eq(momentum[1], 0), "div": phi.div((a, b))}}
    )
    given = {a: 0 * rc, b: 3 * rc + 5 / rc + 0 * sin(tc)}
    for residual in inject(problem, given, "flow").values():
        np.testing.assert_allclose(residual, 0, atol=1e-12)


def test_values_and_fluxes_are_built_in_exactly_on_the_sides_of_a_wedge():
    wedge = phi.Interval(r, 1, 2) * phi.Interval(theta, 0, 1)
    sides = {
        "low": phi.on(wedge.side("theta-"), Eq(u, sin(pi * r)), exact=True),
        "high": phi.on(wedge.side("theta+"), Eq(phi.normal_derivative(u), 3), exact=True),
    }
    problem = phi.Problem(wedge, {"pde": Eq(phi.laplacian(u), 0), **sides})
    with precision_scope("float64"):
        layout = Layout(problem, phi.MLP(width=6, depth=1))
        model = layout.initial(jax.random.key(3))
        for name in sides:
            lowered = constraint_expressions(layout, problem.constraints[name])
            points = RegionSampler(problem.constraints[name].region).sample(jax.random.key(0), 8)
            residual = jax.vmap(lambda point, lowered=lowered: lowered.pointwise(model, point)[""])(points)
            np.testing.assert_allclose(residual, 0, atol=1e-12)
