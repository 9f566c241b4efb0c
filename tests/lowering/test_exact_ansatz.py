"""Exact conditions: they hold for untrained random networks, and touch nothing else."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sympy import Eq, I, Rational, exp, pi, sin

import phijax as phi
from phijax.lowering import Expressions, Layout
from phijax.networks import MLP
from phijax.sampling.points import Points

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
x, y = phi.coordinates("x y")
t = phi.time("t")
u, v = phi.field("u", x, t), phi.field("v", x, y)
interval, times = phi.Interval(x, 0, 1), phi.Interval(t, 0, 1)
strip, square, disk = interval * times, phi.Rectangle((x, 0, 1), (y, 0, 1)), phi.Disk((x, y))
heat, wave = Eq(u.diff(t), u.diff(x, 2)), Eq(u.diff(t, 2), u.diff(x, 2))
poisson = Eq(phi.laplacian(v), 1)
ALL = np.linspace(0, 1, 9)


def untrained(problem, expression, seed=0, **at):
    """The expression with random weights, in float32, at points given by column."""
    layout = Layout(problem, MLP(width=8, depth=2))
    lowered = Expressions(layout, {"": expression}, split_complex=False)
    columns = np.broadcast_arrays(*(np.asarray(column, np.float32) for column in at.values()))
    points = Points({name: jnp.atleast_1d(column) for name, column in zip(at, columns, strict=True)})
    model = layout.initial(jax.random.key(seed))
    return np.asarray(jax.jit(jax.vmap(lambda point: lowered.pointwise(model, point)[""]))(points))


def holds(problem, expression, **at):
    """Largest amount by which an expression that should vanish does not, over two seeds."""
    return max(np.abs(untrained(problem, expression, seed, **at)).max() for seed in range(2))


def test_values_at_both_ends_and_at_the_start():
    problem = phi.Problem(
        strip,
        {
            "heat": heat,
            "left": phi.on(strip.side("left"), Eq(u, exp(-2 * t)), exact=True),
            "right": phi.on(strip.side("right"), Eq(u, exp(-3 * t)), exact=True),
            "start": phi.on(strip.at(t=0), Eq(u, 1), exact=True),
        },
    )
    assert holds(problem, u - exp(-2 * t), x=0, t=ALL) < 1e-6
    assert holds(problem, u - exp(-3 * t), x=1, t=ALL) < 1e-6
    assert holds(problem, u - 1, x=ALL, t=0) < 1e-6
    assert list(problem.trained) == ["heat"]
    inside = [untrained(problem, u, seed, x=0.3, t=0.6).item() for seed in (0, 1)]
    assert abs(inside[0] - inside[1]) > 1e-3  # and inside the network speaks


def test_value_and_velocity_at_the_start_together_with_walls():
    problem = phi.Problem(
        strip,
        {
            "wave": wave,
            "walls": phi.on(strip.boundary, Eq(u, 0), exact=True),
            "start": phi.on(
                strip.at(t=0), {"value": Eq(u, sin(pi * x)), "speed": Eq(phi.dt(u), 3 * sin(pi * x))}, exact=True
            ),
        },
    )
    assert holds(problem, u, x=0, t=ALL) < 1e-6
    assert holds(problem, u, x=1, t=ALL) < 1e-6
    assert holds(problem, u - sin(pi * x), x=ALL, t=0) < 1e-6
    assert holds(problem, u.diff(t) - 3 * sin(pi * x), x=ALL, t=0) < 1e-5


def test_whole_boundary_of_a_square_and_of_a_disk():
    for domain, at in [
        (square, {"x": np.repeat([0, 1], 9), "y": np.tile(ALL, 2)}),
        (square, {"x": np.tile(ALL, 2), "y": np.repeat([0, 1], 9)}),
        (disk, {"x": np.cos(7 * ALL), "y": np.sin(7 * ALL)}),
    ]:
        problem = phi.Problem(
            domain, {"poisson": poisson, "rim": phi.on(domain.boundary, Eq(v, 2 + x * y), exact=True)}
        )
        assert holds(problem, v - 2 - x * y, **at) < 1e-6


def test_a_disk_in_time_with_its_start():
    q = phi.field("q", x, y, t)
    tube = disk * times
    problem = phi.Problem(
        tube,
        {
            "heat": Eq(q.diff(t), phi.laplacian(q)),
            "rim": phi.on(tube.boundary, Eq(q, x * y * exp(-t)), exact=True),
            "start": phi.on(tube.at(t=0), Eq(q, x * y), exact=True),
        },
    )
    assert holds(problem, q - x * y * exp(-t), x=np.cos(7 * ALL), y=np.sin(7 * ALL), t=ALL) < 1e-6
    assert holds(problem, q - x * y, x=ALL / 2, y=-ALL / 2, t=0) < 1e-6


def test_tables_and_callables_as_exact_values():
    table = phi.function("k", {"x": [0.0, 0.5, 1.0], "k": [1.0, 2.0, 5.0]})
    problem = phi.Problem(
        strip,
        {
            "heat": heat,
            "start": phi.on(strip.at(t=0), Eq(u, table(x)), exact=True),
            "left": phi.on(strip.side("left"), {u: lambda t: np.exp(-t)}, exact=True),
        },
    )
    assert holds(problem, u - table(x), x=ALL, t=0) < 1e-6
    assert holds(problem, u - exp(-t), x=0, t=ALL) < 1e-6


def test_complex_value():
    h = phi.field("h", x, t, complex=True)
    problem = phi.Problem(
        strip,
        {
            "schrodinger": Eq(I * h.diff(t), h.diff(x, 2)),
            "start": phi.on(strip.at(t=0), Eq(h, exp(I * x)), exact=True),
        },
    )
    assert holds(problem, h - exp(I * x), x=ALL, t=0) < 1e-6


def test_field_that_lives_on_a_part_is_exact_at_the_ends_of_its_part():
    left = phi.Interval(x, 0, Rational(1, 2))
    w = phi.field("w", x, on=left)
    problem = phi.Problem(
        interval,
        {"bar": phi.on(left, Eq(w.diff(x, 2), 0)), "ends": phi.on(left.boundary, Eq(w, 1 + x), exact=True)},
    )
    assert holds(problem, w - 1 - x, x=[0.0, 0.5]) < 1e-6
    assert abs(untrained(problem, w, x=0.1).item() - 1.1) > 1e-3


def test_periodic_coordinate_makes_values_and_all_derivatives_agree_at_its_ends():
    ring = phi.Interval(x, -1, 1, periodic=True) * times
    problem = phi.Problem(ring, {"heat": heat, "start": phi.on(ring.at(t=0), Eq(u, sin(pi * x)))})
    for expression in (u, u.diff(x), u.diff(x, 2), u.diff(x, t)):
        gap = expression.subs(x, -1) - expression.subs(x, 1)
        assert holds(problem, gap, x=0, t=ALL) < 2e-4 * (1 + np.abs(untrained(problem, expression, x=1, t=ALL)).max())


def test_condition_on_one_of_two_outputs_leaves_the_other_as_it_was():
    other = phi.field("w", x, y)
    system = {"v": poisson, "w": Eq(phi.laplacian(other), 1)}
    free = phi.Problem(square, {"system": system})
    bound = phi.Problem(square, {"system": system, "rim": phi.on(square.boundary, Eq(v, 0), exact=True)})
    at = {"x": ALL, "y": ALL[::-1]}
    np.testing.assert_array_equal(untrained(free, other, **at), untrained(bound, other, **at))
    assert holds(bound, v, x=0, y=ALL) == 0.0


# ---- what cannot be built is refused, with the reason ------------------------------------------------------------------

START = phi.on(strip.at(t=0), Eq(u, 0))
REFUSED = {
    "curvature": (
        strip,
        {"heat": heat, "left": phi.on(strip.side("left"), Eq(u.diff(x, 2), 0), exact=True), "start": START},
        "'left': u_xx = 0 cannot be made exact: only values, slopes across a side, and sums of both can be built in",
    ),
    "unknown value": (
        strip,
        {"heat": heat, "left": phi.on(strip.side("left"), Eq(u, phi.parameter("c")), exact=True)},
        "'left': u = c cannot be made exact: it holds the unknown 'c', and only what is known beforehand can be built in",
    ),
    "value elsewhere": (
        square,
        {"poisson": poisson, "left": phi.on(square.side("left"), Eq(v.subs(x, 1), 0), exact=True)},
        "'left': v\\(1, y\\) = 0 cannot be made exact: only values, slopes across a side, and sums of both can be built in",
    ),
    "part of a side": (
        square,
        {"poisson": poisson, "part": phi.on(square.boundary(where=y > 0.5), Eq(v, 0), exact=True)},
        "'part': v = 0 cannot be made exact: .* is no whole side of the domain",
    ),
    "selected part of a side": (
        square,
        {"poisson": poisson, "part": phi.on(square.boundary(where=sin(9 * x + y) > 0), Eq(v, 0), exact=True)},
        "'part': v = 0 cannot be made exact: .* is no whole side of the domain",
    ),
    "interior point": (
        square,
        {"poisson": poisson, "gauge": phi.on(square.at(x=0.5, y=0.5), Eq(v, 0), exact=True)},
        "'gauge': v = 0 cannot be made exact",
    ),
    "equation of the domain": (
        square,
        {"poisson": poisson, "everywhere": phi.on(square, Eq(v**2, 1), exact=True)},
        "'everywhere': v\\*\\*2 = 1 cannot be made exact",
    ),
    "lid against walls": (
        square,
        {
            "poisson": poisson,
            "lid": phi.on(square.side("top"), Eq(v, 1), exact=True),
            "wall": phi.on(square.side("left"), Eq(v, 0), exact=True),
        },
        "'wall': as an exact condition on 'v' it contradicts 'lid' where they meet",
    ),
    "start against rim": (
        strip,
        {
            "heat": heat,
            "walls": phi.on(strip.boundary, Eq(u, 0), exact=True),
            "start": phi.on(strip.at(t=0), Eq(u, 1), exact=True),
        },
        "as an exact condition on 'u' it contradicts",
    ),
    "velocity against walls": (
        strip,
        {
            "wave": wave,
            "walls": phi.on(strip.boundary, Eq(u, 0), exact=True),
            "start": phi.on(strip.at(t=0), {"value": Eq(u, 0), "speed": Eq(u.diff(t), 5)}, exact=True),
        },
        "'start': as an exact condition on 'u' it contradicts 'walls' where they meet \\(by 5",
    ),
    "twice": (
        square,
        {
            "poisson": poisson,
            "one": phi.on(square.side("top"), Eq(v, 1), exact=True),
            "two": phi.on(square.side("top"), Eq(v, 1), exact=True),
        },
        "'two': v = 1 cannot be made exact: 'one' already prescribes v there",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_exact_condition_that_cannot_be_built_says_why(name):
    domain, constraints, message = REFUSED[name]
    with pytest.raises(phi.DeclarationError, match=message):
        phi.Problem(domain, constraints)


def test_exact_value_that_depends_on_what_the_field_does_not():
    k = phi.field("k", x)
    with pytest.raises(phi.DeclarationError, match=r"the value depends on 't', and k\(x\) does not"):
        phi.Problem(strip, {"heat": Eq(u.diff(t), k * u), "k": phi.on(strip.side("left"), Eq(k, t), exact=True)})


def test_start_of_a_disk_that_contradicts_its_rim():
    q = phi.field("q", x, y, t)
    tube = disk * times
    with pytest.raises(phi.DeclarationError, match="'rim': as an exact condition on 'q' it contradicts 'start'"):
        phi.Problem(
            tube,
            {
                "heat": Eq(q.diff(t), phi.laplacian(q)),
                "rim": phi.on(tube.boundary, Eq(q, 0), exact=True),
                "start": phi.on(tube.at(t=0), Eq(q, 1), exact=True),
            },
        )
