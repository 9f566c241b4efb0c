"""The line search: strong Wolfe conditions on hard lines, and what it gives where none can be met."""

import numpy as np
import pytest

from phijax.optimizers.wolfe import EVALUATIONS, Point, strong_wolfe

LINES = {  # (value, slope); the first three of More & Thuente 1994
    "rational": (lambda a: -a / (a**2 + 2), lambda a: (a**2 - 2) / (a**2 + 2) ** 2),
    "power": (lambda a: (a + 0.004) ** 5 - 2 * (a + 0.004) ** 4, lambda a: 5 * (a + 0.004) ** 4 - 8 * (a + 0.004) ** 3),
    "wavy": (
        lambda a: 1 - a + 0.3 * np.sin(8 * a) / 8 + a**2 / 2,
        lambda a: -1 + 0.3 * np.cos(8 * a) + a,
    ),
    "quadratic": (lambda a: (a - 3.0) ** 2, lambda a: 2 * (a - 3.0)),
}


def along(value, slope):
    lengths = []

    def at(length):
        lengths.append(length)
        return Point(length, float(value(length)), float(slope(length)))

    return at, Point(0.0, float(value(0.0)), float(slope(0.0))), lengths


@pytest.mark.parametrize("first", [1e-3, 1e-1, 1.0, 10.0, 1e3])
@pytest.mark.parametrize("line", LINES)
def test_the_conditions_hold_where_it_ends(line, first):
    at, start, lengths = along(*LINES[line])
    point = strong_wolfe(at, start, first)
    assert point.loss <= start.loss + 1e-4 * point.length * start.slope
    assert abs(point.slope) <= 0.9 * abs(start.slope)
    assert len(lengths) <= 16
    assert lengths[0] == first


def test_a_first_length_that_meets_them_is_taken_at_once():
    at, start, lengths = along(*LINES["quadratic"])
    assert strong_wolfe(at, start, 1.0).length == 1.0
    assert lengths == [1.0]


def test_a_bracket_is_cut_at_the_minimum_of_its_cubic():
    """On a quadratic a first step beyond the minimum is followed by one to the minimum itself."""
    at, start, lengths = along(lambda a: (a - 3.0) ** 2, lambda a: 2 * (a - 3.0))
    assert strong_wolfe(at, start, 7.0).length == pytest.approx(3.0)
    assert len(lengths) == 2


def test_a_loss_that_is_not_finite_counts_as_too_long_a_step():
    def value(length):
        return (length - 0.2) ** 2 if length < 0.5 else np.nan

    at, start, _ = along(value, lambda a: 2 * (a - 0.2))
    point = strong_wolfe(at, start, 10.0)
    assert 0 < point.length < 0.5
    assert point.loss < start.loss


def test_where_nothing_is_lower_the_start_is_given_back():
    at, start, lengths = along(lambda a: a**2, lambda a: -1.0 if a == 0 else 2 * a)
    assert strong_wolfe(at, start, 1.0) == start
    assert len(lengths) == EVALUATIONS


def test_where_the_slope_cannot_be_met_the_lowest_point_is_given():
    """A kink: the slope is -1 on one side and 1 on the other, never flat enough."""
    at, start, _ = along(lambda a: abs(a - 1.0), lambda a: -1.0 if a < 1.0 else 1.0)
    point = strong_wolfe(at, start, 5.0)
    assert point.loss < 1e-3
