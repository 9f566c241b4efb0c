"""GradNorm: mean norm over own norm, by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.balancing import GradNorm
from phijax.networks import MLP, frozen

KEY, STEP = jax.random.key(0), jnp.array(0)


def losses(params):
    """Gradient norms 4 and 1 wherever the parameters are."""
    return {"a": 4.0 * params["x"], "b": 0.6 * params["x"] + 0.8 * params["y"]}


def refreshed(balancer, params, losses, state=None):
    state = balancer.initialize(tuple(losses(params))) if state is None else state
    diagnostics = balancer.diagnostics(params, losses=losses, residuals=None)
    new = balancer.update(state, losses(params), diagnostics, key=KEY, step=STEP)
    return new, {term: float(weight) for term, weight in balancer.weights(new).items()}


PARAMS = {"x": jnp.array(2.0), "y": jnp.array(-1.0)}


def test_norms_of_four_and_one_give_weights_0_625_and_2_5():
    _, weights = refreshed(GradNorm(smoothing=0.0), PARAMS, losses)
    assert weights == pytest.approx({"a": 0.625, "b": 2.5}, rel=1e-6)


def test_diagnostics_are_the_norms_of_the_raw_gradients():
    norms = GradNorm().diagnostics(PARAMS, losses=losses, residuals=None)
    assert {term: float(norm) for term, norm in norms.items()} == pytest.approx({"a": 4.0, "b": 1.0})


def test_weighted_gradients_have_equal_norms():
    state, _ = refreshed(GradNorm(smoothing=0.0), PARAMS, losses)
    norms = GradNorm().diagnostics(
        PARAMS, losses=lambda p: {term: state.weights[term] * loss for term, loss in losses(p).items()}, residuals=None
    )
    assert float(norms["a"]) == pytest.approx(float(norms["b"])) == pytest.approx(2.5)


def test_smoothing_keeps_that_share_of_the_present_weight():
    state, first = refreshed(GradNorm(smoothing=0.9), PARAMS, losses)
    assert first == pytest.approx({"a": 0.9 + 0.1 * 0.625, "b": 0.9 + 0.1 * 2.5})
    _, second = refreshed(GradNorm(smoothing=0.9), PARAMS, losses, state)
    assert second == pytest.approx({"a": 0.81 + 0.19 * 0.625, "b": 0.81 + 0.19 * 2.5})


def test_term_of_zero_gradient_keeps_its_weight_and_is_left_out_of_the_mean():
    def with_zero(params):
        return losses(params) | {"satisfied": 0.0 * params["x"] ** 2}

    _, weights = refreshed(GradNorm(smoothing=0.0), PARAMS, with_zero)
    assert weights == pytest.approx({"a": 0.625, "b": 2.5, "satisfied": 1.0}, rel=1e-6)


def test_all_gradients_zero_or_not_finite_leave_the_weights_as_they_were():
    def degenerate(params):
        return {"zero": 0.0 * params["x"], "infinite": jnp.sqrt(params["x"] - 2.0)}

    _, weights = refreshed(GradNorm(smoothing=0.0), PARAMS, degenerate)
    assert weights == {"zero": 1.0, "infinite": 1.0}


def test_target_is_bounded():
    def tiny(params):
        return {"a": params["x"], "b": 1e-12 * params["x"]}

    _, weights = refreshed(GradNorm(smoothing=0.0, largest=1e4), PARAMS, tiny)
    assert weights == pytest.approx({"a": 0.5, "b": 1e4})


def test_frozen_layers_and_unknown_parameters_enter_by_their_gradients():
    with precision_scope("float64"):
        network = MLP(width=3, depth=1)(KEY, 1, 1)
        params = {"held": frozen(network), "free": network, "lam": jnp.array(0.7), "count": jnp.array(3)}

        def terms(p):
            return {"data": p["held"](jnp.ones(1))[0] * p["lam"] ** 2, "pde": p["free"](jnp.ones(1))[0] ** 2}

        norms = GradNorm().diagnostics(params, losses=terms, residuals=None)
        value = float(network(jnp.ones(1))[0])
        assert float(norms["data"]) == pytest.approx(abs(value * 1.4), rel=1e-12)
        gradient = jax.grad(lambda net: net(jnp.ones(1))[0] ** 2)(network)
        expected = np.sqrt(sum(np.sum(np.asarray(leaf) ** 2) for leaf in jax.tree.leaves(gradient)))
        assert float(norms["pde"]) == pytest.approx(expected, rel=1e-12)


def test_wrong_options_of_gradnorm_are_refused():
    with pytest.raises(ValueError, match="GradNorm: every=0 must be a whole number of at least 1"):
        GradNorm(every=0)
    with pytest.raises(ValueError, match=r"GradNorm: smoothing=1.0 must be a finite number from 0 to below 1"):
        GradNorm(smoothing=1.0)
    with pytest.raises(ValueError, match="GradNorm: refresh='yes' must be True or False"):
        GradNorm(refresh="yes")
    with pytest.raises(ValueError, match=r"GradNorm: largest=0.5 must be a finite number of at least 1"):
        GradNorm(largest=0.5)
