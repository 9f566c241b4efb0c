"""Conditions at the start: as many as the order in time, unless something else is meant (contract D2)."""

import pytest
import sympy
from declared import faults, heat, interval, start, strip, t, times, u, x
from sympy import Eq

import phijax as phi

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")


ORDERS = {
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
}


@pytest.mark.parametrize("name", ORDERS)
def test_a_missing_start_is_told_with_its_order_and_field(name):
    domain, constraints, message = ORDERS[name]
    assert faults(domain, constraints) == [message]


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
