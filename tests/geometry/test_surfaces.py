"""Triangulated surfaces and the solids that they bound."""

import builtins
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sympy import Eq

import phijax as phi
import phijax.geometry as geo
from phijax._precision import precision_scope
from phijax.formulation.serialization import from_json, to_json
from phijax.geometry.mesh_files import STL_HEADER, STL_TRIANGLE
from phijax.sampling import RegionSampler
from phijax.symbolic import coordinates, time

x, y, z = coordinates("x y z")
t = time("t")
CUBE = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)], float)
CUBE_TRIANGLES = np.array(
    [
        (0, 1, 3),
        (0, 3, 2),
        (4, 6, 7),
        (4, 7, 5),
        (0, 4, 5),
        (0, 5, 1),
        (2, 3, 7),
        (2, 7, 6),
        (0, 2, 6),
        (0, 6, 4),
        (1, 5, 7),
        (1, 7, 3),
    ]
)


def rings(point, n, m):
    """Triangles of a surface over a periodic n x m grid."""
    i, j = (axis.ravel() for axis in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    at = lambda a, b: (a % n) * m + b % m
    square = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]
    triangles = np.concatenate([np.stack([square[k] for k in ks], 1) for ks in [(0, 1, 2), (0, 2, 3)]])
    return np.stack(point(2 * np.pi * i / n, 2 * np.pi * j / m), axis=1), triangles


def torus(n, m):
    return rings(
        lambda a, b: ((1 + 0.4 * np.cos(b)) * np.cos(a), (1 + 0.4 * np.cos(b)) * np.sin(a), 0.4 * np.sin(b)), n, m
    )


def sphere(level):
    """An octahedron whose triangles are cut in four again and again, on the unit sphere."""
    vertices = np.concatenate([np.eye(3), -np.eye(3)])
    triangles = np.array([(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)])
    for _ in range(level):
        corners = vertices[triangles]
        a, b, c = (corners[:, i] + corners[:, (i + 1) % 3] for i in range(3))
        p, q, r = np.moveaxis(corners, 1, 0)
        pieces = np.stack([(p, a, c), (a, q, b), (c, b, r), (a, b, c)]).transpose(0, 2, 1, 3).reshape(-1, 3)
        pieces /= np.linalg.norm(pieces, axis=1, keepdims=True)
        vertices, place = np.unique(pieces.round(14), axis=0, return_inverse=True)
        triangles = place.reshape(-1, 3)
    return vertices, triangles


def table(points):
    return dict(zip("xyz", points.T, strict=True))


def winding(solid, points):
    """Whether the triangles turn once about each point (Van Oosterom & Strackee 1983)."""
    found = []
    for point in points:
        a, b, c = (solid.vertices[solid.triangles] - point).transpose(1, 0, 2)
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        dot = lambda u, v: np.sum(u * v, axis=1)
        below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
        found.append(np.sum(np.arctan2(dot(a, np.cross(b, c)), below)) / (2 * np.pi))
    return np.array(found) > 0.5


def test_weights_add_to_the_area_and_normals_close():
    ball = geo.Solid((x, y, z), *sphere(3))
    (surface,) = ball.boundary.regions
    corners = ball.vertices[ball.triangles]
    area = np.sum(np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)) / 2
    assert surface.measure == pytest.approx(area, rel=1e-14)
    for n in (10, 100, 10**5):  # each point stands for an n-th of the area, whether all triangles have one or not
        drawn = surface.place(np.random.default_rng(0).uniform(size=(n, 2)).astype("float32"))
        assert drawn.coordinates["x"].shape == (n,)
        assert drawn.coordinates["x"].dtype == "float32"
        over = np.mean(drawn.coordinates["z"] > 0.5) * surface.measure
        assert over == pytest.approx(np.pi, abs=2 * area / n**0.5)  # a cap of height 1/2
    assert RegionSampler(surface).sample(jax.random.key(0), 10).size == 10
    rule = surface.quadrature(1)
    for name in "xyz":
        assert np.sum(rule.weights * rule.normals[name]) == pytest.approx(0, abs=1e-13)
    flux = sum(np.sum(rule.weights * rule.normals[n] * rule.coordinates[n]) for n in "xyz")
    assert flux == pytest.approx(3 * ball.measure, rel=1e-13)
    assert ball.measure == pytest.approx(4 * np.pi / 3, rel=0.03)
    lengths = sum(np.asarray(column) ** 2 for column in drawn.normals.values())
    np.testing.assert_allclose(lengths, 1, atol=1e-6)
    outward = sum(np.asarray(drawn.normals[n] * drawn.coordinates[n]) for n in "xyz")
    assert outward.min() > 0.98
    assert surface.signed_distance({n: np.asarray(c, float) for n, c in drawn.coordinates.items()}).max() < 1e-6


def test_triangles_are_turned_outward_and_into_hollows():
    rng = np.random.default_rng(1)
    vertices, triangles = sphere(2)
    both = np.concatenate([triangles, triangles + len(vertices)])
    turned = rng.uniform(size=len(both)) < 0.5
    both[turned] = both[turned][:, ::-1]
    shell = geo.Solid((x, y, z), np.concatenate([vertices, vertices / 2]), both)
    full = geo.Solid((x, y, z), vertices, triangles).measure
    assert shell.measure == pytest.approx(full * 7 / 8, rel=1e-13)
    points = table(np.array([(0, 0, 0), (0.7, 0, 0), (0, -0.7, 0), (0, 0, 1.2)]))
    np.testing.assert_array_equal(shell.contains(points), [False, True, True, False])
    assert shell.signed_distance(points)[0] > 0.4
    rule = shell.boundary.quadrature(1)
    inner = np.hypot(np.hypot(rule.coordinates["x"], rule.coordinates["y"]), rule.coordinates["z"]) < 0.7
    outward = sum(rule.normals[n] * rule.coordinates[n] for n in "xyz")
    assert np.all((outward < 0) == inner)


@pytest.mark.parametrize("seed", range(3))
def test_inside_agrees_with_the_winding_number(seed):
    """Of a torus turned at random, and of one along the axes, whose lines meet edges and corners."""
    rng = np.random.default_rng(seed)
    vertices, triangles = torus(24, 12)
    solid = geo.Solid((x, y, z), vertices @ np.linalg.qr(rng.normal(size=(3, 3)))[0] if seed else vertices, triangles)
    points = rng.uniform(-1.5, 1.5, (400, 3))
    points[:50] = solid.vertices[rng.integers(len(vertices), size=50)] + [[0.0, 0.0, 0.05]]
    points[50:100] = solid.vertices[rng.integers(len(vertices), size=50)] - [[0.05, 0.0, 0.0]]
    expected = winding(solid, points)
    np.testing.assert_array_equal(solid.contains(table(points)), expected)
    with precision_scope("float64"):
        compiled = jax.jit(solid.inside)({n: jnp.asarray(c) for n, c in table(points).items()})
    np.testing.assert_array_equal(compiled, expected)


def test_a_fine_torus_holds_what_the_formula_does():
    solid = geo.Solid((x, y, z), *torus(250, 100))
    points = np.random.default_rng(0).uniform(-1.5, 1.5, (10**5, 3)) * [1, 1, 0.4]
    away = np.hypot(np.hypot(points[:, 0], points[:, 1]) - 1, points[:, 2]) - 0.4
    differ = solid.contains(table(points)) != (away < 0)
    assert np.all(np.abs(away[differ]) < 5e-4)  # the depth of its triangles
    assert solid.measure == pytest.approx(2 * np.pi**2 * 0.16, rel=2e-3)
    far = solid.signed_distance(table(points[:300]))
    np.testing.assert_allclose(far, away[:300], atol=5e-4)


def test_points_of_a_cube_are_uniform_and_inside():
    cube = geo.Solid((x, y, z), CUBE, CUBE_TRIANGLES)
    assert cube.measure == pytest.approx(1, rel=1e-15)
    drawn = RegionSampler(cube * geo.Interval(t, 0, 2)).sample(jax.random.key(0), 5000)
    given = {n: np.asarray(c, float) for n, c in drawn.coordinates.items()}
    assert given["t"].shape == (5000,)
    assert cube.contains(given).all()
    for name in "xyz":
        assert np.mean(given[name] ** 2) == pytest.approx(1 / 3, abs=0.02)
    rule = cube.quadrature(2)
    assert np.sum(rule.weights * rule.coordinates["x"] ** 2 * rule.coordinates["y"]) == pytest.approx(1 / 6, rel=1e-13)
    at = np.array([(0.5, 0.5, 0.75), (2, 0.5, 0.5), (2, 2, 2), (0.5, 0.25, 0.5)])
    np.testing.assert_allclose(cube.signed_distance(table(at)), [-0.25, 1, np.sqrt(3), -0.25])
    with precision_scope("float64"):
        compiled = jax.jit(cube.distance)({n: jnp.asarray(c) for n, c in table(at).items()})
    np.testing.assert_allclose(compiled, [-0.25, 1, np.sqrt(3), -0.25])
    assert cube.contains(table(at), tolerance=1.5).tolist() == [True, True, False, True]


def test_an_open_surface_bounds_nothing_and_says_where():
    with pytest.raises(
        ValueError, match=r"not closed: 3 edges do not belong to exactly two triangles, as from \(0, 0, 1\) to"
    ):
        geo.Solid((x, y, z), CUBE, CUBE_TRIANGLES[:-1])
    surface = geo.Surface((x, y, z), CUBE, CUBE_TRIANGLES[:-1])
    assert surface.measure == pytest.approx(5.5)
    assert surface.has_normals


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: geo.Surface((x, y, z), CUBE, [(0, 1, 8)]),
            r"triangle 0 is \[0.0, 1.0, 8.0\]; its numbers are rows of the 8",
        ),
        (lambda: geo.Surface((x, y, z), CUBE, [(0, 1, 1)]), "triangle 0, .* has no area"),
        (lambda: geo.Surface((x, y), CUBE, CUBE_TRIANGLES), "give 3 coordinates, not 2"),
        (lambda: geo.Surface((x, y, z), CUBE, np.zeros((0, 3))), "give at least one triangle"),
    ],
)
def test_tables_that_make_no_surface_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_solid_is_stored_and_read_back():
    cube = geo.Solid((x, y, z), CUBE, CUBE_TRIANGLES)
    u = phi.field("u", x, y, z)
    problem = phi.Problem(cube, {"pde": Eq(phi.laplacian(u), 1), "wall": phi.on(cube.boundary, Eq(u, 0))})
    again = from_json(json.loads(json.dumps(to_json(problem))))
    assert again.domain == cube
    assert again.fingerprint == problem.fingerprint
    assert str(cube) == "solid of 12 triangles in (x, y, z)"


def test_files_of_triangles_are_read(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    mesh = trimesh.Trimesh(CUBE * [2, 1, 1], CUBE_TRIANGLES, process=False)
    for name in ("part.stl", "part.obj", "part.ply"):
        mesh.export(tmp_path / name)
        part = phi.read_mesh((x, y, z), tmp_path / name, scale=10)
        assert isinstance(part, geo.Solid)
        assert part.measure == pytest.approx(2000)
        assert len(part.vertices) == 8
    trimesh.Trimesh(CUBE, CUBE_TRIANGLES[:-1], process=False).export(tmp_path / "open.stl")
    with pytest.warns(
        UserWarning, match="open.stl bounds no solid: 3 edges do not belong to exactly two triangles, as from"
    ):
        part = phi.read_mesh((x, y, z), tmp_path / "open.stl")
    assert isinstance(part, geo.Surface)
    (tmp_path / "bad.stl").write_text("nothing")
    with pytest.raises(ValueError, match=r"bad.stl (cannot be read as|holds no) triangles"):
        phi.read_mesh((x, y, z), tmp_path / "bad.stl")
    with pytest.raises(ValueError, match="there is no file"):
        phi.read_mesh((x, y, z), "missing.stl")


def test_a_missing_reader_is_named_with_its_cure_and_binary_stl_needs_none(monkeypatch, tmp_path):
    table = np.zeros(12, STL_TRIANGLE)
    table["corners"] = CUBE[CUBE_TRIANGLES]
    content = bytes(STL_HEADER - 4) + np.uint32(12).tobytes() + table.tobytes()
    (tmp_path / "part.stl").write_bytes(content)
    (tmp_path / "part.obj").write_text("v 0 0 0")
    found = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "trimesh":
            raise ImportError(name)
        return found(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(
        ImportError, match=r"read_mesh needs trimesh, which is not installed: pip install 'phijax\[mesh\]'"
    ):
        phi.read_mesh((x, y, z), tmp_path / "part.obj")
    assert phi.read_mesh((x, y, z), tmp_path / "part.stl", scale=2).measure == pytest.approx(8)


def test_solids_agree_with_trimesh():
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("rtree")
    solid = geo.Solid((x, y, z), *torus(20, 10))
    mesh = trimesh.Trimesh(solid.vertices, solid.triangles, process=False)
    assert mesh.is_winding_consistent
    assert solid.measure == pytest.approx(mesh.volume, rel=1e-12)
    assert solid.boundary.measure == pytest.approx(mesh.area, rel=1e-12)
    points = np.random.default_rng(0).uniform(-1.5, 1.5, (100, 3))
    _, away, _ = trimesh.proximity.closest_point(mesh, points)
    np.testing.assert_allclose(np.abs(solid.signed_distance(table(points))), away, atol=1e-7)
