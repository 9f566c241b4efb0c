"""ReLoBRaLo: three updates by numpy, both ways of looking back."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.balancing import ReLoBRaLo

LOSSES = [np.array([4.0, 1.0]), np.array([2.0, 0.9]), np.array([1.5, 0.2])]


def run(balancer, history, keys=None):
    state = balancer.initialize(("a", "b"))
    out = []
    for step, (a, b) in enumerate(history):
        key = jax.random.key(step) if keys is None else keys[step]
        losses = {"a": jnp.asarray(a), "b": jnp.asarray(b)}
        state = balancer.update(state, losses, {}, key=key, step=jnp.array(step))
        out.append(np.array([float(state.weights["a"]), float(state.weights["b"])]))
    return out


def balance(now, then, temperature):
    e = np.exp(now / (temperature * then))
    return 2 * e / e.sum()


@pytest.mark.parametrize("rho", [0.0, 1.0])
def test_weights_follow_the_papers_recurrence(rho):
    alpha, temperature = 0.7, 0.5
    with precision_scope("float64"):
        got = run(ReLoBRaLo(temperature=temperature, alpha=alpha, rho=rho), LOSSES)
    weight = np.ones(2)
    for t, now in enumerate(LOSSES):
        previous = LOSSES[max(t - 1, 0)]
        history = rho * weight + (1 - rho) * balance(now, LOSSES[0], temperature)
        weight = alpha * history + (1 - alpha) * balance(now, previous, temperature)
        np.testing.assert_allclose(got[t], weight, rtol=1e-12)


def test_first_update_leaves_weights_of_one():
    np.testing.assert_allclose(run(ReLoBRaLo(), LOSSES[:1])[0], [1.0, 1.0], rtol=1e-6)


def test_lookback_is_drawn_from_the_key_with_probability_rho():
    keys = jax.random.split(jax.random.key(7), 400)
    stay = run(ReLoBRaLo(rho=1.0, alpha=1.0), LOSSES[:2])[1]
    back = run(ReLoBRaLo(rho=0.0, alpha=1.0), LOSSES[:2])[1]
    balancer = ReLoBRaLo(rho=0.75, alpha=1.0)
    start = balancer.update(balancer.initialize(("a", "b")), {"a": 4.0, "b": 1.0}, {}, key=keys[0], step=jnp.array(0))
    losses = {"a": jnp.array(2.0), "b": jnp.array(0.9)}
    update = jax.vmap(lambda key: balancer.update(start, losses, {}, key=key, step=jnp.array(1)).weights["a"])
    drawn = np.asarray(update(keys))
    stays = np.isclose(drawn, stay[0])
    assert np.all(stays | np.isclose(drawn, back[0]))
    assert stay[0] != pytest.approx(back[0])
    assert np.mean(stays) == pytest.approx(0.75, abs=0.07)


def test_weights_have_mean_one_and_the_slow_term_the_larger():
    last = run(ReLoBRaLo(alpha=0.5, rho=0.5), LOSSES[:2])[-1]
    assert last.mean() == pytest.approx(1.0, rel=1e-6)
    assert last[1] > last[0]


@pytest.mark.parametrize(
    "history",
    [
        [(0.0, 1.0), (0.0, 0.5), (0.0, 0.2)],
        [(0.0, 1.0), (1.0, 0.5), (0.0, 0.5)],
        [(1e-38, 1.0), (1e30, 1.0), (1.0, 0.0)],
        [(0.0, 0.0), (0.0, 0.0)],
    ],
)
def test_weights_are_finite_with_mean_one_where_losses_are_or_were_zero(history):
    for weights in run(ReLoBRaLo(rho=0.0, alpha=0.5, temperature=1e-3), history):
        assert weights.mean() == pytest.approx(1.0, rel=1e-5)


def test_wrong_options_of_relobralo_are_refused():
    with pytest.raises(ValueError, match="ReLoBRaLo: temperature=0 must be a finite number above 0"):
        ReLoBRaLo(temperature=0)
    with pytest.raises(ValueError, match=r"ReLoBRaLo: alpha=1.5 must be a finite number from 0 to 1"):
        ReLoBRaLo(alpha=1.5)
    with pytest.raises(ValueError, match="ReLoBRaLo: rho=-1 must be"):
        ReLoBRaLo(rho=-1)
    with pytest.raises(ValueError, match="ReLoBRaLo: every=0 must be"):
        ReLoBRaLo(every=0)
