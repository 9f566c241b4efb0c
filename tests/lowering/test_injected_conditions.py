"""Exact solutions in the networks' place: conditions of every kind have the residual that mathematics gives them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from injection import inject
from sympy import Eq, cos, exp, pi, sin, sqrt

import phijax as phi
from phijax.lowering import LoweringError

x, y = phi.coordinates("x y")
t = phi.time("t")
square = phi.Rectangle((x, 0, 1), (y, 0, 1))
interval, times = phi.Interval(x, 0, 1), phi.Interval(t, 0, 1)
pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")


def test_derivative_by_time_on_the_start_is_by_time_and_not_by_another_axis():
    u = phi.field("u", x, y, t)
    domain = square * times
    problem = phi.Problem(
        domain,
        {
            "wave": Eq(u.diff(t, 2), phi.laplacian(u)),
            "start": phi.on(domain.at(t=0), {"value": Eq(u, sin(pi * x) * sin(pi * y)), "velocity": Eq(phi.dt(u), 0)}),
            "walls": phi.on(square.boundary, Eq(u, 0)),
        },
    )
    standing = sin(pi * x) * sin(pi * y) * cos(sqrt(2) * pi * t)
    for constraint in problem.constraints:
        assert max(np.abs(r).max() for r in inject(problem, {u: standing}, constraint).values()) < 2e-14


def test_product_of_two_unknowns_in_a_condition():
    m, v = phi.fields("m v", x)
    bump = exp(-5 * (x - 0.6) ** 2)
    problem = phi.Problem(interval, {"product": Eq(m * v, exp(-10 * (x - 0.6) ** 2))})
    assert np.abs(inject(problem, {m: bump, v: bump}, "product")[""]).max() < 1e-15


def test_a_problem_without_conditions_holds_its_equation():
    u = phi.field("u", x)
    problem = phi.Problem(phi.Interval(x, 0, 2), {"fit": Eq(u, 2 + sympy.Abs(x - 0.5))})
    assert inject(problem, {u: 0}, "fit", x=[0.0, 0.5, 2.0])[""] == pytest.approx([-2.5, -2.0, -3.5], abs=1e-15)


def test_condition_of_a_space_edge_holds_at_all_times():
    u = phi.field("u", x, y, t)
    domain = square * times
    problem = phi.Problem(
        domain,
        {
            "heat": Eq(u.diff(t), phi.laplacian(u)),
            "left": phi.on(square.side("left"), Eq(u, sin(2 * pi * t))),
            "start": phi.on(domain.at(t=0), Eq(u, 0)),
        },
    )
    region = problem.constraints["left"].region
    assert set(region.names) == {"x", "y", "t"}
    assert np.abs(inject(problem, {u: sin(2 * pi * t)}, "left")[""]).max() == 0.0
    found = inject(problem, {u: 0}, "left", x=0.0, y=0.3, t=[0.25, 0.5])[""]
    assert found == pytest.approx([-1.0, 0.0], abs=1e-15)


@pytest.mark.parametrize(
    ("solution", "expected"),
    [
        (x, {"left": -1, "right": 1, "bottom": 0, "top": 0}),
        (x**2 + y**2, {"left": 0, "right": 2, "bottom": 0, "top": 2}),
    ],
    ids=str,
)
def test_normal_derivative_is_along_the_outward_normal(solution, expected):
    u = phi.field("u", x, y)
    problem = phi.Problem(square, {s: phi.on(square.side(s), Eq(phi.normal_derivative(u), 0)) for s in expected})
    for side, slope in expected.items():
        assert inject(problem, {u: solution}, side)[""] == pytest.approx(np.full(16, slope), abs=1e-14)


def test_robin_condition_on_a_circle():
    disk = phi.Disk((x, y), radius=2)
    u = phi.field("u", x, y)
    problem = phi.Problem(disk, {"rim": phi.on(disk.boundary, Eq(3 * phi.normal_derivative(u), 5 * (u - 4)))})
    found = inject(problem, {u: x**2 + y**2}, "rim")[""]
    assert found == pytest.approx(np.full(16, 3 * 4 - 5 * (4 - 4)), rel=1e-14)


def test_two_materials_join_in_value_and_flux_with_one_normal():
    left, right = phi.Interval(x, 0, sympy.Rational(1, 2)), phi.Interval(x, sympy.Rational(1, 2), 1)
    one, two = phi.field("T1", x, on=left), phi.field("T2", x, on=right)
    flux = Eq(phi.normal_derivative(one), 10 * phi.normal_derivative(two))
    problem = phi.Problem(
        interval,
        {
            "one": phi.on(left, Eq(one.diff(x, 2), 0)),
            "two": phi.on(right, Eq(10 * two.diff(x, 2), 0)),
            "ends": phi.on(interval.side("left"), Eq(one, 0)),
            "other end": phi.on(interval.side("right"), Eq(two, 1)),
            "join": phi.on(phi.interface(left, right), {"value": Eq(one, two), "flux": flux}),
        },
    )
    middle = sympy.Rational(10, 11)
    rod = {one: 2 * middle * x, two: middle + (1 - middle) * (2 * x - 1)}
    for constraint in problem.constraints:
        assert max(np.abs(r).max() for r in inject(problem, rod, constraint).values()) < 1e-15
    flat = inject(problem, {one: 3 * x, two: x}, "join")
    assert flat["flux"] == pytest.approx(np.full(16, 3.0 - 10.0))


def test_soft_periodic_pair_compares_values_and_slopes_at_the_two_ends():
    u = phi.field("u", x, y)
    problem = phi.Problem(square, {"pair": phi.periodic(u, x)})
    wave = inject(problem, {u: sin(2 * pi * x) * y}, "pair")
    assert {label: np.abs(r).max() < 1e-14 for label, r in wave.items()} == {"u": True, "u_x": True}
    rows = np.array([0.1, 0.7])
    slanted = inject(problem, {u: x * y}, "pair", x=0.0, y=rows)
    assert np.abs(slanted["u"]) == pytest.approx(rows, rel=1e-15)
    assert slanted["u_x"] == pytest.approx([0.0, 0.0])
    kinked = inject(problem, {u: x * (1 - x) * y}, "pair", x=0.0, y=rows)
    assert kinked["u"] == pytest.approx([0.0, 0.0])
    assert kinked["u_x"] == pytest.approx(2 * rows)


def test_unknown_that_occurs_only_in_a_boundary_condition_acts_at_once():
    u, c = phi.field("u", x), phi.parameter("c", initial=1.0)
    problem = phi.Problem(
        interval, {"bar": Eq(u.diff(x, 2), 0), "end": phi.on(interval.side("right"), Eq(u.diff(x), c))}
    )
    assert inject(problem, {u: 2 * x}, "end")[""] == pytest.approx(np.ones(16))
    assert inject(problem, {u: 2 * x, c: 2.0}, "end")[""] == pytest.approx(np.zeros(16))
    assert inject(problem, {u: 2 * x, c: 5.0}, "end")[""] == pytest.approx(np.full(16, -3.0))


def test_positive_and_bounded_parameters_keep_the_values_they_are_given():
    u, k, p = phi.field("u", x), phi.parameter("k", 0.3, positive=True), phi.parameter("p", 2.0, bounds=(1, 4))
    problem = phi.Problem(interval, {"law": Eq(u, sqrt(k**2) + p)})
    assert inject(problem, {u: 0}, "law")[""] == pytest.approx(np.full(16, -2.3), rel=1e-14)
    assert inject(problem, {u: 0, k: 7.0, p: 3.5}, "law")[""] == pytest.approx(np.full(16, -10.5), rel=1e-14)


# ---- values of every kind (a number, an expression, a callable, an array) -------------------------------------------

u_of_xt = phi.field("u", x, t)
strip = interval * times
ZEROS = {
    "0": 0,
    "0.0": 0.0,
    "float32": np.float32(0),
    "float64": np.float64(0),
    "jax scalar": jnp.float32(0),
    "sympy": sympy.Integer(0),
    "list of one": [0],
    "array of one": np.zeros((1, 1)),
    "scalar callable": lambda t: 0.0,
    "vector callable": lambda t: 0 * t,
    "constant vector": lambda t: np.zeros(len(t)),
    "column callable": lambda t: np.zeros((len(t), 1)),
    "numpy callable": lambda t: np.sin(np.pi * np.round(t) * 0),
    "jax callable": lambda t: jnp.sin(0 * t),
    "callable of both": lambda x, t: np.where(x > 0.5, t, 0.0),
    "callable with a setting": lambda t, scale=0.0: scale * t,
}


@pytest.mark.parametrize("kind", ZEROS)
def test_a_value_of_any_kind_gives_one_and_the_same_residual(kind):
    problem = phi.Problem(strip, {"left": phi.on(strip.side("left"), {u_of_xt: ZEROS[kind]})})
    found = inject(problem, {u_of_xt: 1 + t}, "left", x=0.0, t=[0.0, 0.5, 1.0])[""]
    assert found == pytest.approx([1.0, 1.5, 2.0], abs=1e-15)


@pytest.mark.parametrize("function", [np.sin, jnp.sin, lambda x: np.sin(x), lambda x: np.sin(x)[:, None]])
def test_a_numeric_function_of_the_only_coordinate(function):
    u = phi.field("u", x)
    problem = phi.Problem(interval, {"fit": phi.on(interval, {u: function})})
    assert inject(problem, {u: sin(x)}, "fit")[""] == pytest.approx(np.zeros(16), abs=1e-15)


def test_callable_asks_for_coordinates_by_name_in_its_own_order():
    problem = phi.Problem(strip, {"fit": phi.on(strip, {u_of_xt: lambda t, x: 10 * t + x})})
    assert inject(problem, {u_of_xt: 0}, "fit", x=[0.5], t=[0.25])[""] == pytest.approx([-3.0])


def test_a_default_argument_that_is_a_coordinate_is_given_the_coordinate():
    problem = phi.Problem(strip, {"fit": phi.on(strip, {u_of_xt: lambda x, t=0.0: x + t})})
    assert inject(problem, {u_of_xt: 0}, "fit", x=[0.5], t=[0.25])[""] == pytest.approx([-0.75])


def test_table_as_a_material_law_of_a_field_and_its_derivative():
    u = phi.field("u", x)
    law = phi.function("k", {"T": np.linspace(0, 2, 401), "k": np.linspace(0, 2, 401) ** 2})
    problem = phi.Problem(interval, {"flux": (law(u) * u.diff(x)).diff(x)})
    found = inject(problem, {u: 1 + x / 2}, "flux", x=[0.3])[""]
    assert found == pytest.approx([2 * 1.15 * 0.25], rel=1e-5)


def test_table_at_a_whole_number_is_not_rounded():
    u = phi.field("u", x)
    law = phi.function("k", {"x": [0.0, 0.5, 1.5], "k": [1.0, 2.5, 5.0]})
    problem = phi.Problem(interval, {"fit": Eq(u, law(0) + law(1))})
    expected = inject(phi.Problem(interval, {"fit": Eq(u, law(0 * x + 0.0) + law(1 + 1e-15))}), {u: 0}, "fit")[""]
    assert inject(problem, {u: 0}, "fit")[""] == pytest.approx(expected, rel=1e-12)


def test_table_over_two_axes_is_linear_between_its_numbers_and_held_outside():
    u = phi.field("u", x, y)
    law = phi.function("k", {"a": [0.0, 1.0], "b": [0.0, 1.0], "k": [[0.0, 1.0], [2.0, 3.0]]})
    problem = phi.Problem(square, {"fit": Eq(u, law(x, y))})
    found = inject(problem, {u: 0}, "fit", x=[0.25, 5.0], y=[0.5, -3.0])[""]
    assert found == pytest.approx([-1.0, -2.0])


def test_derivative_of_a_callable_is_taken_through_it():
    u = phi.field("u", x)
    law = phi.function("f", lambda z: jnp.exp(2 * z))
    problem = phi.Problem(interval, {"slope": Eq(law(u).diff(x), 0), "curve": Eq(law(x).diff(x, 2), u)})
    assert inject(problem, {u: x**2}, "slope", x=[0.5])[""] == pytest.approx([2 * np.exp(0.5)], rel=1e-14)
    assert inject(problem, {u: 0}, "curve", x=[0.5])[""] == pytest.approx([4 * np.exp(1.0)], rel=1e-14)


def test_a_function_that_jax_cannot_trace_is_refused_by_name():
    u = phi.field("u", x)

    def stepwise(x):
        return 1.0 if x > 0.5 else 0.0

    problem = phi.Problem(interval, {"fit": phi.on(interval, {u: stepwise})})
    with pytest.raises(
        LoweringError,
        match=r"'fit': the function 'stepwise' cannot be traced by JAX .*without float\(\)",
    ):
        inject(problem, {u: 0}, "fit")


def test_a_function_of_the_wrong_shape_is_refused_by_name():
    u = phi.field("u", x)
    problem = phi.Problem(interval, {"fit": phi.on(interval, {u: lambda x: jnp.stack([x, x])})})
    with pytest.raises(
        LoweringError,
        match=r"'fit': the function 'u_value' gives shape \(2, 1\) for one point",
    ):
        jax.block_until_ready(inject(problem, {u: 0}, "fit"))
