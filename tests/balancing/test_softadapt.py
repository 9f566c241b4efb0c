"""SoftAdapt: all variants by numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.balancing import SoftAdapt

LOSSES = [np.array([4.0, 1.0, 0.5]), np.array([2.0, 0.9, 0.6]), np.array([1.5, 0.2, 0.3])]


def run(balancer, history):
    names = ("a", "b", "c")
    state = balancer.initialize(names)
    out = []
    for step, values in enumerate(history):
        losses = {name: jnp.asarray(value) for name, value in zip(names, values, strict=True)}
        state = balancer.update(state, losses, {}, key=jax.random.key(0), step=jnp.array(step))
        out.append(np.array([float(state.weights[name]) for name in names]))
    return out


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("loss_weighted", [False, True])
@pytest.mark.parametrize("beta", [0.1, -2.0])
def test_weights_are_the_softmax_of_the_rates(normalized, loss_weighted, beta):
    with precision_scope("float64"):
        got = run(SoftAdapt(beta=beta, normalized=normalized, loss_weighted=loss_weighted), LOSSES)
    for t, now in enumerate(LOSSES):
        rate = now - LOSSES[max(t - 1, 0)]
        if normalized and t > 0:
            rate = rate / np.abs(rate).sum()
        share = np.exp(beta * rate) * (now if loss_weighted else 1.0)
        np.testing.assert_allclose(got[t], share / share.sum(), rtol=1e-12)


def test_weights_begin_equal_with_sum_one():
    state = SoftAdapt().initialize(("a", "b", "c", "d"))
    assert [float(weight) for weight in state.weights.values()] == [0.25] * 4
    assert SoftAdapt().initialize().weights == {}


def test_positive_beta_favours_the_term_that_falls_slowest():
    weights = run(SoftAdapt(beta=5.0), LOSSES[:2])[-1]
    assert np.argmax(weights) == 2
    assert np.argmin(weights) == 0


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("loss_weighted", [False, True])
@pytest.mark.parametrize("history", [[(0, 0, 0), (0, 0, 0)], [(0, 1, 1), (0, 1, 1)], [(1e30, 0, 1), (0, 1e30, 0)]])
def test_weights_are_finite_with_sum_one_where_losses_are_zero_or_huge(normalized, loss_weighted, history):
    balancer = SoftAdapt(beta=1.0, normalized=normalized, loss_weighted=loss_weighted)
    for weights in run(balancer, np.array(history, np.float32)):
        assert weights.sum() == pytest.approx(1.0, rel=1e-5)
        assert np.all(weights >= 0)


def test_wrong_options_of_softadapt_are_refused():
    with pytest.raises(ValueError, match=r"SoftAdapt: beta=nan must be a finite number[.]"):
        SoftAdapt(beta=float("nan"))
    with pytest.raises(ValueError, match="SoftAdapt: normalized=1 must be True or False"):
        SoftAdapt(normalized=1)
    with pytest.raises(ValueError, match="SoftAdapt: every=0 must be"):
        SoftAdapt(every=0)
