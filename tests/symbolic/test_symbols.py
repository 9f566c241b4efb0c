"""Coordinates, fields, parameters, normals and observed values as sympy symbols."""

import copy
import pickle

import pytest
import sympy

import phijax as phi
from phijax.symbolic import Normal, Observed, as_expression, fields_in, kind_of

x, y = phi.coordinates("x, y")
t = phi.time()
u = phi.field("u", x, t)


def test_coordinates_are_real_and_of_their_kind():
    Re = phi.coordinate("Re", kind="parameter")
    assert [kind_of(symbol) for symbol in (x, t, Re, sympy.Symbol("z"))] == ["space", "time", "parameter", "space"]
    assert all(symbol.is_real for symbol in (x, t, Re))
    assert sympy.sqrt(x**2) == sympy.Abs(x)


def test_coordinates_are_equal_by_name_and_kind():
    assert phi.coordinate("x") == x
    assert phi.time("x") != x
    assert sympy.Symbol("x", real=True) != x
    assert len({x, phi.coordinate("x"), phi.time("x")}) == 2


def test_coordinates_do_what_sympy_does_with_symbols():
    assert (x * y).kind is sympy.core.kind.NumberKind
    assert sympy.Sum(x * y, (y, 1, 3)).doit() == 6 * x
    assert sympy.Matrix([[x, y]]).kind == sympy.Matrix([[sympy.Symbol("a")]]).kind
    assert sympy.integrate(x * y, (x, 0, y)) == y**3 / 2
    assert sympy.solve(x**2 - 1, x) == [-1, 1]


@pytest.mark.parametrize(
    "symbol",
    [
        x,
        t,
        phi.parameter("k", 2.0, bounds=(1, 3)),
        phi.parameter("p", 0.5, positive=True),
        Normal(x),
        Observed("u", False),
    ],
    ids=str,
)
def test_symbols_survive_copies_and_pickles(symbol):
    for twin in (pickle.loads(pickle.dumps(symbol)), copy.deepcopy(symbol)):
        assert twin == symbol
        assert type(twin) is type(symbol)


@pytest.mark.parametrize("name", ["2x", "x-y", "", None, "x y"])
def test_a_coordinate_needs_a_name_that_can_be_a_column(name):
    with pytest.raises(ValueError, match=r"coordinate name .* is no identifier; use letters, digits and _"):
        phi.coordinate(name)


def test_names_given_together_are_checked_one_by_one():
    with pytest.raises(ValueError, match="coordinate 'x' is named twice in 'x y x'"):
        phi.coordinates("x y x")
    with pytest.raises(ValueError, match="field names must be given in one string"):
        phi.fields("", x)
    assert [f.name for f in phi.fields("ab cd", x)] == ["ab", "cd"]


def test_unknown_kind_is_refused():
    with pytest.raises(
        ValueError, match="coordinate 'x': kind='spaec' is not known; choose 'space', 'time' or 'parameter'"
    ):
        phi.coordinate("x", kind="spaec")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("u",), r"field 'u' has no coordinates; write phi\.field\('u', x\), or phi\.parameter for a constant"),
        (("u", "x"), r"field 'u': 'x' is no coordinate; make one with phi\.coordinate"),
        (("u", x, 2 * y), r"field 'u': 2\*y is no coordinate"),
        (("u", x, x), "field 'u' names a coordinate twice: x, x"),
        (("x", x), "field 'x' has the name of its own coordinate; rename one of them"),
        (("u v", x), "field name 'u v' is no identifier"),
    ],
)
def test_a_field_that_cannot_be_says_why(arguments, message):
    with pytest.raises(ValueError, match=message):
        phi.field(*arguments)


def test_fields_are_real_unless_complex():
    h = phi.field("h", x, complex=True)
    assert sympy.conjugate(u) == u
    assert sympy.conjugate(h) != h
    assert sympy.sqrt(u**2) == sympy.Abs(u)


def test_fields_of_one_name_are_one_only_where_all_else_is_equal():
    assert phi.field("u", x, t) == u
    assert phi.field("u", t, x) != u
    assert phi.field("u", x, t, complex=True) != u
    assert phi.field("u", x, t, on=phi.Interval(x, 0, 1)) != u


def test_a_field_knows_itself_at_other_arguments():
    moved = u.subs(x, -1)
    assert (moved.name, moved.args, moved.declared) == ("u", (-1, t), u)
    assert fields_in(moved.diff(t) * phi.integral(phi.field("w", x), (x, 0, 1))) == {"u": u, "w": phi.field("w", x)}


@pytest.mark.parametrize("stranger", ["x", sympy.Symbol("x"), sympy.Symbol("x", real=True), phi.time("x")], ids=repr)
def test_a_namesake_of_a_coordinate_is_refused_where_sympy_would_give_zero(stranger):
    message = "'x' is not the coordinate 'x' of the field 'u' but another symbol of that name"
    for use in (lambda: u.diff(stranger), lambda: u.diff((stranger, 2)), lambda: (1 + u**2).subs(stranger, 1)):
        with pytest.raises(ValueError, match=message):
            use()


def test_derivatives_and_substitutions_by_coordinates_are_those_of_sympy():
    assert u.diff(x, 2, t) == u.diff(t).diff(x).diff(x)
    assert u.diff((x, 2)) == u.diff(x).diff(x)
    assert u.diff(y) == 0
    assert (2 * u).subs(u, 3) == 6
    assert u.subs({x: 0, t: 1}).args == (0, 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"initial": float("nan")}, "parameter 'k': initial=nan is not finite"),
        ({"initial": -1, "positive": True}, "parameter 'k' is positive but starts at initial=-1.0; start above zero"),
        ({"initial": 5, "bounds": (0, 1)}, r"parameter 'k': initial=5.0 is not inside bounds=\(0.0, 1.0\)"),
        ({"initial": 0.5, "bounds": (0, 1), "positive": True}, "give positive=True or bounds, not both"),
        ({"scale": 0}, "parameter 'k': scale=0.0 must be positive"),
    ],
)
def test_a_parameter_that_contradicts_itself_says_how(settings, message):
    with pytest.raises(ValueError, match=message):
        phi.parameter("k", **settings)


def test_positive_parameters_are_positive_to_sympy():
    k, low, free = phi.parameter("k", positive=True), phi.parameter("l", 0.5, bounds=(0, 1)), phi.parameter("m")
    assert [sympy.sqrt(p**2) == p for p in (k, low, free)] == [True, True, False]


@pytest.mark.parametrize("value", ["x", "1 + 1", None, object(), [1, 2]], ids=["name", "sum", "none", "object", "list"])
def test_what_is_no_number_and_no_expression_is_never_evaluated(value):
    with pytest.raises(TypeError, match="is no number and no sympy expression"):
        as_expression(value)


def test_words_are_refused_by_operators_and_integrals():
    for use in (lambda: phi.laplacian("u"), lambda: phi.integral("u", (x, 0, 1)), lambda: phi.grad("u")):
        with pytest.raises(TypeError, match="is no number and no sympy expression"):
            use()
