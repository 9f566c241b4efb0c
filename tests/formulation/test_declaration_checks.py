"""Checks of a declaration's equations, by the text that the user reads (contract D2)."""

import pytest
import sympy
from declared import bar, faults, heat, interval, square, start, strip, t, times, u, v, w, x, y
from sympy import Eq

import phijax as phi

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")


def test_all_faults_of_a_cavity_are_answered_together():
    a, b, c = phi.fields("u v p", x, y, t)
    nu, Re = sympy.Symbol("nu"), 100
    domain = square * times
    momentum = lambda f, axis: f.diff(t) + a * f.diff(x) + b * f.diff(y) + c.diff(axis) - phi.laplacian(f) / Re
    with pytest.raises(phi.DeclarationError) as raised:
        phi.Problem(
            domain,
            {
                "flow": {"x": momentum(a, x) + nu * a, "y": momentum(b, y), "mass": phi.div((a, b), over=(x, y))},
                "start": phi.on(domain.at(t=0), Eq(a, 0)),
                "lid": phi.on(square.side("upper"), {"u": Eq(a, 1), "v": Eq(b, 0)}),
                "walls": phi.on(square.boundary(where=y < 1), {"u": Eq(a, 0), "v": Eq(b, 0)}),
                "gauge": phi.on(square.at(x=0, y=0), Eq(x + 1, 1)),
            },
        )
    text = str(raised.value)
    assert text.startswith("The problem has 4 faults:\n  1. ")
    assert "'flow': 'nu' in " in text
    assert (
        "is no coordinate, field or parameter; known: x, y, t. An unknown constant is made by phi.parameter('nu')."
        in text
    )
    assert (
        "'flow': is of order 1 in t for 'v', which has 0 of 1 initial conditions; add one on domain.at(t=...), or "
        "phi.free(domain.at(t=...)) if none is meant." in text
    )
    assert "'lid': side('upper') of [0, 1] x [0, 1] in (x, y): there is no such side; " in text
    assert (
        "'gauge': x + 1 = 1 holds no unknown, so training cannot change it; put a field or a parameter in, or" in text
    )
    assert len(raised.value.faults) == 4
    assert len(text.splitlines()) == 5


EQUATIONS = {
    "misspelt symbol": (
        strip,
        {"pde": Eq(u.diff(t), sympy.Symbol("alpha") * u.diff(x, 2)), "start": start},
        "'pde': 'alpha' in u_t = alpha*u_xx is no coordinate, field or parameter; known: x, t. An unknown constant is made "
        "by phi.parameter('alpha').",
    ),
    "nearly a parameter": (
        interval,
        {"pde": Eq(w.diff(x), phi.parameter("lam") * w + sympy.Symbol("lamb"))},
        "'pde': 'lamb' in w_x = lam*w + lamb is no coordinate, field or parameter; did you mean 'lam'? known: x, lam. An "
        "unknown constant is made by phi.parameter('lamb').",
    ),
    "another symbol of a coordinate's name": (
        interval,
        {"pde": Eq(w.diff(x), sympy.Symbol("x"))},
        "'pde': 'x' in w_x = x is not the coordinate 'x' of the domain but another symbol of that name; use the one that the "
        "domain was made with.",
    ),
    "field over another symbol of a coordinate's name": (
        interval,
        {"pde": Eq(phi.field("q", sympy.Symbol("x")), 1)},
        "'pde': the field q(x) in q = 1 depends on another symbol called 'x' than the domain; make it with the domain's "
        "coordinate.",
    ),
    "field over a coordinate that the domain lacks": (
        interval,
        {"pde": Eq(u, 1)},
        "'pde': the field u(x, t) in u = 1 depends on 't', which the domain lacks; known: x.",
    ),
    "constant residual": (
        interval,
        {"pde": bar, "dead": phi.on(interval.boundary, Eq(x**2, 1))},
        "'dead': x**2 = 1 holds no unknown, so training cannot change it; put a field or a parameter in, or remove it.",
    ),
    "number for a constraint": (
        interval,
        {"pde": bar, "dead": 3},
        "'dead': 3 holds no unknown, so training cannot change it; put a field or a parameter in, or remove it.",
    ),
    "both sides the same": (
        interval,
        {"pde": Eq(w, w)},
        "'pde': its equation is already True before anything is solved; look for the same thing on both sides.",
    ),
    "compared and not equated": (
        interval,
        {"pde": bar, "wall": w == 0},
        "'wall': its equation is already False before anything is solved; `==` compares at once; write Eq(left, right).",
    ),
    "vector and number": (
        interval,
        {"pde": Eq(sympy.Matrix([w, w]), 0)},
        "'pde': its equation is already False before anything is solved; its sides can never be equal: a vector and a "
        "number, a real field and a complex value, or a number that is not finite.",
    ),
    "one of a system": (
        interval,
        {"pde": {"a": bar, "b": Eq(w, w)}},
        "'pde': equation 'b' is already True before anything is solved; look for the same thing on both sides.",
    ),
    "inequality": (
        interval,
        {"pde": w > 0},
        "'pde': w > 0 is an inequality; only equations can be imposed: write Eq(left, right).",
    ),
    "something else": (
        interval,
        {"pde": bar, "odd": "u = 0"},
        "'odd': 'u = 0' is no equation; write Eq(left, right), or a mapping of fields to values.",
    ),
    "nothing on a region": (
        interval,
        {"pde": bar, "odd": phi.on(interval.boundary, {})},
        "'odd': holds no equation; write Eq(left, right), or phi.free(region) if none is meant.",
    ),
    "number as a key": (
        interval,
        {"pde": bar, "odd": phi.on(interval.boundary, {0: 1})},
        "'odd': has the key 0; keys are names of equations, or fields.",
    ),
    "two equations of one label": (
        interval,
        {"pde": [Eq(w, 0), Eq(w, x)]},
        "'pde': has two equations called 'w'; name them apart, as in {'first': ..., 'second': ...}.",
    ),
    "vectors of different length": (
        square,
        {"pde": sympy.Eq(sympy.Tuple(v, v), sympy.Tuple(1, 2, 3), evaluate=False)},
        "'pde': (v, v) = (1, 2, 3) has 2 components on the left and 3 on the right.",
    ),
    "not finite": (
        interval,
        {"pde": Eq(w.diff(x), sympy.zoo * w, evaluate=False)},
        "'pde': w_x = zoo*w holds a number that is not finite.",
    ),
    "unknown function": (
        interval,
        {"pde": Eq(w.diff(x), sympy.Function("f")(w))},
        "'pde': the function f in w_x = f(w) is no field and has no values; make it by phi.field or phi.function.",
    ),
    "miscounted arguments": (
        strip,
        {"pde": heat, "start": start, "odd": Eq(u.func(0), 1)},
        "'odd': u(0) in u(0) = 1 has 1 arguments; u(x, t) takes 2.",
    ),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_fault_names_the_constraint_shows_what_was_written_and_says_the_cure(name):
    domain, constraints, message = EQUATIONS[name]
    assert faults(domain, constraints) == [message]


def test_faults_and_constraints_are_told_by_the_exception():
    with pytest.raises(phi.DeclarationError) as raised:
        phi.Problem(strip, {"pde": heat, "dead": Eq(x, 1)})
    assert [fault.constraint for fault in raised.value.faults] == ["dead", "pde"]
    assert isinstance(raised.value, ValueError)
