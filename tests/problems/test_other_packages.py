"""Problems that installed packages add by an entry point: listed, run and checked as the built-in ones are."""

import json

import pytest

from phijax import problems
from phijax.cli import main
from phijax.cli.errors import Exit
from phijax.problems import _catalogue

FEW = ["burgers", "poisson_1d"]
DECAY = '''"""A decay."""

from sympy import Eq, exp

import phijax as phi
from phijax.problems import Info

INFO = Info(target=1e-8, classical=(1e-15, 0.01, "the exponential"))


def problem(rate=2.0):
    t = phi.time("t")
    y = phi.field("y", t)
    span = phi.Interval(t, 0, 1)
    return phi.Problem(
        span,
        {"ode": Eq(y.diff(t), -rate * y), "start": phi.on(span.at(t=0), Eq(y, 1))},
        reference={y: exp(-rate * t)},
    )
'''


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """install(distribution, {problem: text of its module}): what an installer leaves in a folder of packages."""
    monkeypatch.syspath_prepend(str(tmp_path))
    for module in (problems, _catalogue):  # the whole list is made elsewhere
        monkeypatch.setattr(module, "built_in", lambda: FEW)

    def install(distribution, modules):
        package = distribution.replace("-", "_")
        (tmp_path / package).mkdir()
        for name, text in modules.items():
            (tmp_path / package / f"{name}.py").write_text(text)
        about = tmp_path / f"{package}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        lines = [f"{name} = {package}.{name}" for name in modules]
        (about / "entry_points.txt").write_text("\n".join(["[phijax.problems]", *lines, ""]))

    return install


def entries(capsys):
    assert main(["list", "--json"]) == Exit.OK
    told = capsys.readouterr()
    return {entry["name"]: entry for entry in json.loads(told.out.splitlines()[-1])}, told.err


def test_a_problem_of_another_package_is_listed_shown_and_run(installed, capsys, tmp_path):
    installed("decays", {"decay": DECAY})
    assert problems.names() == ["burgers", "decay", "poisson_1d"]
    found, err = entries(capsys)
    assert (found["decay"]["package"], found["decay"]["target"], found["decay"]["constants"]) == (
        "decays",
        1e-8,
        {"rate": 2.0},
    )
    assert found["burgers"]["package"] == "phijax"
    assert err == ""
    assert main(["check", "decay", "rate=3.5"]) == Exit.OK
    assert "y_t = -3.5*y" in capsys.readouterr().out
    assert main(["run", "decay", "rate=1.5", "--run-dir", str(tmp_path / "run"), "--json"]) == Exit.OK
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert summary["errors"]["y"]["relative_l2"] < 1e-8


def test_a_name_that_is_built_in_stays_and_one_that_two_give_is_no_ones(installed, capsys):
    installed("decays", {"burgers": DECAY, "decay": DECAY})
    installed("more-decays", {"decay": DECAY})
    assert problems.names() == FEW
    assert problems.get("burgers").__name__ == "phijax.problems.burgers"
    found, err = entries(capsys)
    assert "decay" not in found
    first, second = err.splitlines()
    assert first.startswith("phijax: warning: decays adds a problem 'burgers', which is built in; the built-in one is")
    assert second.startswith("phijax: warning: decays and more-decays both add a problem 'decay'; neither is taken.")
    assert second.endswith('Give the entry of the group "phijax.problems" another name.')
    assert main(["check", "decay"]) == Exit.USAGE
    assert "No built-in problem is called 'decay'" in capsys.readouterr().err


BROKEN = {
    "absent": ("import nothing_of_that_name\n", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
    "bare": ("x = 1\n", "broken.bare has no function `problem(**constants)`; add it."),
    "aimless": (DECAY.replace("INFO =", "AIM ="), "broken.aimless has no `INFO = Info(target=...)`; add it."),
    "failing": (DECAY.replace('phi.time("t")', "1 / 0"), "failing.py:12: ZeroDivisionError: division by zero"),
}


def test_what_cannot_be_used_is_named_and_the_others_are_listed(installed, capsys):
    installed("broken", {name: text for name, (text, _) in BROKEN.items()})
    installed("decays", {"decay": DECAY})
    found, err = entries(capsys)
    assert set(found) == {"decay", *FEW}
    told = dict(zip(sorted(BROKEN), err.splitlines(), strict=True))
    for name, (_, reason) in BROKEN.items():
        assert told[name].startswith(f"phijax: warning: the problem '{name}' of the package broken")
        assert reason in told[name]
        assert main(["run", name]) == Exit.USAGE
        assert reason in capsys.readouterr().err
