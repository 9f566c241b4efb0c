"""Residual maps, parameter paths, slices and animations: what is drawn where, and its numbers."""

import numpy as np
import pytest
from PIL import Image
from sympy import Eq, I, exp

import phijax as phi
from phijax.evaluation.batches import last_batch
from phijax.evaluation.plots import history_figure, parameter_figure, residual_figure, solution_figure
from phijax.networks import MLP
from phijax.sampling import Points
from phijax.training import History
from phijax.training.keys import split_root

x, y, z, t = *phi.coordinates("x y z"), phi.time("t")


def titles(figure):
    return [ax.get_title() for ax in figure.axes if ax.get_title()]


@pytest.fixture
def heat(exact_solution):
    """u = x y + t on a disk in time: residuals 1 inside, 0 at the start, x y + t - 1 on the rim."""
    u, disk = phi.field("u", x, y, t), phi.Disk((x, y)) * phi.Interval(t, 0, 2)
    with pytest.warns(phi.DeclarationWarning, match="on 'start' and 1 on 'rim' where they meet"):
        problem = phi.Problem(
            disk,
            {
                "pde": Eq(u.diff(t), phi.laplacian(u)),
                "start": phi.on(disk.at(t=0), Eq(u, x * y - 0.5)),
                "rim": phi.on(disk.boundary, Eq(u, 1)),
                "pin": phi.on(disk.at(x=0, y=0, t=1), Eq(u, 4)),
            },
            name="heat",
        )
    return exact_solution(problem, {u: x * y + t})


def test_residuals_are_maps_scatter_and_single_values(heat):
    some = Points({"x": np.array([0.1, 0.2]), "y": np.array([0.3, 0.0]), "t": np.array([1.0, 2.0])})
    figure = residual_figure(heat._evaluator, {"pde": some})
    assert titles(figure)[:2] == ["pde   rms 1.0e+00\nat $t = 2$", "start   rms 5.0e-01\nat $t = 0$"]
    assert titles(figure)[3] == "pin"
    pde, start, rim, pin = figure.axes[:4]
    mesh, dots = pde.collections
    shown = np.ma.filled(mesh.get_array(), np.nan)
    assert np.isnan(shown[0, 0])  # outside the disk
    assert np.nanmin(shown) == np.nanmax(shown) == pytest.approx(1)
    np.testing.assert_allclose(dots.get_offsets(), [[0.1, 0.3], [0.2, 0.0]])
    np.testing.assert_allclose(np.nanmax(np.ma.filled(start.collections[0].get_array(), np.nan)), 0.5)
    at, values = np.asarray(rim.collections[0].get_offsets()), rim.collections[0].get_array()
    np.testing.assert_allclose(np.hypot(*at.T), 1, rtol=1e-6)
    assert 0 <= values.min() <= values.max() <= 1.5 + 1e-9
    assert pin.texts[0].get_text() == "|residual| = 3.00e+00\nat $x = 0, y = 0, t = 1$"


def test_along_one_coordinate_residuals_are_curves_with_ticks(exact_solution):
    w, span = phi.field("w", t), phi.Interval(t, 0, 3)
    problem = phi.Problem(span, {"ode": Eq(w.diff(t), w), "start": phi.on(span.at(t=0), Eq(w, 1))}, name="ode")
    solution = exact_solution(problem, {w: 1 + t})
    figure = residual_figure(solution._evaluator, {"ode": Points({"t": np.array([0.5, 1.5])})})
    curve, ticks = figure.axes[0].lines
    np.testing.assert_allclose(curve.get_ydata()[1:], curve.get_xdata()[1:], rtol=1e-9)  # |1 - (1 + t)|
    assert list(ticks.get_xdata()) == [0.5, 1.5]


def test_the_points_of_the_last_step_are_those_of_the_run(untrained_solution):
    import jax

    w, span = phi.field("w", t), phi.Interval(t, 0, 3)
    problem = phi.Problem(span, {"ode": Eq(w.diff(t), w), "start": phi.on(span.at(t=0), Eq(w, 1))}, name="ode")
    solution = untrained_solution(problem, MLP(width=3, depth=1), precision="float32", seed=5, steps=8)
    batch = last_batch(solution.compiled, solution.model, "float32", 5, 8)
    source = solution.compiled.datamodule.train_batch_source(("ode", "start"), split_root(jax.random.key(5)).sampling)
    np.testing.assert_array_equal(batch["ode"].coordinates["t"], source(7)["ode"].coordinates["t"])


def test_maps_are_taken_at_three_times_and_three_depths(heat, exact_solution):
    assert titles(solution_figure(heat._evaluator)) == [f"$u$ at $t = {moment}$" for moment in ("0", "1", "2")]
    v, box = phi.field("v", x, y, z), phi.Box((x, 0, 1), (y, 0, 1), (z, 0, 2))
    problem = phi.Problem(box, {"pde": Eq(phi.laplacian(v), 0), "walls": phi.on(box.boundary, Eq(v, z))})
    figure = solution_figure(exact_solution(problem, {v: z})._evaluator)
    assert titles(figure) == ["$v$ at $z = 0.5$", "$v$ at $z = 1$", "$v$ at $z = 1.5$"]
    assert [float(np.mean(ax.collections[0].get_array())) for ax in figure.axes[:3]] == pytest.approx([0.5, 1, 1.5])


def record(step, **parameters):
    one = {"pde": 1.0}
    return {"step": step, "total": 1.0, "losses": one, "weights": one, "weighted": one, "parameters": parameters}


def test_paths_of_parameters_with_their_true_values():
    w, span, k = phi.field("w", t), phi.Interval(t, 0, 1), phi.parameter("k", initial=1.0)
    problem = phi.Problem(
        span, {"ode": Eq(w.diff(t), -k * w), "seen": phi.data({"t": [0.0, 1.0], "w": [1.0, 0.1]})}, reference={k: 2.5}
    )
    history = History([record(0, k=1.0), record(10, k=2.0), record(20, k=2.4), {"event": "stage", "step": 10}])
    figure = parameter_figure(history, problem)
    (ax,) = figure.axes
    assert ax.get_title() == "$k$ = 2.4 at the last step"
    path, reference, stage = ax.lines
    np.testing.assert_array_equal(path.get_ydata(), [1, 2, 2.4])
    assert set(reference.get_ydata()) == {2.5}
    assert stage.get_xdata()[0] == 10
    assert [text.get_text() for text in ax.texts] == [" stage 2"]
    assert parameter_figure(History([record(0)]), problem) is None


def test_stages_that_lie_close_share_a_number():
    events = [{"event": "stage", "step": step} for step in (100, 101, 500)]
    (ax,) = history_figure(History([record(0), record(1000), *events])).axes
    assert [text.get_text() for text in ax.texts] == [" stage 2", " stage 4"]
    assert len([line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_linestyle() == "--"]) == 3


def test_an_animation_moves_through_time(heat, exact_solution, tmp_path):
    with Image.open(heat.animate(tmp_path / "heat", frames=3, seconds=1.5)) as film:
        assert (film.format, film.n_frames) == ("GIF", 3)
        assert film.info["duration"] == pytest.approx(500, abs=10)
        first = np.asarray(film.convert("RGB"), int)
        film.seek(2)
        assert np.abs(np.asarray(film.convert("RGB"), int) - first).max() > 50
    h, line = phi.field("h", x, t, complex=True), phi.Interval(x, 0, 1) * phi.Interval(t, 0, 1)
    problem = phi.Problem(
        line,
        {
            "pde": Eq(h.diff(t), -h.diff(x)),
            "start": phi.on(line.at(t=0), Eq(h, exp(I * x))),
            "end": phi.free(line.boundary),
        },
    )
    wave = exact_solution(problem, {h: exp(I * (x - t))})
    assert wave.animate(tmp_path / "wave.gif", "h", frames=2) == tmp_path / "wave.gif"
    with pytest.raises(ValueError, match=r"animations are written as \.gif"):
        wave.animate(tmp_path / "wave.mp4")
    w = phi.field("w", x)
    still = phi.Problem(
        phi.Interval(x, 0, 1), {"ode": Eq(w.diff(x), 1), "start": phi.on(phi.Interval(x, 0, 1).side("left"), Eq(w, 0))}
    )
    with pytest.raises(ValueError, match="has no time beside space, so nothing moves"):
        exact_solution(still, {w: x}).animate(tmp_path / "still.gif")
