"""Simplices of any dimension, and picking among pieces by shares."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import nnls
from sympy import symbols

import phijax.geometry as geo
from phijax._precision import precision_scope
from phijax.geometry.pick import Pick
from phijax.sampling import RegionSampler
from phijax.symbolic import coordinates

x, y, z = coordinates("x y z")
tetrahedron = geo.Simplex((x, y, z), [(0, 0, 0), (2, 0, 0), (0, 3, 0), (1, 1, 1)])


def corner_simplex(d):
    return geo.Simplex(symbols(f"a:{d}"), np.vstack([np.zeros(d), np.eye(d)]))


def points(region, n, precision="float64"):
    with precision_scope(precision):
        drawn = RegionSampler(region).sample(jax.random.key(0), n)
        return np.stack([np.asarray(drawn.coordinates[name]) for name in region.names], axis=1)


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_a_simplex_is_uniform_and_its_points_are_strictly_inside(d):
    """Shares of corners have Dirichlet's law: means 1/(d+1), E s_i s_j = 1/((d+1)(d+2)), twice that for i = j."""
    region = corner_simplex(d)
    assert region.measure == pytest.approx(1 / math.factorial(d), rel=1e-13)
    shares = points(region, 2**13, "float32").astype(float)
    assert np.all(shares > 0)
    assert np.all(shares.sum(1) < 1)
    np.testing.assert_allclose(shares.mean(0), 1 / (d + 1), atol=1e-3)
    np.testing.assert_allclose(shares.T @ shares / len(shares), (1 + np.eye(d)) / ((d + 1) * (d + 2)), atol=1e-3)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_monomials_are_integrated_exactly(d):
    """The integral of a product of powers over the corner simplex is the product of factorials over (d + degree)!."""
    rule = corner_simplex(d).quadrature(3)
    assert len(rule.weights) == 3**d
    for powers in itertools.product(range(6), repeat=d):
        if sum(powers) <= 5:
            value = np.sum(
                rule.weights * np.prod([c**p for c, p in zip(rule.coordinates.values(), powers, strict=True)], axis=0)
            )
            exact = math.prod(map(math.factorial, powers)) / math.factorial(d + sum(powers))
            assert value == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("region", [corner_simplex(1), corner_simplex(2), tetrahedron, corner_simplex(5)], ids=str)
def test_faces_close_and_their_normals_lead_out(region):
    d = len(region.names)
    assert [name for name, _ in region.faces()] == [f"face {i}" for i in range(d + 1)]
    rule = region.boundary.quadrature(2)
    for name in region.names:
        assert np.sum(rule.weights * rule.normals[name]) == pytest.approx(0, abs=1e-14)
    flux = sum(np.sum(rule.weights * rule.normals[n] * rule.coordinates[n]) for n in region.names)
    assert flux == pytest.approx(d * region.measure, rel=1e-13)
    away = {name: rule.coordinates[name] + 1e-3 * rule.normals[name] for name in region.names}
    np.testing.assert_allclose(region.signed_distance(away), 1e-3, rtol=1e-9)


def test_distance_to_a_tetrahedron_is_that_of_constrained_least_squares():
    rng = np.random.default_rng(0)
    at = rng.normal(scale=2, size=(60, 3))
    heavy = 1e7  # the shares add to one
    corners = np.vstack([tetrahedron.vertices.T, heavy * np.ones(4)])
    nearest = [np.linalg.norm(tetrahedron.vertices.T @ nnls(corners, np.append(p, heavy))[0] - p) for p in at]
    found = tetrahedron.signed_distance(dict(zip("xyz", at.T, strict=True)))
    np.testing.assert_allclose(np.maximum(found, 0), nearest, atol=1e-6)
    inside = {"x": np.array([0.75]), "y": np.array([1.0]), "z": np.array([0.25])}
    assert tetrahedron.contains(inside)
    assert tetrahedron.signed_distance(inside) == pytest.approx(-0.25)
    with precision_scope("float64"):
        compiled = jax.jit(tetrahedron.distance)({n: jnp.asarray(c) for n, c in zip("xyz", at.T, strict=True)})
    np.testing.assert_allclose(compiled, found, atol=1e-14)


def test_slices_of_a_tetrahedron_are_polygons():
    cut = tetrahedron.at(z=0.5)
    assert cut.measure == pytest.approx(3 / 4)  # the base, halved
    assert cut.fixed == {z: 0.5}
    assert geo.Simplex((x, y), [(0, 0), (2, 0), (0, 1)]).at(x=1).bounds == {x: (1, 1), y: (0, 0.5)}
    assert "choose a value between 0 and 1" in tetrahedron.at(z=2).faults[0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: geo.Simplex((x, y), [(0, 0), (1, 0)]), "2 coordinates take 3 corners, not 2"),
        (lambda: geo.Simplex((x, y), [(0, 0), (1, 1), (2, 2)]), "lie in one plane and span no volume"),
        (lambda: geo.Simplex((x, y), [(0, 0, 0)] * 3), r"has shape \(3, 3\); it must be \(n, 2\)"),
    ],
)
def test_corners_that_span_nothing_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("spread", [1, 6], ids=["even", "steep"])
def test_picking_by_a_guide_table_is_the_search_among_the_edges(spread, dtype):
    rng = np.random.default_rng(0)
    shares = rng.exponential(size=3000) ** spread
    pick = Pick.of(shares, dtype)
    unit = np.concatenate([rng.uniform(size=5000).astype(dtype), pick.edges[:-1], np.nextafter(pick.edges[1:], 0)])
    row = np.searchsorted(pick.edges, unit, side="right") - 1
    np.testing.assert_array_equal(pick.row(unit), row)
    with precision_scope(dtype):
        np.testing.assert_array_equal(jax.jit(pick.row)(jnp.asarray(unit)), row)
    piece, rest = pick.split(unit)
    assert np.all((rest > 0) & (rest < 1))
    np.testing.assert_array_equal(piece, pick.pieces[row])
    assert (
        np.max(np.abs(np.diff(pick.edges) - (shares / shares.sum())[pick.pieces]))
        < 4 * np.finfo(dtype).eps * len(shares) ** 0.5
    )
