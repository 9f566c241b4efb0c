"""Samplers of the user's own: what they do not give is refused when the problem is compiled, by name."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sympy import Eq

import phijax as phi

x, y = phi.coordinates("x y")
v = phi.field("v", x, y)
square = phi.Rectangle((x, 0, 1), (y, 0, 1))
problem = phi.Problem(
    square,
    {
        "poisson": Eq(phi.laplacian(v), 1),
        "flux": phi.on(square.boundary, Eq(phi.normal_derivative(v), 0)),
        "seen": phi.data({"x": [0.5, 0.6], "y": [0.5, 0.4], "v": [1.0, 2.0]}),
    },
)


class Given:
    """Ten lines: the points that are asked for, with what is switched on."""

    def __init__(self, names="xy", normals=False, rows=None):
        self.names, self.normals, self.rows = names, normals, rows

    def sample(self, key, n):
        column = jax.random.uniform(key, (self.rows or n,))
        coordinates = dict.fromkeys(self.names, column) | ({"y": 0 * column} if self.normals else {})
        return phi.Points(coordinates, dict.fromkeys(self.names, jnp.ones_like(column)) if self.normals else None)


class Kept(Given):
    """The same with state."""

    def init(self, key):
        return ()

    def sample(self, state, key, n):
        return state, super().sample(key, n)


def compiled(**samplers):
    return phi.compile(problem, network=phi.MLP(width=4, depth=1), points={"poisson": 8, "flux": 8}, samplers=samplers)


@pytest.mark.parametrize(
    ("samplers", "message"),
    [
        (
            {"flux": Given()},
            "the sampler of 'flux' gives no normal along 'x', which its terms need; add it to its Points",
        ),
        ({"flux": Kept()}, "the sampler of 'flux' gives no normal along 'x'"),
        ({"poisson": Given("x")}, "the sampler of 'poisson' gives no coordinate 'y', which its terms need"),
        ({"seen": Given()}, "the sampler of 'seen' gives no observed value of 'v', which its terms need"),
        (
            {"poisson": Given(rows=3)},
            r"the sampler of 'poisson' gives columns of shapes \[\(3,\)\] when asked for 8 points",
        ),
        ({"poisson": 3}, r"the sampler of 'poisson' is 3; a sampler has a method sample\(key, n\)"),
        ({"piosson": Given()}, "samplers names 'piosson', which is no constraint; did you mean 'poisson'"),
    ],
)
def test_what_a_sampler_does_not_give_is_refused_by_name(samplers, message):
    with pytest.raises(ValueError, match=message):
        compiled(**samplers)


class Drawn:
    """A sampler that draws by any function."""

    def __init__(self, draw):
        self.draw = draw

    def sample(self, key, n):
        return self.draw(key, n)


class Moving(Drawn):
    """The same with a state that begins at zero, and what else is switched on."""

    def __init__(self, draw=lambda state, key, n: (state, square_points(key, n)), **parts):
        self.draw = draw
        vars(self).update(parts)

    def init(self, key):
        return jnp.zeros(1)

    def sample(self, state, key, n):
        return self.draw(state, key, n)


def uniform(key, n):
    return jax.random.uniform(key, (n,))


def square_points(key, n):
    return phi.Points({"x": uniform(key, n), "y": uniform(key, n)})


WRONG = {
    "class": (Given, "is the class Given; make one of it: Given()"),
    "whole numbers": (
        Drawn(lambda key, n: phi.Points({"x": jax.random.randint(key, (n,), 0, 2), "y": uniform(key, n)})),
        "gives the coordinate 'x' as int32; give floating-point numbers",
    ),
    "complex": (
        Drawn(lambda key, n: phi.Points({"x": uniform(key, n), "y": 1j * uniform(key, n)})),
        "gives the coordinate 'y' as complex64",
    ),
    "another generator": (
        Drawn(lambda key, n: phi.Points({"x": np.random.default_rng().random(n), "y": uniform(key, n)})),
        "gives other points for the same key",
    ),
    "symbols": (
        Drawn(lambda key, n: phi.Points({x: uniform(key, n), y: uniform(key, n)})),
        "Points: the column x goes by its name, a string; write 'x'",
    ),
    "a decision": (
        Drawn(lambda key, n: square_points(key, n) if uniform(key, 1)[0] > 0.5 else None),
        r"fails: TracerBoolConversionError: .* It needs sample\(key, n\), in jax.numpy",
    ),
    "its own fault": (Drawn(lambda key, n: {}["a"]), "fails: KeyError: 'a'"),
    "period": (Moving(period=0), "has period=0; it must be a whole number of steps"),
    "points alone": (
        Moving(lambda state, key, n: square_points(key, n)),
        r"fails: .* sample\(state, key, n\) -> \(state, points\)",
    ),
    "growing state": (
        Moving(lambda state, key, n: (jnp.append(state, 1.0), square_points(key, n))),
        r"has a state of shapes \(2,\) after one refresh and of shapes \(3,\) after two",
    ),
    "pool without update": (Moving(pool=None), r"has a pool, but no update\(state, residuals\)"),
    "a negative weight": (
        Drawn(lambda key, n: phi.Points({"x": uniform(key, n), "y": jnp.full(n, 0.5)}, weights=jnp.linspace(2, -1, n))),
        r"gives the weight -0\.142857 to the point x=0\.\d+, y=0\.5; a weight is at least 0, and the mean of them one",
    ),
    "a weight that is no number": (
        Moving(
            lambda state, key, n: (state, phi.Points(square_points(key, n).coordinates, weights=jnp.full(n, jnp.nan)))
        ),
        "gives the weight nan to the point",
    ),
    "a point that is nowhere": (
        Drawn(lambda key, n: phi.Points({"x": jnp.log(uniform(key, n) - 2), "y": uniform(key, n)})),
        "gives a point that is nowhere: x=nan, y=0",
    ),
    "pool that lacks a column": (
        Moving(
            pool=lambda state, key, n: (state, phi.Points({"x": uniform(key, 9)})),
            update=lambda state, residuals: state,
        ),
        "gives no coordinate 'y'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_sampler_that_is_wrong_in_itself_says_how(name):
    sampler, message = WRONG[name]
    with pytest.raises(ValueError, match=f"the sampler of 'poisson':? {message}"):
        compiled(poisson=sampler, flux=Kept(normals=True))


@pytest.mark.parametrize(
    "around",
    [phi.Held, phi.ResidualAdaptive, phi.ResidualRefinement, phi.RetainResampleRelease, phi.ImportanceSampler],
)
def test_what_wraps_a_sampler_refuses_what_is_none(around):
    with pytest.raises(ValueError, match=rf"{around.__name__}: 3 is no sampler; it needs a method sample\(key, n\)"):
        around(3, 2)


@pytest.mark.parametrize("around", [lambda own: own, lambda own: phi.Held(own, every=3)])
def test_points_outside_of_the_region_are_warned_about(around):
    def draw(key, n):
        return phi.Points({"x": jnp.linspace(0, 1.4, n), "y": jnp.linspace(0, 1, n)})

    message = (
        r"the sampler of 'poisson' gives 2 of 8 points outside of its region, first x=1\.2, y=0\.857143; its terms are"
    )
    with pytest.warns(phi.DeclarationWarning, match=message):
        compiled(poisson=around(Drawn(draw)))
    boundary = r"the sampler of 'flux' gives 8 of 8 points outside of its region, first x=0\.5, y=0\.25"
    halfway = Drawn(
        lambda key, n: phi.Points({"x": jnp.full(n, 0.5), "y": jnp.full(n, 0.25)}, {"x": jnp.ones(n), "y": jnp.ones(n)})
    )
    with pytest.warns(phi.DeclarationWarning, match=boundary):
        compiled(flux=halfway)


def test_a_sampler_of_ten_lines_serves():
    made = compiled(poisson=Given(), flux=Kept(normals=True))
    source = made.datamodule.train_batch_source(made.module.objective.batch_keys, jax.random.key(0))
    model = made.module.factory(jax.random.key(1))
    _, batch = source.draw(source.init(), 0, None)
    losses = made.module.objective.losses(model, batch)
    assert set(losses) == {"poisson", "flux", "seen"}
    assert all(np.isfinite(loss) and loss > 0 for loss in losses.values())
    np.testing.assert_array_equal(batch["poisson"].coordinates["x"], batch["poisson"].coordinates["y"])


def test_terms_come_in_the_order_in_which_they_are_declared():
    b, a = phi.fields("b a", x, y)
    system = phi.Problem(square, {"z": {"m": Eq(b, 1), "c": Eq(a, 1)}, "k": Eq(a, b)})
    made = phi.compile(system, network=phi.MLP(width=4, depth=1), points=4)
    assert made.module.objective.batch_keys == ("z", "k")
    batch = made.datamodule.train_batch_source(made.module.objective.batch_keys, jax.random.key(0))(0)
    assert tuple(batch) == ("z", "k")
    model = made.module.factory(jax.random.key(0))
    assert made.module.objective.terms(model, batch) == ("z/m", "z/c", "k")
    assert tuple(made.module.objective.losses(model, batch)) == ("z/m", "z/c", "k")


PDE = Eq(phi.laplacian(v), 1)
FLUX = phi.on(square.boundary, Eq(phi.normal_derivative(v), 0))
SETTINGS = {
    "another order": ({"flux": FLUX, "poisson": PDE}, {}),
    "other names": ({"equation": PDE, "a": FLUX}, {}),
    "one more": ({"poisson": PDE, "flux": FLUX, "gauge": phi.on(square.at(x=0, y=0), Eq(v, 0))}, {}),
    "other numbers of points": ({"poisson": PDE, "flux": FLUX}, {"points": 7}),
    "a sampler of one's own": ({"poisson": PDE, "flux": FLUX}, {"samplers": {"poisson": Given()}}),
    "another method": ({"poisson": PDE, "flux": FLUX}, {"method": "uniform", "hold": 5}),
}


def weights(constraints, **settings):
    made = phi.compile(phi.Problem(square, constraints), network=phi.MLP(width=4, depth=1), **settings)
    return jax.tree.leaves(eqx.filter(made.module.factory(jax.random.key(3)), eqx.is_array))


@pytest.mark.parametrize("change", SETTINGS)
def test_r5_samplers_their_names_and_their_order_change_no_initial_weight(change):
    constraints, settings = SETTINGS[change]
    plain, other = weights({"poisson": PDE, "flux": FLUX}), weights(constraints, **settings)
    assert [leaf.tolist() for leaf in other] == [leaf.tolist() for leaf in plain]


def test_observed_numbers_that_the_precision_has_no_number_for_are_refused():
    y = phi.coordinate("y")
    v = phi.field("v", y)
    seen = phi.data({"y": [0.2, 0.5], "v": [1.0, 1e40]})
    problem = phi.Problem(phi.Interval(y, 0, 1), {"law": v.diff(y) - v, "seen": seen})
    with pytest.raises(ValueError, match=r"'seen': the column 'v' holds 1e\+40, which float32 has no number for"):
        phi.compile(problem)
    assert phi.compile(problem, precision="float64").points["seen"] == 2


def test_a_flux_through_a_boundary_inside_the_domain_asks_no_normal_of_the_points():
    ring = square - phi.Disk((x, y), (0.5, 0.5), 0.2).named("hole")
    slope = phi.normal_derivative(v)
    conditions = {
        "poisson": Eq(phi.laplacian(v), 1),
        "flux": Eq(phi.integral(slope, over=ring.side("hole")), 1),
        "walls": phi.on(ring.boundary, Eq(slope, 0)),
    }
    small = phi.MLP(width=4, depth=1)
    compiled = phi.compile(phi.Problem(ring, conditions), network=small, points=dict.fromkeys(conditions, 8))
    assert set(compiled.datamodule.samplers) == set(conditions)
