"""Points whose weight moves from one end of an interval over the whole."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import phijax as phi
from phijax._precision import precision_scope
from phijax.choice import MARCHING, REFRESH, choose
from phijax.optimizers import GaussNewton
from phijax.sampling import Marching, RegionSampler

t = phi.time("t")
whole = RegionSampler(phi.Interval(t, 1, 5))


def drawn(share: float, **settings):
    """(t, weights, stretch of the next refresh) of 4096 points, with the residual 1 in the stretch and 200 elsewhere."""
    sampler = Marching(whole, "t", 5.0, 4.0, **settings)
    with precision_scope("float64"):
        begun = sampler.init(jax.random.key(0))._replace(share=jnp.asarray(share))
        spread, points = sampler.pool(begun, jax.random.key(1), 4096)
        after, _ = sampler.sample(sampler.update(spread, jnp.where(spread.inside, 1.0, 200.0)), jax.random.key(2), 4096)
    return np.asarray(points.coordinates["t"]), np.asarray(points.weights), after


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_half_of_the_points_and_nearly_all_of_the_weight_lie_in_the_stretch(share):
    at, weights, _ = drawn(share)
    inside = 5 - at <= 4 * share
    assert inside.mean() == pytest.approx((1 + share) / 2, abs=1e-3)
    expected = share / (share + 3e-3 * (1 - share))
    assert weights[inside].sum() / weights.sum() == pytest.approx(expected, rel=1e-3)
    assert weights.mean() == pytest.approx(1, rel=1e-12)
    assert ((at > 1) & (at < 5)).all()


def test_weights_make_a_mean_over_the_stretch_of_the_points_that_lie_anywhere():
    at, weights, _ = drawn(0.1, beyond=0.0)
    assert (weights * at**2).mean() == pytest.approx((5**3 - 4.6**3) / 3 / 0.4, rel=1e-4)


def test_the_stretch_grows_where_its_residual_is_small_beside_the_largest():
    assert float(drawn(0.1)[2].share) == pytest.approx(0.12)
    assert float(drawn(0.1, solved=0.005)[2].share) == pytest.approx(0.1)
    assert float(drawn(0.9)[2].share) == pytest.approx(0.9), "1 in the stretch is more than 1/100 of its own mean"


def test_settings_that_are_no_shares_are_refused():
    with pytest.raises(ValueError, match=r"growth=1.0 above 1"):
        Marching(whole, "t", 1.0, 4.0, growth=1.0)
    with pytest.raises(ValueError, match=r"period=0 must be at least 1"):
        Marching(whole, "t", 1.0, 4.0, period=0)


def test_solve_spreads_points_of_an_initial_value_problem_alone():
    y = phi.field("y", t)
    span = phi.Interval(t, 1, 5)
    law = {"law": y.diff(t, 2) + y}
    start = {"start": phi.on(span.at(t=1), {y: 1, y.diff(t): 0})}
    assert choose(phi.Problem(span, {**law, **start})).marching == {"law": 1.0}
    assert choose(phi.Problem(span, {**law, **start, "seen": phi.data({"t": [2.0], "y": [1.0]})})).marching == {}
    x = phi.coordinate("x")
    w, rod = phi.field("w", x), phi.Interval(x, 0, 1)
    beam = phi.Problem(rod, {"law": w.diff(x, 2), "ends": phi.on(rod.boundary, {w: 1})})
    assert choose(beam).marching == {}


def test_an_optimizer_that_was_given_is_kept_where_points_spread():
    y, span = phi.field("y", t), phi.Interval(t, 1, 5)
    problem = phi.Problem(span, {"law": y.diff(t) + y, "start": phi.on(span.at(t=1), {y: 1})})
    given = GaussNewton(refresh=REFRESH)
    assert choose(problem, optimizer=given).optimizer == given
    assert choose(problem).optimizer == MARCHING
