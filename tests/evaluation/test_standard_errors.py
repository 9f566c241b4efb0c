"""Standard errors of unknown constants, against ordinary least squares and by repeated experiment."""

import numpy as np
import pytest
from sympy import Eq

import phijax as phi
from phijax.evaluation.standard_errors import estimate

t = phi.time("t")
y = phi.field("y", t)
span = phi.Interval(t, 0, 1)


def test_equal_to_the_sandwich_of_linear_regression():
    random = np.random.default_rng(0)
    rows = random.normal(size=(200, 5))
    noise = random.normal(size=200) * np.linspace(0.1, 2, 200)
    solution, *_ = np.linalg.lstsq(rows, rows @ np.arange(5.0) + noise, rcond=None)
    residual = rows @ (solution - np.arange(5.0)) - noise
    bread = np.linalg.inv(rows.T @ rows)
    covariance = bread @ (rows.T * residual**2) @ rows @ bread * 200 / 195
    np.testing.assert_allclose(estimate(rows, residual, 2).errors, np.sqrt(np.diag(covariance))[-2:], rtol=1e-6)


def test_tells_the_spread_of_repeated_experiments():
    random = np.random.default_rng(1)
    rows = random.normal(size=(400, 6))
    estimates, told = [], []
    for _ in range(200):
        noise = random.normal(size=400) * 0.3
        solution, *_ = np.linalg.lstsq(rows, noise, rcond=None)
        estimates.append(solution[-1])
        told.append(estimate(rows, rows @ solution - noise, 1).errors[0])
    assert np.mean(told) == pytest.approx(np.std(estimates), rel=0.1)


def test_a_constant_that_a_network_can_stand_for_is_not_determined():
    random = np.random.default_rng(2)
    networks = random.normal(size=(100, 8))
    traded = networks @ random.normal(size=(8, 1))
    own = random.normal(size=(100, 1))
    found = estimate(np.hstack([networks, traded, own]), random.normal(size=100), 2)
    assert found.errors[0] == np.inf
    assert np.isfinite(found.errors[1])
    assert found.free[:, 0] != 0
    assert found.free[:, 1] == 0


def test_fewer_rows_than_variables_say_nothing():
    assert estimate(np.ones((3, 5)), np.ones(3), 1) is None


@pytest.mark.slow
def test_tells_the_spread_of_solutions_of_an_inverse_problem_with_noise():
    """Twenty decays with 40 readings each, of noise 0.05: 2.5 CPU minutes at most."""
    at, k = np.linspace(0.05, 2, 40), phi.parameter("k", initial=1.0)
    years = phi.Interval(t, 0, 2)
    found = []
    for seed in range(20):
        readings = np.exp(-1.5 * at) + 0.05 * np.random.default_rng(seed).normal(size=40)
        decay = phi.Problem(
            years,
            {
                "decay": Eq(y.diff(t), -k * y),
                "start": phi.on(years.at(t=0), Eq(y, 1)),
                "readings": phi.data({"t": at, "y": readings}),
            },
        )
        budget = {"points": {"decay": 40}, "max_steps": 40, "optimizer": phi.GaussNewton(refresh=5)}
        solution = phi.solve(decay, seed=0, network=phi.MLP(width=6, depth=1), progress=False, **budget)
        told = solution.make_report().parameters["k"]
        found.append((told.value, told.standard_error))
    values, errors = np.transpose(found)
    assert 1 / 1.5 < np.std(values, ddof=1) / np.mean(errors) < 1.5
    assert abs(np.mean(values) - 1.5) < 3 * np.std(values) / np.sqrt(20)


def problem(equation, **more):
    return phi.Problem(
        span,
        {"ode": Eq(y.diff(t), 1), "start": phi.on(span.at(t=0), Eq(y, 0)), "law": equation} | more,
        name="constants",
    )


def test_constants_that_only_their_sum_is_known_of_are_undetermined(exact_solution):
    a, b, c = phi.parameter("a"), phi.parameter("b"), phi.parameter("c", initial=2.0, positive=True)
    declared = problem(Eq(y, (a + b) * t), other=Eq(c * t, 3 * t))
    solution = exact_solution(declared, {y: t, a: 0.25, b: 0.75, c: 3.0}, status="finished", stop_reason="all steps")
    report = solution.make_report()
    assert report.parameters["a"].standard_error == report.parameters["b"].standard_error == np.inf
    assert report.parameters["c"].standard_error == pytest.approx(0.0, abs=1e-12)
    (said,) = [caution for caution in report.cautions if "not determined" in caution]
    assert said == (
        "parameters a, b are not determined: only their sum enters; changing a by +1 % and b by -0.333 % leaves every "
        "residual as it is. Add data that tell them apart, or give one of them."
    )
    assert "undetermined" in str(report)
    assert "finished, a and b not determined: all steps" in str(report)
    summary = solution.summary()
    assert summary["parameters"]["a"]["standard_error"] is None  # JSON has no infinity
    assert {name: of["determined"] for name, of in summary["parameters"].items()} == {"a": False, "b": False, "c": True}
    assert said in summary["cautions"]


def test_constants_that_only_enter_as_a_product_are_undetermined(exact_solution):
    a, b = phi.parameter("a", initial=0.5), phi.parameter("b", initial=2.5, positive=True)
    declared = problem(Eq(a * b * y.diff(t), 2), other=Eq(a * b * y, 2 * t))
    (said,) = [s for s in exact_solution(declared, {y: t, a: 0.5, b: 4.0}).make_report().cautions if "determined" in s]
    assert said.startswith(
        "parameters a, b are not determined: only their product enters; changing a by +1 % and b by -1 %"
    )


def test_a_standard_error_is_in_the_parameters_own_unit(exact_solution):
    c = phi.parameter("c", initial=4.0, positive=True)  # trained as its logarithm
    declared = phi.Problem(
        span,
        {
            "ode": Eq(y.diff(t), 1),
            "start": phi.on(span.at(t=0), Eq(y, 0)),
            "law": phi.on(span.at(t=1), Eq(c * y, 2)),
        },
    )
    solution = exact_solution(declared, {y: t, c: 2.5})
    # One of six rows holds c, and leaves c - 2 = 1/2: the sandwich gives the residual, times sqrt(rows / (rows - 1)).
    assert solution._measured.uncertainty.errors["c"] == pytest.approx(0.5 * np.sqrt(6 / 5))
