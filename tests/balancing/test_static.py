"""Static weights, and the weighted sum that all balancers share."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.balancing import GradNorm, Static

TERMS = ("left", "flow/momentum", "flow/continuity")


def test_name_of_a_constraint_weighs_all_of_its_terms_and_that_of_a_term_is_stronger():
    balancer = Static({"flow": 3.0, "flow/continuity": 0.5})
    state = balancer.initialize(TERMS)
    weights = {term: float(weight) for term, weight in balancer.weights(state).items()}
    assert weights == {"left": 1.0, "flow/momentum": 3.0, "flow/continuity": 0.5}


def test_sum_is_weight_times_loss():
    balancer = Static({"left": 0.25, "flow/momentum": 10.0})
    losses = {"left": jnp.array(4.0), "flow/momentum": jnp.array(0.5), "flow/continuity": jnp.array(2.0)}
    assert float(balancer.combine(balancer.initialize(TERMS), losses)) == 0.25 * 4 + 10 * 0.5 + 2


def test_sum_has_the_same_bits_whatever_the_order_of_the_losses():
    losses = {f"t{i}": jnp.array(value) for i, value in enumerate([1e8, 1.0, -1e8, 0.3])}
    balancer = Static()
    state = balancer.initialize(tuple(losses))
    forward = balancer.combine(state, losses)
    backward = balancer.combine(state, dict(reversed(losses.items())))
    compiled = jax.jit(balancer.combine)(state, losses)
    assert forward == backward == compiled


def test_weights_are_constant_under_differentiation():
    balancer = GradNorm()

    def total(x):
        state = balancer.initialize(("a",))
        state = state._replace(weights={"a": x})
        return balancer.combine(state, {"a": x**2})

    assert float(jax.grad(total)(jnp.array(3.0))) == 3.0 * 6.0


def test_unknown_name_is_answered_with_the_nearest_term_or_constraint():
    with pytest.raises(ValueError, match=r"Static: no loss term is named 'flwo'. Did you mean 'flow'\? Known: flow, "):
        Static({"flwo": 1.0}).initialize(TERMS)
    with pytest.raises(ValueError, match=r"named 'flow/continuty'. Did you mean 'flow/continuity'\?"):
        Static({"flow/continuty": 1.0}).initialize(TERMS)


def test_state_without_terms_is_bound_later():
    balancer = Static({"left": 2.0})
    unbound = balancer.initialize()
    assert unbound.weights == {}
    with pytest.raises(ValueError, match=r"no terms yet; bind it by balancer.initialize\(terms\)"):
        balancer.combine(unbound, {"left": jnp.ones(())})


def test_state_of_other_terms_is_refused_by_name():
    balancer = Static()
    state = balancer.initialize(("left", "right"))
    losses = {"left": jnp.ones(()), "rigth": jnp.ones(())}
    with pytest.raises(ValueError, match=r"weight has no loss term: 'right'. Did you mean 'rigth'\?"):
        balancer.combine(state, losses)
    with pytest.raises(ValueError, match=r"loss term has no weight: 'top'. Known: left, right"):
        balancer.combine(state, {"left": jnp.ones(()), "right": jnp.ones(()), "top": jnp.ones(())})


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), True, "1"])
def test_weight_that_is_negative_or_no_finite_number_is_refused(weight):
    with pytest.raises(ValueError, match=r"Static: weights\['left'\]=.* must be a finite number of at least 0"):
        Static({"left": weight})


def test_weights_without_names_are_refused():
    with pytest.raises(ValueError, match=r"Static: weights=\[1.0\] must go by name"):
        Static([1.0])


def test_given_mapping_is_copied_and_the_balancer_hashes_by_value():
    given = {"left": 2}
    balancer = Static(weights=given)
    given["left"] = 3
    assert repr(balancer) == "Static(weights={'left': 2.0})"
    assert balancer == Static({"left": 2.0})
    assert hash(balancer) == hash(Static({"left": 2.0}))
    assert balancer != Static({"left": 3.0})


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_weights_and_sum_are_of_the_ambient_precision(precision):
    with precision_scope(precision):
        balancer = Static({"left": 0.1})
        state = balancer.initialize(("left",))
        assert state.weights["left"].dtype.name == precision
        assert balancer.combine(state, {"left": jnp.ones(())}).dtype.name == precision
        np.testing.assert_allclose(float(state.weights["left"]), 0.1, rtol=1e-7)


def test_update_changes_nothing():
    balancer = Static({"left": 0.5})
    state = balancer.initialize(("left",))
    diagnostics = balancer.diagnostics(None, losses=None, residuals=None)
    assert diagnostics == {}
    assert balancer.update(state, {"left": jnp.zeros(())}, {}, key=jax.random.key(0), step=jnp.array(0)) is state
    assert balancer.every == 0
