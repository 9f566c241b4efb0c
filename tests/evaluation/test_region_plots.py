"""Pictures of regions and problems: what is filled, which pieces are named, where arrows point, which points are shown."""

import subprocess
import sys

import numpy as np
import pytest
from sympy import Eq

import phijax as phi
from phijax.cli import main

x, y, z, t = *phi.coordinates("x y z"), phi.time("t")


def names(figure):
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def filled_area(ax):
    """Of the shaded set, by the shoelace formula over its outlines; holes run the other way round."""
    total = 0.0
    for collection in ax.collections:
        if type(collection).__name__ != "QuadContourSet":
            continue
        for path in collection.get_paths():
            for ring in path.to_polygons():
                total += 0.5 * float(np.sum(ring[:-1, 0] * ring[1:, 1] - ring[1:, 0] * ring[:-1, 1]))
    return abs(total)


def arrows(ax):
    found = [c for c in ax.collections if type(c).__name__ == "Quiver"]
    at = np.concatenate([np.asarray(q.get_offsets()) for q in found])
    return at, np.concatenate([np.stack([q.U, q.V], axis=1) for q in found])


def test_a_disk_is_filled_named_and_its_arrows_point_outward():
    figure = phi.Disk((x, y), center=(1, 0), radius=2).plot()
    ax = figure.axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("$x$", "$y$")
    assert names(figure) == ["circle in x, y"]
    assert filled_area(ax) == pytest.approx(4 * np.pi, rel=2e-3)
    at, tips = arrows(ax)
    outward = (at - [1, 0]) / 2
    np.testing.assert_allclose(tips / np.linalg.norm(tips, axis=1)[:, None], outward, atol=1e-6)
    (circle,) = [line for line in ax.lines if len(line.get_xdata()) > 100]
    xs, ys = circle.get_data()
    np.testing.assert_allclose(np.hypot(xs - 1, ys), 2, rtol=1e-9)
    assert (xs[0], ys[0]) == (xs[-1], ys[-1])  # closed


def test_a_box_has_a_colour_for_each_side():
    figure = phi.Rectangle((x, 0, 3), (y, 0, 1)).plot()
    ax = figure.axes[0]
    assert names(figure) == ["x-", "x+", "y-", "y+"]
    sides = [line for line in ax.lines if len(line.get_xdata()) > 100]
    assert len({line.get_color() for line in sides}) == 4
    ends = [(line.get_xdata()[[0, -1]], line.get_ydata()[[0, -1]]) for line in sides]
    np.testing.assert_allclose(ends[1][0], [3, 3])
    np.testing.assert_allclose(ends[2][0], [0, 3], atol=0.01)
    assert filled_area(ax) == pytest.approx(3, rel=0.02)


def test_an_interval_is_a_line_with_two_ends():
    figure = phi.Interval(x, -1, 2).plot()
    ax = figure.axes[0]
    assert names(figure) == ["x-", "x+"]
    assert list(ax.lines[0].get_xdata()) == [-1, 2]
    at, tips = arrows(ax)
    assert [(a, np.sign(u)) for (a, _), (u, _) in zip(at, tips, strict=True)] == [(-1, -1), (2, 1)]


def test_with_time_an_interval_is_a_rectangle_whose_ends_are_lines():
    figure = (phi.Interval(x, 0, 1) * phi.Interval(t, 0, 5)).plot()
    ax = figure.axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("$t$", "$x$")
    assert names(figure) == ["x-", "x+"]
    at, tips = arrows(ax)
    assert set(tips[:, 0]) == {0.0}
    np.testing.assert_array_equal(np.sign(tips[:, 1]), np.where(at[:, 1] > 0.5, 1, -1))


def test_a_part_of_a_boundary_is_drawn_where_its_condition_holds():
    figure = phi.Disk((x, y)).boundary(where=x > 0.5).plot()
    drawn = np.asarray(max((line.get_xydata() for line in figure.axes[0].lines), key=len))
    at = drawn[np.isfinite(drawn).all(axis=1)]  # parts are drawn as one line with gaps
    assert at[:, 0].min() == pytest.approx(0.5, abs=1e-9)  # the end itself is drawn
    np.testing.assert_allclose(np.hypot(*at.T), 1, rtol=1e-6)


def test_solids_show_their_surfaces():
    figure = (phi.Disk((x, y)) * phi.Interval(z, 0, 2)).plot()
    ax = figure.axes[0]
    assert names(figure) == ["circle in x, y", "z-", "z+"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()) == ("$x$", "$y$", "$z$")
    surfaces = [c for c in ax.collections if type(c).__name__ == "Poly3DCollection"]
    assert len(surfaces) == 3


def test_of_many_coordinates_three_are_shown_and_the_others_held():
    figure = phi.Ball(phi.coordinates("a b c d e")).plot()
    assert figure.axes[0].get_title().endswith("shape at $d = 0, e = 0$")
    assert names(figure) == ["sphere in a, b, c"]


def test_a_set_of_points_shows_them_with_their_normals():
    angle = np.linspace(0, 5, 12)
    columns = {x: np.cos(angle), y: np.sin(angle)}
    ax = phi.PointCloud(columns, normals=columns).plot().axes[0]
    at, tips = arrows(ax)
    np.testing.assert_allclose(at, np.stack([np.cos(angle), np.sin(angle)], axis=1))
    np.testing.assert_allclose(tips / np.linalg.norm(tips, axis=1)[:, None], at)


def heat():
    u = phi.field("u", x, t)
    spacetime = phi.Interval(x, 0, 1) * phi.Interval(t, 0, 2)
    return phi.Problem(
        spacetime,
        {
            "pde": Eq(u.diff(t), u.diff(x, 2)),
            "start": phi.on(spacetime.at(t=0), Eq(u, x), exact=True),
            "ends": phi.on(spacetime.boundary(x), Eq(u, x)),
            "seen": phi.data({"x": [0.25, 0.5], "t": [1.0, 1.5], "u": [0.2, 0.5]}),
        },
        name="heat",
    )


def test_a_problem_shows_the_points_of_each_constraint_by_name():
    figure = phi.plot(heat(), points={"pde": 100})
    ax = figure.axes[0]
    assert names(figure) == ["pde", "start  (exact)", "ends", "seen"]
    drawn = {c.get_label(): np.asarray(c.get_offsets()) for c in ax.collections if type(c).__name__ == "PathCollection"}
    assert len(drawn["pde"]) == 100
    assert set(drawn["start  (exact)"][:, 0]) == {0.0}
    assert set(drawn["ends"][:, 1]) == {0.0, 1.0}
    np.testing.assert_array_equal(drawn["seen"], [[1.0, 0.25], [1.5, 0.5]])
    _, tips = arrows(ax)
    assert set(tips[:, 0]) == {0.0}  # of the ends alone, along x


def test_messages_say_what_can_be_drawn(tmp_path):
    with pytest.raises(ValueError, match="points names 'ped', which is no constraint; did you mean 'pde'"):
        heat().plot(points={"ped": 3})
    with pytest.raises(ValueError, match="points=0 must be a positive whole number"):
        heat().plot(points=0)
    with pytest.raises(ValueError, match=r"side\('top'\) of \[0, 1\] in x: there is no such side"):
        phi.Interval(x, 0, 1).side("top").plot()
    with pytest.raises(TypeError, match="plot draws a region or a problem, not 3"):
        phi.plot(3)


def test_the_command_draws_a_problem(tmp_path, capsys):
    assert main(["show", "heat_1d", "--plot", str(tmp_path / "heat.png")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'heat.png'}\n"
    assert (tmp_path / "heat.png").read_bytes()[:4] == b"\x89PNG"
    assert main(["show", "heat_1d", "--plot", str(tmp_path / "none" / "heat.png")]) == 2
    assert f"there is no folder {tmp_path / 'none'}; make it first" in capsys.readouterr().err


def test_pyplot_stays_out_of_it(tmp_path):
    code = (
        "import sys, phijax as phi; x, y, z = phi.coordinates('x y z'); phi.Ball((x, y, z)).plot(sys.argv[1]); "
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "b.png"], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
