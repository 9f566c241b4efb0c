"""What every balancer keeps: pure and compiled updates, states that survive a checkpoint, finite weights, configs."""

import functools
import json
import tomllib

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
import pytest
import tomli_w

from phijax._precision import precision_scope
from phijax.balancing import NTK, GradNorm, LossBalancer, ReLoBRaLo, SoftAdapt, Static, balancer_from_config
from phijax.networks import MLP, frozen

BALANCERS = [
    Static({"wall": 0.5}),
    GradNorm(every=2, smoothing=0.5),
    NTK(every=2),
    ReLoBRaLo(alpha=0.5, rho=0.5),
    SoftAdapt(every=2, loss_weighted=True),
]
TERMS = ("wall", "pde/b", "pde/a", "satisfied")
KEY = jax.random.key(11)
every_balancer = pytest.mark.parametrize("balancer", BALANCERS, ids=lambda b: type(b).__name__)


@functools.cache
def compiled_step(balancer, precision):
    """One step of a run whose parameters are a function of the step alone."""
    x = jnp.linspace(0.0, 1.0, 5)[:, None]
    network = MLP(width=3, depth=1)(KEY, 1, 1)
    params = {"net": network, "held": frozen(network), "k": jnp.ones(())}

    def residuals(p):
        u = jax.vmap(p["net"])(x)[:, 0]
        held = jax.vmap(p["held"])(x)[:, 0]
        return {"wall": u[:2] - 1.0, "pde/b": 3.0 * u * p["k"], "pde/a": u + held, "satisfied": 0.0 * u}

    def losses(p):
        return {term: jnp.mean(r**2) for term, r in residuals(p).items()}

    @jax.jit
    def step(state, number):
        now = jax.tree.map(lambda leaf: leaf * (1.0 + 0.1 * jnp.sin(number.astype(leaf.dtype))), params)

        def refreshed():
            diagnostics = balancer.diagnostics(now, losses=losses, residuals=residuals)
            return balancer.update(state, losses(now), diagnostics, key=jax.random.fold_in(KEY, number), step=number)

        due = (number % balancer.every == 0) if balancer.every else jnp.array(False)
        return jax.lax.cond(due, refreshed, lambda: state)

    return step


def advance(balancer, state, steps, precision="float32"):
    with precision_scope(precision), jax.numpy_rank_promotion("raise"):
        for number in steps:
            state = compiled_step(balancer, precision)(state, jnp.asarray(number, jnp.int32))
    return state


@every_balancer
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_update_runs_compiled_under_cond_and_keeps_weights_finite(balancer, precision):
    with precision_scope(precision):
        start = balancer.initialize(TERMS)
        state = advance(balancer, start, range(5), precision)
        assert set(state.weights) == set(TERMS)
        assert all(np.isfinite(weight) for weight in state.weights.values())
        assert jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), start) == jax.tree.map(
            lambda leaf: (leaf.shape, leaf.dtype), state
        )
        assert {leaf.dtype.name for leaf in jax.tree.leaves(state)} <= {precision, "bool"}
        moved = any(state.weights[term] != start.weights[term] for term in TERMS)
        assert moved == (balancer.every > 0)


@every_balancer
def test_update_gives_the_same_bits_for_the_same_arguments_and_leaves_its_input(balancer):
    start = balancer.initialize(TERMS)
    before = jax.tree.map(np.asarray, start)
    first, second = advance(balancer, start, range(3)), advance(balancer, start, range(3))
    assert eqx.tree_equal(first, second)
    assert eqx.tree_equal(jax.tree.map(np.asarray, start), before)


@every_balancer
def test_state_from_a_checkpoint_goes_on_with_the_same_bits(balancer, tmp_path):
    whole = advance(balancer, balancer.initialize(TERMS), range(6))
    middle = advance(balancer, balancer.initialize(TERMS), range(3))
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "state", middle)
        checkpointer.wait_until_finished()
        restored = checkpointer.restore(tmp_path / "state", balancer.initialize(TERMS))
    assert type(restored) is type(middle)
    assert eqx.tree_equal(restored, middle)
    assert eqx.tree_equal(advance(balancer, restored, range(3, 6)), whole)


@every_balancer
def test_weights_do_not_depend_on_the_order_of_the_terms(balancer):
    forward = advance(balancer, balancer.initialize(TERMS), range(3))
    backward = advance(balancer, balancer.initialize(TERMS[::-1]), range(3))
    assert all(forward.weights[term] == backward.weights[term] for term in TERMS)


@every_balancer
def test_balancer_is_hashable_and_goes_through_toml_and_json(balancer):
    config = balancer.to_config()
    assert config["kind"] == type(balancer).__name__
    assert balancer_from_config(tomllib.loads(tomli_w.dumps(config))) == balancer
    assert hash(balancer_from_config(json.loads(json.dumps(config)))) == hash(balancer)


@every_balancer
def test_unbound_state_has_no_weights(balancer):
    assert balancer.initialize().weights == {}


def test_unknown_balancer_or_option_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"balancer: kind='gradnorm' is not known. Did you mean 'GradNorm'\?"):
        balancer_from_config({"kind": "gradnorm"})
    with pytest.raises(ValueError, match=r"GradNorm has no option 'evry'. Did you mean 'every'\?"):
        balancer_from_config({"kind": "GradNorm", "evry": 10})
    with pytest.raises(ValueError, match=r"Static has no option 'weight'. Did you mean 'weights'\?"):
        balancer_from_config({"kind": "Static", "weight": {"a": 1.0}})


def test_own_balancer_must_say_how_it_starts_measures_and_updates():
    class Unfinished(LossBalancer):
        every = 1
        refresh = False

    with pytest.raises(TypeError, match=r"abstract methods '?diagnostics'?, '?initialize'?,? '?(and )?update'?"):
        Unfinished()
