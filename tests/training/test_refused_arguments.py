"""Arguments of `solve`, `compile`, the Trainer and `parameter` that mean nothing are refused by name, before any work."""

import numpy as np
import optax
import pytest
from sympy import Eq

import phijax as phi
from phijax.networks import MLP

x = phi.coordinate("x")
u = phi.field("u", x)
line = phi.Interval(x, 0, 1)
problem = phi.Problem(line, {"ode": Eq(u.diff(x), 1), "start": phi.on(line.side("left"), Eq(u, 0))})
SMALL = MLP(width=3, depth=1)


def compiled(**given):
    return phi.compile(problem, network=SMALL, **given)


def fit(**given):
    made = compiled()
    return phi.Trainer(2).fit(made.module, datamodule=made.datamodule, seed=0, **given)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: phi.solve("burgers", seed=0), "problem='burgers' is no Problem; make one by phi.Problem(domain, "),
        (lambda: phi.compile("burgers"), "problem='burgers' is no Problem"),
        (lambda: phi.solve(problem, seed=0, network=3), "network=3 makes no network; give phi.MLP(width=64, depth=4)"),
        (lambda: phi.compile(problem, network="MLP"), "network='MLP' makes no network"),
        (
            lambda: phi.solve(problem, seed=0, network=MLP),
            "network=MLP is the class; write phi.MLP(), with its options.",
        ),
        (lambda: phi.solve(problem, seed=0, network={"v": SMALL}), "network names 'v', which is no field; known: u."),
        (lambda: phi.solve(problem, seed=0, balancer=phi.GradNorm), "balancer=GradNorm is the class; write GradNorm()"),
        (lambda: fit(optimizer=optax.sgd(0.1), balancer=phi.NTK), "balancer=NTK is the class; write NTK()"),
        (lambda: phi.solve(problem, seed=0, max_seconds="5"), "max_seconds='5': give a positive number of seconds"),
        (lambda: phi.Trainer(2, max_seconds="5"), "max_seconds='5': give a positive number of seconds"),
        (lambda: phi.solve(problem, seed=0, max_steps=1.5), "max_steps=1.5 must be a whole number of at least 1."),
        (lambda: phi.solve(problem, seed=0, run_dir=3), "run_dir=3 is no folder; give a path, Dated() for a new one"),
        (lambda: phi.Trainer(2, checkpoint=3), "Trainer(checkpoint=3): give the path of a folder, or None."),
        (lambda: phi.Trainer(2, callbacks=phi.KeepBest()), "is no sequence; write callbacks=[...], also for one."),
        (lambda: compiled(scales={"v": 1.0}), "scales names 'v', which is no field; known: u."),
        (lambda: compiled(scales={"u": -1.0}), "scales['u'] is -1.0; the size of a field is a positive number."),
        (lambda: compiled(scales=2.0), "scales=2.0 is no mapping of fields to sizes"),
        (lambda: compiled(hold=1.5), "hold=1.5 must be a whole number of steps, at least 1"),
        (lambda: compiled(rows=0), "rows=0 must be a whole number of points, at least 1"),
        (lambda: compiled(points=1.5), "points=1.5 must be a positive whole number"),
        (lambda: compiled(points={"ode": True}), "points['ode'] is True; a constraint needs at least one point"),
        (
            lambda: fit(optimizer=[optax.sgd(0.1), optax.sgd(0.2)]),
            "stage 1 of 2 has no steps, so no later stage would begin; give (optimizer, steps).",
        ),
        (lambda: fit(optimizer=[(optax.sgd(0.1), "5")]), "a stage of steps='5': give at least 1"),
        (lambda: phi.parameter("k", bounds=5), "parameter 'k': bounds=5 must be a pair, as in (0, 1)."),
        (lambda: phi.parameter("k", bounds=(1,)), "parameter 'k': bounds=(1,) must be a pair"),
        (lambda: phi.parameter("k", bounds=(3, 1)), "bounds=(3.0, 1.0) must be (low, high), the lower first."),
        (lambda: phi.parameter("k", positive="no"), "parameter 'k': positive='no' must be True or False."),
        (lambda: phi.parameter("k", initial="a"), "parameter 'k': initial='a' is no real number."),
        (lambda: phi.parameter("k", initial=1j), "parameter 'k': initial=1j is no real number."),
        (lambda: phi.integral(u, (x, 0, 1), points=2.5), "integral: points=2.5 must be a whole number of at least 1."),
    ],
)
def test_a_senseless_argument_is_named_with_its_cure(call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    assert message in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_whole_numbers_of_numpy_are_numbers_of_points():
    assert compiled(points={"ode": np.int64(7)}).points == {"ode": 7, "start": 1}
    assert compiled(points=np.uint8(5), hold=np.int32(2)).points == {"ode": 5, "start": 1}
    assert phi.Grid(line, np.int64(4)).size == 4
    assert phi.integral(u, (x, 0, 1), points=np.int64(4)) == phi.integral(u, (x, 0, 1), points=4)
    assert phi.periodic(u, x, order=np.int64(0)).order == 0


def test_scales_of_some_fields_leave_the_others_to_the_conditions():
    v = phi.field("v", x)
    both = phi.Problem(
        line,
        {
            "ode": {"u": Eq(u.diff(x), v), "v": Eq(v.diff(x), u)},
            "start": phi.on(line.side("left"), Eq(u, 2), Eq(v, 3)),
        },
    )
    assert phi.compile(both, network=SMALL, scales={"u": 5}).layout.scales == {"u": 5.0, "v": 3.0}


def test_what_is_asked_of_a_solution_is_checked():
    solution = phi.solve(problem, seed=0, network=SMALL, points=8, max_steps=1)
    with pytest.raises(TypeError, match=r"None \(NoneType\) is no number and no sympy expression"):
        solution.evaluate(None)
    with pytest.raises(TypeError, match="True has no value; give an expression of the fields, or an equation of two"):
        solution.evaluate(True)
    for n in (0, -1, 0.5):
        with pytest.raises(ValueError, match=f"residuals: n={n} must be a whole number of points, at least 1"):
            solution.residuals(n)
