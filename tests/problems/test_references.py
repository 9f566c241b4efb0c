"""Each reference against a second way to the same numbers, within the error that it states."""

import numpy as np
import pytest
from numpy.polynomial import chebyshev
from scipy.integrate import solve_ivp

from phijax.problems.references import _finite_elements as finite_elements
from phijax.problems.references import (
    allen_cahn,
    burgers,
    cavity,
    heat_fin,
    kdv,
    lotka_volterra,
    poisson_disks,
    poisson_lshape,
    reaction_diffusion,
    stokes_cylinder,
    van_der_pol,
)
from phijax.problems.references._norms import relative_l2
from phijax.problems.references._pieces import fit, times
from phijax.problems.references.make_cavity import solve as solve_cavity

NU = 0.01 / np.pi


def chebyshev_slopes(degree):
    """Nodes on [0, 1] and the matrix that differentiates there."""
    nodes = (1 - np.cos(np.pi * np.arange(degree + 1) / degree)) / 2
    values = chebyshev.chebvander(2 * nodes - 1, degree)
    slopes = 2 * chebyshev.chebvander(2 * nodes - 1, degree - 1) @ chebyshev.chebder(np.eye(degree + 1))
    return nodes, np.linalg.solve(values.T, slopes.T).T


def burgers_by_lines(nu, at, degree):
    """u on Chebyshev nodes of [0, 1], where the odd solution vanishes at both ends, by an implicit method."""
    nodes, slope = chebyshev_slopes(degree)
    inner, curvature = slice(1, -1), slope @ slope

    def rate(t, u):
        return -u * (slope[inner, inner] @ u) + nu * (curvature[inner, inner] @ u)

    def jacobian(t, u):
        first = slope[inner, inner]
        return -np.diag(first @ u) - u[:, None] * first + nu * curvature[inner, inner]

    start = -np.sin(np.pi * nodes[inner])
    result = solve_ivp(rate, (0, at), start, method="Radau", jac=jacobian, rtol=1e-8, atol=1e-10)
    return nodes[inner], result.y[:, -1]


@pytest.mark.parametrize(("nu", "degree", "error"), [(0.01, 80, 1e-9), (NU, 110, 1e-7)])
def test_cole_hopf_agrees_with_a_chebyshev_method_of_lines(nu, degree, error):
    x, u = burgers_by_lines(nu, 0.6, degree)
    assert relative_l2(burgers.cole_hopf(x, 0.6, nu), u) < error


@pytest.mark.parametrize("nu", [0.001, NU, 0.1])
@pytest.mark.parametrize("t", [1e-12, 1e-4, 0.2, 1 / np.pi, 3.0])
def test_cole_hopf_is_settled_in_the_number_of_nodes(nu, t):
    x = np.linspace(-1, 1, 101)
    finer = burgers.cole_hopf(x, np.full(101, t), nu, spacing=0.2)
    np.testing.assert_allclose(burgers.cole_hopf(x, t, nu), finer, rtol=0, atol=3e-15)


def test_cole_hopf_begins_at_the_sine_and_stays_odd_about_both_zeros():
    x = np.linspace(-1, 1, 41)
    np.testing.assert_array_equal(burgers.cole_hopf(x, 0.0, NU), -np.sin(np.pi * x))
    np.testing.assert_allclose(burgers.cole_hopf(x, 1e-14, NU), -np.sin(np.pi * x), rtol=0, atol=1e-12)
    np.testing.assert_allclose(burgers.cole_hopf(np.array([-1.0, 0.0, 1.0]), 0.7, NU), 0.0, rtol=0, atol=1e-14)


def test_the_slope_of_burgers_at_the_origin_is_the_tabulated_one():
    # 152.00516 at t pi = 1.6037 (Basdevant et al. 1986, Table 1).
    h, at = 1e-5, 1.6037 / np.pi
    slope = -(burgers.cole_hopf(np.array([h]), at, NU) / h).item()
    assert slope == pytest.approx(152.00516, abs=2e-3)


def allen_cahn_by_fourier(variant, at, modes, steps):
    """u on an even grid of [-1, 1) by exponential Runge-Kutta of order 4 (Cox and Matthews 2002)."""
    x, h = -1 + 2 * np.arange(modes) / modes, at / steps
    rate = -allen_cahn.DIFFUSION * (np.pi * np.fft.rfftfreq(modes, 1 / modes)) ** 2
    circle = h * rate[:, None] + np.exp(1j * np.pi * (np.arange(1, 33) - 0.5) / 32)
    power = np.exp(circle)
    whole, half = np.exp(h * rate), np.exp(h * rate / 2)
    inner = h * ((np.exp(circle / 2) - 1) / circle).mean(axis=1).real
    first = h * ((-4 - circle + power * (4 - 3 * circle + circle**2)) / circle**3).mean(axis=1).real
    middle = h * ((2 + circle + power * (circle - 2)) / circle**3).mean(axis=1).real
    last = h * ((-4 - 3 * circle - circle**2 + power * (4 - circle)) / circle**3).mean(axis=1).real

    def reaction(series):
        u = np.fft.irfft(series, modes)
        return np.fft.rfft(5 * u - 5 * u**3)

    now = np.fft.rfft(allen_cahn.initial(x, variant))
    for _ in range(steps):
        at_start = reaction(now)
        a = half * now + inner * at_start
        at_a = reaction(a)
        at_b = reaction(half * now + inner * at_a)
        at_end = reaction(half * a + inner * (2 * at_b - at_start))
        now = whole * now + first * at_start + 2 * middle * (at_a + at_b) + last * at_end
    return x, np.fft.irfft(now, modes)


@pytest.mark.parametrize(
    ("variant", "at", "modes", "error"),
    # The Fourier grid sees the kink to 1 / modes^2 until diffusion has rounded it off.
    [("kink", 0.1, 1024, 1e-5), ("kink", 1.0, 1024, 1e-9), ("smooth", 0.1, 512, 2e-10), ("smooth", 1.0, 1024, 1e-9)],
)
def test_allen_cahn_agrees_with_a_fourier_method(variant, at, modes, error):
    x, u = allen_cahn_by_fourier(variant, at, modes, steps=400)
    solver = allen_cahn.reference(variant).solver
    assert relative_l2(solver(x=x, t=at)["u"], u) < error


@pytest.mark.parametrize("variant", allen_cahn.VARIANTS)
def test_allen_cahn_is_even_periodic_and_begins_at_its_initial_value(variant):
    solver = allen_cahn.reference(variant).solver
    x = np.linspace(-1, 1, 81)
    np.testing.assert_array_equal(solver(x=x, t=0.0)["u"], allen_cahn.initial(x, variant))
    soon, t = solver(x=x, t=1e-9)["u"], np.full(81, 0.37)
    np.testing.assert_allclose(soon, allen_cahn.initial(x, variant), rtol=0, atol=1e-6)
    np.testing.assert_allclose(solver(x=-x, t=t)["u"], solver(x=x, t=t)["u"], rtol=0, atol=1e-13)
    np.testing.assert_allclose(solver(x=x + 2, t=t)["u"], solver(x=x, t=t)["u"], rtol=0, atol=1e-9)


def test_the_initial_value_of_allen_cahn_has_its_kink_at_the_seam_alone():
    h = 1e-6
    for variant, slope in (("kink", -2.0), ("smooth", 0.0)):
        before = (allen_cahn.initial(1.0, variant) - allen_cahn.initial(1.0 - h, variant)) / h
        assert before == pytest.approx(slope, abs=1e-4)


def test_lotka_volterra_agrees_with_a_runge_kutta_method_and_keeps_its_invariant():
    t = np.linspace(0, 10, 101)
    kept = lotka_volterra.reference().solver(t=t)

    def rate(t, y):
        return [1.5 * y[0] - y[0] * y[1], y[0] * y[1] - 3 * y[1]]

    other = solve_ivp(rate, (0, 10), [1.0, 1.0], method="DOP853", rtol=1e-13, atol=1e-13, t_eval=t).y
    assert relative_l2(kept["x"], other[0]) < 1e-11
    assert relative_l2(kept["y"], other[1]) < 1e-11
    invariant = kept["x"] - 3 * np.log(kept["x"]) + kept["y"] - 1.5 * np.log(kept["y"])
    np.testing.assert_allclose(invariant, 2.0, rtol=0, atol=1e-12)


def derivative(function, axis, x, y, order=1, h=1e-3):
    """By central differences of order 6, along x or y."""
    weights = {1: [-1 / 60, 3 / 20, -3 / 4, 0, 3 / 4, -3 / 20, 1 / 60]}
    weights[2] = [1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90]
    moved = (function(x + k * h, y) if axis == "x" else function(x, y + k * h) for k in range(-3, 4))
    return sum(w * value for w, value in zip(weights[order], moved, strict=True)) / h**order


@pytest.mark.parametrize("reynolds", cavity.DEGREES)
def test_the_cavity_solves_the_equations_of_flow_between_its_walls(reynolds):
    solver, random = cavity.reference(reynolds).solver, np.random.default_rng(3)
    x, y = random.uniform(0.05, 0.95, (2, 200))
    u, v, p = (lambda x, y, name=name: solver(x=x, y=y)[name] for name in "uvp")
    here = solver(x=x, y=y)
    for part, axis in ((u, "x"), (v, "y")):
        convection = here["u"] * derivative(part, "x", x, y) + here["v"] * derivative(part, "y", x, y)
        viscous = (derivative(part, "x", x, y, 2) + derivative(part, "y", x, y, 2)) / reynolds
        residual = convection + derivative(p, axis, x, y) - viscous
        assert np.abs(residual).max() < 1e-3
        assert np.sqrt(np.mean(residual**2)) < 1e-4
    divergence = derivative(u, "x", x, y) + derivative(v, "y", x, y)
    np.testing.assert_allclose(divergence, 0.0, rtol=0, atol=1e-9)


@pytest.mark.parametrize("reynolds", cavity.DEGREES)
def test_the_cavity_fits_its_lid_its_walls_and_its_gauge(reynolds):
    solver, s = cavity.reference(reynolds).solver, np.linspace(0, 1, 51)
    power = 1 if reynolds == cavity.PARABOLIC else 2
    lid = solver(x=s, y=np.ones(51))
    np.testing.assert_allclose(lid["u"], (4 * s * (1 - s)) ** power, rtol=0, atol=1e-9)
    walls = [solver(x=s, y=np.zeros(51)), solver(x=np.zeros(51), y=s), solver(x=np.ones(51), y=s)]
    for part in [lid["v"], *(wall[name] for wall in walls for name in "uv")]:
        np.testing.assert_allclose(part, 0.0, rtol=0, atol=1e-9)
    assert abs(solver(x=np.zeros(1), y=np.zeros(1))["p"].item()) < 1e-12


def test_the_cavity_at_a_low_order_agrees_to_the_error_of_that_order():
    x, y = np.meshgrid(*[(np.arange(40) + 0.5) / 40] * 2)
    coarse, kept = solve_cavity(16)(x, y), cavity.reference().solver(x=x, y=y)
    assert relative_l2(coarse["u"], kept["u"]) < 3e-4
    assert relative_l2(coarse["v"], kept["v"]) < 5e-4
    assert relative_l2(coarse["p"], kept["p"]) < 2e-3


def test_pieces_give_back_a_polynomial_at_any_point():
    x_edges, t_edges = np.array([0.0, 0.3, 1.0]), np.array([0.0, 0.1, 0.5, 2.0])
    local = -np.cos(np.pi * np.arange(4) / 3)
    x = x_edges[:-1, None] + np.diff(x_edges)[:, None] * (1 + local) / 2
    nodes = times(t_edges, 2)
    values = (x**3 - x)[:, :, None, None] * (1 + nodes**2)[None, None] + x[:, :, None, None]
    pieces = fit(x_edges, t_edges, local, values)
    at_x, at_t = np.array([0.0, 0.15, 0.3, 0.9, 1.0]), np.array([2.0, 0.1, 0.05, 1.7, 0.0])
    np.testing.assert_allclose(pieces(at_x, at_t), (at_x**3 - at_x) * (1 + at_t**2) + at_x, rtol=0, atol=1e-10)
    assert pieces(np.zeros(0), np.zeros(0)).shape == (0,)


def test_the_equation_of_korteweg_and_de_vries_agrees_with_more_modes_and_steps_and_with_an_implicit_method_of_lines():
    x, t = np.meshgrid(np.linspace(-1, 1, 65), np.linspace(0, 1, 33))
    own = kdv.solved(0.022, 1.0)(x, t)
    assert relative_l2(own, kdv.solved(0.022, 1.0, points=384, steps=8000)(x, t)) < kdv.ERROR
    points = 192
    grid, numbers = -1 + 2 * np.arange(points) / points, np.pi * np.fft.rfftfreq(points, 1 / points)

    def rate(time, u):
        modes = np.fft.rfft(u)
        steep = np.fft.irfft(1j * numbers * np.fft.rfft(u**2) / 2, points)
        return -steep + np.fft.irfft(1j * 0.022**2 * numbers**3 * modes, points)

    lines = solve_ivp(rate, (0, 0.4), np.cos(np.pi * grid), method="DOP853", rtol=1e-9, atol=1e-9)
    assert relative_l2(kdv.solved(0.022, 1.0)(grid, 0.4), lines.y[:, -1]) < 1e-6


def test_the_l_shape_solves_its_equation_and_agrees_with_graded_finite_elements():
    (x, y), found = finite_elements.lshape(3, 10)
    assert relative_l2(found["u"], poisson_lshape.values(x, y)["u"]) < 1e-4
    # -lap u = 1, so that u + r^2 / 4 takes its mean over any circle at the centre.
    angle = 2 * np.pi * np.arange(64) / 64
    for cx, cy, r in [(-0.5, 0.5, 0.4), (0.5, 0.45, 0.4), (-0.25, -0.3, 0.2)]:
        ring = poisson_lshape.values(cx + r * np.cos(angle), cy + r * np.sin(angle))["u"]
        centre = poisson_lshape.values(np.array([cx]), np.array([cy]))["u"]
        assert abs(np.mean(ring) + r**2 / 4 - centre.item()) < 1e-12


def test_the_l_shape_vanishes_on_all_edges_to_its_stated_error_and_has_its_singular_slope():
    s = np.linspace(0, 1, 101)
    error = poisson_lshape.reference().error * 0.1
    for x, y in [
        (s, 0 * s),
        (0 * s, -s),
        (1 + 0 * s, s),
        (2 * s - 1, 1 + 0 * s),
        (-1 + 0 * s, 2 * s - 1),
        (-s, 0 * s - 1),
    ]:
        assert np.abs(poisson_lshape.values(x, y)["u"]).max() < max(error, 1e-12)
    r = np.array([1e-6, 1e-5])
    near, far = poisson_lshape.values(-r / np.sqrt(2), r / np.sqrt(2))["u"]
    assert np.log10(far / near) == pytest.approx(2 / 3, abs=1e-3)


def test_the_potential_of_the_disks_agrees_with_finite_elements_and_loses_no_flux():
    (x, y), found = finite_elements.disks(8)
    assert relative_l2(found["u"], poisson_disks.values(x, y)["u"]) < 2e-5
    circle, side = poisson_disks.edge(500)
    assert np.abs(poisson_disks.values(circle.real, circle.imag)["u"]).max() < 1e-10
    assert np.abs(poisson_disks.values(side.real, side.imag)["u"] - 1).max() < 1e-12
    s, h = (np.arange(64) + 0.5) / 128, 1e-4
    inward = derivative(lambda x, y: poisson_disks.values(x, y)["u"], "x", np.full(64, 0.5 - 1e-3), s)
    around = 0.3 + 0.1001 * np.exp(2j * np.pi * np.arange(256) / 256)[:, None] * np.array([[1, np.exp(h)]])
    u = poisson_disks.values(around.real, around.imag + 0.3)["u"]
    into_disk = 2 * np.pi * np.mean(u[:, 1] - u[:, 0]) / h
    assert 8 * np.mean(inward) / 2 == pytest.approx(4 * into_disk, rel=2e-3)


def test_heat_in_the_plate_with_a_hole_agrees_with_finite_elements_in_space_and_steps_in_time():
    (x, y), found = finite_elements.fin(6, 120)
    t = np.linspace(0, 1, len(found))[:, None]
    assert relative_l2(found, heat_fin.values(x, y, t)["T"]) < 3e-4
    np.testing.assert_array_equal(heat_fin.values(x, y, 0.0)["T"], np.zeros(x.size))


def test_the_flow_past_a_cylinder_agrees_with_elements_of_taylor_and_hood_at_their_order():
    errors = []
    for layers in (6, 12):
        (at, flow), (corners, pressure) = finite_elements.channel(layers)
        known = stokes_cylinder.values(*at) | {"p": stokes_cylinder.values(*corners)["p"]}
        errors.append([relative_l2(value, known[name]) for name, value in (flow | pressure).items()])
    (u, v, p), (finer_u, finer_v, finer_p) = errors
    assert finer_u < 1e-4
    assert finer_v < 3e-4
    assert finer_p < 3e-3
    assert u / finer_u > 2**2.7
    assert v / finer_v > 2**2.7
    assert p / finer_p > 2**1.7


def test_the_flow_past_a_cylinder_keeps_its_boundary_values_and_its_volume():
    for name, z in stokes_cylinder.edges(501).items():
        flow = stokes_cylinder.values(z.real + 0.5, z.imag + 0.5)
        if name != "outlet":
            np.testing.assert_allclose(flow["u"], 1 - 4 * z.imag**2 if name == "inlet" else 0.0, rtol=0, atol=1e-8)
            np.testing.assert_allclose(flow["v"], 0.0, rtol=0, atol=1e-8)
    nodes, weights = np.polynomial.legendre.leggauss(32)
    through = [weights @ stokes_cylinder.values(x, 0.5 + nodes / 2)["u"] / 2 for x in (0.2, 0.8, 1.4, 2.0)]
    np.testing.assert_allclose(through, 2 / 3, rtol=0, atol=1e-8)


def test_the_oscillator_of_van_der_pol_agrees_with_a_runge_kutta_method():
    def rate(t, y):
        return [y[1], 5 * (1 - y[0] ** 2) * y[1] - y[0]]

    t = np.linspace(0, 10, 101)
    other = solve_ivp(rate, (0, 10), [2.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-13, t_eval=t).y[0]
    assert relative_l2(van_der_pol.reference().solver(t=t)["x"], other) < 1e-9


def test_fishers_equation_agrees_with_an_implicit_method_of_lines():
    points = 256
    grid, numbers = 2 * np.pi * np.arange(points) / points, np.fft.rfftfreq(points, 1 / points)

    def rate(t, u):
        return np.fft.irfft(-5 * numbers**2 * np.fft.rfft(u), points) + 5 * u * (1 - u)

    start = np.exp(-8 * (grid / np.pi - 1) ** 2)
    other = solve_ivp(rate, (0, 0.2), start, method="BDF", rtol=1e-8, atol=1e-10).y[:, -1]
    assert relative_l2(reaction_diffusion.solved(5.0, 5.0)(grid, np.full(points, 0.2)), other) < 1e-6
