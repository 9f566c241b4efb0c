"""A problem: names, order, immutability, and the mathematics it prints (contracts D1 and D3)."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sympy
from sympy import Eq, pi, sin

import phijax as phi

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
x, y = phi.coordinates("x y")
t = phi.time("t")
u = phi.field("u", x, t)
space = phi.Interval(x, -1, 1)
domain = space * phi.Interval(t, 0, 1)


def burgers(**names):
    return phi.Problem(
        domain,
        {
            "pde": Eq(u.diff(t) + u * u.diff(x), sympy.Rational(1, 100) / pi * u.diff(x, 2)),
            "initial": phi.on(domain.at(t=0), Eq(u, -sin(pi * x))),
            "walls": phi.on(domain.boundary(x), Eq(u, 0), exact=True),
            **names,
        },
        name="burgers",
    )


def test_prints_as_mathematics_one_line_an_equation():
    assert str(burgers()).splitlines() == [
        "burgers on [-1, 1] x [0, 1] in (x, t)",
        "  unknown: u(x, t)",
        "  pde      u*u_x + u_t = u_xx/(100*pi)",
        "  initial  u = -sin(pi*x)    on [-1, 1] x {0} in (x, t)",
        "  walls    u = 0    on {-1, 1} x [0, 1] in (x, t)    (exact)",
    ]


def test_prints_unknowns_of_every_kind():
    h = phi.field("h", x, complex=True)
    k, p, q = phi.parameter("k", 2.0), phi.parameter("p", positive=True), phi.parameter("q", 0.5, bounds=(0, 1))
    problem = phi.Problem(space, {"law": Eq(k * h.diff(x) + p * h, q), "open": phi.free(space.side("left"))})
    lines = str(problem).splitlines()
    assert lines[1] == "  unknown: h(x) (complex), k (from 2), p > 0 (from 1), q in (0.0, 1.0) (from 0.5)"
    assert lines[3] == "  open  no condition    on {-1} in x"


def test_prints_fields_elsewhere_integrals_and_systems():
    v = phi.field("v", x, t)
    system = {"a": Eq(u.subs(x, -1), v.diff(x).subs(x, 1)), "b": Eq(phi.integral(u, (x, -1, x)), v.diff(x, t))}
    problem = phi.Problem(domain, {"pair": system, "open": phi.free(domain.at(t=0))})
    assert [line.split("  ")[-1].strip() for line in str(problem).splitlines()[2:4]] == [
        "u(-1, t) = v_x(1, t)",
        "integral(u(x_, t), (x_, -1, x)) = v_tx",
    ]


def test_prints_as_latex_in_notebooks():
    text = burgers()._repr_latex_()
    assert text.startswith(r"$\begin{aligned} \text{pde:}\quad & ")
    assert text.endswith(r"\end{aligned}$")
    assert r"\frac{\partial}{\partial t} u{\left(x,t \right)}" in text
    assert r"\text{initial:}\quad & u{\left(x,t \right)} = - \sin{\left(\pi x \right)}" in text
    assert r"\text{ on } \left(x, t\right) \in \left\{-1, 1\right\}" in text or r"\{-1, 1\} \times [0, 1]" in text
    assert text.count(r"\\") >= 2


def test_latex_of_an_integral_over_a_region_and_over_limits():
    rho = phi.field("rho", x, t)
    over = phi.integral(rho, over=space)
    limits = phi.integral(rho, (x, -1, 1))
    assert sympy.latex(over) == r"\int_{x \in [-1, 1]} \rho{\left(x,t \right)}\, dx"
    assert sympy.latex(limits) == r"\int_{-1}^{1} \rho{\left(x,t \right)}\, dx"


def test_terms_are_named_by_constraint_and_label():
    v, w = phi.fields("v w", x, y)
    square = phi.Rectangle((x, 0, 1), (y, 0, 1))
    problem = phi.Problem(
        square,
        {
            "one": Eq(v, 1),
            "system": {"mass": phi.div((v, w)), "spin": phi.curl((v, w))},
            "list": [Eq(v, 0), Eq(v.diff(x), w)],
            "vector": Eq(sympy.Matrix([v, w.diff(x)]), sympy.Matrix([x, y])),
            "values": phi.on(square.boundary, {v: 0, w: x}),
            "single": phi.on(square.boundary, {v: 0}),
            "labelled": {"flux": phi.grad(v)},
            "tuple": sympy.Tuple(Eq(v, 0), Eq(v.diff(x), w)),
            "product": Eq(sympy.MatMul(2 * sympy.eye(2), phi.grad(v)), sympy.Matrix([x, y])),
        },
    )
    assert {name: c.term_names for name, c in problem.constraints.items()} == {
        "one": ("one",),
        "system": ("system/mass", "system/spin"),
        "list": ("list/v", "list/2"),
        "vector": ("vector/v", "vector/2"),
        "values": ("values/v", "values/w"),
        "single": ("single",),
        "labelled": ("labelled/flux_1", "labelled/flux_2"),
        "tuple": ("tuple/v", "tuple/2"),
        "product": ("product/1", "product/2"),
    }


def test_constraints_keep_the_order_in_which_they_are_written():
    assert list(burgers().constraints) == ["pde", "initial", "walls"]
    pairs = [("b", Eq(u, 1)), ("a", Eq(u, 2))]
    assert list(phi.Problem(domain, pairs).constraints) == ["b", "a"]
    assert list(burgers().add("last", Eq(u.subs(x, 0), 0)).constraints) == ["pde", "initial", "walls", "last"]


def test_exact_and_free_constraints_are_not_trained():
    assert list(burgers(open=phi.free(domain.at(t=1))).trained) == ["pde", "initial"]


def test_a_problem_cannot_be_changed():
    problem = burgers()
    with pytest.raises(
        AttributeError, match=r"a Problem cannot be changed; 'domain' is set when it is made, or by problem"
    ):
        problem.domain = space
    with pytest.raises(TypeError, match="does not support item assignment"):
        problem.constraints["more"] = problem.constraints["pde"]


def everything():
    """A problem with every kind of part that holds numbers or names."""
    a, v = phi.parameter("a", 2.0), phi.field("v", x, t)
    law = phi.function("k", {"u": [0.0, 1.0, 2.0], "k": [1.0, 2.0, 4.0]})
    return phi.Problem(
        domain,
        {
            "pde": Eq(u.diff(t), a * law(u) * u.diff(x, 2)),
            "flux": Eq(v, phi.integral(u, over=space)),
            "initial": phi.on(domain.at(t=0), Eq(u, sin(x))),
            "walls": phi.on(domain.boundary(where=t < x), Eq(phi.normal_derivative(u), 0)),
            "seen": phi.data({"x": [0.5, 0.6], "t": [0.5, 0.7], "u": [1.0, 2.0]}),
        },
        reference={u: sin(x), "a": 2.0},
    )


def test_no_part_of_a_problem_can_be_changed():
    """Neither set nor deleted, whether it was asked for before or not."""
    problem = everything()
    seen = problem.constraints["seen"]
    (law,) = problem.constraints["pde"].terms[0].residual.atoms(phi.symbolic.Known)
    mappings = [problem.fields, problem.parameters, problem.constraints, seen.columns, seen.region.columns]
    for mapping in [*mappings, problem.reference.values, law.func.source.axes]:
        (name, *_) = mapping
        with pytest.raises(TypeError, match="does not support item assignment"):
            mapping[name] = None
        with pytest.raises(TypeError, match="does not support item deletion"):
            del mapping[name]
        for change in ("clear", "pop", "popitem", "setdefault", "update"):
            assert not hasattr(mapping, change)
    for array in (seen.columns["u"].values, seen.region.columns[x], law.func.source.values, law.func.source.axes["u"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7.0
    for name in ("name", "domain", "constraints", "fields", "fingerprint", "never_there"):
        with pytest.raises(AttributeError, match=f"a Problem cannot be changed; '{name}' is "):
            delattr(problem, name)
    with pytest.raises(AttributeError, match="read-only"):
        problem.fields._entries = {}
    assert list(problem.fields) == ["u", "v"]
    assert problem == everything()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda problem: pickle.loads(pickle.dumps(problem))])
@pytest.mark.parametrize("used", [False, True])
def test_copies_and_pickles_of_a_problem_are_problems_that_cannot_be_changed(copied, used):
    problem = everything()
    if used:
        assert len(problem.fields) + len(problem.parameters) == 3  # what is kept travels with it
    found = copied(problem)
    assert found == problem
    assert found.fingerprint == problem.fingerprint
    assert str(found) == str(problem)
    assert (found.fields, found.parameters, found.constraints) == (
        problem.fields,
        problem.parameters,
        problem.constraints,
    )
    assert found.reference == problem.reference
    with pytest.raises(AttributeError, match="a Problem cannot be changed"):
        found.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        found.constraints["seen"].columns["u"].values[0] = 7.0
    with pytest.raises(ValueError, match="read-only"):
        found.constraints["seen"].region.columns[x][0] = 7.0
    assert len(found.add("last", Eq(u.subs(x, 0), 0)).constraints) == 6


def test_a_pickled_problem_is_the_same_in_another_process(tmp_path):
    """Fields and known functions are classes of their own, which the other process has not made."""
    problem = everything()
    (tmp_path / "problem").write_bytes(pickle.dumps(problem))
    program = "import pickle, sys; found = pickle.load(sys.stdin.buffer); print(found.fingerprint); print(found)"
    with (tmp_path / "problem").open("rb") as file:
        done = subprocess.run([sys.executable, "-c", program], stdin=file, capture_output=True, text=True)
    assert done.stdout == f"{problem.fingerprint}\n{problem}\n", done.stderr


def test_add_gives_a_new_problem_and_leaves_the_old_one():
    problem = burgers()
    larger = problem.add("middle", phi.on(domain.at(x=0), Eq(u, 0)))
    assert len(problem.constraints) == 3
    assert len(larger.constraints) == 4
    assert larger.name == "burgers"


def test_add_keeps_the_reference():
    problem = phi.Problem(domain, {"pde": Eq(u, x)}, reference={u: x})
    assert problem.add("middle", Eq(u.subs(x, 0), 0)).reference == phi.Reference({"u": x})


def test_later_changes_of_what_was_given_change_nothing():
    system, observed = {"a": Eq(u, 1)}, {"x": np.array([0.5]), "t": np.array([0.5]), "u": np.array([1.0])}
    given = {
        "system": system,
        "seen": phi.data(observed),
        "at": phi.on(phi.PointCloud({x: [0.0], t: [0.0]}), {u: [1.0]}),
    }
    problem = phi.Problem(domain, given)
    before = str(problem), problem.fingerprint
    system["b"] = Eq(u, 2)
    observed["u"][0] = 7.0
    given["more"] = Eq(u, 3)
    assert problem.constraints["seen"].columns["u"].values[0] == 1.0
    assert problem.add("last", Eq(u.diff(x), 0)).constraints["system"].term_names == ("system/a",)
    assert problem.add("last", Eq(u.diff(x), 0)).constraints["seen"].columns["u"].values[0] == 1.0
    assert (str(problem), problem.fingerprint) == before


def test_fields_and_parameters_by_name_in_order_of_first_use():
    v, lam, mu = phi.field("v", x), phi.parameter("lam"), phi.parameter("mu")
    problem = phi.Problem(domain, {"a": Eq(mu * v.diff(x), lam), "b": Eq(u, v)})
    assert list(problem.fields) == ["v", "u"]
    assert set(problem.parameters) == {"lam", "mu"}


def test_fields_of_a_subset_of_the_coordinates_and_of_other_points_are_found():
    k = phi.field("k", x)
    problem = phi.Problem(domain, {"a": Eq(k.subs(x, 0) * u.diff(x).subs(x, 1), phi.integral(k, (x, 0, 1)))})
    assert problem.fields == {"k": k, "u": u}


def test_observed_columns_of_shape_n_and_n_by_one_are_one_residual_of_n_rows():
    xs = np.linspace(0, 1, 20)
    f = phi.field("f", x)
    for values in (np.sin(2 * pi_ * xs), np.sin(2 * pi_ * xs)[:, None], list(np.sin(2 * pi_ * xs))):
        problem = phi.Problem(space, {"seen": phi.data({x: xs, f: values})})
        assert problem.constraints["seen"].columns["f"].values.shape == (20,)
        assert problem.constraints["seen"].region.count == 20


pi_ = np.pi
TABLES = {
    "table": (
        {"x": [0.1, 0.2], "t": [0, 0], "u": np.ones((2, 2))},
        r"column 'u' has shape \(2, 2\); one number a row is",
    ),
    "lengths": ({"x": [0.1, 0.2], "t": [0, 0], "u": [1.0]}, r"its columns have different lengths \(x: 2, t: 2, u: 1\)"),
    "words": ({"x": ["a"], "t": [0], "u": [1.0]}, "column 'x' holds <U1, not numbers"),
    "nan": ({"x": [0.1, 0.2], "t": [0, 0], "u": [1.0, np.nan]}, "column 'u' is not finite in row 1"),
    "masked": (
        {"x": [0.1, 0.2], "t": [0, 0], "u": np.ma.array([1.0, 2.0], mask=[False, True])},
        "column 'u' is masked in row 1; leave out the rows without a value",
    ),
    "no row": ({"x": [], "t": [], "u": []}, "its table has no row"),
    "no field": ({"x": [0.1], "t": [0.0]}, "no column is a field, so nothing is observed; known fields: u"),
    "unknown": (
        {"x": [0.1], "t": [0], "uu": [1.0]},
        "column 'uu' is neither a coordinate nor a field of an equation; did",
    ),
    "coordinate missing": ({"x": [0.1], "u": [1.0]}, "'u' depends on 't', which is no column of the table"),
    "complex": ({"x": [0.1], "t": [0], "u": [1j]}, "'u' is real and its values are complex"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_cannot_be_read_says_why(name):
    table, message = TABLES[name]
    with pytest.raises(phi.DeclarationError, match=f"'seen': {message}"):
        burgers(seen=phi.data(table))


def test_a_table_without_columns_is_refused():
    with pytest.raises(TypeError, match=r"phi\.data needs named columns"):
        phi.data([1.0, 2.0])


def test_tables_from_files_and_frames(tmp_path):
    import pandas

    columns = {"x": [0.1, 0.2], "t": [0.0, 0.5], "u": [1.0, 2.0]}
    np.savez(tmp_path / "seen.npz", **{name: np.array(column) for name, column in columns.items()})
    pandas.DataFrame(columns).to_csv(tmp_path / "seen.csv", index=False)
    for table in (columns, pandas.DataFrame(columns), tmp_path / "seen.npz", str(tmp_path / "seen.csv")):
        seen = burgers(seen=phi.data(table)).constraints["seen"]
        assert seen.columns["u"].values.tolist() == [1.0, 2.0]
        assert {s.name: column.tolist() for s, column in seen.region.columns.items()} == {
            "x": [0.1, 0.2],
            "t": [0, 0.5],
        }


@pytest.mark.parametrize("kind", ["uint8", "int16", "int64", "bool", "float16"])
def test_whole_numbers_are_observed_as_real_ones(kind):
    """An unsigned one would wrap round when it is subtracted, and one of 64 bits when float32 meets it."""
    values = np.array([1, 0] if kind == "bool" else [200, 100]).astype(kind)
    tables = [{x: [0.1, 0.2], t: [0, 0.5], u: values}]
    problems = [burgers(seen=phi.data(table)) for table in tables]
    problems.append(burgers(seen=phi.on(phi.PointCloud({x: [0.1, 0.2], t: [0, 0.5]}), {u: values})))
    for problem in problems:
        seen = problem.constraints["seen"].columns["u"].values
        assert seen.dtype == np.float64
        assert seen.tolist() == values.astype(float).tolist()


def test_structured_arrays_are_tables():
    rows = np.array([(0.1, 0.0, 1.0), (0.2, 0.5, 2.0)], dtype=[("x", float), ("t", float), ("u", float)])
    seen = burgers(seen=phi.data(rows)).constraints["seen"]
    assert seen.columns["u"].values.tolist() == [1.0, 2.0]
