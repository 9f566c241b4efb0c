"""Every check of a declaration, by the text that the user reads (contract D2)."""

import re

import numpy as np
import pytest
import sympy
from sympy import Eq

import phijax as phi

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
x, y = phi.coordinates("x y")
t, Re = phi.time("t"), phi.coordinate("Re", kind="parameter")
u, w, v = phi.field("u", x, t), phi.field("w", x), phi.field("v", x, y)
interval, times = phi.Interval(x, 0, 1), phi.Interval(t, 0, 1)
strip, square = interval * times, phi.Rectangle((x, 0, 1), (y, 0, 1))
heat, bar, poisson = Eq(u.diff(t), u.diff(x, 2)), Eq(w.diff(x, 2), 1), Eq(phi.laplacian(v), 1)
start = phi.on(strip.at(t=0), Eq(u, 0))


def faults(domain, constraints):
    """Texts of all faults of a declaration; none where there is none."""
    try:
        phi.Problem(domain, constraints)
    except phi.DeclarationError as error:
        return [str(fault) for fault in error.faults]
    return []


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


CASES = {
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
    "region over a coordinate that the domain lacks": (
        interval,
        {"pde": bar, "start": phi.on(times, Eq(w, 1))},
        "'start': its region [0, 1] in t has the coordinate 't', which the domain lacks; known: x.",
    ),
    "region outside the domain": (
        interval,
        {"pde": bar, "far": phi.on(phi.Point({x: 3}), Eq(w, 1))},
        "'far': its region reaches outside the domain: x runs over [3, 3], and the domain over [0, 1].",
    ),
    "region below the domain": (
        interval,
        {"pde": bar, "far": phi.on(phi.Point({x: -3}), Eq(w, 1))},
        "'far': its region reaches outside the domain: x runs over [-3, -3], and the domain over [0, 1].",
    ),
    "no region": (
        interval,
        {"pde": bar, "wall": phi.on("left", Eq(w, 1))},
        "'wall': 'left' is no region; use one such as domain.boundary or domain.at(t=0).",
    ),
    "time as a side": (
        strip,
        {"pde": heat, "start": phi.on(strip.side("bottom"), Eq(u, 0)), "go": start},
        "'start': side('bottom') of [0, 1] x [0, 1] in (x, t): there is no such side; it has left, right, x-, x+.",
    ),
    "name without a coordinate": (
        strip,
        {"pde": heat, "start": start, "wall": phi.on(strip.at(z=0), Eq(u, 0))},
        "'wall': at(z=0) on [0, 1] x [0, 1] in (x, t): there is no coordinate 'z'; it has x, t.",
    ),
    "normal derivative in the domain": (
        square,
        {"pde": Eq(phi.normal_derivative(v), 0)},
        "'pde': the normal derivative in n_x*v_x + n_y*v_y = 0 has no meaning on [0, 1] x [0, 1] in (x, y), which has no "
        "outward normal; use a boundary, as in phi.on(domain.boundary, ...).",
    ),
    "normal derivative on a slice": (
        square,
        {"pde": poisson, "cut": phi.on(square.at(x=0.5), Eq(phi.normal_derivative(v), 0))},
        "'cut': the normal derivative in n_x*v_x + n_y*v_y = 0 has no meaning on {0.5} x [0, 1] in (x, y), which has no "
        "outward normal; use a boundary, as in phi.on(domain.boundary, ...).",
    ),
    "normal along a coordinate that the region lacks": (
        square,
        {"pde": poisson, "wall": phi.on(square.boundary, Eq(phi.normal(t) * v, 1))},
        "'wall': the normal's component by 't' in n_t*v = 1 does not exist there.",
    ),
    "normal along time": (
        strip,
        {"pde": heat, "start": start, "wall": phi.on(strip.boundary, Eq(phi.normal(t) * u.diff(t), 1))},
        "'wall': the normal's component by 't' in n_t*u_t = 1 does not exist: 't' is of kind time, and walls are crossed in "
        "space alone; write the derivative itself, as in u.diff(t), or a condition on domain.at(t=...).",
    ),
    "normal derivative over space and time": (
        strip,
        {"pde": heat, "start": start, "wall": phi.on(strip.side("left"), Eq(phi.normal_derivative(u, over=(x, t)), 0))},
        "'wall': the normal's component by 't' in n_t*u_t + n_x*u_x = 0 does not exist: 't' is of kind time, and walls are "
        "crossed in space alone; write the derivative itself, as in u.diff(t), or a condition on domain.at(t=...).",
    ),
    "normal along a parameter": (
        interval * phi.Interval(Re, 1, 2),
        {"pde": bar, "wall": phi.on(interval.boundary, Eq(phi.normal(Re) * w, 1))},
        "'wall': the normal's component by 'Re' in n_Re*w = 1 does not exist: 'Re' is of kind parameter, and walls are "
        "crossed in space alone; write the derivative itself, as in u.diff(Re), or a condition on domain.at(Re=...).",
    ),
    "normal along time in an integral": (
        strip,
        {"flux": Eq(phi.integral(phi.normal(t) * u, over=strip.boundary), 1)},
        "'flux': the normal's component by 't' in integral(n_t*u, {0, 1} x [0, 1] in (x, t)) = 1 does not exist: 't' is of "
        "kind time, and walls are crossed in space alone; write the derivative itself, as in u.diff(t), or a condition on "
        "domain.at(t=...).",
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
    "first order in time without a start": (
        strip,
        {"pde": heat},
        "'pde': is of order 1 in t for 'u', which has 0 of 1 initial conditions; add one on domain.at(t=...), or "
        "phi.free(domain.at(t=...)) if none is meant.",
    ),
    "second order in time with one start": (
        strip,
        {"pde": Eq(u.diff(t, 2), u.diff(x, 2)), "start": start},
        "'pde': is of order 2 in t for 'u', which has 1 of 2 initial conditions; add one on domain.at(t=...), or "
        "phi.free(domain.at(t=...)) if none is meant.",
    ),
    "unevaluated derivative by time": (
        strip,
        {"pde": Eq(sympy.Derivative(u**2, t), 0)},
        "'pde': is of order 1 in t for 'u', which has 0 of 1 initial conditions; add one on domain.at(t=...), or "
        "phi.free(domain.at(t=...)) if none is meant.",
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
    "field of a part that is none": (
        square,
        {"pde": poisson, "odd": Eq(phi.field("f", x, y, on=square.side("up")), 1)},
        "'odd': the field f(x, y) lives on side('up') of [0, 1] x [0, 1] in (x, y): there is no such side; it has left, "
        "right, bottom, top, x-, x+, y-, y+.",
    ),
    "part of a disk's coordinates": (
        phi.Disk((x, y)),
        {"pde": poisson, "cut": phi.on(interval, Eq(v, 1))},
        "'cut': its region [0, 1] in x fixes a part of {x^2 + y^2 < 1} in (x, y) alone; give 'y' as well.",
    ),
    "integral over a region that is none": (
        square,
        {"mass": Eq(phi.integral(v, over=square.side("up")), 1)},
        "'mass': the integral in integral(v, nothing in (x, y)) = 1 is over side('up') of [0, 1] x [0, 1] in (x, y): there "
        "is no such side; it has left, right, bottom, top, x-, x+, y-, y+.",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_fault_names_the_constraint_shows_what_was_written_and_says_the_cure(name):
    domain, constraints, message = CASES[name]
    assert faults(domain, constraints) == [message]


def test_normals_that_are_given_along_time_are_kept():
    """Those of a front that moves are of space and time, and come with its points."""
    front = phi.PointCloud({x: [0.2, 0.4], t: [0.1, 0.2]}, normals={x: [0.6, 0.8], t: [0.8, 0.6]})
    moving = phi.on(front, Eq(phi.normal(x) * u.diff(x) + phi.normal(t) * u.diff(t), 0))
    assert faults(strip, {"pde": heat, "start": start, "front": moving}) == []


def test_an_empty_selection_is_told_once():
    (found,) = faults(square, {"pde": poisson, "wall": phi.on(square.boundary(where=x > 3), Eq(v, 1))})
    assert found.startswith("'wall': boundary(where=x > 3) of {0, 1} x [0, 1] + [0, 1] x {0, 1} in (x, y): nothing is ")
    (found,) = faults(
        square, {"pde": poisson, "wall": phi.on(square.boundary(where=sympy.sin(x + 2 * y) > 2), Eq(v, 1))}
    )
    assert found.startswith("'wall': ")


NAMES = {
    "fields of two kinds": (
        {"pde": heat, "start": start, "other": Eq(phi.field("u", x, t, complex=True), 0)},
        "'u' names two different fields; make each once and use that one everywhere, or rename one.",
    ),
    "a field and a coordinate": (
        {"pde": heat, "start": start, "other": Eq(phi.field("t", x), 0)},
        "'t' names a coordinate and a field; make each once and use that one everywhere, or rename one.",
    ),
    "a field and a parameter": (
        {"pde": Eq(heat.lhs, phi.parameter("u") * u.diff(x, 2)), "start": start},
        "'u' names a field and a parameter; make each once and use that one everywhere, or rename one.",
    ),
    "two parameters": (
        {"pde": Eq(heat.lhs, phi.parameter("k") * u), "start": start, "end": Eq(u, phi.parameter("k", 2.0))},
        "'k' names two different parameters; make each once and use that one everywhere, or rename one.",
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_one_name_for_two_things_is_refused(name):
    constraints, message = NAMES[name]
    assert faults(strip, constraints) == [message]


def test_a_constraint_declared_twice_is_refused_in_pairs_and_by_add():
    pairs = [("pde", bar), ("wall", Eq(w, 0)), ("wall", Eq(w, 1))]
    message = "'wall': is declared twice; give the second constraint a name of its own."
    assert faults(interval, pairs) == [message]
    with pytest.raises(phi.DeclarationError, match=re.escape(message)):
        phi.Problem(interval, pairs[:2]).add("wall", Eq(w, 1))


@pytest.mark.parametrize("name", ["", "a/b", 3, None])
def test_names_that_cannot_name_a_constraint_are_refused(name):
    message = f"{str(name)!r}: {name!r} cannot name a constraint; use a non-empty string without '/'."
    assert faults(interval, [(name, bar)]) == [message]


@pytest.mark.parametrize("constraints", [None, bar, "pde"])
def test_what_holds_no_constraints_is_refused(constraints):
    assert faults(interval, constraints) == [f"{constraints!r} is no mapping of names to constraints."]


def test_what_is_no_pair_is_refused_beside_other_faults():
    found = faults(interval, [("pde", bar, 3), ("dead", Eq(x, 1)), "ab"])
    assert [text.split(" is no constraint")[-1] for text in found[:2]] == [
        "; give (name, constraint) pairs, or a mapping."
    ] * 2
    assert "'dead': x = 1 holds no unknown" in found[2]


def test_what_is_no_domain_is_refused():
    assert faults(3, {}) == ["the domain 3 is no region; begin with phi.Interval(x, a, b)."]
    assert faults(square.side("up"), {"pde": bar})[0].startswith("the domain: side('up') of [0, 1] x [0, 1] in (x, y):")


def test_a_region_that_could_not_be_resolved_brings_no_other_fault():
    for equation in (Eq(phi.normal_derivative(v), 0), {v: lambda x: x}, {v: [1.0, 2.0]}, Eq(v, x + y)):
        found = faults(square, {"pde": poisson, "wall": phi.on(square.side("lft"), equation)})
        assert len(found) == 1
        assert "side('lft') of [0, 1] x [0, 1] in (x, y): there is no such side; did you mean 'left'?" in found[0]


def test_a_field_of_a_part_is_refused_beyond_its_part():
    part = phi.Interval(x, 0, sympy.Rational(1, 2))
    f = phi.field("f", x, on=part)
    message = (
        "'pde': the field f(x) in f_xx = 0 lives on [0, 1/2] in x, and the equation holds on [0, 1] in x; write "
        "phi.on(...) with a region inside."
    )
    assert faults(interval, {"pde": Eq(f.diff(x, 2), 0)}) == [message]
    inside = {"pde": phi.on(part, Eq(f.diff(x, 2), 0)), "mass": Eq(phi.integral(f, over=part) + f.subs(x, 0.25), 1)}
    assert faults(interval, inside) == []


@pytest.mark.parametrize(
    "start_or_data",
    [
        phi.on(strip.at(t=0), Eq(u, 0)),
        phi.on(strip.at(t=1), Eq(u, 0)),
        phi.free(strip.at(t=0)),
        phi.data({"x": [0.5], "t": [0.5], "u": [1.0]}),
        Eq(u.subs(t, 0), 0),
        phi.periodic(u, t),
    ],
    ids=["start", "end", "free", "data", "equation at one time", "periodic"],
)
def test_what_counts_as_an_initial_condition(start_or_data):
    assert faults(strip, {"pde": heat, "start": start_or_data}) == []


other = phi.field("q", x, t)


@pytest.mark.parametrize(
    "something",
    [
        phi.free(strip.side("left")),
        phi.data({x: [0.5], t: [0.5], other: [1.0]}),
        Eq(other.subs(t, 0), 0),
        phi.on(strip.at(t=0), Eq(other, 0)),
    ],
    ids=["free side", "data of another field", "another field at one time", "start of another field"],
)
def test_what_does_not_count_as_an_initial_condition(something):
    (found,) = faults(strip, {"pde": heat, "start": something})
    assert found.startswith("'pde': is of order 1 in t for 'u', which has 0 of 1 initial conditions")


def test_the_highest_order_in_time_counts_whatever_comes_after():
    wave = {"wave": Eq(u.diff(t, 2), u.diff(x, 2)), "damping": Eq(u.diff(t), -u), "start": start}
    (found,) = faults(strip, wave)
    assert found.startswith("'wave': is of order 2 in t for 'u', which has 1 of 2 initial conditions")


def test_time_that_is_periodic_needs_no_start():
    assert faults(interval * phi.Interval(t, 0, 1, periodic=True), {"pde": heat}) == []


def test_a_memory_of_all_earlier_times_is_no_initial_condition():
    memory = Eq(u.diff(t), -phi.integral(u, (t, 0, t)) + u.subs(t, t / 2))
    (found,) = faults(strip, {"pde": memory})
    assert found.startswith("'pde': is of order 1 in t for 'u', which has 0 of 1 initial conditions")
    assert faults(strip, {"pde": memory, "start": Eq(u.diff(x).subs(t, 0), 0)}) == []


def test_order_in_time_is_counted_for_each_field():
    a, b = phi.fields("a b", t)
    system = {"a": Eq(a.diff(t), b), "b": Eq(b.diff(t, 2), -a)}
    found = faults(times, {"ode": system, "start": phi.on(times.at(t=0), {"a": Eq(a, 1), "b": Eq(b, 0)})})
    assert [text.split(" initial")[0] for text in found] == ["'ode': is of order 2 in t for 'b', which has 1 of 2"]


def test_faults_and_constraints_are_told_by_the_exception():
    with pytest.raises(phi.DeclarationError) as raised:
        phi.Problem(strip, {"pde": heat, "dead": Eq(x, 1)})
    assert [fault.constraint for fault in raised.value.faults] == ["dead", "pde"]
    assert isinstance(raised.value, ValueError)


# ---- values of fields ------------------------------------------------------------------------------------------------


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


# ---- periodic pairs --------------------------------------------------------------------------------------------------

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
