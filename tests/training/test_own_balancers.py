"""Balancers of the user's own: what is wrong with one is told in its own terms, before any step."""

import jax.numpy as jnp
import optax
import pytest
from sympy import Eq

import phijax as phi
from phijax.balancing.base import BalancerState

x = phi.coordinate("x")
u = phi.field("u", x)
line = phi.Interval(x, 0, 1)
problem = phi.Problem(line, {"pde": Eq(u.diff(x), 1), "left": phi.on(line.side("left"), Eq(u, 0))})
compiled = phi.compile(problem, network=phi.MLP(width=4, depth=1), points=8)


class Growing(phi.LossBalancer):
    """One more at every second step."""

    every = 2
    refresh = False

    def initialize(self, terms=()):
        return BalancerState({term: jnp.ones(()) for term in terms}, {})

    def diagnostics(self, params, *, losses, residuals):
        return {}

    def update(self, state, losses, diagnostics, *, key, step):
        return state._replace(weights={term: weight + 1 for term, weight in state.weights.items()})


def fitted(balancer, steps=3):
    trainer = phi.Trainer(steps, log_every=1, progress=False)
    return trainer.fit(
        compiled.module, datamodule=compiled.datamodule, optimizer=optax.adam(1e-3), balancer=balancer, seed=0
    )


def changed(**parts):
    return type("Own", (Growing,), parts)()


def test_a_balancer_of_ones_own_serves():
    assert fitted(Growing()).history.weights["pde"].tolist() == [2.0, 2.0, 3.0]


def test_plain_numbers_serve_as_weights():
    plain = changed(
        initialize=lambda self, terms=(): BalancerState(dict.fromkeys(terms, 1.0), {}),
        update=lambda self, state, losses, diagnostics, *, key, step: BalancerState(
            dict.fromkeys(state.weights, 2.5), {}
        ),
    )
    assert fitted(plain).history.weights["left"].tolist() == [2.5] * 3


WRONG = {
    "a name missing": (
        {"initialize": lambda self, terms=(): BalancerState({"pde": jnp.ones(())}, {})},
        "Own.initialize\\(terms\\) gives weights for 'pde', and the loss terms are 'pde', 'left'",
    ),
    "no scalar": (
        {"initialize": lambda self, terms=(): BalancerState({term: jnp.ones(2) for term in terms}, {})},
        r"the weight of 'left' has shape \(2,\); a weight is a scalar",
    ),
    "no state": ({"initialize": lambda self, terms=(): None}, "AttributeError: .* It needs weights"),
    "no terms": (
        {"initialize": lambda self: None},
        r"balancer Own fails: TypeError: .* It needs initialize\(terms=\(\)\) -> BalancerState",
    ),
    "nothing": (
        {"update": lambda self, state, losses, diagnostics, *, key, step: None},
        "Own.update gives another state than Own.initialize: NoneType in place of",
    ),
    "another shape": (
        {
            "update": lambda self, state, *_, key, step: state._replace(
                weights=dict.fromkeys(state.weights, jnp.ones(2))
            )
        },
        r"Own.update gives another state than Own.initialize: .*\(2,\)",
    ),
    "no key": ({"update": lambda self, state, losses, diagnostics: state}, "balancer Own fails: TypeError"),
    "its own fault": (
        {"diagnostics": lambda self, params, *, losses, residuals: losses(params)["wall"]},
        "balancer Own fails: KeyError: 'wall'",
    ),
    "total": (
        {"combine": lambda self, state, losses: jnp.stack(list(losses.values()))},
        r"Own.combine gives an array of shape \(2,\); the total loss is a scalar",
    ),
    **{
        f"every={every!r}": ({"every": every}, f"balancer Own has every={every!r}; it must be a whole number of steps")
        for every in (-1, 1.5, None, True, "2")
    },
}


@pytest.mark.parametrize("name", WRONG)
def test_a_balancer_that_is_wrong_says_how(name):
    parts, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        fitted(changed(**parts))


def test_a_missing_method_is_named():
    half = type("Half", (), {"combine": lambda self, state, losses: sum(losses.values())})
    with pytest.raises(TypeError, match=r"balancer Half has no 'initialize'; .* derive it from phi.LossBalancer"):
        fitted(half())


def test_what_a_run_folder_cannot_hold_is_refused_before_the_run(tmp_path):
    with pytest.raises(
        TypeError, match="balancer Growing is no dataclass, so a run folder cannot hold it: leave run_dir"
    ):
        phi.solve(problem, seed=0, balancer=Growing(), run_dir=tmp_path / "run", max_steps=1, progress=False)
    assert not list(tmp_path.iterdir())
