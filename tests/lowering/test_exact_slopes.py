"""Exact slopes and sums of slope and value: they hold for untrained networks to rounding, beside everything else."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from sympy import Eq, I, Rational, cos, exp, pi, sin

import phijax as phi
from phijax._precision import precision_scope
from phijax.lowering import Expressions, Layout
from phijax.networks import MLP
from phijax.sampling.points import Points

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
x, y, z = phi.coordinates("x y z")
t = phi.time("t")
bi = phi.coordinate("bi", kind="parameter")
u, v, w = phi.field("u", x, t), phi.field("v", x, y), phi.field("w", x, y, z)
q, f = phi.field("q", x, y, t), phi.field("f", x)
slope = phi.normal_derivative
times, line = phi.Interval(t, 0, 2), phi.Interval(x, -1, Rational(3, 10))
strip, square = line * times, phi.Rectangle((x, 0, 1), (y, 0, 3))
box = square * phi.Interval(z, -1, 1)
disk, ball = phi.Disk((x, y), center=(Rational(1, 2), 0), radius=2), phi.Ball((x, y, z), radius=Rational(1, 2))
tube, cylinder = phi.Disk((x, y)) * times, phi.Disk((x, y)) * phi.Interval(z, 0, 1)
heat, poisson = Eq(u.diff(t), u.diff(x, 2)), Eq(phi.laplacian(v), 1)
ROUNDING = {"float32": 1e-6, "float64": 1e-12}
some = np.random.default_rng(0).uniform(0, 1, (16, 3))
CIRCLE = (np.cos(7 * some[:, 0]), np.sin(7 * some[:, 0]))


def within(domain, **fixed):
    """Points of the domain's box, the coordinates that are given held."""
    columns = {s.name: low + (high - low) * some[:, i] for i, (s, (low, high)) in enumerate(domain.bounds.items())}
    return columns | {name: np.broadcast_to(value, 16) for name, value in fixed.items()}


def exact(region, *equations):
    return phi.on(region, *equations, exact=True)


# Each: domain, constraints, [(what vanishes, where)].
HOLD = {
    "slopes at both ends": (
        strip,
        {"pde": heat, "ends": exact(strip.boundary(x), Eq(slope(u), t)), "start": phi.on(strip.at(t=0), Eq(u, 0))},
        [(-u.diff(x) - t, within(strip, x=-1)), (u.diff(x) - t, within(strip, x=0.3))],
    ),
    "value, slope and start": (
        strip,
        {
            "pde": heat,
            "left": exact(strip.side("left"), Eq(u, exp(-t))),
            "right": exact(strip.side("right"), Eq(u.diff(x), 3 + t)),
            "start": exact(strip.at(t=0), Eq(u, 1 + 3 * (x + 1))),
        },
        [
            (u - exp(-t), within(strip, x=-1)),
            (u.diff(x) - 3 - t, within(strip, x=0.3)),
            (u - 4 - 3 * x, within(strip, t=0)),
        ],
    ),
    "slope and sum beside value and velocity at the start": (
        strip,
        {
            "pde": Eq(u.diff(t, 2), u.diff(x, 2)),
            "left": exact(strip.side("left"), Eq(u.diff(x), sin(t))),
            "right": exact(strip.side("right"), Eq(2 * slope(u) + 5 * u, 5)),
            "start": exact(strip.at(t=0), Eq(u, 1), Eq(u.diff(t), x - (Rational(3, 10) + Rational(2, 5)))),
        },
        [
            (u.diff(x) - sin(t), within(strip, x=-1)),
            (2 * u.diff(x) + 5 * u - 5, within(strip, x=0.3)),
            (u - 1, within(strip, t=0)),
            (u.diff(t) - x + 0.7, within(strip, t=0)),
        ],
    ),
    "velocity alone": (
        strip,
        {
            "pde": Eq(u.diff(t, 2), u),
            "start": phi.on(strip.at(t=0), Eq(u, 0)),
            "v": exact(strip.at(t=0), Eq(phi.dt(u), x)),
        },
        [(u.diff(t) - x, within(strip, t=0))],
    ),
    "value and slope at one end of space, and a value at the other": (
        line,
        {
            "pde": Eq(f.diff(x, 3), f),
            "left": exact(line.side("left"), Eq(f, 2), Eq(f.diff(x) + f, 5)),
            "right": exact(line.side("right"), Eq(f, 7)),
        },
        [(f - 2, {"x": -1}), (f.diff(x) - 3, {"x": -1}), (f - 7, {"x": 0.3})],
    ),
    "value and slope at both ends": (
        line,
        {"pde": Eq(f.diff(x, 4), 1), "ends": exact(line.boundary, Eq(f, x), Eq(slope(f), x**2))},
        [(f - x, {"x": [-1, 0.3]}), (f.diff(x) + 1, {"x": -1}), (f.diff(x) - 0.09, {"x": 0.3})],
    ),
    "coefficients that vary along the wall": (
        strip,
        {
            "pde": heat,
            "left": exact(strip.side("left"), Eq(u.diff(x), (2 + sin(t)) * (u - 1))),
            "right": exact(strip.side("right"), Eq(exp(t) * u.diff(x), t**2 - t * u)),
            "start": exact(strip.at(t=0), Eq(u, 1)),
        },
        [
            (u.diff(x) - (2 + sin(t)) * (u - 1), within(strip, x=-1)),
            (exp(t) * u.diff(x) - t**2 + t * u, within(strip, x=0.3)),
            (u - 1, within(strip, t=0)),
        ],
    ),
    "slopes on all sides of a square": (
        square,
        {"pde": poisson, "walls": exact(square.boundary, Eq(slope(v), phi.normal(x) * cos(y * pi / 3) + 0 * y))},
        [
            (v.diff(x) - cos(y * pi / 3), within(square, x=0)),
            (v.diff(x) - cos(y * pi / 3), within(square, x=1)),
            (v.diff(y), within(square, y=0)),
            (v.diff(y), within(square, y=3)),
        ],
    ),
    "a value, two sums and a slope on a square": (
        square,
        {
            "pde": poisson,
            "left": exact(square.side("left"), Eq(v, 0)),
            "right": exact(square.side("right"), Eq(slope(v) + 1000 * v, (y - 3) ** 2 * (3 + 2 * y))),
            "top": exact(square.side("top"), Eq(3 * v + slope(v), 0)),
            "bottom": exact(square.side("bottom"), Eq(v.diff(y), 0)),
        },
        [
            (v, within(square, x=0)),
            (v.diff(x) + 1000 * v - (y - 3) ** 2 * (3 + 2 * y), within(square, x=1)),
            (3 * v + v.diff(y), within(square, y=3)),
            (v.diff(y), within(square, y=0)),
        ],
    ),
    "everything on a box": (
        box,
        {
            "pde": Eq(phi.laplacian(w), 1),
            "x": exact(box.side("x-"), Eq(w, y * (1 + z))),
            "out": exact(box.side("x+"), Eq(w + slope(w), y * (1 + z))),
            "y": exact(box.boundary(y), Eq(w, y * (1 + z))),
            "z": exact(box.side("z-"), Eq(w, 0)),
            "top": exact(box.side("z+"), Eq(w.diff(z), y)),
        },
        [
            (w - y * (1 + z), within(box, x=0)),
            (w + w.diff(x) - y * (1 + z), within(box, x=1)),
            (w, within(box, y=0)),
            (w - 3 * (1 + z), within(box, y=3)),
            (w, within(box, z=-1)),
            (w.diff(z) - y, within(box, z=1)),
        ],
    ),
    "slope on a circle off the origin": (
        disk,
        {"pde": poisson, "rim": exact(disk.boundary, Eq(slope(v), x * y))},
        [
            (
                ((x - 0.5) * v.diff(x) + y * v.diff(y)) / 2 - x * y,
                {"x": 0.5 + 2 * CIRCLE[0], "y": 2 * CIRCLE[1]},
            )
        ],
    ),
    "sum on a sphere, its normal written out": (
        ball,
        {
            "pde": Eq(phi.laplacian(w), 1),
            "rim": exact(ball.boundary, Eq(x * w.diff(x) + y * w.diff(y) + z * w.diff(z), (2 + z) * (1 - w))),
        },
        [
            (
                x * w.diff(x) + y * w.diff(y) + z * w.diff(z) - (2 + z) * (1 - w),
                {"x": CIRCLE[0] * 0.3, "y": CIRCLE[1] * 0.3, "z": 0.4},
            )
        ],
    ),
    "disk in time, with a sum whose coefficient varies in time": (
        tube,
        {
            "pde": Eq(q.diff(t), phi.laplacian(q)),
            "rim": exact(tube.boundary, Eq(slope(q) + (1 + t) * q, 2 + x * t)),
            "start": exact(tube.at(t=0), Eq(q, Rational(1, 2) + (x**2 + y**2) / 2)),
        },
        [
            (
                x * q.diff(x) + y * q.diff(y) + (1 + t) * q - 2 - x * t,
                {"x": CIRCLE[0], "y": CIRCLE[1], "t": some[:, 1]},
            ),
            (q - 0.5 - (x**2 + y**2) / 2, {"x": some[:, 0] / 2, "y": some[:, 1] / 2, "t": 0}),
        ],
    ),
    "cylinder between a value and a slope": (
        cylinder,
        {
            "pde": Eq(phi.laplacian(w), 1),
            "rim": exact(cylinder.boundary(x), Eq(slope(w), 2 * z)),
            "low": exact(cylinder.side("z-"), Eq(w, 5)),
            "high": exact(cylinder.side("z+"), Eq(slope(w), x**2 + y**2)),
        },
        [
            (x * w.diff(x) + y * w.diff(y) - 2 * z, {"x": CIRCLE[0], "y": CIRCLE[1], "z": some[:, 1]}),
            (w - 5, {"x": some[:, 0] / 2, "y": some[:, 1] / 2, "z": 0}),
            (w.diff(z) - x**2 - y**2, {"x": some[:, 0] / 2, "y": some[:, 1] / 2, "z": 1}),
        ],
    ),
}


def evaluated(problem, expressions, at, precision="float64", network=None, seed=0):
    """{label: values} with random weights."""
    with precision_scope(precision):
        layout = Layout(problem, network or MLP(width=8, depth=2))
        lowered = Expressions(layout, expressions, split_complex=False)
        columns = np.broadcast_arrays(*(np.atleast_1d(np.asarray(column, precision)) for column in at.values()))
        points = Points({name: jnp.asarray(column) for name, column in zip(at, columns, strict=True)})
        model = layout.initial(jax.random.key(seed))
        function = jax.jit(jax.vmap(lambda point: lowered.pointwise(model, point)))
        return {label: np.asarray(value) for label, value in function(points).items()}


def missed(problem, conditions, precision, **settings):
    """By how much each condition is missed, relative to the largest of its terms; all computed together."""
    expressions, rows, columns = {}, [], []
    for i, (expression, at) in enumerate(conditions):
        terms = sympy.Add.make_args(sympy.expand(expression))
        expressions |= {f"{i}": expression} | {f"{i}/{j}": term for j, term in enumerate(terms)}
        start = sum(len(next(iter(c.values()))) for c in columns)
        columns.append(dict(zip(at, np.broadcast_arrays(*map(np.atleast_1d, at.values())), strict=True)))
        rows.append(slice(start, start + len(next(iter(columns[-1].values())))))
    joined = {name: np.concatenate([column[name] for column in columns]) for name in columns[0]}
    found = evaluated(problem, expressions, joined, precision, **settings)
    sizes = [
        max(np.abs(found[label][row]).max() for label in found if label.startswith(f"{i}/"))
        for i, row in enumerate(rows)
    ]
    return [
        np.abs(found[f"{i}"][row]).max() / (1 + size) for i, (row, size) in enumerate(zip(rows, sizes, strict=True))
    ]


ALSO_SINGLE = ("slopes at both ends", "value, slope and start", "sum on a sphere, its normal written out")
EACH = [(name, "float64") for name in HOLD] + [(name, "float32") for name in ALSO_SINGLE]


@pytest.mark.parametrize(("name", "precision"), EACH)
def test_conditions_hold_for_an_untrained_network_to_rounding(name, precision):
    domain, constraints, conditions = HOLD[name]
    assert max(missed(phi.Problem(domain, constraints), conditions, precision)) < ROUNDING[precision]


# ---- derivatives of such fields ----------------------------------------------------------------------------------------


class Waves(eqx.Module):
    """A network that the library has no rule for, whose outputs sympy can write: sines of sums of the inputs."""

    rates: jax.Array
    phases: jax.Array

    def __init__(self, key, inputs, outputs):
        self.rates = jax.random.normal(key, (outputs, inputs))
        self.phases = jnp.arange(1.0, 1.0 + outputs)

    def __call__(self, z, *, key=None):
        return jnp.sin(self.rates @ z + self.phases)

    def symbolic(self, inputs, position):
        """The output as sympy has it."""
        terms = [float(rate) * one for rate, one in zip(self.rates[position], inputs, strict=True)]
        return sin(sympy.Add(*terms) + float(self.phases[position]))


ORDERS = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
DIFFERENTIATED = {
    name: HOLD[name][:2]
    for name in ("slope and sum beside value and velocity at the start", "coefficients that vary along the wall")
} | {name: HOLD[name][:2] for name in ("a value, two sums and a slope on a square", "slope on a circle off the origin")}
SPOTS = np.random.default_rng(1).uniform(0.05, 0.25, (2, 6))


def by_orders(field, orders):
    return sympy.Derivative(field, *zip(field.coordinates, orders, strict=True)).doit() if any(orders) else field


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_derivatives_are_those_of_the_ansatz_around_a_network_that_sympy_knows(name):
    problem = phi.Problem(*DIFFERENTIATED[name])
    ((label, field),) = problem.fields.items()
    with precision_scope("float64"):
        layout = Layout(problem, Waves)
        (group,) = layout.groups.values()
        network = layout.initial(jax.random.key(0)).networks[group.name]
        inputs = [e.slope * (s - e.origin) for s, e in zip(field.coordinates, group.embeddings, strict=True)]
        written = group.ansatz[label].around(group.scales[label] * network.symbolic(inputs, 0), field.coordinates)
    at = dict(zip((s.name for s in field.coordinates), SPOTS, strict=True))
    found = evaluated(problem, {str(o): by_orders(field, o) for o in ORDERS}, at, network=Waves)
    for orders in ORDERS:
        known = written.diff(*zip(field.coordinates, orders, strict=True))
        expected = sympy.lambdify(field.coordinates, known, modules=["numpy", "scipy"])(*SPOTS)
        np.testing.assert_allclose(found[str(orders)], expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("name", ["coefficients that vary along the wall", "slope on a circle off the origin"])
def test_derivatives_carried_through_layers_are_nested_slopes_of_the_value(name):
    problem = phi.Problem(*DIFFERENTIATED[name])
    ((_, field),) = problem.fields.items()
    first, second = field.coordinates
    expressions = {str(o): by_orders(field, o) for o in ORDERS}
    expressions["sum"] = field.diff(first, 2) + field.diff(second, 2)
    at = dict(zip((first.name, second.name), SPOTS[:, :1], strict=True))
    found = evaluated(problem, expressions, at, network=MLP(width=6, depth=2), seed=3)
    with precision_scope("float64"):
        layout = Layout(problem, MLP(width=6, depth=2))
        model = layout.initial(jax.random.key(3))
        lowered = Expressions(layout, {"": field})

        def value(c):
            return lowered.pointwise(model, Points({first.name: c[0], second.name: c[1]}))[""]

        nested = jax.jit(lambda c: (jax.jacfwd(value)(c), jax.hessian(value)(c)))
        slopes, curvatures = map(np.asarray, nested(jnp.asarray(SPOTS[:, 0])))
    expected = {"(1, 0)": slopes[0], "(0, 1)": slopes[1], "(2, 0)": curvatures[0, 0], "(1, 1)": curvatures[0, 1]}
    expected |= {"(0, 2)": curvatures[1, 1], "sum": np.trace(curvatures)}
    assert {label: found[label].item() for label in expected} == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_one_field_with_slopes_leaves_the_other_outputs_as_they_were():
    other = phi.field("other", x, y)
    system = {"v": poisson, "other": Eq(phi.laplacian(other), v)}
    at = {"x": some[:, 0], "y": some[:, 1]}
    free = phi.Problem(square, {"system": system})
    bound = phi.Problem(square, {"system": system, "walls": exact(square.boundary, Eq(slope(v) + v, 0))})
    for expression in (other, phi.laplacian(other)):
        one, two = (evaluated(problem, {"": expression}, at)[""] for problem in (free, bound))
        np.testing.assert_allclose(two, one, rtol=1e-13, atol=1e-14)
    mixed = phi.Problem(
        square,
        {
            "system": system,
            "walls": exact(square.boundary, Eq(slope(v) + v, 0)),
            "rim": exact(square.boundary, Eq(other, x * y)),
        },
    )
    conditions = [
        (other - x * y, within(square, x=1)),
        (other - x * y, within(square, y=3)),
        (v.diff(y) + v, within(square, y=3)),
    ]
    assert max(missed(mixed, conditions, "float64")) < 1e-12


def test_complex_field_and_complex_coefficient():
    h = phi.field("h", x, t, complex=True)
    absorbing = exact(strip.boundary(x), Eq(slope(h), I * h + t))
    problem = phi.Problem(
        strip, {"pde": Eq(I * h.diff(t), h.diff(x, 2)), "ends": absorbing, "start": exact(strip.at(t=0), Eq(h, 0))}
    )
    conditions = [
        (h.diff(x) - I * h - t, within(strip, x=0.3)),
        (h.diff(x) + I * h + t, within(strip, x=-1)),
        (h, within(strip, t=0)),
    ]
    assert max(missed(problem, conditions, "float64")) < 1e-12


def test_coefficient_that_is_a_coordinate_of_its_own():
    k = phi.field("k", x, bi)
    family = line * phi.Interval(bi, 1, 10)
    problem = phi.Problem(
        family,
        {
            "pde": Eq(k.diff(x, 2), k),
            "ends": exact(family.boundary(x), Eq(slope(k) + bi * k, bi)),
        },
    )
    conditions = [(k.diff(x) + bi * k - bi, within(family, x=0.3)), (-k.diff(x) + bi * k - bi, within(family, x=-1))]
    assert max(missed(problem, conditions, "float64")) < 1e-12


def test_field_on_a_part_with_slopes_at_the_ends_of_its_part():
    part = phi.Interval(x, -1, 0)
    g = phi.field("g", x, on=part)
    problem = phi.Problem(
        line,
        {"bar": phi.on(part, Eq(g.diff(x, 2), 1)), "ends": exact(part.boundary, Eq(slope(g), 1 + x))},
    )
    assert max(missed(problem, [(g.diff(x), {"x": -1}), (g.diff(x) - 1, {"x": 0})], "float64")) < 1e-12


def test_channels_are_those_that_travel_through_the_network():
    """u_xx and u_t of N - H N_x take N, N_x, N_xx, N_xxx, N_t and N_xt."""
    ends = {"pde": heat, "start": phi.on(strip.at(t=0), Eq(u, 0))}
    for walls, expected in ((Eq(u, 0), 4), (Eq(slope(u), 0), 6)):
        layout = Layout(phi.Problem(strip, {**ends, "walls": exact(strip.boundary(x), walls)}), MLP(width=4, depth=1))
        assert Expressions(layout, {"": heat.lhs - heat.rhs}).channels("u") == expected
