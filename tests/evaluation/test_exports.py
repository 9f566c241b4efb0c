"""Exports, read back by other programs' readers and compared with exact solutions."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import xarray
from sympy import Eq, I, cos, exp, pi, sin
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLImageDataReader, vtkXMLUnstructuredGridReader

import phijax as phi
from phijax.formulation.csv_files import read_csv
from phijax.networks import MLP

x, y, z, t = *phi.coordinates("x y z"), phi.time("t")


def read(path):
    """(points, {name: values}, data set) by VTK's own reader, as ParaView has it."""
    reader = vtkXMLImageDataReader() if path.suffix == ".vti" else vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput()
    points = np.array([data.GetPoint(i) for i in range(data.GetNumberOfPoints())])
    held = data.GetPointData()
    values = {held.GetArrayName(i): vtk_to_numpy(held.GetArray(i)) for i in range(held.GetNumberOfArrays())}
    return points, values, data


def cells(data):
    """Corner numbers of each cell, (m, k)."""
    flat = vtk_to_numpy(data.GetCells().GetConnectivityArray())
    return flat.reshape(data.GetNumberOfCells(), -1)


@pytest.fixture
def wave(exact_solution):
    """A complex field and a real one of x and t, with an unknown constant."""
    h, v = phi.field("h", x, t, complex=True), phi.field("v", x, t)
    c = phi.parameter("c", initial=2.0)
    line = phi.Interval(x, 0, 2) * phi.Interval(t, 0, 3)
    problem = phi.Problem(
        line,
        {
            "h": Eq(h.diff(t), -c * h.diff(x)),
            "v": Eq(v.diff(t), -c * v.diff(x)),
            "start": phi.on(line.at(t=0), {"h": Eq(h, exp(I * x)), "v": Eq(v, x)}),
            "ends": phi.on(line.boundary(x), {"h": Eq(h, exp(I * (x - t))), "v": Eq(v, x - t)}),
        },
    )
    return exact_solution(problem, {h: exp(I * (x - t)), v: x - 2 * t, c: 1.5})


@pytest.fixture
def holed(exact_solution):
    """u = x y on an annulus, as the part of a disk."""
    u = phi.field("u", x, y)
    ring = phi.Disk((x, y), radius=2)
    problem = phi.Problem(ring, {"pde": Eq(phi.laplacian(u), 0), "rim": phi.on(ring.boundary, Eq(u, x * y))})
    return exact_solution(problem, {u: x * y})


def test_columns_of_numpy_and_text(wave, tmp_path):
    with np.load(wave.export(tmp_path / "wave.npz", points=7), allow_pickle=False) as stored:
        found = dict(stored)
    assert sorted(found) == ["c", "h", "t", "v", "x"]
    assert found["x"].shape == (49,)
    np.testing.assert_allclose(found["h"], np.exp(1j * (found["x"] - found["t"])), rtol=1e-12)
    np.testing.assert_allclose(found["v"], found["x"] - 2 * found["t"], atol=1e-12)
    assert found["c"] == pytest.approx(1.5)
    table = read_csv(wave.export(tmp_path / "wave.csv", points=7))
    assert list(table) == ["x", "t", "h_real", "h_imag", "v", "c"]
    np.testing.assert_array_equal(table["h_imag"], found["h"].imag)
    assert set(table["c"]) == {float(found["c"])}


def test_points_outside_are_left_out_of_columns(holed, tmp_path):
    with np.load(holed.export(tmp_path / "u.npz", points=41)) as stored:
        assert np.hypot(stored["x"], stored["y"]).max() <= 2
        assert stored["x"].size == pytest.approx(41**2 * np.pi / 4, rel=0.05)
        np.testing.assert_allclose(stored["u"], stored["x"] * stored["y"], atol=1e-12)


def test_of_many_coordinates_points_are_scattered(exact_solution, tmp_path):
    many = phi.coordinates("a b c d e")
    box, u = phi.Box(*((s, 0, 1) for s in many)), phi.field("u", *many)
    problem = phi.Problem(box, {"pde": Eq(phi.laplacian(u), 0), "walls": phi.on(box.boundary, Eq(u, sum(many)))})
    solution = exact_solution(problem, {u: sum(many)})
    with np.load(solution.export(tmp_path / "u.npz")) as stored:
        assert stored["u"].shape == (2**16,)
        np.testing.assert_allclose(stored["u"], sum(stored[s.name] for s in many), rtol=1e-12)
    with pytest.raises(
        ValueError, match=r"VTK has three axes, and 'problem' has a, b, c, d, e; export to \.npz or \.csv"
    ):
        solution.export(tmp_path / "u.vti")


def test_an_image_outside_which_a_mask_says_where(holed, tmp_path):
    points, values, data = read(holed.export(tmp_path / "u.vti", points=31))
    assert data.GetDimensions() == (31, 31, 1)
    inside = values["inside"].astype(bool)
    np.testing.assert_array_equal(inside, np.hypot(points[:, 0], points[:, 1]) <= 2)
    np.testing.assert_allclose(values["u"][inside], (points[:, 0] * points[:, 1])[inside], atol=1e-12)
    assert np.isnan(values["u"][~inside]).all()


def test_a_mesh_fills_a_shape_and_leaves_its_corners_exact(holed, tmp_path):
    points, values, data = read(holed.export(tmp_path / "u.vtu"))
    np.testing.assert_allclose(values["u"], points[:, 0] * points[:, 1], atol=1e-12)
    assert set(values) == {"u"}
    corners = points[cells(data)][..., :2]
    sides = corners[:, 1:] - corners[:, :1]
    area = 0.5 * np.abs(np.linalg.det(sides)).sum()
    assert area == pytest.approx(4 * np.pi, rel=1e-4)
    assert np.hypot(points[:, 0], points[:, 1]).max() == pytest.approx(2, abs=1e-9)


def test_a_solid_is_filled_with_tetrahedra(exact_solution, tmp_path):
    u = phi.field("u", x, y, z)
    ball = phi.Ball((x, y, z))
    problem = phi.Problem(ball, {"pde": Eq(phi.laplacian(u), 0), "rim": phi.on(ball.boundary, Eq(u, x + z))})
    points, values, data = read(exact_solution(problem, {u: x + z}).export(tmp_path / "u.vtu", points=11))
    np.testing.assert_allclose(values["u"], points[:, 0] + points[:, 2], atol=1e-12)
    corners = points[cells(data)]
    volume = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])).sum() / 6
    assert volume == pytest.approx(4 / 3 * np.pi, rel=1e-2)  # inscribed


def test_a_field_of_a_part_is_nan_beyond_it(exact_solution, tmp_path):
    left, right = phi.Interval(x, 0, 1), phi.Interval(x, 1, 2)
    a, b = phi.field("a", x, on=left), phi.field("b", x, on=right)
    problem = phi.Problem(
        phi.Interval(x, 0, 2),
        {
            "a": phi.on(left, Eq(a.diff(x, 2), 0)),
            "b": phi.on(right, Eq(b.diff(x, 2), 0)),
            "join": phi.on(phi.interface(left, right), Eq(a, b)),
            "flux": phi.on(phi.interface(left, right), Eq(a.diff(x), 2 * b.diff(x))),
            "start": phi.on(left.side("left"), Eq(a, 0)),
            "end": phi.on(right.side("right"), Eq(b, 1)),
        },
    )
    solution = exact_solution(problem, {a: 2 * x / 3, b: 1 - (2 - x) / 3})
    points, values, _ = read(solution.export(tmp_path / "rod.vti", points=5))
    np.testing.assert_allclose(points[:, 0], [0, 0.5, 1, 1.5, 2])
    np.testing.assert_allclose(values["a"], [0, 1 / 3, 2 / 3, np.nan, np.nan], atol=1e-12)
    np.testing.assert_allclose(values["b"], [np.nan, np.nan, 2 / 3, 5 / 6, 1], atol=1e-12)


def test_a_series_has_a_file_for_each_time(wave, tmp_path):
    path = wave.export(tmp_path / "wave.pvd", times=4, points=9)
    entries = [entry.attrib for entry in ElementTree.parse(path).getroot().iter("DataSet")]
    assert [float(entry["timestep"]) for entry in entries] == [0, 1, 2, 3]
    assert [entry["file"] for entry in entries] == [f"wave/wave_{i:04d}.vti" for i in range(4)]
    for entry in entries:
        points, values, data = read(tmp_path / entry["file"])
        now = float(entry["timestep"])
        np.testing.assert_allclose(values["h_imag"], np.sin(points[:, 0] - now), atol=1e-12)
        np.testing.assert_allclose(values["v"], points[:, 0] - 2 * now, atol=1e-12)
        told = {data.GetFieldData().GetArrayName(i) for i in range(data.GetFieldData().GetNumberOfArrays())}
        assert told == {"t", "c"}
        assert vtk_to_numpy(data.GetFieldData().GetArray("c"))[0] == pytest.approx(1.5)


def test_a_moment_is_held(wave, tmp_path):
    points, values, _ = read(wave.export(tmp_path / "wave.vti", at={"t": 0.5}, points=5))
    np.testing.assert_allclose(values["v"], points[:, 0] - 1, atol=1e-12)
    for at, message in (
        ({"s": 1}, "at: 's' is no coordinate of 'problem'; it has x, t|at: 's' is no coordinate"),
        ({"t": 4}, r"at: t = 4 is outside the domain's \[0, 3\]"),
        ({"x": 1}, "at: x is an axis of the file"),
    ):
        with pytest.raises(ValueError, match=message):
            wave.export(tmp_path / "other.vti", at=at)


def test_axes_of_an_image_come_in_the_order_of_space(exact_solution, tmp_path):
    u = phi.field("u", t, y, x)  # neither in this order nor beginning with space
    box = phi.Interval(t, 0, 1) * phi.Interval(x, 0, 1) * phi.Interval(y, 0, 2)
    problem = phi.Problem(
        box,
        {
            "pde": Eq(u.diff(t), phi.laplacian(u)),
            "start": phi.on(box.at(t=0), Eq(u, 0)),
            "walls": phi.on(box.boundary, Eq(u, 0)),
        },
    )
    exact = x + 10 * y + 100 * t
    points, values, _ = read(exact_solution(problem, {u: exact}).export(tmp_path / "u.vti", points=4))
    np.testing.assert_allclose(values["u"], points[:, 0] + 10 * points[:, 1] + 100, rtol=1e-12)
    assert points[:, 1].max() == pytest.approx(2)


def test_a_dataset_has_the_coordinates_as_dimensions(wave, holed, tmp_path):
    whole = wave.to_xarray(points=5)
    assert whole["h"].dims == ("x", "t")
    np.testing.assert_allclose(whole["v"].sel(x=1.0, t=1.5), -2, atol=1e-12)
    np.testing.assert_allclose(whole["h"], np.exp(1j * (whole.x - whole.t)), rtol=1e-12)
    assert float(whole["c"]) == pytest.approx(1.5)
    with xarray.open_dataset(wave.export(tmp_path / "wave.nc", points=5)) as stored:
        np.testing.assert_allclose(stored["h_imag"], np.sin(whole.x - whole.t), atol=1e-12)
        assert stored.attrs["fingerprint"] == wave.problem.fingerprint
    assert np.isnan(holed.to_xarray(points=5)["u"].sel(x=2, y=2))


RUN_ALONE = """
import sys, numpy as np, jax
jax.config.update("jax_enable_x64", True)
from jax import export
function = export.deserialize(bytearray(open(sys.argv[1], "rb").read()))
with np.load(sys.argv[2]) as table:
    found = function.call({name: table[name] for name in ("x", "t")})
    for name in ("u", "v"):
        assert found[name].shape == table[name].shape == (321,)
        print(np.abs(np.asarray(found[name]) - table[name]).max() < 1e-12)
print("phijax" in sys.modules, "equinox" in sys.modules)
"""


def test_jax_alone_runs_the_exported_function(untrained_solution, tmp_path):
    u, v = phi.field("u", x, t), phi.field("v", x, t)
    ring = phi.Interval(x, -1, 1, periodic=True) * phi.Interval(t, 0, 2)
    problem = phi.Problem(
        ring,
        {
            "pde": {"u": Eq(u.diff(t), v.diff(x)), "v": Eq(v.diff(t), u.diff(x))},
            "start": phi.on(ring.at(t=0), {"u": Eq(u, sin(pi * x)), "v": Eq(v, cos(pi * x))}, exact=True),
        },
    )
    solution = untrained_solution(problem, MLP(width=8, depth=2))
    path = solution.export(tmp_path / "model.jaxexport")
    random = np.random.default_rng(0)
    places = {"x": random.uniform(-1, 1, 321), "t": random.uniform(0, 2, 321)}
    np.savez(tmp_path / "table.npz", **places, u=solution.u(**places), v=solution.v(**places))
    program = [sys.executable, "-c", RUN_ALONE, path, tmp_path / "table.npz"]
    done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout.split() == ["True", "True", "False", "False"], done.stderr


def test_messages_name_the_format_and_its_cure(wave, holed, tmp_path):
    for path, settings, message in (
        ("wave.vtk", {}, r"ends in '\.vtk', which is no format; did you mean '\.vt[iu]'"),
        ("wave", {}, "ends in 'nothing', which is no format"),
        ("wave.npz", {"points": 1}, "points=1 must be a whole number of at least 2"),
        ("wave.npz", {"times": 3}, r"times=3 is of a series, \.pvd"),
        ("wave.pvd", {"times": 0}, "times=0 must be a whole number of at least 1"),
        ("wave.jaxexport", {"points": 3}, "takes neither points nor at"),
    ):
        with pytest.raises(ValueError, match=message):
            wave.export(tmp_path / path, **settings)
    with pytest.raises(ValueError, match="'problem' has no time beside space, so no series"):
        holed.export(tmp_path / "u.pvd")
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*absent; make it first"):
        wave.export(tmp_path / "absent" / "wave.pvd", times=2, points=3)
    assert list(tmp_path.iterdir()) == []
