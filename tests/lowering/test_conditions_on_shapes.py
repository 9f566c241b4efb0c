"""Conditions on real shapes: with known solutions in the networks' place, residuals are known."""

import math

import numpy as np
import pytest
import sympy
from sympy import Eq, exp, sin

import phijax as phi
from phijax.formulation.ansatz import build_ansatz
from tests.lowering.injection import inject

x, y, z = phi.coordinates("x y z")
t = phi.time("t")
u = phi.field("u", x, y)
channel = phi.Rectangle((x, -3, 3), (y, -2, 2)).named("outer") - phi.Disk((x, y), (0, 0), 0.5).named("cylinder")
slope = phi.normal_derivative(u)


def largest(problem, exact, *constraints):
    names = constraints or tuple(problem.constraints)
    return max(np.abs(r).max() for name in names for r in inject(problem, exact, name).values())


@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
def test_potential_flow_round_a_cylinder_has_no_normal_flow_on_it():
    potential = x * (1 + sympy.Rational(1, 4) / (x**2 + y**2))
    problem = phi.Problem(
        channel, {"pde": Eq(phi.laplacian(u), 0), "cylinder": phi.on(channel.side("cylinder"), Eq(slope, 0))}
    )
    assert largest(problem, {u: potential}) < 1e-12


@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
def test_robin_oblique_and_symmetry_conditions_on_a_turned_ellipse():
    ellipse = phi.Ellipse((x, y), radii=(2, 1)).rotate(sympy.pi / 5)
    edge, n_x, n_y = ellipse.boundary, phi.normal(x), phi.normal(y)
    robin = Eq(slope + 2 * u, n_x * 2 * x + 2 * x**2)
    oblique = Eq((n_x - n_y) * u.diff(x), 2 * x * (n_x - n_y))
    problem = phi.Problem(ellipse, {"robin": phi.on(edge, robin), "oblique": phi.on(edge, oblique)})
    assert largest(problem, {u: x**2}) < 1e-12
    linear = inject(phi.Problem(ellipse, {"n": phi.on(edge, Eq(slope, 0))}), {u: x}, "n")[""]
    assert np.max(np.abs(linear)) <= 1  # n_x itself
    assert np.max(np.abs(linear)) > 0.6


@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
def test_flux_between_a_fibre_and_its_matrix():
    fibre = phi.Disk((x, y), (0, 0), 1)
    matrix = phi.Rectangle((x, -2, 2), (y, -2, 2)) - fibre
    inner, outer = phi.field("inner", x, y, on=fibre), phi.field("outer", x, y, on=matrix)
    flux = Eq(10 * phi.normal_derivative(inner), phi.normal_derivative(outer))
    seam = phi.interface(fibre, matrix)
    problem = phi.Problem(
        fibre | matrix,
        {
            "fibre": phi.on(fibre, Eq(phi.laplacian(inner), 0)),
            "matrix": phi.on(matrix, Eq(phi.laplacian(outer), 0)),
            "seam": phi.on(seam, {"value": Eq(inner, outer), "flux": flux}),
        },
    )
    # A conducting cylinder in a uniform field: x (1 + b / r^2) outside and c x inside, c = 1 + b and 10 c = 1 - b.
    b = -sympy.Rational(9, 11)
    exact = {inner: (1 + b) * x, outer: x * (1 + b / (x**2 + y**2))}
    assert largest(problem, exact) < 1e-12
    assert seam.measure == pytest.approx(2 * math.pi)


def test_congruent_sides_are_paired_by_the_shift_between_them():
    square = phi.Rectangle((x, 0, 1), (y, 0, 1))
    pair = phi.periodic(u, square.side("left"), square.side("right"))
    with pytest.warns(phi.DeclarationWarning, match=r"no condition on 'y-', 'y\+'; add one"):  # and none on "x+"
        problem = phi.Problem(square, {"pde": Eq(phi.laplacian(u), 0), "pair": pair})
    assert largest(problem, {u: sin(2 * sympy.pi * x) * y}, "pair") < 1e-13
    slanted = inject(problem, {u: x * y}, "pair")  # -y: even over the side
    assert np.mean(slanted["u"]) == pytest.approx(-0.5, abs=0.05)
    assert np.abs(slanted["u_n"]).max() == 0


@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
def test_the_sides_of_a_sector_are_paired_by_a_turn():
    quadrant = phi.Rectangle((x, 0, 3), (y, 0, 3))
    wedge = phi.Annulus((x, y)) & quadrant.named("low") & quadrant.rotate(-sympy.pi / 6).named("high")
    first, last = wedge.side("low"), wedge.side("high")
    assert wedge.measure == pytest.approx(math.pi / 2)
    problem = phi.Problem(wedge, {"pair": phi.periodic(u, first, last)})
    sixfold = x**6 - 15 * x**4 * y**2 + 15 * x**2 * y**4 - y**6  # r^6 cos 6 theta
    assert largest(problem, {u: sixfold}) < 1e-9
    threefold = x**3 - 3 * x * y**2
    found = inject(problem, {u: threefold}, "pair")["u"]
    assert np.max(np.abs(found)) > 1.9  # it changes its sign from side to side: 2 r^3


def test_sides_that_are_not_congruent_are_told_so():
    square = phi.Rectangle((x, 0, 1), (y, 0, 2))
    with pytest.raises(phi.DeclarationError, match="they are not congruent"):
        phi.Problem(square, {"pair": phi.periodic(u, square.side("left"), square.side("top"))})


@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
def test_mean_value_and_flux_integrals_over_shapes():
    mean = Eq(phi.integral(u, over=channel), 0)
    net = Eq(phi.integral(slope, over=channel.side("cylinder")), -2 * sympy.pi)
    problem = phi.Problem(channel, {"pde": Eq(phi.laplacian(u), 0), "mean": mean, "net": net})
    source = sympy.log(x**2 + y**2) / 2
    assert np.abs(inject(problem, {u: source}, "net")[""]).max() < 1e-12
    assert np.abs(inject(problem, {u: x * y}, "mean")[""]).max() < 1e-3


@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
def test_a_melting_front_has_the_residuals_of_the_exact_solution():
    w = phi.field("w", x, t)
    melt = phi.Interval(x, 0, t) * phi.Interval(t, 0, 1)
    problem = phi.Problem(
        melt,
        {
            "pde": Eq(w.diff(t), w.diff(x, 2)),
            "front": phi.on(melt.side("right"), {"melting": Eq(w, 0), "heat": Eq(-w.diff(x), 1)}),
            "wall": phi.on(melt.side("left"), Eq(w, exp(t) - 1)),
        },
    )
    assert largest(problem, {w: exp(t - x) - 1}) < 1e-13


def test_a_part_without_a_condition_is_named_and_clashing_values_are_placed():
    plate = phi.Rectangle((x, 0, 2), (y, 0, 1))
    bumpy = plate.named("walls") - phi.Disk((x, y), (1, 0), 0.3).named("bump")
    pde = Eq(phi.laplacian(u), 0)
    with pytest.warns(phi.DeclarationWarning, match="'u' has no condition on 'bump'"):
        phi.Problem(bumpy, {"pde": pde, "walls": phi.on(bumpy.side("walls"), Eq(u, 0))})
    with pytest.warns(
        phi.DeclarationWarning, match=r"0 on 'walls' and 1 on 'bump' where they meet, as at x = 0\.7, y = 0"
    ):
        phi.Problem(
            bumpy,
            {"pde": pde, "walls": phi.on(bumpy.side("walls"), Eq(u, 0)), "bump": phi.on(bumpy.side("bump"), Eq(u, 1))},
        )
    with pytest.raises(phi.DeclarationError, match=r"'u' is 1 here and 0 on 'all'.* and both hold on"):
        phi.Problem(
            bumpy, {"pde": pde, "all": phi.on(bumpy.boundary, Eq(u, 0)), "bump": phi.on(bumpy.side("bump"), Eq(u, 1))}
        )


def built_in(problem, name, at):
    """The field with an arbitrary function in the network's place, at points of a piece."""
    field = problem.fields[name]
    waves = sympy.Add(*(k * s for k, s in enumerate(field.coordinates, 1)))
    whole = build_ansatz(problem)[name].around(sympy.sin(waves + 1), field.coordinates)
    rule = at.quadrature(8)
    columns = [rule.coordinates[s.name] for s in field.coordinates]
    numeric = lambda expression: sympy.lambdify(field.coordinates, expression, "numpy")(*columns)
    return numeric(whole), numeric


@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
def test_values_on_holes_hold_whatever_the_network_is_beside_those_on_sides_and_at_the_start():
    big, small = phi.Disk((x, y), (0.5, 0.5), 0.2).named("big"), phi.Disk((x, y), (0.15, 0.15), 0.1).named("small")
    plate = phi.Rectangle((x, 0, 1), (y, 0, 1)).named("outer") - big - small
    on = lambda name, value: phi.on(plate.side(name), Eq(u, value), exact=True)
    still = phi.Problem(
        plate,
        {"pde": Eq(phi.laplacian(u), 1), "a": on("big", sin(x)), "b": on("small", 3), "c": on("outer", x * y)},
    )
    for name, value in (("big", sin(x)), ("small", 3 + 0 * x), ("outer", x * y)):
        reached, numeric = built_in(still, "u", plate.side(name))
        np.testing.assert_allclose(reached, numeric(value), atol=1e-14)
    w, heated = phi.field("w", x, y, t), plate * phi.Interval(t, 0, 1)
    moving = phi.Problem(
        heated,
        {
            "pde": Eq(w.diff(t), phi.laplacian(w)),
            "rim": phi.on(heated.side("big"), Eq(w, t * x), exact=True),
            "start": phi.on(heated.at(t=0), Eq(w, 0), exact=True),
        },
    )
    reached, numeric = built_in(moving, "w", heated.side("big"))
    np.testing.assert_allclose(reached, numeric(t * x), atol=1e-14)
    reached, _ = built_in(moving, "w", heated.at(t=0))
    np.testing.assert_allclose(reached, 0, atol=1e-14)


@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"hole": Eq(u, 0), "outer": Eq(slope, 0)}, "a slope cannot be made exact beside a value on a hole"),
        ({"hole": Eq(slope, 0)}, "it is a slope on the rim of a hole, where only values can be built in"),
    ],
)
def test_slopes_about_holes_are_refused_as_exact(conditions, message):
    plate = phi.Rectangle((x, 0, 1), (y, 0, 1)).named("outer") - phi.Disk((x, y), (0.5, 0.5), 0.2).named("hole")
    exact = {name: phi.on(plate.side(name), equation, exact=True) for name, equation in conditions.items()}
    with pytest.raises(phi.DeclarationError, match=message):
        phi.Problem(plate, {"pde": Eq(phi.laplacian(u), 1), **exact})
