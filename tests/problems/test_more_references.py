"""References in the plane, in a hundred dimensions and in a ring of triangles, each against a second way to its numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import fft
from scipy.integrate import solve_ivp

from phijax import problems
from phijax._precision import precision_scope
from phijax.problems import poisson_100d
from phijax.problems.references import ginzburg_landau, gray_scott, kuramoto_sivashinsky, lorenz, make_torus
from phijax.problems.references._etdrk4_square import evolve_square
from phijax.problems.references._norms import relative_l2


def square(points):
    """Even points of [-1, 1]^2 without the upper ends, and squares of the wave numbers of complex modes."""
    line, numbers = -1 + 2 * np.arange(points) / points, np.pi * np.fft.fftfreq(points, 1 / points)
    return *np.meshgrid(line, line, indexing="ij"), numbers[:, None] ** 2 + numbers**2


@pytest.mark.parametrize("phase", [1.0, 1j])
def test_a_film_of_diffusion_alone_is_exact_between_points_and_times(phase):
    def exact(x, y, t):
        return (phase * np.sin(3 * np.pi * x + np.pi * y) * np.exp(-(np.pi**2) * t)).real

    if phase == 1j:
        exact = lambda x, y, t: np.exp(1j * np.pi * (2 * x - y) - 0.5 * np.pi**2 * t)
    film = evolve_square(
        lambda x, y: exact(x, y, 0.0)[None],
        lambda square: -0.1 * square[None],
        np.zeros_like,
        low=-1.0,
        length=2.0,
        edges=np.array([0.0, 0.1, 0.3]),
        points=32,
        steps=20,
    )
    x, y, t = np.random.default_rng(0).uniform([[-3], [-1], [0]], [[1], [1], [0.3]], (3, 200))
    np.testing.assert_allclose(film(x, y, t)[0], exact(x, y, t), rtol=0, atol=1e-8)


def test_the_equation_of_kuramoto_and_sivashinsky_agrees_with_an_implicit_method_of_lines():
    points = 192
    grid, numbers = 2 * np.pi * np.arange(points) / points, np.fft.rfftfreq(points, 1 / points)
    symbol = 100 / 16**2 * numbers**2 - 100 / 16**4 * numbers**4

    def rate(t, u):
        modes = symbol * np.fft.rfft(u) - 50j / 16 * numbers * np.fft.rfft(u**2)
        return np.fft.irfft(modes, points)

    lines = solve_ivp(rate, (0, 0.1), np.cos(grid) * (1 + np.sin(grid)), method="BDF", rtol=1e-8, atol=1e-9)
    assert relative_l2(kuramoto_sivashinsky.values(grid, 0.1, 0.5)["u"], lines.y[:, -1]) < 1e-6


@pytest.mark.parametrize("t_end", [0.5, pytest.param(1.0, marks=pytest.mark.slow)])
def test_the_equation_of_kuramoto_and_sivashinsky_is_settled_in_modes_and_steps(t_end):
    x, t = np.meshgrid(np.linspace(0, 2 * np.pi, 65), np.linspace(0, t_end, 38))
    finer = kuramoto_sivashinsky.solved(t_end, 320, 12_000)(x, t)
    assert relative_l2(kuramoto_sivashinsky.values(x, t, t_end)["u"], finer) < kuramoto_sivashinsky.ERRORS[t_end]


def vortex_by_splitting(at, points, steps):
    """A by Strang's splitting: both halves have closed forms."""
    x, y, wave = square(points)
    now, h = ginzburg_landau.initial(x, y), at / steps
    half = np.exp(h / 2 * (10 - 0.004 * wave))

    for _ in range(steps):
        now = fft.ifft2(half * fft.fft2(now))
        now = now * (1 + 20 * h * np.abs(now) ** 2) ** (-0.5 * (1 + 1.5j))
        now = fft.ifft2(half * fft.fft2(now))
    return x, y, now


def test_the_vortex_agrees_with_a_splitting_whose_error_of_second_order_is_taken_off():
    x, y, coarse = vortex_by_splitting(0.1, 128, 40)
    fine = vortex_by_splitting(0.1, 128, 80)[2]
    own = ginzburg_landau.values(x, y, 0.1, k=10.0, eps=0.004, t_end=0.2)["A"]
    assert relative_l2(own, (4 * fine - coarse) / 3) < ginzburg_landau.ERROR


@pytest.mark.slow
@pytest.mark.parametrize("t_end", [0.2, 1.0])
def test_the_vortex_is_settled_in_modes_and_steps(t_end):
    x, y, t = np.random.default_rng(1).uniform([[-1], [-1], [0]], [[1], [1], [t_end]], (3, 3000))
    finer = ginzburg_landau.solved(10.0, 0.004, t_end, points=192, steps=100)(x, y, t)[0]
    own = ginzburg_landau.values(x, y, t, k=10.0, eps=0.004, t_end=t_end)["A"]
    assert relative_l2(own, finer) < ginzburg_landau.ERROR


def test_feeder_and_eater_agree_with_an_explicit_method_of_lines():
    points = 96
    x, y, wave = square(points)
    rates = np.stack([0.2 * wave, 0.1 * wave])

    def rate(t, flat):
        u, v = fields = flat.reshape(2, points, points)
        spread = fft.ifft2(rates * fft.fft2(fields)).real
        turned = 1000 * u * v**2
        return (np.stack([40 * (1 - u) - turned, turned - 100 * v]) - spread).ravel()

    start = gray_scott.initial(x, y).ravel()
    lines = solve_ivp(rate, (0, 0.004), start, method="DOP853", rtol=1e-9, atol=1e-10).y[:, -1]
    for own, other in zip(gray_scott.values(x, y, 0.004, 0.2).values(), lines.reshape(2, points, points), strict=True):
        assert relative_l2(own, other) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("t_end", gray_scott.ERRORS)
def test_feeder_and_eater_are_settled_in_modes_and_steps(t_end):
    x, y, t = np.random.default_rng(1).uniform([[-1], [-1], [0]], [[1], [1], [t_end]], (3, 3000))
    finer = gray_scott.solved(t_end, points=160, steps=50)(x, y, t)
    for own, other in zip(gray_scott.values(x, y, t, t_end).values(), finer, strict=True):
        assert relative_l2(own, other) < gray_scott.ERRORS[t_end]


def test_the_equations_of_lorenz_agree_with_a_runge_kutta_method():
    def rate(t, y):
        return [10 * (y[1] - y[0]), y[0] * (15 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]

    t = np.linspace(0, 3, 61)
    other = solve_ivp(rate, (0, 3), lorenz.START, method="DOP853", rtol=1e-13, atol=1e-13, t_eval=t).y
    for own, row in zip(lorenz.values(t).values(), other, strict=True):
        assert relative_l2(own, row) < 1e-11


def test_the_source_in_a_hundred_dimensions_is_the_laplacian_of_the_solution():
    def exact(x):
        a, b = x[:-1], x[1:]
        return (1 - x @ x) * jnp.sum(poisson_100d.WEIGHTS * jnp.sin(a + jnp.cos(b) + b * jnp.cos(a)))

    with precision_scope("float64"):
        for x in 0.08 * np.random.default_rng(0).standard_normal((2, 100)):
            laplacian = jax.jit(lambda x: jnp.trace(jax.hessian(exact)(x)))(jnp.asarray(x))
            assert float(poisson_100d.source(*x)) == pytest.approx(-float(laplacian), rel=1e-12)


def test_the_file_of_the_ring_is_what_its_script_makes_and_holds_its_volume():
    corners = make_torus.triangles()
    assert corners.shape == (2 * 64 * 32, 3, 3)
    np.testing.assert_allclose((np.hypot(corners[..., 0], corners[..., 1]) - 1) ** 2 + corners[..., 2] ** 2, 0.16)
    ring = problems.get("poisson_mesh").problem().domain
    np.testing.assert_array_equal(
        np.unique(ring.vertices, axis=0), np.unique(np.float32(corners.reshape(-1, 3)), axis=0)
    )
    # A 32-gon that is taken round on a 64-gon.
    volume = 64 * np.sin(2 * np.pi / 64) * 16 * 0.4**2 * np.sin(2 * np.pi / 32)
    assert ring.measure == pytest.approx(volume, rel=1e-6)


def test_readings_of_the_potential_are_the_same_at_every_call_and_carry_the_noise_asked_for():
    module = problems.get("poisson_inverse")
    clean, noisy = module.observations(0.0), module.observations(0.1)
    np.testing.assert_array_equal(clean["x"], noisy["x"])
    np.testing.assert_array_equal(noisy["u"], module.observations(0.1)["u"])
    assert np.std(noisy["u"] - clean["u"]) == pytest.approx(0.1, rel=0.05)


def test_variants_and_reynolds_numbers_that_there_are_not_are_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="poisson_100d has no variant 'cube'; there are: norm, nonseparable"):
        problems.get("poisson_100d").problem(variant="cube")
    with pytest.raises(ValueError, match="cavity has no reference at Re = 400; there are Re = 100, 1000, 3200"):
        problems.get("cavity").problem(Re=400)
