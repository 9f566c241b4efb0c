"""The rules of the benchmark: the templates of the documents hold them, and each thing that is wrong is one sentence."""

import re
from pathlib import Path

import numpy as np
import pytest

import phijax as phi
from phijax.bench.problem_rules import reference_left
from phijax.bench.substitution import central_differences
from phijax.cli import main
from phijax.cli.errors import Exit

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/own_problems.md").read_text(), re.MULTILINE | re.DOTALL)
DECAY = '''"""A decay."""

import numpy as np
from sympy import Eq, exp

import phijax as phi
from phijax.problems import Info

INFO = Info(target=1e-8)
t = phi.time("t")
y = phi.field("y", t)
span = phi.Interval(t, 0, 1)


def solver(rate, error=1e-12, source="the exponential"):
    return phi.Reference(solver=lambda t: {"y": np.exp(-rate * t)}, error=error, source=source)


def problem(rate=2.0):
    equations = {"ode": Eq(y.diff(t), -rate * y), "start": phi.on(span.at(t=0), Eq(y, 1))}
    return phi.Problem(span, equations, reference={y: exp(-rate * t)})
'''
GIVEN = "{y: exp(-rate * t)}"


@pytest.fixture
def checked(tmp_path, capsys):
    def check(text, *constants):
        path = tmp_path / "mine.py"
        path.write_text(text)
        code = main(["check", "--benchmark", str(path), *constants])
        return code, capsys.readouterr()

    return check


@pytest.mark.parametrize(
    ("template", "count", "most"), list(zip(TEMPLATES, [2, 3], [1e-13, 1e-6], strict=True)), ids=["closed", "computed"]
)
def test_the_templates_hold_the_rules(template, count, most, checked):
    code, told = checked(template)
    assert (code, told.err) == (Exit.OK, "")
    assert told.out.rstrip().endswith("it holds the rules of the benchmark")
    rows = re.findall(r"^(.*\S)  +(\S+)  +(\S+)$", told.out.split("left by the reference")[1], re.MULTILINE)
    left = {term: (float(value), float(limit)) for term, value, limit in rows}
    assert len(left) == count
    assert all(value < most for value, _ in left.values()), left


def test_a_problem_by_name_and_with_other_constants(capsys):
    assert main(["check", "--benchmark", "convection", "beta=3"]) == Exit.OK
    assert "it holds the rules" in capsys.readouterr().out
    assert main(["check", "--benchmark", "convection", "beat=3"]) == Exit.USAGE
    assert "did you mean 'beta'" in capsys.readouterr().err


def test_what_may_lack_is_remarked(checked):
    code, told = checked(DECAY)
    assert code == Exit.OK
    assert "remark: no published error is known" in told.out
    assert "remark: no classical solver stands beside it" in told.out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"""A decay."""', ""), "the file has no docstring; say in a line what the problem is."),
        (("INFO =", "AIM ="), "there is no INFO; add `INFO = Info(target=1e-6)`"),
        (("Info(target=1e-8)", "3"), "INFO is of type int; add `INFO = Info(target=1e-6)`"),
        (("target=1e-8", "target=-1e-8"), "INFO.target is -1e-08; give a positive relative error."),
        (("target=1e-8", 'target={"z": 1e-8}'), "INFO.target names 'z', which is no field or parameter; known: y."),
        (
            ("1e-8)", '1e-8, published=(1e-3, ""))'),
            "INFO.published has no source; give (error, where it was published).",
        ),
        (
            ("1e-8)", "1e-8, classical=(1e-3, 0.1))"),
            "INFO.classical is no (error, CPU seconds, method); give all three.",
        ),
        (
            ("def problem(rate=2.0)", "def decay(rate=2.0)"),
            "there is no function `problem`; return the declaration from",
        ),
        (
            ("rate=2.0)", "rate=2.0, size=1.0)"),
            "the constant 'size' changes nothing of the problem; use it, or leave it",
        ),
        ((f", reference={GIVEN}", ""), "there is no reference; give reference={u: expression}, or phi.Reference("),
        ((GIVEN, "solver(rate, error=0.0)"), "the reference states no error; compute it at two resolutions"),
        ((GIVEN, 'solver(rate, source="closed form")'), "the reference does not say where it comes from; give source="),
        ((GIVEN, "solver(rate, error=1e-8)"), "INFO.target 1e-08 is below 3 times the reference's own error 1e-08"),
        ((GIVEN, "{y: exp(-2 * t)}"), "'ode': with rate=2.5 the reference leaves "),
        ((GIVEN, "{y: exp(-rate * t) + 1e-3 * t}"), "'ode': the reference leaves "),
        ((GIVEN, "solver(rate + 0.01)"), "'ode': the reference leaves "),
        ((GIVEN, "{}"), "the reference gives no values for the field 'y'; add them."),
        (("return phi", "rate**2 / (rate == 2.0)\n    return phi"), "the constant 'rate' cannot be 2.5: "),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_each_fault_is_a_sentence_with_its_cure(change, message, checked):
    assert change[0] in DECAY
    code, told = checked(DECAY.replace(*change))
    assert code == Exit.USAGE
    assert told.err.startswith("phijax: mine has a fault as a problem of the benchmark:\n  1. ")
    assert message in told.err


def test_all_faults_are_told_at_once(checked):
    code, told = checked(DECAY.replace('"""A decay."""', "").replace("INFO =", "AIM =").replace(GIVEN, "{y: exp(t)}"))
    assert code == Exit.USAGE
    assert told.err.startswith(
        "phijax: mine has 3 faults as a problem of the benchmark:\n  1. the file has no docstring"
    )


def test_a_constant_may_refuse_values_that_have_no_reference(checked):
    refusing = DECAY.replace("    equations", '    if rate != 2:\n        raise ValueError("rate is 2")\n    equations')
    assert checked(refusing)[0] == Exit.OK
    assert checked(refusing, "rate=3.0")[0] == Exit.USAGE


def test_a_computed_reference_under_an_integral_is_refused():
    x = phi.coordinate("x")
    u = phi.field("u", x)
    problem = phi.Problem(
        phi.Interval(x, 0, 1),
        {"pde": u.diff(x) - u, "mass": phi.integral(u, (x, 0, 1)) - 1},
        reference=phi.Reference(solver=lambda x: {"u": np.exp(x)}, error=1e-15, source="exponential"),
    )
    with pytest.raises(ValueError, match=r"'u' stands under an integral, where its reference.*give a closed form"):
        reference_left(problem, {})


@pytest.mark.parametrize(("stated", "held"), [(0.1, True), (0.02, False), (0.0, False)])
def test_data_may_differ_by_the_noise_that_is_stated(stated, held):
    t = phi.time("t")
    y, rate = phi.field("y", t), phi.parameter("rate", initial=1.0)
    at = np.linspace(0, 1, 200)
    seen = np.exp(-2 * at) + 0.1 * np.random.default_rng(0).standard_normal(200)
    problem = phi.Problem(
        phi.Interval(t, 0, 1),
        {"ode": y.diff(t) + rate * y, "seen": phi.data({"t": at, "y": seen})},
        reference=phi.Reference({rate: 2.0}, solver=lambda t: {"y": np.exp(-2 * t)}, error=1e-15, source="exponential"),
    )
    left = {term.term: term for term in reference_left(problem, {"noise": stated})}
    assert left["ode"].value < 1e-9
    assert (left["seen"].value <= left["seen"].limit) is held


def test_differences_are_of_sixth_order_and_stay_within_the_limits():
    called = []

    def values(nodes):
        called.append(nodes)
        return np.sin(3 * nodes[:, 0]) * np.exp(nodes[:, 1])

    limits = np.array([[0.0, 1.0], [-1.0, 1.0]])
    exact = {
        (0, 0): np.sin(0.0), (1, 0): 3.0, (2, 0): 0.0, (1, 1): 3.0, (3, 0): -27.0, (4, 0): 0.0
    }  # fmt: skip
    found = central_differences(values, np.array([0.0, 0.0]), limits, exact)
    (nodes,) = called
    assert nodes[:, 0].min() >= -1e-15
    accuracy = {(0, 0): 1e-15, (1, 0): 1e-11, (2, 0): 1e-6, (1, 1): 1e-10, (3, 0): 1e-2, (4, 0): 1e-2}
    for orders, value in exact.items():
        assert found[orders] == pytest.approx(value, abs=accuracy[orders]), orders
