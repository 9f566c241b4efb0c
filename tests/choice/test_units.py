"""Problems in SI units as a user writes them: sizes read off the declaration, weights that follow from them."""

import numpy as np
import pytest
from sympy import Eq, I, exp, pi, sin

import phijax as phi
import phijax.problems
from phijax.choice import choose
from phijax.choice.sizes import response, term_sizes
from phijax.formulation import value_scale
from phijax.networks import MLP

WIDTH, DIFFUSIVITY, SPAN = 0.02, 1e-7, 600.0  # m, m2/s, s
x, t = phi.coordinate("x"), phi.time("t")
u = phi.field("u", x, t)  # K
wall = phi.Interval(x, 0, WIDTH) * phi.Interval(t, 0, SPAN)
SOLVED = 300 + 50 * x / WIDTH + 20 * sin(pi * x / WIDTH) * exp(-DIFFUSIVITY * (pi / WIDTH) ** 2 * t)


def heated_wall(diffusivity=DIFFUSIVITY, reference=None, **more):
    return phi.Problem(
        wall,
        {
            "heat": Eq(u.diff(t), diffusivity * u.diff(x, 2)),
            "start": phi.on(wall.at(t=0), Eq(u, SOLVED.subs(t, 0))),
            "cold": phi.on(wall.at(x=0), Eq(u, 300)),
            "warm": phi.on(wall.at(x=WIDTH), Eq(u, 350)),
        }
        | more,
        reference={u: SOLVED} | (reference or {}),
    )


def sizes(problem):
    return term_sizes(problem, {name: value_scale(problem, field) for name, field in problem.fields.items()})


def test_sizes_are_those_of_the_largest_addend():
    found = sizes(heated_wall())
    top = found["warm"]
    assert top == pytest.approx(350, rel=0.01)
    assert found["heat"] == pytest.approx(top / 300)  # by half of 600 s; diffusion is 1e-7 x 350 / 0.01^2 = 0.35
    slow = sizes(heated_wall(diffusivity=phi.parameter("a", initial=1e-5, positive=True)))
    assert slow["heat"] == pytest.approx(1e-5 * top / 0.01**2)


def test_both_parts_of_a_complex_equation_have_its_size():
    h = phi.field("h", x, t, complex=True)
    problem = phi.Problem(
        wall, {"pair": {"a": Eq(I * h.diff(t), 0), "b": Eq(h.diff(x), 2)}, "any": phi.free(wall.at(t=0))}, name="waves"
    )
    assert sizes(problem) == pytest.approx(
        {"pair/a_real": 1 / 300, "pair/a_imag": 1 / 300, "pair/b_real": 100.0, "pair/b_imag": 100.0}
    )


def test_weights_make_up_for_units():
    choice = choose(heated_wall())
    found = sizes(heated_wall())
    weights = choice.balancer.factors
    assert weights["heat"] == pytest.approx((max(found.values()) / found["heat"]) ** 2, rel=0.05)
    assert weights["warm"] == pytest.approx(100, rel=0.05)
    assert any("very different size as declared (heat 1.2e+00" in reason for reason in choice.reasons)


@pytest.mark.parametrize(
    ("name", "settings", "weights"),
    [
        ("convection", {}, {100.0}),
        ("kovasznay", {}, set()),
        ("kovasznay", {"optimizer": {"kind": "Adam"}}, {100.0}),
    ],
)
def test_where_units_are_natural_weights_are_plain(name, settings, weights):
    problem = phijax.problems.get(name).problem()
    assert set(choose(problem, **settings).balancer.factors.values()) == weights


@pytest.mark.slow
def test_a_heated_wall_by_random_features():
    solution = phi.solve(
        heated_wall(), seed=0, method="random_features", network=phi.RandomFeatures(400), progress=False
    )
    assert solution.errors()["u"]["relative_l2"] < 1e-8


def test_a_heated_wall_by_a_small_network():
    solution = phi.solve(
        heated_wall(), seed=0, method="network", network=MLP(width=10, depth=2), max_steps=60, progress=False
    )
    assert solution.errors()["u"]["relative_l2"] < 1e-4  # 3e-4 with plain weights after 150 steps
    assert not any("decades" in caution for caution in solution.make_report().cautions)


def test_an_unknown_diffusivity_in_square_metres_a_second():
    a = phi.parameter("a", initial=3e-7, positive=True)
    at = np.linspace(0, WIDTH, 12)[1:-1]
    seen = phi.data({"x": at, "t": np.full(10, SPAN), "u": [float(SOLVED.subs({x: each, t: SPAN})) for each in at]})
    problem = heated_wall(a, {a: DIFFUSIVITY}, probes=seen)
    solution = phi.solve(problem, seed=0, network=MLP(width=10, depth=2), max_steps=60, progress=False)
    assert solution.parameters["a"] == pytest.approx(DIFFUSIVITY, rel=1e-2)
    assert solution.summary()["parameters"]["a"]["determined"] is True


def test_the_response_of_a_shape_is_the_first_eigenvalue_of_a_box_as_thick():
    a, b = phi.coordinates("a b")
    w = phi.field("w", a, b)
    square = phi.Rectangle((a, -1, 1), (b, -1, 1))
    found = {}
    for name, region in {
        "box": square,
        "disk": phi.Disk((a, b), (0, 0), 2),
        "L": square - phi.Rectangle((a, 0, 1), (b, -1, 0)),
    }.items():
        problem = phi.Problem(
            region, {"pde": Eq(-3 * phi.laplacian(w), 700), "edge": phi.on(region.boundary, Eq(w, 5))}, name=name
        )
        found[name] = response(problem, {"w": 5.0})
    assert found["box"] is None
    assert found["disk"] == pytest.approx(3 * 5 * 2 * (np.pi / 4) ** 2, rel=0.02)
    assert found["L"] == pytest.approx(3 * 5 * 9.64, rel=0.15)  # 9.6397 is the first eigenvalue of the L


@pytest.mark.parametrize(
    ("name", "low", "high"), [("poisson_disks", 1e3, 1e4), ("stokes_cylinder", 1e2, 1e3), ("poisson_lshape", 50, 200)]
)
def test_conditions_of_a_steady_shape_weigh_as_much_as_errors_inside(name, low, high):
    problem = phijax.problems.get(name).problem()
    weights = choose(problem).balancer.factors
    assert set(weights) == {key for key, constraint in problem.constraints.items() if not constraint.on_domain}
    (weight,) = set(weights.values())
    assert low < weight < high
