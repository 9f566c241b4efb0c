"""Training with exact slopes: known solutions are reached, and the conditions hold after it as before it."""

import numpy as np
import optax
import pytest
from sympy import Eq, cos, exp, sin

import phijax as phi

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
x, y = phi.coordinates("x y")
t = phi.time("t")
f, u, w = phi.field("f", x), *phi.fields("u w", x, t)
v = phi.field("v", x, y)
slope = phi.normal_derivative
SPOTS = np.random.default_rng(0).uniform(0, 1, (2, 200))
NETWORK = phi.MLP(width=10, depth=2)


def exact(region, *equations):
    return phi.on(region, *equations, exact=True)


def test_rod_between_a_value_and_a_sum():
    rod, known = phi.Interval(x, 0, 1), exp(x) * sin(3 * x)
    right = (known.diff(x) + 2 * known).subs(x, 1)
    problem = phi.Problem(
        rod,
        {
            "pde": Eq(f.diff(x, 2), known.diff(x, 2)),
            "left": exact(rod.side("left"), Eq(f, 0)),
            "right": exact(rod.side("right"), Eq(slope(f) + 2 * f, right)),
        },
    )
    solution = phi.solve(problem, seed=0, max_steps=15, network=NETWORK, points=60)
    error = solution.f(x=SPOTS[0]) - np.exp(SPOTS[0]) * np.sin(3 * SPOTS[0])
    assert np.abs(error).max() < 1e-3
    assert solution.evaluate(f.diff(x) + 2 * f, x=1.0) == pytest.approx(float(right), rel=1e-12)
    assert solution.f(x=0.0) == 0


def test_plate_with_a_sum_on_one_side_and_a_slope_on_the_other():
    plate, known = phi.Rectangle((x, 0, 1), (y, 0, 1)), cos(2 * x) * exp(y)
    problem = phi.Problem(
        plate,
        {
            "pde": Eq(phi.laplacian(v), phi.laplacian(known, over=(x, y))),
            "left": exact(plate.side("left"), Eq(slope(v), 0)),
            "right": exact(plate.side("right"), Eq(slope(v) + 3 * v, (known.diff(x) + 3 * known).subs(x, 1))),
            "rest": exact(plate.boundary(y), Eq(v, known)),
        },
    )
    solution = phi.solve(problem, seed=0, max_steps=15, network=NETWORK, points=200)
    error = solution.v(x=SPOTS[0], y=SPOTS[1]) - np.cos(2 * SPOTS[0]) * np.exp(SPOTS[1])
    assert np.abs(error).max() < 1e-3
    ends = {"x": np.ones(200), "y": SPOTS[1]}
    wanted = float(-2 * sin(2) + 3 * cos(2)) * np.exp(SPOTS[1])
    np.testing.assert_allclose(solution.evaluate(v.diff(x) + 3 * v, **ends), wanted, rtol=1e-12)


def test_disk_with_a_sum_all_around():
    disk, known = phi.Disk((x, y)), x**3 - y
    outward = x * known.diff(x) + y * known.diff(y)
    problem = phi.Problem(
        disk,
        {
            "pde": Eq(phi.laplacian(v), 6 * x),
            "rim": exact(disk.boundary, Eq(slope(v) + v, outward + known)),
        },
    )
    solution = phi.solve(problem, seed=0, max_steps=15, network=NETWORK, points=200)
    place = {"x": 0.7 * SPOTS[0], "y": 0.7 * SPOTS[1] - 0.3}
    assert np.abs(solution.v(**place) - place["x"] ** 3 + place["y"]).max() < 1e-2
    angle = 6 * SPOTS[0]
    missed = solution.residual(
        "rim", x=np.cos(angle), y=np.sin(angle), normals={"x": np.cos(angle), "y": np.sin(angle)}
    )
    assert np.abs(missed).max() < 1e-12


def test_after_steps_of_adam_the_conditions_hold_and_the_other_field_is_free():
    strip = phi.Interval(x, -1, 1) * phi.Interval(t, 0, 1)
    problem = phi.Problem(
        strip,
        {
            "pde": {"u": Eq(u.diff(t), u.diff(x, 2)), "w": Eq(w.diff(t), w.diff(x, 2) + u)},
            "left": exact(strip.side("left"), Eq(u, 1)),
            "right": exact(strip.side("right"), Eq(u.diff(x), 0)),
            "start": exact(strip.at(t=0), Eq(u, 1)),
            "rest": phi.on(strip.boundary(x), Eq(w, 0)),
            "still": phi.on(strip.at(t=0), Eq(w, 0)),
        },
    )
    solution = phi.solve(
        problem, seed=0, max_steps=60, network=NETWORK, points=64, optimizer=optax.adam(1e-2), precision="float64"
    )
    place, still = {"x": 2 * SPOTS[0] - 1, "t": SPOTS[1]}, np.zeros(200)
    assert np.abs(solution.evaluate(u.diff(x), x=still + 1, t=SPOTS[1])).max() < 1e-12
    assert np.abs(solution.u(x=still - 1, t=SPOTS[1]) - 1).max() < 1e-12
    assert np.abs(solution.u(x=place["x"], t=still) - 1).max() < 1e-12
    assert np.abs(solution.w(x=place["x"], t=still)).max() > 1e-6  # a soft start, which holds as far as it is trained
    assert solution.history.total[-1] < 0.5 * solution.history.total[0]


def test_slabs_of_time_keep_slopes_that_hold_at_all_times():
    rod = phi.Interval(x, 0, 1) * phi.Interval(t, 0, 1)
    problem = phi.Problem(
        rod,
        {
            "pde": Eq(u.diff(t), u.diff(x, 2)),
            "start": phi.on(rod.at(t=0), Eq(u, x)),
            "ends": exact(rod.boundary(x), Eq(slope(u) + u, t)),
        },
    )
    solution = phi.solve(problem, seed=0, slabs=2, max_steps=4, network=phi.MLP(width=4, depth=1), points=32)
    for place, sign in ((0.0, -1), (1.0, 1)):
        ends = {"x": np.full(200, place), "t": SPOTS[1]}
        np.testing.assert_allclose(solution.evaluate(sign * u.diff(x) + u, **ends), SPOTS[1], rtol=1e-12, atol=1e-12)
