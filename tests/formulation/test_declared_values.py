"""Checks of values that fields are given, and of periodic pairs (contract D2)."""

import numpy as np
import pytest
import sympy
from declared import bar, faults, heat, interval, poisson, square, start, strip, t, u, v, w, x, y

import phijax as phi

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")


class Reader:
    """A callable without a name of its own."""

    def __call__(self, z):
        return z


cloud = phi.PointCloud({x: [0.1, 0.2, 0.3]})
VALUES = {
    "string": ("sin(x)", "the value 'sin(x)' of w is no number, expression, callable or array."),
    "none": (None, "the value None of w is no number, expression, callable or array."),
    "nan": (float("nan"), "the value nan of w is not finite."),
    "infinite": (sympy.oo, "the value oo of w is not finite."),
    "itself": (w, "its equation is already True before anything is solved; look for the same thing on both sides."),
    "complex for real": (
        sympy.I,
        "its equation is already False before anything is solved; its sides can never be equal: a vector and a number, a "
        "real field and a complex value, or a number that is not finite.",
    ),
    "sympy's function": (sympy.sin, "sin is sympy's function without its argument; write sin(x)."),
    "strange argument": (
        lambda z: z,
        "<lambda> asks for 'z', which is no coordinate of the region; known: x. A setting of its own comes last and has a "
        "default.",
    ),
    "strange argument of an object": (
        Reader(),
        "Reader asks for 'z', which is no coordinate of the region; known: x. A setting of its own comes last and has a "
        "default.",
    ),
    "setting before a coordinate": (
        lambda a, x: a * x,
        "<lambda> asks for 'a', which is no coordinate of the region; known: x. A setting of its own comes last and has a "
        "default.",
    ),
    "no argument": (
        lambda: 1.0,
        "<lambda> takes no coordinate by position; give its value, or a function such as lambda x: ... .",
    ),
    "by keyword alone": (
        lambda *, x: x,
        "<lambda> takes no coordinate by position; give its value, or a function such as lambda x: ... .",
    ),
    "array off a list of points": (
        [1.0, 2.0],
        "an array of shape (2,) is given for w, but {0, 1} in x is no list of points; give an expression or a callable, or "
        "put points and values in phi.data.",
    ),
    "array of words": (np.array(["a", "b"]), "w is given an array of <U1, not of numbers."),
}


@pytest.mark.parametrize("kind", VALUES)
def test_a_value_that_cannot_be_read_says_why(kind):
    value, message = VALUES[kind]
    assert faults(interval, {"pde": bar, "ends": phi.on(interval.boundary, {w: value})}) == [f"'ends': {message}"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, 2.0], "w is given values of shape (2,), but the region has 3 points."),
        (np.ones((3, 2)), "w is given values of shape (3, 2), but the region has 3 points."),
        ([1.0, np.nan, 2.0], "the values of w are not finite in row 1."),
        (
            np.ma.array([1.0, 2.0, 3.0], mask=[0, 0, 1]),
            "the values of w are masked in row 2; leave out the points without a value.",
        ),
        ([1.0, 2j, 2.0], "w is real and its values are complex; make it by phi.field(..., complex=True)."),
    ],
    ids=["too few", "table", "nan", "masked", "complex"],
)
def test_an_array_that_does_not_fit_its_points_says_why(values, message):
    assert faults(interval, {"pde": bar, "seen": phi.on(cloud, {w: values})}) == [f"'seen': {message}"]


def test_a_function_of_one_argument_by_position_needs_one_coordinate():
    found = faults(strip, {"pde": heat, "start": start, "wall": phi.on(strip.side("left"), {u: np.sin})})
    assert found == [
        "'wall': sin takes its argument by position, and the region has the coordinates x, t; name the one that is meant, as "
        "in lambda x: sin(x)."
    ]


PAIRS = {
    "no coordinate": (
        square,
        phi.periodic(v, t),
        "is periodic in 't', which is no coordinate of the domain; known: x, y.",
    ),
    "independent": (
        square,
        phi.periodic(phi.field("k", y), x),
        "k(y) does not depend on 'x', so it is periodic in it as it is; leave the constraint out.",
    ),
    "order": (
        square,
        phi.periodic(v, x, order=-1),
        "order=-1 is not 0, 1, 2, ...: the highest derivative that agrees at",
    ),
    "disk": (
        phi.Disk((x, y)),
        phi.periodic(v, x),
        "'x' runs over {x^2 + y^2 < 1} in (x, y), which has no two ends to agree",
    ),
    "already": (
        phi.Interval(x, 0, 1, periodic=True) * phi.Interval(y, 0, 1),
        phi.periodic(v, x),
        "'x' is periodic in the domain already, by Interval(..., periodic=True); leave the constraint out.",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_periodic_pair_that_cannot_be_says_why(name):
    domain, pair, message = PAIRS[name]
    (found,) = faults(domain, {"pde": poisson, "pair": pair})
    assert found.startswith(f"'pair': {message}")
