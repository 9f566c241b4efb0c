"""Mean and spread of an ensemble whose members are known functions, in values, reports, pictures and files."""

import functools
import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sympy import Eq

import phijax as phi
from phijax._precision import precision_scope
from phijax.evaluation import Ensemble, Solution

x, y = phi.coordinates("x y")
u, v = phi.field("u", x), phi.field("v", x, y)
k = phi.parameter("k", initial=1.0)
LINE, SQUARE = phi.Interval(x, 0, 1), phi.Rectangle((x, 0, 1), (y, 0, 1))
SLOPES = {1: 1.0, 5: 2.0, 7: 6.0}  # the members' fields are slope times x: mean 3 x, deviation sqrt(7) x


class Multiple(eqx.Module):
    """A network that is a multiple of the product of its coordinates, which it gets scaled to [-1, 1]."""

    factor: jax.Array

    def __call__(self, inputs):
        return self.factor * jnp.prod((inputs + 1) / 2)[None]


def ensemble_of(problem, factors, broken=()):
    """Members whose one field is a factor times the product of its coordinates, as is the parameter."""
    scales = dict.fromkeys(problem.fields, 1.0)
    network = lambda key, inputs, outputs: Multiple(jnp.ones(outputs))
    compiled = phi.compile(problem, network=network, precision="float64", scales=scales)
    members = []
    with precision_scope("float64"):
        for seed, factor in factors.items():
            model = jax.tree.map(
                lambda leaf, f=factor: jnp.full_like(leaf, f), compiled.module.factory(jax.random.key(0))
            )
            status, first = "diverged" if seed in broken else "finished", members[0] if members else None
            members.append(Solution(compiled, model, precision="float64", seed=seed, status=status, beside=first))
    run = {"status": "finished", "stop_reason": "all steps done", "seconds": {"train": 1.0}}
    return Ensemble(list(factors), members, **run)


@functools.cache
def lines(broken=()):
    conditions = {"pde": Eq(u.diff(x), k), "start": phi.on(LINE.side("left"), Eq(u, 0))}
    return ensemble_of(phi.Problem(LINE, conditions, reference={u: 2 * x}), SLOPES, broken)


@pytest.fixture
def plane():
    conditions = {"pde": Eq(v.diff(x), v), "side": phi.on(SQUARE.side("left"), Eq(v, 0))}
    return ensemble_of(phi.Problem(SQUARE, conditions), {1: 1.0, 3: 3.0})


def test_values_are_means_and_spreads_standard_deviations():
    ensemble, at = lines(), np.array([0.0, 0.5, 1.0])
    np.testing.assert_allclose(ensemble.u(x=at), 3 * at, rtol=1e-14)
    np.testing.assert_allclose(ensemble.spread.u(x=at), np.sqrt(7) * at, rtol=1e-14)
    assert ensemble["u"](x=0.5) == pytest.approx(1.5)
    # Not the square of the mean: every expression is taken of the members.
    assert ensemble.evaluate(u**2, x=1.0) == pytest.approx((1 + 4 + 36) / 3)
    assert ensemble.spread.evaluate(u.diff(x), x=0.3) == pytest.approx(np.sqrt(7))
    assert ensemble.parameters == {"k": pytest.approx(3.0)}
    assert ensemble.spread.parameters == {"k": pytest.approx(np.sqrt(7))}
    assert ensemble.residual("pde", x=0.5) == pytest.approx(0.0, abs=1e-14)


def test_errors_are_told_over_the_seeds():
    ensemble = lines()
    found = ensemble.errors()["u"]
    # Against 2 x the members' relative errors are 1/2, 0 and 2, and that of the mean is 1/2.
    assert found["relative_l2"] == pytest.approx({"median": 0.5, "mean": 2.5 / 3, "worst": 2.0, "of_mean": 0.5})
    assert found["max"] == pytest.approx({"median": 1.0, "mean": 5 / 3, "worst": 4.0, "of_mean": 1.0})
    spread = ensemble.spreads["u"]
    assert (spread.relative, spread.max) == (pytest.approx(np.sqrt(7) / 3), pytest.approx(np.sqrt(7)))
    assert spread.where == {"x": 1.0}


def test_a_member_that_diverged_is_left_out_and_named():
    ensemble = lines(broken=(7,))
    assert ensemble.u(x=1.0) == pytest.approx(1.5)
    assert ensemble.spread.u(x=1.0) == pytest.approx(np.sqrt(0.5))
    assert len(ensemble.members) == 3
    assert any("seed 7 diverged and takes no part" in caution for caution in ensemble.make_report().cautions)
    assert np.isnan(lines(broken=(5, 7)).spread.u(x=1.0))  # one is no sample


def test_the_report_says_mean_spread_and_each_seed():
    report = str(lines().report())
    assert "error against" in report
    assert "5.00e-01  8.33e-01  2.00e+00  5.00e-01" in report
    assert "k          3     2.6e+00" in report
    assert "u                      8.82e-01  2.65e+00  x=1" in report
    for seed, error in (("1", "5.00e-01"), ("7", "2.00e+00")):
        assert any(line.split()[:2] == [seed, "finished"] and error in line for line in report.splitlines())
    assert "u: the seeds differ by 88% of its size" in report
    # What several members have to say is said once, in the words of the first.
    assert report.count("the solution is not reached") == 1
    assert "whatever the residuals. (seeds 1, 7)" in report


def test_summary_and_page_hold_the_same_numbers(tmp_path):
    ensemble = lines()
    summary = json.loads(json.dumps(ensemble.summary()))
    assert summary["seeds"] == [1, 5, 7]
    assert summary["parameters"]["k"] == {"value": 3.0, "spread": pytest.approx(7**0.5), "reference": None}
    assert summary["errors"]["u"]["relative_l2"]["worst"] == pytest.approx(2.0)
    assert summary["spreads"]["u"]["max"] == pytest.approx(7**0.5)
    assert [member["seed"] for member in summary["members"]] == [1, 5, 7]
    page = ensemble.report_html(tmp_path / "report").read_text()
    for text in ("spread over the seeds", "8.82e-01", "seeds 1, 5, 7", "<img"):
        assert text in page
    assert "spread over the seeds" in ensemble._repr_html_()


def test_a_curve_has_a_band_as_wide_as_its_spread():
    (ax, *_) = lines().plot().axes
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    np.testing.assert_allclose(corners[:, 1].max(), 3 + np.sqrt(7), rtol=1e-12)
    np.testing.assert_allclose(corners[:, 1].min(), 0.0, atol=1e-12)


def test_a_map_has_one_of_its_spread_beside_it(plane):
    figure = plane.plot()
    titles = {ax.get_title(): ax for ax in figure.axes}
    assert set(titles) >= {"$v$", "spread over the seeds"}
    (mesh,) = titles["spread over the seeds"].collections
    assert float(np.nanmax(mesh.get_array())) == pytest.approx(np.sqrt(2))


def test_files_hold_the_spread_beside_the_mean(plane, tmp_path):
    with np.load(plane.export(tmp_path / "plane.npz", points=5)) as stored:
        np.testing.assert_allclose(stored["v"], 2 * stored["x"] * stored["y"], rtol=1e-14)
        np.testing.assert_allclose(stored["v_spread"], np.sqrt(2) * stored["x"] * stored["y"], rtol=1e-14)
    with np.load(lines().export(tmp_path / "lines.npz", points=3)) as stored:
        assert float(stored["k"]) == pytest.approx(3.0)
        assert float(stored["k_spread"]) == pytest.approx(np.sqrt(7))
    with pytest.raises(ValueError, match=r"holds one model; export a member"):
        plane.export(tmp_path / "plane.jaxexport")
