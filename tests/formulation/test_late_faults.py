"""Faults that used to show after training, or never: references, clashes on one face, infinite values, flags."""

import numpy as np
import pytest
import sympy
from sympy import Eq

import phijax as phi

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
x, y = phi.coordinates("x y")
w, v = phi.field("w", x), phi.field("v", x, y)
line, square = phi.Interval(x, 0, 1), phi.Rectangle((x, 0, 1), (y, 0, 1))
flat, left = Eq(w.diff(x), 1), line.side("left")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (5, "reference=5 is no solution; give {u: expression}"),
        ({"ww": 1}, "the reference names 'ww', which is no field or parameter; did you mean 'w'? known: w."),
        ({w: "sin(x)"}, "the reference's value 'sin(x)' of 'w' is no number, expression or callable."),
        ({w: y}, "the reference's value of 'w' depends on 'y', and 'w' does not; known: x."),
        (phi.Reference(solver=3), "the reference's solver 3 cannot be called with coordinates by name."),
    ],
)
def test_a_reference_that_cannot_be_compared_with_is_refused(reference, message):
    with pytest.raises(phi.DeclarationError) as error:
        phi.Problem(line, {"pde": flat}, reference=reference)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("domain", "constraints", "message"),
    [
        (
            line,
            {"pde": flat, "one": phi.on(left, Eq(w, 0)), "other": phi.on(left, Eq(w, 2))},
            "'other': 'w' is 2 here and 0 on 'one', as at x = 0, and both hold on {0} in x; leave one out.",
        ),
        (
            line,
            {"pde": flat, "one": phi.on(left, {"a": Eq(w, 0), "b": Eq(w, 2)})},
            "'one': 'w' is 2 here and 0 on 'one', as at x = 0",
        ),
        (
            square,
            {
                "pde": Eq(v.diff(x), 1),
                "all": phi.on(square.boundary, Eq(v, x)),
                "top": phi.on(square.side("top"), Eq(v, 1)),
            },
            "'top': 'v' is 1 here and 0.0122 on 'all', as at x = 0.0122, y = 1",
        ),
        (
            line,
            {"pde": flat, "wall": phi.on(left, Eq(w, 1 / x))},
            "'wall': w = 1/x is not finite at x = 0; give its limit",
        ),
        (line, {"pde": flat, "wall": phi.on(left, Eq(w.diff(x) + w * sympy.log(x), 1))}, "is not finite at x = 0"),
        (
            line,
            {"pde": flat, "wall": phi.on(left, {w: True})},
            "'wall': the value True of w is no number; write 1 or 0.",
        ),
        (line, {"pde": flat, "wall": phi.on(left, {w: 1}, exact="yes")}, "'wall': exact='yes' must be True or False."),
    ],
)
def test_conditions_that_cannot_hold_are_refused(domain, constraints, message):
    with pytest.raises(phi.DeclarationError) as error:
        phi.Problem(domain, constraints)
    assert message in str(error.value)


def test_conditions_that_can_hold_are_let_alone():
    halves = {"low": square.boundary(where=x < 0.5), "high": square.boundary(where=x > 0.5)}
    values = {name: phi.on(part, Eq(v, int(name == "high"))) for name, part in halves.items()}
    assert set(phi.Problem(square, {"pde": Eq(v.diff(x), 1), **values}).constraints) == {"pde", "low", "high"}
    phi.Problem(line, {"pde": flat, "wall": phi.on(left, Eq(w, sympy.exp(-1 / x)))})  # zero in floating point
    phi.Problem(line, {"pde": Eq(w.diff(x), 1 / x)})  # inside, x is never 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: phi.Interval(x, 0, 1, periodic="no"), "Interval: periodic='no' must be True or False."),
        (lambda: phi.field("k", x, complex="yes"), "field 'k': complex='yes' must be True or False."),
        (lambda: phi.function("k", np.sin, complex="yes"), "function 'k': complex='yes' must be True, False, or None"),
        (
            lambda: phi.data({"x": [1], x: [2]}),
            "phi.data: the column 'x' is given twice, by its name and by its symbol",
        ),
    ],
)
def test_flags_and_columns_are_checked_when_they_are_given(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert message in str(error.value)


def test_names_are_those_that_python_reads():
    micro, mu = "\u00b5", "\u03bc"
    assert phi.coordinate(micro) == phi.coordinate(mu)
    assert (phi.field(micro, x).name, phi.parameter(micro).name) == (mu, mu)
    assert list(phi.data({micro: [1.0]}).columns) == [mu]
