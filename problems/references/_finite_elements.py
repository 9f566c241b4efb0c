"""Quadratic finite elements on the shapes of the built-in problems (scikit-fem; the extra `bench`): a classical solver of
each, and a second way to its reference. Each gives values at its own nodes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from jaxtyping import Float
from skfem import (
    Basis,
    BilinearForm,
    ElementQuad1,
    ElementQuad2,
    ElementTetP2,
    ElementTriP2,
    ElementVector,
    LinearForm,
    MeshQuad,
    MeshQuad2,
    MeshTet,
    MeshTri,
    condense,
    solve,
)
from skfem.helpers import ddot, div, dot, grad

Nodes = Float[np.ndarray, "2 n"]
Solved = tuple[Nodes, dict[str, Float[np.ndarray, " n"]]]


@BilinearForm
def stiffness(u, v, _):
    return dot(grad(u), grad(v))


@BilinearForm
def mass(u, v, _):
    return u * v


@LinearForm
def load(v, _):
    return 1.0 * v


def ring(radius: float, angles: np.ndarray, reach: Callable[[np.ndarray], np.ndarray], layers: int) -> MeshQuad:
    """Quadrilaterals between a circle about 0 and a curve at a distance `reach` in each direction."""
    mesh = MeshQuad.init_tensor(np.linspace(0, 1, layers + 1), angles)
    s, angle = mesh.p
    r = radius + s * (reach(angle) - radius)
    return MeshQuad(r * np.array([np.cos(angle), np.sin(angle)]), mesh.t)


def curved(mesh: MeshQuad, radius: float) -> MeshQuad2:
    """The same with quadratic edges on the circle about 0."""
    quadratic = MeshQuad2.from_mesh(mesh)
    ends = mesh.p[:, mesh.facets]
    on_circle = np.all(np.abs(np.hypot(*ends) - radius) < 1e-6, axis=0)
    places = quadratic.doflocs.copy()
    basis = Basis(mesh, ElementQuad2())
    vertices = np.unique(mesh.facets[:, on_circle])  # to eight digits, where meshes were joined
    moved = np.concatenate([basis.nodal_dofs[0, vertices], basis.facet_dofs[0, on_circle]])
    places[:, moved] *= radius / np.hypot(*places[:, moved])
    return MeshQuad2(places, quadratic.t)


def lshape(refinements: int, towards_corner: int) -> Solved:
    """u of poisson_lshape: triangles, halved again and again at the reentrant corner."""
    mesh = MeshTri.init_lshaped().mirrored((0, 1)).refined(refinements)
    for _ in range(towards_corner):
        away = np.hypot(*mesh.p[:, mesh.t].mean(axis=1))
        size = np.sqrt(np.abs(np.linalg.det(np.moveaxis(mesh.p[:, mesh.t[:2]] - mesh.p[:, mesh.t[2]][:, None], 2, 0))))
        mesh = mesh.refined(np.flatnonzero(size > 0.15 * away))
    basis = Basis(mesh, ElementTriP2())
    u = solve(*condense(stiffness.assemble(basis), load.assemble(basis), D=basis.get_dofs()))
    x, y = basis.doflocs
    return np.stack([x, y]), {"u": u}


def disks(layers: int) -> Solved:
    """u of poisson_disks on an eighth of the plate: below the diagonal of the quarter about the disk at (0.3, 0.3)."""
    low, high = -0.3, 0.2

    def reach(angle: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            along = [
                np.where(d > 1e-12, high / d, np.where(d < -1e-12, low / d, np.inf))
                for d in (np.cos(angle), np.sin(angle))
            ]
        return np.minimum(*along)

    corners = [-3 * np.pi / 4, np.arctan2(low, high), np.pi / 4]
    angles = np.concatenate([np.linspace(a, b, 3 * layers + 1)[:-1] for a, b in pairwise(corners)])
    mesh = curved(ring(0.1, np.append(angles, np.pi / 4), reach, layers), 0.1)
    basis = Basis(mesh, ElementQuad2())
    x, y = basis.doflocs
    disk, outside = np.hypot(x, y) < 0.1 + 1e-9, x > high - 1e-9
    start = np.where(outside, 1.0, 0.0)
    u = solve(*condense(stiffness.assemble(basis), x=start, D=np.flatnonzero(disk | outside)))
    return np.stack([x, y]) + 0.3, {"u": u}


def fin(layers: int, steps: int) -> tuple[Nodes, Float[np.ndarray, "steps+1 n"]]:
    """T of heat_fin on an eighth of the plate, at equal times, by the trapezoidal rule."""
    octant = ring(0.2, np.linspace(0, np.pi / 4, layers + 1), lambda angle: 0.5 / np.cos(angle), layers)
    mesh = curved(octant, 0.2)
    basis = Basis(mesh, ElementQuad2())
    hole = basis.boundary(mesh.facets_satisfying(lambda x: np.hypot(*x) < 0.2 + 1e-4, boundaries_only=True))
    held, film = mass.assemble(basis), mass.assemble(hole)
    rate, drive, h = 0.1 * stiffness.assemble(basis) + film, load.assemble(hole), 1 / steps
    found = [np.zeros(basis.N)]
    from scipy.sparse.linalg import factorized

    ahead = factorized((held + h / 2 * rate).tocsc())
    for k in range(steps):
        push = h / 2 * (np.sin(np.pi * k * h) + np.sin(np.pi * (k + 1) * h)) * drive
        found.append(ahead((held - h / 2 * rate) @ found[-1] + push))
    x, y = basis.doflocs
    return np.stack([x, y]) + 0.5, np.array(found)


def channel(layers: int) -> tuple[Solved, Solved]:
    """u, v of stokes_cylinder above the axis, and p at the nodes of its own, by elements of Taylor and Hood."""

    @BilinearForm
    def viscous(u, v, _):
        return ddot(grad(u), grad(v))

    @BilinearForm
    def divergence(u, q, _):
        return -div(u) * q

    sides = [np.arctan(np.linspace(0, 1, layers + 1)), np.pi / 2 - np.arctan(np.linspace(1, -1, 2 * layers + 1))[1:]]
    angles = np.concatenate([*sides, np.pi - np.arctan(np.linspace(1, 0, layers + 1))[1:]])
    box = lambda angle: 0.5 / np.maximum(np.abs(np.cos(angle)), np.abs(np.sin(angle)))
    behind = MeshQuad.init_tensor(np.linspace(0.5, 1.5, 2 * layers + 1), np.linspace(0, 0.5, layers + 1))
    mesh = curved(ring(0.15, angles, box, layers) + behind, 0.15)
    velocity = Basis(mesh, ElementVector(ElementQuad2()), intorder=6)
    pressure = velocity.with_element(ElementQuad1())
    a, b = viscous.assemble(velocity), divergence.assemble(velocity, pressure)
    from scipy.sparse import bmat

    x, y = velocity.doflocs
    is_v = np.zeros(velocity.N, bool)
    for dofs in (velocity.nodal_dofs, velocity.facet_dofs, velocity.interior_dofs):
        is_v[dofs[1]] = True
    inlet = x < -0.5 + 1e-9
    fixed = inlet | (y > 0.5 - 1e-9) | (np.hypot(x, y) < 0.15 + 1e-9) | (is_v & (y < 1e-9))
    start = np.where(inlet & ~is_v, 1 - 4 * y**2, 0.0)
    whole = np.concatenate([start, np.zeros(pressure.N)])
    found = solve(*condense(bmat([[a, b.T], [b, None]]).tocsr(), x=whole, D=np.flatnonzero(fixed)))
    at = lambda part: np.stack([x[part], y[part]]) + 0.5
    flow = {"u": found[: velocity.N][~is_v], "v": found[: velocity.N][is_v]}
    assert np.allclose(at(~is_v), at(is_v))
    return (at(~is_v), flow), (pressure.doflocs + 0.5, {"p": found[velocity.N :]})


def torus(layers: int, around: int = 64, across: int = 32) -> tuple[Float[np.ndarray, "3 n"], dict[str, np.ndarray]]:
    """u of poisson_mesh: triangles of the cross-section, taken round, are prisms, and each prism three tetrahedra."""
    twist = 2 * np.pi * np.arange(across) / across
    rings = [0.4 * k / layers * np.array([np.cos(twist), np.sin(twist)]) for k in range(1, layers + 1)]
    section = np.concatenate([np.zeros((2, 1)), *rings], axis=1)
    here, there = np.arange(across), (np.arange(across) + 1) % across
    parts = [np.stack([0 * here, 1 + here, 1 + there])]
    for k in range(layers - 1):
        inner, outer = 1 + k * across, 1 + (k + 1) * across
        parts += [np.stack([inner + here, outer + here, outer + there])]
        parts += [np.stack([inner + here, inner + there, outer + there])]
    a, b, c = np.sort(np.concatenate(parts, axis=1), axis=0)  # so that neighbours cut their common side one way
    count = section.shape[1]
    tetrahedra = []
    for k in range(around):
        low, high = k * count, (k + 1) % around * count
        tetrahedra += [
            np.stack([a + low, b + low, c + low, c + high]),
            np.stack([a + low, b + low, b + high, c + high]),
        ]
        tetrahedra += [np.stack([a + low, a + high, b + high, c + high])]
    turn = 2 * np.pi * np.arange(around)[:, None] / around
    reach = 1 + section[0]
    places = np.stack([np.cos(turn) * reach, np.sin(turn) * reach, np.broadcast_to(section[1], (around, count))])
    mesh = MeshTet(places.reshape(3, -1), np.concatenate(tetrahedra, axis=1))
    basis = Basis(mesh, ElementTetP2())
    x, y, z = basis.doflocs
    exact = np.sin(x) * np.sin(y) * np.sin(z)
    source = 3 * mass.assemble(basis) @ exact
    u = solve(*condense(stiffness.assemble(basis), source, x=exact, D=basis.get_dofs()))
    return basis.doflocs, {"u": u}
