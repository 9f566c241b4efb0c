"""Checks of names, of what constraints are given in, and of the domain (contract D2)."""

import re

import pytest
from declared import bar, faults, heat, interval, square, start, strip, t, u, w, x
from sympy import Eq

import phijax as phi

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")


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
