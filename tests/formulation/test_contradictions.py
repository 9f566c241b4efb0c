"""Corners at which conditions contradict each other, or an equation: found where they are, and nowhere else."""

import pytest
from sympy import Eq, sin

import phijax as phi
from phijax.formulation import contradicting_corners

x, y = phi.coordinates("x y")
t = phi.time("t")
u, v = phi.fields("u v", x, y)
square = phi.Rectangle((x, 0, 1), (y, 0, 1))
LID = {(0, 1), (1, 1)}


def places(problem):
    return {tuple(value for _, value in corner) for corner in contradicting_corners(problem)}


def laplace(region, **values):
    conditions = {name: phi.on(part, Eq(u, value)) for name, (part, value) in values.items()}
    return phi.Problem(region, {"pde": Eq(phi.laplacian(u), 0), **conditions})


@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
@pytest.mark.parametrize(
    ("top", "expected"),
    [(1, LID), (x, {(1, 1)}), (x * (1 - x), set()), (sin(x), {(1, 1)})],
)
def test_two_values_of_a_field(top, expected):
    rest = square.boundary(where=y < 1)
    assert places(laplace(square, top=(square.side("top"), top), rest=(rest, 0))) == expected


@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
def test_two_values_where_an_arc_meets_its_chord():
    half = phi.Disk((x, y), radius=1) & phi.Rectangle((x, -2, 2), (y, 0, 2))
    problem = laplace(half, arc=(half.boundary(where=y > 0), 1), chord=(half.boundary(where=y <= 0), 0))
    assert places(problem) == {(-1, 0), (1, 0)}


@pytest.mark.parametrize(
    ("lid", "expected"),
    [(4 * x * (1 - x), LID), (16 * x**2 * (1 - x) ** 2, set()), (x**2 * (1 - x), {(1, 1)})],
)
def test_slopes_of_a_lid_that_divergence_contradicts(lid, expected):
    flow = {"u": Eq(phi.laplacian(u), 0), "v": Eq(phi.laplacian(v), 0), "mass": phi.div((u, v))}
    lid_and_walls = {
        "lid": phi.on(square.side("top"), {u: lid, v: 0}),
        "walls": phi.on(square.boundary(where=y < 1), {u: 0, v: 0}),
    }
    assert places(phi.Problem(square, {"flow": flow, **lid_and_walls})) == expected


@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
def test_none_are_sought_in_time():
    w = phi.field("w", x, t)
    rod = phi.Interval(x, 0, 1) * phi.Interval(t, 0, 1)
    conditions = {"start": phi.on(rod.at(t=0), Eq(w, 1)), "ends": phi.on(rod.boundary(x), Eq(w, 0))}
    assert places(phi.Problem(rod, {"pde": Eq(w.diff(t), w.diff(x, 2)), **conditions})) == set()
