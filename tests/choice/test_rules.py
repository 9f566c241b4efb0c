"""Rules of `solve`: slabs where waves travel, networks by the time that is given, and a race elsewhere."""

import optax
import pytest
from sympy import Eq, I, cos, pi

import phijax as phi
from phijax.choice import choose
from phijax.formulation import carries_waves
from phijax.optimizers import GaussNewton, Race

x, t = phi.coordinate("x"), phi.time("t")
u, h = phi.field("u", x, t), phi.field("h", x, t, complex=True)
ring = phi.Interval(x, -1, 1, periodic=True) * phi.Interval(t, 0, 1)


def evolution(law, field=u):
    return phi.Problem(ring, {"law": law, "start": phi.on(ring.at(t=0), Eq(field, cos(pi * x)))})


DISPERSIVE = evolution(Eq(u.diff(t) + u * u.diff(x) + u.diff(x, 3) / 1000, 0))
QUANTUM = evolution(Eq(I * h.diff(t) + h.diff(x, 2) + abs(h) ** 2 * h, 0), h)
DAMPED = evolution(Eq(u.diff(t) + u * u.diff(x), u.diff(x, 2) / 100))


@pytest.mark.parametrize(("problem", "waves"), [(DISPERSIVE, True), (QUANTUM, True), (DAMPED, False)])
def test_third_order_and_complex_evolutions_go_in_slabs_and_damped_ones_do_not(problem, waves):
    assert carries_waves(problem) == waves
    chosen = choose(problem)
    assert (chosen.slabs is not None) == waves
    assert chosen.network.width == (16 if waves else 20)
    assert isinstance(chosen.optimizer, GaussNewton if waves else Race)
    if waves:
        assert chosen.slabs.count == 4
        assert any("4 slabs of t" in reason for reason in chosen.reasons)


@pytest.mark.parametrize(("seconds", "width", "steps"), [(None, 20, 400), (60.0, 20, 4000), (600.0, 30, 4000)])
def test_more_time_takes_a_wider_network_and_more_steps(seconds, width, steps):
    chosen = choose(DAMPED, max_seconds=seconds)
    assert (chosen.network.width, chosen.max_steps) == (width, steps)


def test_one_slab_is_the_whole():
    chosen = choose(DISPERSIVE, slabs=1)
    assert chosen.network.width == 20
    assert chosen.slabs.count == 1


def test_one_slab_is_none_where_a_problem_cannot_be_cut():
    k, start = phi.parameter("k"), phi.on(ring.at(t=0), Eq(u, cos(pi * x)))
    problem = phi.Problem(ring, {"law": Eq(u.diff(t), k * u.diff(x, 2)), "start": start})
    assert choose(problem, slabs=1).slabs is None


def test_the_network_that_was_given_is_kept_in_slabs():
    assert choose(DISPERSIVE, network=phi.MLP(width=11, depth=2)).network.width == 11


@pytest.mark.parametrize(
    ("optimizer", "weight"),
    [
        (optax.adam(1e-3), 100.0),
        (phi.GaussNewton(), 1.0),
        ([(optax.adam(1e-3), 10), (optax.lbfgs(), 10)], 1.0),
        ([(optax.adam(1e-3), 10), phi.GaussNewton()], 1.0),
        ([(optax.lbfgs(), 10), (optax.adam(1e-3), 10)], 100.0),
    ],
)
def test_conditions_of_steady_problems_weigh_more_where_no_curvature_finds_them(optimizer, weight):
    u, interval = phi.field("u", x), phi.Interval(x, -1, 1)
    problem = phi.Problem(interval, {"equation": u.diff(x, 2) - 1, "ends": phi.on(interval.boundary, {u: 0})})
    balancer = choose(problem, optimizer=optimizer).balancer
    assert balancer == (phi.Static() if weight == 1 else phi.Static({"ends": weight}))
