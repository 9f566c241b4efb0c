"""Quadrature on regions: exact values, and the divergence theorem on closed boundaries."""

import numpy as np
import pytest
import sympy
from sympy import Rational, pi

import phijax.geometry as geo
from phijax.symbolic import coordinates, time

x, y, z = coordinates("x y z")
t = time("t")


def integral(expression, region, points=12):
    rule = region.quadrature(points)
    values = sympy.lambdify(list(region.coordinates), expression, "numpy")(*(rule.coordinates[n] for n in region.names))
    return np.sum(rule.weights * values)


def test_polynomials_are_integrated_exactly_on_boxes():
    box = geo.Rectangle((x, 0, 2), (y, -1, 3)) * geo.Interval(t, 0, 1)
    assert integral(x**5 * y**4 * t, box, 3) == pytest.approx(float(Rational(64, 6) * Rational(244, 5) / 2), rel=1e-13)
    assert integral(x**2 + y, box.at(t=Rational(1, 2)), 2) == pytest.approx(8 / 3 * 4 + 2 * 4, rel=1e-13)


def test_periodic_integrals_converge_at_once():
    ring = geo.Interval(x, 0, 2 * pi, periodic=True)
    assert integral(sympy.exp(sympy.cos(x)), ring, 16) == pytest.approx(2 * np.pi * np.i0(1), rel=1e-14)


@pytest.mark.parametrize(
    ("expression", "exact"),
    [(1 + 0 * x, pi), (x**2, pi / 4), (x**2 * y**2, pi / 24), (x**8, 7 * pi / 128), (sympy.exp(x), None)],
)
def test_integrals_on_the_disk(expression, exact):
    from scipy.special import iv

    value = 2 * np.pi * iv(1, 1) if exact is None else float(exact)
    assert integral(expression, geo.Disk((x, y))) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_moments_of_balls_and_spheres_in_every_dimension(d):
    axes = sympy.symbols(f"a:{d}")
    ball = geo.Ball(axes, center=range(d), radius=2)
    assert integral(1 + 0 * axes[0], ball, 4) == pytest.approx(ball.measure, rel=1e-13)
    second = integral((axes[-1] - (d - 1)) ** 2, ball, 4)
    assert second == pytest.approx(4 * ball.measure / (d + 2), rel=1e-13)
    sphere = dict(ball.boundary.pieces)[f"{'circle' if d == 2 else 'sphere'} in {', '.join(map(str, axes))}"]
    assert integral(1 + 0 * axes[0], sphere, 4) == pytest.approx(sphere.measure, rel=1e-13)
    fourth = integral((axes[0]) ** 4, sphere, 4)
    assert fourth == pytest.approx(16 * sphere.measure * 3 / (d * (d + 2)), rel=1e-12)


@pytest.mark.parametrize(
    "region",
    [
        geo.Interval(x, -1, 3),
        geo.Rectangle((x, 0, 2), (y, -1, 3)),
        geo.Box((x, 0, 2), (y, -1, 3), (z, 5, 6)),
        geo.Disk((x, y), center=(1, 2), radius=3),
        geo.Ball((x, y, z), center=(1, 2, 3), radius=2),
        geo.Disk((x, y), center=(1, 2), radius=3) * geo.Interval(z, 0, 5),
    ],
    ids=str,
)
def test_closed_boundaries_hold_the_divergence_theorem(region):
    """Sum of w n = 0 and sum of w x.n = d times the volume."""
    rule = region.boundary.quadrature(6)
    for name in region.names:
        assert np.sum(rule.weights * rule.normals[name]) == pytest.approx(0, abs=1e-11)
    flux = sum(np.sum(rule.weights * rule.normals[name] * rule.coordinates[name]) for name in region.names)
    assert flux == pytest.approx(region.dimension * region.measure, rel=1e-13)
    length = sum(column**2 for column in rule.normals.values())
    np.testing.assert_allclose(length, 1, rtol=1e-14)


def test_a_flux_through_a_boundary_in_time_counts_space_alone():
    tube = geo.Interval(x, 0, 1) * geo.Interval(t, 0, 2)
    rule = tube.boundary.quadrature(4)
    assert set(rule.normals) == {"x"}
    assert np.sum(rule.weights * rule.normals["x"] * rule.coordinates["x"]) == pytest.approx(2)


def test_points_are_summed_and_parts_by_a_condition_have_no_rule():
    assert integral(x + y, geo.Point({x: 2, y: 3})) == 5
    assert integral(x, geo.PointCloud({x: [1.0, 2.0, 4.0]})) == 7
    with pytest.raises(ValueError, match="a part chosen by a condition: it has no rule; sample it instead"):
        geo.Ball((x, y, z)).boundary(where=x > y).quadrature(3)
