"""Pictures: the panels that are drawn, their labels, and what they show."""

import os
import subprocess
import sys

import numpy as np
import pytest
from sympy import Eq, I, exp, pi, sin

import phijax as phi
from phijax.evaluation.plots import history_figure
from phijax.evaluation.plots.fields import field_rows
from phijax.training import History

x, y, t = phi.coordinate("x"), phi.coordinate("y"), phi.time("t")


def heat(reference):
    u = phi.field("u", x, t)
    spacetime = phi.Interval(x, 0, 1) * phi.Interval(t, 0, 1)
    problem = phi.Problem(
        spacetime,
        {
            "pde": Eq(u.diff(t), u.diff(x, 2)),
            "start": phi.on(spacetime.at(t=0), Eq(u, sin(pi * x))),
            "ends": phi.on(spacetime.boundary(x), Eq(u, 0)),
        },
        name="heat",
        reference=reference and {u: reference},
    )
    return problem, u


def panels(figure):
    """(title, x label, y label) of each panel that is not the bar of another."""
    return [(ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) for ax in figure.axes if ax.get_title() and ax.axison]


def test_an_evolution_has_maps_over_time_and_profiles(exact_solution):
    problem, u = heat(sin(pi * x) * exp(-t))
    figure = exact_solution(problem, {u: sin(pi * x) * exp(-t) + 1e-3 * t}).plot()
    assert panels(figure) == [
        ("$u$", "$t$", "$x$"),
        ("reference", "$t$", "$x$"),
        ("|$u$ - reference|", "$t$", "$x$"),
        ("$u$ at four times", "$x$", ""),
    ]
    assert figure.get_suptitle() == "heat"
    (error,) = [ax for ax in figure.axes if ax.get_title() == "|$u$ - reference|"]
    assert error.collections[0].get_array().max() == pytest.approx(1e-3)
    assert error.collections[0].get_array()[:, 0].max() == pytest.approx(0, abs=1e-12)  # at t = 0


def test_without_a_reference_there_is_no_error(exact_solution):
    problem, u = heat(None)
    assert [title for title, *_ in panels(exact_solution(problem, {u: sin(pi * x)}).plot())] == [
        "$u$",
        "$u$ at four times",
    ]


def test_curves_over_one_coordinate(exact_solution):
    w = phi.field("w", t)
    span = phi.Interval(t, 0, 1)
    problem = phi.Problem(span, {"ode": Eq(w.diff(t), 1), "start": phi.on(span.at(t=0), Eq(w, 0))}, reference={w: t})
    figure = exact_solution(problem, {w: t + 1e-6}).plot()
    assert panels(figure) == [("$w$", "$t$", ""), ("|$w$ - reference|", "$t$", "")]
    solution, reference = figure.axes[0].lines
    np.testing.assert_allclose(solution.get_ydata() - reference.get_ydata(), 1e-6, rtol=1e-6)


def test_a_complex_field_is_shown_as_modulus_and_parts(exact_solution):
    h = phi.field("h", x, t, complex=True)
    ring = phi.Interval(x, 0, 1, periodic=True) * phi.Interval(t, 0, 1)
    wave = exp(2 * pi * I * (x - t))
    problem = phi.Problem(
        ring, {"pde": Eq(h.diff(t), -h.diff(x)), "start": phi.on(ring.at(t=0), Eq(h, exp(2 * pi * I * x)))}
    )
    rows = field_rows(exact_solution(problem, {h: wave})._evaluator, h)
    assert [row.label for row in rows] == ["|h|", r"\mathrm{Re}\,h", r"\mathrm{Im}\,h"]
    np.testing.assert_allclose(rows[0].values, 1, rtol=1e-12)
    (xs, ts) = (axis for _, axis in rows[1].axes)
    np.testing.assert_allclose(rows[1].values, np.cos(2 * np.pi * (xs[:, None] - ts)), atol=1e-12)


def test_more_coordinates_are_held(exact_solution):
    u = phi.field("u", x, y, t)
    box = phi.Rectangle((x, 0, 1), (y, 0, 2)) * phi.Interval(t, 0, 3)
    problem = phi.Problem(
        box,
        {
            "pde": Eq(u.diff(t), phi.laplacian(u)),
            "start": phi.on(box.at(t=0), Eq(u, x)),
            "walls": phi.on(box.boundary, Eq(u, x + y * t)),
        },
    )
    (row,) = field_rows(exact_solution(problem, {u: x + y * t})._evaluator, u)
    assert [name for name, _ in row.axes] == ["x", "y"]
    assert row.held == "t = 3"
    assert row.values[-1, -1] == pytest.approx(1 + 2 * 3)


def test_what_lies_outside_the_region_is_blank(exact_solution):
    u = phi.field("u", x, y)
    disk = phi.Disk((x, y), center=(0, 0), radius=1)
    problem = phi.Problem(disk, {"pde": Eq(phi.laplacian(u), 0), "rim": phi.on(disk.boundary, Eq(u, 1))})
    (row,) = field_rows(exact_solution(problem, {u: 1 + 0 * x})._evaluator, u)
    assert np.isnan(row.values[0, 0])
    assert np.nanmax(row.values) == np.nanmin(row.values) == 1.0
    assert np.isfinite(row.values).mean() == pytest.approx(np.pi / 4, rel=0.02)


def history(weights=(1.0, 1.0, 1.0)):
    records = []
    for step in (0, 10, 20):
        losses = {"a": 1.0, "b": 2.0, "c": 3.0}
        by_name = dict(zip(losses, weights, strict=True))
        weighted = {name: by_name[name] * loss for name, loss in losses.items()}
        record = {"step": step, "total": sum(weighted.values()), "losses": losses, "weights": by_name}
        records.append(record | {"weighted": weighted})
    return History([*records, {"event": "stage", "step": 10, "reason": "all 10 steps done"}])


def test_history_shows_every_term_and_their_weighted_sum():
    figure = history_figure(history())
    (ax,) = figure.axes
    curves = {line.get_label(): line.get_ydata() for line in ax.lines if len(line.get_xdata()) == 3}
    assert {name: values[-1] for name, values in curves.items()} == {"a": 1, "b": 2, "c": 3, "total (weighted sum)": 6}
    assert [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 2] == [10]  # the stage


def test_history_shows_weighted_losses_where_weights_act():
    raw, weighted = history_figure(history((1.0, 10.0, 1.0))).axes
    assert {line.get_label(): line.get_ydata()[0] for line in raw.lines[:4]} == {
        "a": 1, "b": 2, "c": 3, "total (weighted sum)": 24,
    }  # fmt: skip
    assert {line.get_label(): line.get_ydata()[0] for line in weighted.lines[:4]} == {
        "a": 1, "b": 20, "c": 3, "total (weighted sum)": 24,
    }  # fmt: skip


def test_pictures_are_files_of_their_ending(exact_solution, tmp_path):
    problem, u = heat(None)
    solution = exact_solution(problem, {u: sin(pi * x)})
    solution.plot(tmp_path / "heat")
    solution.plot(tmp_path / "heat.pdf")
    assert (tmp_path / "heat.png").read_bytes()[:4] == b"\x89PNG"
    assert (tmp_path / "heat.pdf").read_bytes()[:4] == b"%PDF"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["heat.pdf", "heat.png"]


def test_pyplot_is_never_imported():
    program = (
        "import sys; from phijax.evaluation.plots.panels import new_figure, save_figure; import io;"
        "f = new_figure(2, 2); f.subplots(); f.savefig(io.BytesIO()); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_stale_backend_setting_does_not_matter():
    code = "from phijax.evaluation.plots.panels import new_figure; new_figure(2, 2); import os; print(os.environ['MPLBACKEND'])"
    environment = {**os.environ, "MPLBACKEND": "nonsense"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "nonsense\n"), done.stderr
