"""Values of expressions by coordinate name: right, in chunks, in the model's precision, with errors that name things."""

import subprocess
import sys
import tracemalloc

import jax
import numpy as np
import pytest
import sympy
from sympy import Eq, I, cos, exp, pi, sin

import phijax as phi
from phijax.evaluation import OutsideDomainWarning, chunks

x, y, t = phi.coordinate("x"), phi.coordinate("y"), phi.time("t")
u = phi.field("u", x, t)
spacetime = phi.Interval(x, -1, 1) * phi.Interval(t, 0, 1)
VALUE = sin(pi * x) * exp(-t)


def heat(**more):
    return phi.Problem(
        spacetime,
        {
            "pde": Eq(u.diff(t), u.diff(x, 2)),
            "start": phi.on(spacetime.at(t=0), Eq(u, sin(pi * x))),
            "walls": phi.on(spacetime.boundary(x), Eq(u, 0)),
        }
        | more,
        name="heat",
    )


@pytest.fixture
def solution(exact_solution):
    return exact_solution(heat(), {u: VALUE})


def test_coordinates_broadcast_like_numpy(solution):
    xs, ts = np.linspace(-1, 1, 5)[:, None], np.linspace(0, 1, 3)
    values = solution.u(x=xs, t=ts)
    assert values.shape == (5, 3)
    np.testing.assert_allclose(values, np.sin(np.pi * xs) * np.exp(-ts), rtol=1e-13)


def test_scalars_give_a_numpy_scalar(solution):
    value = solution.u(x=0.5, t=0)
    assert isinstance(value, np.float64)
    assert value == pytest.approx(1.0, abs=1e-15)


def test_any_expression_of_the_fields(solution):
    value = solution.evaluate(u.diff(x) + u * t, x=0.25, t=[0.0, 1.0])
    exact = [(np.pi * np.cos(np.pi / 4) + s * np.sin(np.pi / 4)) * np.exp(-s) for s in (0.0, 1.0)]
    np.testing.assert_allclose(value, exact, rtol=1e-13)


def test_equations_vectors_and_mappings(solution):
    assert solution.evaluate(Eq(u, 1), x=0.5, t=0) == pytest.approx(0.0, abs=1e-15)
    assert solution.evaluate([u, u.diff(t)], x=0.5, t=[0, 1, 2 / 3]).shape == (2, 3)
    assert solution.evaluate([n * t for n in range(12)], t=1.0).tolist() == list(range(12))
    gradient = solution.evaluate(phi.grad(u), x=0.0, t=[0.0, 1.0])
    np.testing.assert_allclose(gradient, [[np.pi, np.pi / np.e]], rtol=1e-13)
    assert solution.evaluate(sympy.Matrix([[u, 0], [0, 1]]), x=0.5, t=[0.0]).shape == (2, 2, 1)
    named = solution.evaluate({"value": u, "twice": 2 * u}, x=0.5, t=0)
    assert list(named) == ["value", "twice"]
    assert named["twice"] == pytest.approx(2 * named["value"])


def test_an_expression_needs_only_the_coordinates_it_depends_on(solution):
    assert solution.evaluate(u.subs(x, sympy.Rational(1, 2)), t=[0, 1]).tolist() == pytest.approx([1, np.exp(-1)])
    mean = phi.integral(u**2, (x, -1, 1))
    np.testing.assert_allclose(solution.evaluate(mean, t=[0.0, 0.5]), [1, np.exp(-1)], rtol=1e-12)
    assert solution.evaluate(phi.integral(u**2, (x, -1, 1), (t, 0, 1))) == pytest.approx((1 - np.exp(-2)) / 2)


def test_a_coordinate_that_is_not_needed_still_broadcasts(solution):
    assert solution.evaluate(2 * x, x=[0.5], t=[[0.0], [1.0]]).tolist() == [[1.0], [1.0]]


def test_no_points_give_no_values(solution):
    values = solution.u(x=np.zeros(0), t=0.5)
    assert values.shape == (0,)
    assert values.dtype == np.float64


def test_missing_coordinate_is_named(solution):
    with pytest.raises(ValueError, match="t missing: the value depends on x, t; coordinates given: x"):
        solution.u(x=0.5)


def test_unknown_coordinate_names_the_nearest(solution):
    with pytest.raises(ValueError, match="'tt' is no coordinate of 'heat'; did you mean 't'"):
        solution.u(x=0.5, tt=1)


def test_positions_are_refused(solution):
    with pytest.raises(TypeError, match=r"coordinates go by name: u\(x=\.\.\., t=\.\.\.\)"):
        solution.u(0.5, 0.5)


def test_shapes_that_do_not_broadcast_are_named(solution):
    with pytest.raises(ValueError, match=r"do not broadcast \(x: \(3,\), t: \(2,\)\)"):
        solution.u(x=[0, 0, 0], t=[0, 0])


def test_coordinates_must_be_real_numbers(solution):
    with pytest.raises(ValueError, match="x must be real numbers; got complex128"):
        solution.u(x=1j, t=0)
    with pytest.raises(ValueError, match="x is masked in row 1; leave out the points without a value"):
        solution.u(x=np.ma.array([0.0, 0.5], mask=[False, True]), t=0)


def test_unknown_symbols_and_fields_are_named(solution):
    with pytest.raises(ValueError, match=r"'k' in .* is no coordinate or parameter; .*known: x, t"):
        solution.evaluate(u * sympy.Symbol("k"), x=0, t=0)
    with pytest.raises(ValueError, match=r"'x' .* is another symbol than the problem's own 'x'"):
        solution.evaluate(u + sympy.Symbol("x"), x=0, t=0)
    with pytest.raises(ValueError, match=r"v\(x, t\) is no field of 'heat'; known: u"):
        solution.evaluate(phi.field("v", x, t), x=0, t=0)


def test_unknown_field_of_a_solution_is_named(solution):
    with pytest.raises(AttributeError, match="no field 'v'; known: u"):
        solution.v  # noqa: B018
    with pytest.raises(KeyError, match="no field is named 'U'; known: u"):
        solution["U"]
    assert solution[u](x=0.5, t=0) == solution["u"](x=0.5, t=0)


def test_a_field_named_like_a_method_is_reached_by_item(exact_solution):
    plot = phi.field("plot", x)
    line = phi.Interval(x, 0, 1)
    problem = phi.Problem(line, {"pde": Eq(plot.diff(x), 1), "left": phi.on(line.side("left"), Eq(plot, 0))})
    assert exact_solution(problem, {plot: x})["plot"](x=0.25) == 0.25


def test_outside_the_domain_is_told(solution):
    with pytest.warns(OutsideDomainWarning, match=r"x runs over \[0, 3\], outside the domain's \[-1, 1\]"):
        solution.u(x=[0.0, 3.0], t=0)
    solution.u(x=np.float32(1.0), t=1 + 1e-9)  # roundings of an end are none


def test_a_periodic_coordinate_has_no_outside(exact_solution):
    ring = phi.Interval(x, 0, 1, periodic=True)
    v = phi.field("v", x)
    problem = phi.Problem(ring, {"pde": Eq(v.diff(x, 2), -4 * pi**2 * v)})
    assert exact_solution(problem, {v: cos(2 * pi * x)}).v(x=3.0) == pytest.approx(1.0)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_values_are_of_the_models_precision_whatever_the_process_flag(untrained_solution, precision):
    values = untrained_solution(heat(), precision=precision).u(x=np.linspace(-1, 1, 3), t=0.5)
    assert values.dtype == precision
    assert not jax.config.jax_enable_x64


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_what_users_bring_sees_the_precision_of_the_run_alone(untrained_solution, precision):
    """Functions and networks are first called when a problem is compiled, or an expression is asked for."""
    seen = set()

    def law(z):
        seen.add(str(z.dtype))
        return z**2

    def network(key, inputs, outputs):
        seen.add(str(jax.random.normal(key).dtype))
        return phi.MLP(width=4, depth=1)(key, inputs, outputs)

    w, known = phi.field("w", x), phi.function("law", law, complex=False)
    declared = phi.Problem(phi.Interval(x, 0, 1), {"pde": Eq(w.diff(x), known(w))})
    with jax.enable_x64(precision == "float32"):
        solution = untrained_solution(declared, network=network, precision=precision)
        solution.evaluate(known(2 * w), x=0.5)
        solution.residuals(n=4)
    assert seen == {precision}


def test_complex_fields_give_complex_values(exact_solution):
    h = phi.field("h", x, t, complex=True)
    problem = phi.Problem(
        spacetime,
        {
            "pde": Eq(I * h.diff(t) + h.diff(x, 2) / 2, 0),
            "start": phi.on(spacetime.at(t=0), Eq(h, exp(I * x))),
            "walls": phi.on(spacetime.boundary(x), Eq(h, exp(I * (x - t / 2)))),
        },
    )
    solution = exact_solution(problem, {h: exp(I * (x - t / 2))})
    assert solution.h(x=0.3, t=0.4) == pytest.approx(np.exp(0.1j))
    assert solution.evaluate(sympy.Abs(h) ** 2, x=0.3, t=0.4) == pytest.approx(1.0)


def test_chunks_change_nothing(untrained_solution, monkeypatch):
    solution = untrained_solution(heat())
    random = np.random.default_rng(0)
    xs, ts = random.uniform(-1, 1, 10_000), random.uniform(0, 1, 10_000)
    whole = solution.evaluate(u.diff(x, 2) - u.diff(t), x=xs, t=ts)
    monkeypatch.setattr(chunks, "CHUNK", 768)
    parts = solution.evaluate(u.diff(x, 2) - u.diff(t), x=xs, t=ts)
    np.testing.assert_allclose(parts, whole, rtol=1e-10, atol=1e-12)


def test_one_trace_serves_any_number_of_points(untrained_solution):
    solution = untrained_solution(heat())
    for count in (1000, 8192, 8193, 20_000):
        solution.u(x=np.zeros(count), t=0.0)
    solution.u(x=np.zeros((30, 40)), t=np.zeros(40))
    (function, _), *_ = solution._evaluator._kept.values()
    assert function.traces == 1
    for _ in range(3):
        solution.u(x=0.5, t=0.5)
    assert function.traces == 2  # single points have a small chunk of their own


def test_memory_does_not_grow_with_the_points_beyond_their_values(exact_solution):
    solution = exact_solution(heat(), {u: VALUE})
    solution.u(x=np.zeros(1000), t=0)
    tracemalloc.start()
    values = solution.u(x=np.linspace(-1, 1, 4000)[:, None], t=np.linspace(0, 1, 500))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert values.nbytes == 16_000_000
    assert peak < values.nbytes + 4_000_000


@pytest.mark.slow
def test_values_and_residuals_on_millions_of_rows_stay_below_two_gigabytes():
    program = """
import resource, sys
import jax, numpy as np
from sympy import Eq
import phijax as phi
from phijax._precision import precision_scope
x, y = phi.coordinates("x y"); t = phi.time("t"); u = phi.field("u", x, y, t)
box = phi.Rectangle((x, 0, 1), (y, 0, 1)) * phi.Interval(t, 0, 1)
problem = phi.Problem(box, {"pde": Eq(u.diff(t), phi.laplacian(u)), "start": phi.on(box.at(t=0), Eq(u, 0)),
    "walls": phi.on(box.boundary, Eq(u, 0))})
compiled = phi.compile(problem, network=phi.MLP(width=32, depth=3), precision="float64")
with precision_scope("float64"):
    solution = phi.Solution(compiled, compiled.module.factory(jax.random.key(0)), precision="float64")
random = np.random.default_rng(0)
columns = {name: random.uniform(size=6_500_000) for name in "xyt"}
assert np.isfinite(solution.u(**columns)).all()
assert np.isfinite(solution.residual("pde", **columns)).all()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 2_000_000  # kilobytes


def test_the_flux_through_a_boundary_needs_no_normals(exact_solution):
    square = phi.Rectangle((x, 0, 1), (y, 0, 1))
    v = phi.field("v", x, y)
    solution = exact_solution(phi.Problem(square, {"pde": Eq(v.diff(x), v.diff(y))}), {v: x**2 + y})
    flux = phi.integral(phi.normal_derivative(v), over=square.boundary)
    assert solution.evaluate(flux) == pytest.approx(2.0, rel=1e-12)


def test_a_coordinate_may_be_called_self(exact_solution):
    own = phi.coordinate("self")
    q = phi.field("q", own)
    solution = exact_solution(phi.Problem(phi.Interval(own, 0, 1), {"ode": Eq(q.diff(own), 1)}), {q: own})
    assert solution.q(self=0.5) == 0.5
