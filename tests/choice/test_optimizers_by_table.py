"""What is settled by rule for optimizers and their stages: precision, steps, points and how often they follow."""

import optax
import pytest
from sympy import Eq, sin

import phijax as phi
from phijax.choice import choose, samplers_of

x, y = phi.coordinates("x y")
u = phi.field("u", x, y)
square = phi.Rectangle((x, 0, 1), (y, 0, 1))


@pytest.fixture(scope="module")
def poisson():
    return phi.Problem(square, {"pde": Eq(phi.laplacian(u), sin(x)), "walls": phi.on(square.boundary, Eq(u, 0))})


def pendulum():
    t = phi.time("t")
    a, b = phi.fields("a b", t)
    span = phi.Interval(t, 0, 1)
    equations = {"ode": {"a": Eq(a.diff(t), b), "b": Eq(b.diff(t), -sin(a))}}
    return phi.Problem(span, equations | {"start": phi.on(span.at(t=0), Eq(a, 1), Eq(b, 0))})


ADAM = optax.adam(1e-3)


@pytest.mark.parametrize(
    ("optimizer", "precision", "steps"),
    [
        (phi.GaussNewton(), "float64", 400),
        (phi.LevenbergMarquardt(), "float64", 400),
        (phi.SPRING(), "float64", 400),
        (phi.SSBFGS(), "float64", 10_000),
        ({"kind": "SSBroyden"}, "float64", 10_000),
        (ADAM, "float32", 20_000),
        ({"kind": "SOAP", "steps": 700}, "float32", 700),
        ({"kind": "LBFGS"}, "float32", 20_000),
        ([(ADAM, 300), (phi.LevenbergMarquardt(), None)], "float64", 700),
        ([(ADAM, 300), (optax.lbfgs(), 200)], "float32", 500),
        ({"kind": "Stages", "stages": [{"kind": "Adam", "steps": 50}, {"kind": "SSBFGS"}]}, "float64", 10_050),
    ],
)
def test_precision_and_steps_go_by_the_stages(poisson, optimizer, precision, steps):
    choice = choose(poisson, optimizer=optimizer)
    assert (choice.precision, choice.max_steps) == (precision, steps)
    assert choice.points["pde"] == (3 * 921 if precision == "float64" else 4096)


@pytest.mark.parametrize(
    ("optimizer", "period"),
    [
        (phi.SSBroyden(refresh=200), 200),
        ([(phi.SSBroyden(refresh=200), 1000), (phi.LevenbergMarquardt(refresh=6), None)], 2),
        ([(ADAM, 300), (phi.SPRING(refresh=3), None)], 3),
        (phi.GaussNewton(refresh=0), 1),
        (ADAM, 100),
    ],
)
def test_points_follow_the_residual_where_every_stage_begins_to_hold_its_own(poisson, optimizer, period):
    assert samplers_of(poisson, choose(poisson, optimizer=optimizer))["pde"].period == period


def test_a_slab_gets_a_quarter_of_the_steps_of_a_whole():
    for optimizer, steps in ((None, 8 * 100), (phi.SSBroyden(), 8 * 2500), ([(phi.GaussNewton(), 30)], 8 * 30)):
        choice = choose(pendulum(), optimizer=optimizer)
        assert choice.slabs.count == 8
        assert choice.max_steps == steps


def test_stages_that_are_none_are_refused_before_anything_is_made(poisson):
    table = {"kind": "Stages", "stages": [{"kind": "Adam"}, {"kind": "SSBFGS"}]}
    with pytest.raises(ValueError, match="stage 1 of 2 has no steps, so no later stage would begin"):
        choose(poisson, optimizer=table)
