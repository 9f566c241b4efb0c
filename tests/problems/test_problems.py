"""The built-in problems: found by name, solved by their own references, lowered as sympy reads them."""

import inspect
import itertools
import json

import jax
import numpy as np
import pytest
import sympy

from phijax import problems
from phijax._precision import precision_scope
from phijax.formulation.manufactured import substitute
from phijax.formulation.serialization import from_json, to_json
from phijax.lowering import ExactLayout, constraint_expressions
from phijax.sampling.points import Points
from phijax.symbolic import Field, Normal, Observed, OverRegion, Quadrature, normal

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
GRIDDED = {
    "allen_cahn", "burgers", "burgers_inverse", "cavity", "ginzburg_landau", "gray_scott", "heat_fin", "kdv",
    "kuramoto_sivashinsky", "lorenz_inverse", "lotka_volterra", "poisson_disks", "poisson_lshape", "reaction_diffusion",
    "stokes_cylinder", "van_der_pol",
}  # fmt: skip
LARGE = {*HUGE, "beltrami", "biharmonic", "heat_4d", "poisson_5d", "poisson_multiscale"}  # take long to compile
NATURAL = {("heat_fin", "outside")}  # met by Galerkin's method in the mean alone
STEP, LONG_STEP = 1e-4, 2e-3  # the longer for derivatives of order 4
# Weights of central differences of order 6, at -3 .. 3 steps.
STENCILS = {0: [0, 0, 0, 1, 0, 0, 0], 1: [-1 / 60, 3 / 20, -3 / 4, 0, 3 / 4, -3 / 20, 1 / 60]}
STENCILS[2] = [1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90]
STENCILS[3] = [1 / 8, -1, 13 / 8, 0, -13 / 8, 1, -1 / 8]  # of order 4
STENCILS[4] = [-1 / 6, 2, -13 / 2, 28 / 3, -13 / 2, 2, -1 / 6]  # of order 4


def points_of(constraint, count=40, margin=0.0):
    """{coordinate or component of the normal: values} over the parts of the constraint's region."""
    if constraint.columns:
        return {symbol: np.asarray(column) for symbol, column in constraint.region.columns.items()}
    random, parts = np.random.default_rng(7), [piece for _, piece in constraint.region.pieces] or [constraint.region]
    tables = [
        _in_box(part, random, count, margin) if _is_box(part) else _drawn(part, random, count, margin) for part in parts
    ]
    size = lambda table: len(table[constraint.region.coordinates[0]])
    column = lambda symbol: np.concatenate([table.get(symbol, np.zeros(size(table))) for table in tables])
    return {symbol: column(symbol) for symbol in dict.fromkeys(key for table in tables for key in table)}


def _is_box(part):
    return all(len(factor.coordinates) == 1 for factor in part.factors)


def _in_box(part, random, count, margin):
    columns = {}
    for symbol in part.coordinates:
        low, high = part.bounds[symbol]
        columns[symbol] = random.uniform(low + margin * (high - low), high - margin * (high - low), count)
    normals = part.constant_normal if part.has_normals else {}
    return columns | {
        normal(symbol): np.full(count, float(normals.get(symbol, 0))) for symbol in normals and part.coordinates
    }


def _drawn(part, random, count, margin):
    """Nodes of the region's rule, in random order."""
    rule = part.quadrature(6)
    columns = {symbol: np.asarray(rule.coordinates[symbol.name]) for symbol in part.coordinates}
    if part.has_normals:
        columns |= {normal(s): np.asarray(rule.normals[s.name]) for s in part.normal_coordinates}
    chosen = np.arange(len(next(iter(columns.values()))))
    if margin:
        chosen = np.flatnonzero(part.signed_distance(dict(rule.coordinates)) <= -margin)
    chosen = random.permutation(chosen)[:count]
    return {symbol: column[chosen] for symbol, column in columns.items()}


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


def numbers(expression, points, constraint, known=()):
    """The expression at points, with observed columns and further nodes in place."""
    nodes = {node: constraint.columns[node.column].values for node in expression.atoms(Observed)}
    nodes |= dict(known)
    names = {node: sympy.Dummy() for node in nodes}
    written = written_out(expression.xreplace(names))
    function = sympy.lambdify([*points, *names.values()], written, modules=["numpy", "scipy"])
    shape = next(iter(points.values())).shape
    return np.broadcast_to(function(*points.values(), *nodes.values()), shape)


def differences(solver, node, points):
    """A field, or a derivative of one, by central differences of the reference's values."""
    field, orders = (node.expr, dict(node.variable_count)) if isinstance(node, sympy.Derivative) else (node, {})
    total, step = 0.0, LONG_STEP if 4 in orders.values() else STEP
    weights = [[(s, i - 3, w) for i, w in enumerate(STENCILS[int(orders.get(s, 0))]) if w] for s in field.coordinates]
    for moves in itertools.product(*weights):
        at = {symbol.name: points[symbol] + shift * step for symbol, shift, _ in moves}
        factor = np.prod([weight for *_, weight in moves])
        total = total + factor * solver(**at)[field.name]
    return total / step ** int(sum(orders.values()))


def residual_of_reference(problem, constraint, term):
    """The term where the reference stands for the fields and the parameters."""
    values = problem.reference.values
    parameters = {symbol: values[name] for name, symbol in problem.parameters.items()}
    residual = term.residual.subs(parameters)
    if problem.reference.solver is None:
        exact = {field: values[name] for name, field in problem.fields.items()}
        return numbers(substitute(residual, exact), points_of(constraint), constraint)
    points = points_of(constraint, margin=0.01 if constraint.on_domain else 0.0)
    derivatives = residual.atoms(sympy.Derivative)
    fields = residual.xreplace({node: sympy.Dummy() for node in derivatives}).atoms(Field)
    known = [(node, differences(problem.reference.solver, node, points)) for node in derivatives | fields]
    return numbers(residual, points, constraint, known)


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


def noise_of(declare, constants):
    """Standard deviations that the constants, or their defaults, put into observed values."""
    bound = inspect.signature(declare).bind(**constants)
    bound.apply_defaults()
    return bound.arguments.get("noise", 0.0)


@pytest.mark.parametrize(("name", "constants"), CASES, ids=str)
def test_the_reference_makes_every_term_vanish(name, constants):
    declare = problems.get(name).problem
    problem, noise = declare(**constants), 4.5 * noise_of(declare, constants)
    for constraint in problem.constraints.values():
        for term in constraint.terms:
            residual = residual_of_reference(problem, constraint, term)
            allowed = noise if constraint.columns else 0.0
            loose = name in GRIDDED and (constraint.on_domain or (name, constraint.name) in NATURAL)
            limit = 1e-3 if loose else 1e-6
            assert np.abs(residual).max() < max(allowed, limit), (constraint.name, term.label)


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
    points = [points_of(constraint, count=5) for constraint in constraints]
    with precision_scope("float64"):
        layout = ExactLayout(problem, exact)
        lowered = [constraint_expressions(layout, constraint) for constraint in constraints]
        batches = [
            Points(
                {s.name: jax.numpy.asarray(column) for s, column in columns.items() if not isinstance(s, Normal)},
                {s.coordinate.name: jax.numpy.asarray(n) for s, n in columns.items() if isinstance(s, Normal)} or None,
                values={key: jax.numpy.asarray(column.values) for key, column in constraint.columns.items()} or None,
            )
            for constraint, columns in zip(constraints, points, strict=True)
        ]
        model = layout.model()

        def all_terms(batches):
            pairs = zip(lowered, batches, strict=True)
            return [jax.vmap(lambda row, terms=terms: terms.pointwise(model, row))(batch) for terms, batch in pairs]

        found = [{key: np.asarray(value) for key, value in terms.items()} for terms in jax.jit(all_terms)(batches)]
    fields = {field: exact[key] for key, field in problem.fields.items()}
    parameters = {symbol: symbol.initial for symbol in problem.parameters.values()}
    for constraint, columns, values in zip(constraints, points, found, strict=True):
        for term in constraint.terms:
            expected = numbers(substitute(term.residual, fields).subs(parameters), columns, constraint)
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
