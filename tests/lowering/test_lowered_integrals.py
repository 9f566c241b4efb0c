"""Integrals in equations: over limits, moving limits, regions and boundaries, each at the other coordinates' values."""

import numpy as np
import pytest
import sympy
from injection import inject, value

import phijax as phi
from phijax.lowering import LoweringError

x, y, s = phi.coordinates("x y s")
u, w = phi.field("u", x, y), phi.field("w", x)
AT = {"x": 1.3, "y": 0.2}
near = lambda number: pytest.approx(float(number), rel=1e-13)


def test_over_fixed_limits_at_each_value_of_the_other_coordinate():
    assert value(phi.integral(u, (x, 0, 2)), {u: x**3 * y}, **AT) == near(4 * 0.2)
    assert value(phi.integral(u, (x, 0, 2)) * u, {u: x**3 * y}, **AT) == near(4 * 0.2 * 1.3**3 * 0.2)


def test_up_to_the_coordinate_itself():
    assert value(phi.integral(u, (x, 0, x)), {u: x**2 * y}, **AT) == near(1.3**3 / 3 * 0.2)
    assert value(sympy.Integral(u, (x, 0, x)), {u: x**2 * y}, **AT) == near(1.3**3 / 3 * 0.2)
    assert value(phi.integral(u, (x, x, 0)), {u: x**2 * y}, **AT) == near(-(1.3**3) / 3 * 0.2)


def test_nested_integrals_up_to_the_coordinate():
    twice = phi.integral(phi.integral(u, (x, 0, x)), (x, 0, x))
    assert value(twice, {u: x**2 * y}, **AT) == near(1.3**4 / 12 * 0.2)


def test_several_limits_the_first_innermost_as_in_sympy():
    for integral in (phi.integral(u, (x, 0, y), (y, 0, 1)), sympy.Integral(u, (x, 0, y), (y, 0, 1))):
        assert value(integral, {u: x}, **AT) == near(1 / 6)


def test_leibniz_rule():
    moving = phi.integral(u.subs(x, s) * x, (s, 0, x))
    assert value(moving.diff(x), {u: x * y}, **AT) == near(1.5 * 1.3**2 * 0.2)
    assert value(moving.diff(x, 2), {u: x * y}, **AT) == near(3 * 1.3 * 0.2)
    assert value(phi.integral(u.diff(x), (x, 0, x)), {u: x**2 * y}, **AT) == near(1.3**2 * 0.2)


def test_substitution_leaves_bound_symbols_alone_and_captures_none():
    fixed = phi.integral(u.subs(x, s), (s, 0, 1))
    assert value(fixed.subs(s, 7), {u: x * y}, **AT) == near(0.1)
    assert value(fixed.subs(y, s).subs(s, x), {u: x * y}, **AT) == near(0.65)
    assert value(phi.integral(u, over=phi.Interval(x, 0, 1)).subs(y, 3), {u: x * y}, **AT) == near(1.5)


def test_substitution_into_an_integral_over_a_region_that_would_capture_is_refused():
    with pytest.raises(ValueError, match=r"x cannot be put for y in integral\(.*\), which integrates over x itself"):
        phi.integral(u, over=phi.Interval(x, 0, 1)).subs(y, x)


def test_an_integral_over_a_region_inside_one_up_to_the_coordinate():
    inner = phi.integral(w, over=phi.Interval(x, 0, 1))
    assert value(phi.integral(w * inner, (x, 0, x)), {w: x}, x=1.3) == near(1.3**2 / 2 / 2)


def test_over_regions_of_several_axes():
    assert value(phi.integral(u, over=phi.Rectangle((x, 0, 1), (y, 0, 2))), {u: x * y}, **AT) == near(1)
    assert value(phi.integral(u**2, over=phi.Disk((x, y), radius=2)), {u: x}, **AT) == near(4 * np.pi)


def test_flux_through_a_boundary_binds_the_normal_and_obeys_the_divergence_theorem():
    plate = phi.Rectangle((x, 0, 1), (y, 0, 2))
    flux = phi.integral(phi.normal_derivative(u), over=plate.boundary)
    inside = phi.integral(phi.laplacian(u), over=plate)
    assert value(flux, {u: x**2 * y + y**3}, **AT) == near(16)
    assert value(inside, {u: x**2 * y + y**3}, **AT) == near(16)
    disk = phi.Disk((x, y))
    assert value(phi.integral(phi.normal_derivative(u), over=disk.boundary), {u: x**2 + y**2}, **AT) == near(4 * np.pi)


def test_points_sets_the_rule():
    assert value(phi.integral(w, (x, 0, 1), points=1), {w: x**2}, x=0.0) == 0.25
    assert value(phi.integral(w, (x, 0, 1), points=2), {w: x**2}, x=0.0) == near(1 / 3)


def test_conserved_mass_as_a_constraint():
    t, space = phi.time("t"), phi.Interval(x, 0, 1)
    rho = phi.field("rho", x, t)
    problem = phi.Problem(space * phi.Interval(t, 0, 2), {"mass": sympy.Eq(phi.integral(rho, over=space), 1)})
    found = inject(problem, {rho: 2 * x + t}, "mass", x=[0.1, 0.9], t=[0.5, 2.0])[""]
    assert found == pytest.approx([0.5, 2.0], rel=1e-14)


def test_an_integral_without_limits_is_refused_by_name():
    with pytest.raises(LoweringError, match=r"the integral .* has no limits; write it with phi.integral"):
        value(sympy.Integral(w, x), {w: x}, x=1.0)


def test_an_integral_to_infinity_is_refused():
    with pytest.raises(LoweringError, match="oo in an expression is not finite"):
        value(phi.integral(w, (x, 0, sympy.oo)), {w: x}, x=1.0)
