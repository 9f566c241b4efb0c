"""The built-in problems: found by name, solved by their own references, lowered as sympy reads them."""

import json

import jax
import numpy as np
import pytest
import sympy

from phijax import problems
from phijax._precision import precision_scope
from phijax.bench.problem_rules import reference_left
from phijax.bench.substitution import constraint_points
from phijax.cli.source import find
from phijax.formulation.manufactured import substitute
from phijax.formulation.serialization import from_json, to_json
from phijax.lowering import ExactLayout, constraint_expressions
from phijax.symbolic import Observed, OverRegion, Quadrature, normal

BUILT_IN = [
    "allen_cahn",
    "beltrami",
    "biharmonic",
    "burgers",
    "burgers_inverse",
    "cavity",
    "convection",
    "diffusion_inverse",
    "fokker_planck",
    "ginzburg_landau",
    "gray_scott",
    "heat_1d",
    "heat_4d",
    "heat_fin",
    "heat_multiscale",
    "heat_parametric",
    "helmholtz",
    "kdv",
    "kovasznay",
    "kuramoto_sivashinsky",
    "lorenz_inverse",
    "lotka_volterra",
    "poisson_100d",
    "poisson_10d",
    "poisson_1d",
    "poisson_2d",
    "poisson_5d",
    "poisson_disks",
    "poisson_inverse",
    "poisson_lshape",
    "poisson_mesh",
    "poisson_multiscale",
    "reaction",
    "reaction_diffusion",
    "rod_interface",
    "schrodinger",
    "stokes_cylinder",
    "van_der_pol",
    "volterra",
    "wave_1d",
]
VARIANTS = [
    ("allen_cahn", {"variant": "smooth"}),
    ("burgers", {"nu": 0.01}),
    ("burgers_inverse", {"noise": 0.01}),
    ("cavity", {"Re": 1000}),
    ("cavity", {"Re": 3200}),
    ("convection", {"beta": 100}),
    ("helmholtz", {"a": [2, 3], "k": 2.5}),
    ("kovasznay", {"Re": 20.0}),
    ("lotka_volterra", {"t_end": 4.0}),
    ("poisson_1d", {"k": 8}),
    ("poisson_2d", {"f": 4}),
    ("poisson_inverse", {"noise": 0.01}),
    ("poisson_multiscale", {"w": [1, 3]}),
    ("reaction", {"rho": 2.5}),
    ("reaction_diffusion", {"nu": 0.01}),
    ("rod_interface", {"k1": 0.5, "k2": 3}),
    ("van_der_pol", {"mu": 1.0, "t_end": 4.0}),
]
HUGE = {"poisson_100d"}  # whose symbols alone take sympy half a minute
NAMES = [pytest.param(name, marks=pytest.mark.slow) if name in HUGE else name for name in BUILT_IN]
CASES = [*((name, {}) for name in BUILT_IN if name not in HUGE), *VARIANTS]
CASES += [pytest.param(name, {}, marks=pytest.mark.slow) for name in HUGE]
LARGE = {*HUGE, "beltrami", "biharmonic", "heat_4d", "poisson_5d", "poisson_multiscale"}  # take long to compile


def columns_of(points, domain):
    """{coordinate or component of the normal: values}."""
    columns = {
        symbol: points.coordinates[symbol.name] for symbol in domain.coordinates if symbol.name in points.coordinates
    }
    return columns | {
        normal(symbol): points.normals[symbol.name] for symbol in columns if symbol.name in (points.normals or {})
    }


def written_out(expression):
    """Integrals as sympy's own, done."""
    quadratures = expression.atoms(Quadrature)
    for node in quadratures:
        integrand, where, _ = node.args
        if isinstance(where, OverRegion):
            (symbol,) = where.region.coordinates
            where = (symbol, *map(sympy.nsimplify, where.region.bounds[symbol]))
        expression = expression.xreplace({node: sympy.Integral(integrand, where).doit()})
    return expression


def numbers(expression, columns, points):
    """The expression at points, with observed columns in place."""
    nodes = {node: points.values[node.column] for node in expression.atoms(Observed)}
    names = {node: sympy.Dummy() for node in nodes}
    written = written_out(expression.xreplace(names))
    function = sympy.lambdify([*columns, *names.values()], written, modules=["numpy", "scipy"])
    return np.broadcast_to(function(*columns.values(), *nodes.values()), (points.size,))


def test_the_catalogue_lists_the_files_in_order():
    assert set(BUILT_IN) <= set(problems.names())
    assert problems.names() == sorted(problems.names())
    assert not any(name.startswith(("_", "make")) or name == "references" for name in problems.names())


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(KeyError, match="No built-in problem is called 'burger'; did you mean 'burgers'"):
        problems.get("burger")


@pytest.mark.parametrize("name", NAMES)
def test_each_problem_says_its_target_and_where_its_reference_comes_from(name):
    module = problems.get(name)
    problem = module.problem()
    targets = module.INFO.target
    assert all(0 < target <= 5e-2 for target in (targets.values() if isinstance(targets, dict) else [targets]))
    assert module.__doc__
    assert problem.reference.source
    assert 0 <= problem.reference.error < 1e-5


@pytest.mark.parametrize(("name", "constants"), CASES, ids=str)
def test_the_reference_makes_every_compiled_term_vanish(name, constants):
    constants = {**find(name).constants, **constants}
    left = reference_left(problems.get(name).problem(**constants), constants)
    assert {term.term: term.value for term in left if not term.value <= term.limit} == {}
    assert max(term.limit for term in left) <= max(1e-4, 1.5 * constants.get("noise", 0.0))


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in BUILT_IN])
def test_lowered_residuals_equal_those_of_sympy(name):
    problem = problems.get(name).problem()
    exact = {}
    for index, (key, field) in enumerate(problem.fields.items()):
        phase = sum((0.7 + 0.3 * i) * c for i, c in enumerate(field.coordinates)) + index
        exact[key] = sympy.sin(phase) * sympy.exp(-sum(field.coordinates) / 10)
        if field.func.is_complex_field:
            exact[key] += sympy.I * sympy.cos(phase) / 2
    constraints = list(problem.trained.values())
    points = [constraint_points(constraint, count=5) for constraint in constraints]
    with precision_scope("float64"):
        layout = ExactLayout(problem, exact)
        lowered = [constraint_expressions(layout, constraint) for constraint in constraints]
        batches = jax.tree.map(jax.numpy.asarray, points)
        model = layout.model()

        def all_terms(batches):
            pairs = zip(lowered, batches, strict=True)
            return [jax.vmap(lambda row, terms=terms: terms.pointwise(model, row))(batch) for terms, batch in pairs]

        found = [{key: np.asarray(value) for key, value in terms.items()} for terms in jax.jit(all_terms)(batches)]
    fields = {field: exact[key] for key, field in problem.fields.items()}
    parameters = {symbol: symbol.initial for symbol in problem.parameters.values()}
    for constraint, at, values in zip(constraints, points, found, strict=True):
        columns = columns_of(at, problem.domain)
        for term in constraint.terms:
            expected = numbers(substitute(term.residual, fields).subs(parameters), columns, at)
            label = term.label
            if np.iscomplexobj(expected):
                real, imaginary = (values[f"{label}_{part}" if label else part] for part in ("real", "imag"))
                got = real + 1j * imaginary
            else:
                got = values[label]
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max() + 1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_each_problem_is_read_back_from_what_is_written(name):
    problem = problems.get(name).problem()
    again = from_json(json.loads(json.dumps(to_json(problem))))
    assert again == problem
    field = next(iter(problem.fields.values()))
    at = {symbol.name: np.array([0.3, 0.7]) for symbol in field.coordinates}
    names = {field.name: field.coordinates}
    np.testing.assert_array_equal(again.reference(names, at)[field.name], problem.reference(names, at)[field.name])


def test_observations_are_the_same_at_every_call_and_carry_the_noise_asked_for():
    module = problems.get("burgers_inverse")
    clean, noisy = module.observations(0.0), module.observations(0.01)
    np.testing.assert_array_equal(clean["x"], noisy["x"])
    np.testing.assert_array_equal(noisy["u"], module.observations(0.01)["u"])
    assert np.std(noisy["u"] - clean["u"]) / np.std(clean["u"]) == pytest.approx(0.01, rel=0.05)


def test_an_unknown_variant_is_refused():
    with pytest.raises(ValueError, match="allen_cahn has no variant 'rough'; there are: kink, smooth"):
        problems.get("allen_cahn").problem(variant="rough")
