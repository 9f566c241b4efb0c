"""The verbs: what they print, and their exit codes. Run in this process, where nothing is compiled for long."""

import errno
import json

import pytest

import phijax
from phijax.cli import app, main
from phijax.cli.errors import Exit, exit_code_of

FILE = """import phijax as phi
from sympy import Eq
t = phi.time("t")
y = phi.field("y", t)
span = phi.Interval(t, 0, 1)
def decay(rate=2.0):
    return phi.Problem(span, {"ode": Eq(y.diff(t), -rate * y), "start": phi.on(span.at(t=0), Eq(y, 1))})
"""


@pytest.fixture
def decay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "decay.py"
    path.write_text(FILE)
    return path


def test_version(capsys):
    assert main(["--version"]) == Exit.OK
    assert capsys.readouterr().out == f"phijax {phijax.__version__}\n"


def test_help_names_every_verb(capsys):
    assert main(["--help"]) == Exit.OK
    text = capsys.readouterr().out
    for verb in ("list", "show", "check", "run", "resume", "predict", "plot", "report", "export", "watch", "doctor"):
        assert f"\n  {verb} " in text


@pytest.mark.parametrize(
    "arguments", [["rum"], ["run"], ["run", "burgers", "--sed", "3"], ["run", "burgers", "--seed", "x"]]
)
def test_wrong_usage_is_two(arguments, capsys):
    assert main(arguments) == Exit.USAGE
    assert "Error" in capsys.readouterr().err


def test_check_prints_the_problem(decay, capsys):
    assert main(["check", "decay.py", "rate=3.5"]) == Exit.OK
    out = capsys.readouterr().out
    assert out.startswith("decay on [0, 1] in t")
    assert "y_t = -3.5*y" in out
    assert out.rstrip().endswith("no fault")


def test_check_tells_warnings_in_a_line(decay, capsys):
    decay.write_text(FILE + "x = phi.coordinate('x')\nv = phi.field('v', x)\ndecay = None\n"
                     "mine = phi.Problem(phi.Interval(x, 0, 1), {'ode': Eq(v.diff(x, 2), v)})\n")  # fmt: skip
    assert main(["check", "decay.py"]) == Exit.OK
    captured = capsys.readouterr()
    assert captured.err.startswith("phijax: warning: 'v' has no condition on 'x-', 'x+'")
    assert "no fault, 1 warning" in captured.out


@pytest.mark.parametrize("verb", ["check", "run", "show"])
def test_a_faulty_declaration_is_one_message_without_traceback(decay, capsys, verb):
    decay.write_text(FILE.replace("-rate * y", "-k * y").replace("def decay", "k = phi.coordinate('k')\ndef decay"))
    assert main([verb, "decay.py"]) == Exit.USAGE
    err = capsys.readouterr().err
    assert err.startswith("phijax: decay.py:8: The problem has a fault:")
    assert "'k'" in err
    assert "Traceback" not in err
    assert main([verb, "decay.py", "--debug"]) == Exit.USAGE
    assert "Traceback" in capsys.readouterr().err
    assert not (decay.parent / "runs").exists()


def test_show_tells_samplers_derivatives_and_cost(decay, capsys):
    assert main(["show", "decay.py", "network.width=5", "network.depth=1", "points.ode=33"]) == Exit.OK
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "ode 33 [0, 1] in t low discrepancy" in lines
    assert "start 1 {0} in t low discrepancy" in lines
    (ode,) = [line for line in lines if line.startswith("ode y: value, t carried through the layers 2 ")]
    assert 2.0 <= float(ode.split()[-1]) < 3.0
    assert "start y: value carried through the layers 1 1.0" in lines
    assert "16 parameters to train, 34 residuals a step" in lines  # 5 + 5 + 5 + 1


INSULATED = """
from sympy import Eq
import phijax as phi
x, t = phi.coordinate("x"), phi.time("t")
u = phi.field("u", x, t)
rod = phi.Interval(x, 0, 1) * phi.Interval(t, 0, 1)
ends = phi.on(rod.boundary(x), Eq(phi.normal_derivative(u), 0), exact=True)
start = phi.on(rod.at(t=0), Eq(u, 1), exact=True)
problem = phi.Problem(rod, {"pde": Eq(u.diff(t), u.diff(x, 2)), "start": start, "ends": ends})
"""


def test_show_tells_that_random_features_are_tried_first(decay, capsys):
    said = "the problem is linear: random features are tried first"
    assert main(["show", "decay.py"]) == Exit.OK
    assert said in capsys.readouterr().out
    assert main(["show", "decay.py", "run.method=network"]) == Exit.OK
    assert said not in capsys.readouterr().out


def test_show_tells_what_exact_slopes_take_of_the_network(decay, capsys):
    decay.with_name("insulated.py").write_text(INSULATED)
    assert main(["show", "insulated.py"]) == Exit.OK
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    how = "carried through the layers; exact slopes take the network's value, x, xt, xxx 6 "
    (pde,) = [line for line in lines if line.startswith(f"pde u: t, xx {how}")]
    assert 2.0 < float(pde.split()[-1]) < 5.0
    assert "ends {0, 1} x [0, 1] in (x, t) exact: built into the field" in lines


def test_list_as_json_has_the_documented_keys(capsys):
    assert main(["list", "--json"]) == Exit.OK
    entries = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out.splitlines()[-1])}
    assert {"name", "fields", "parameters", "reference", "reference_error", "target"} <= set(entries["burgers"])
    assert sorted(entries["kovasznay"]["fields"]) == ["p", "u", "v"]
    assert entries["kovasznay"]["reference"] == "closed"
    assert entries["burgers_inverse"]["parameters"] == ["lambda1", "lambda2"]
    assert 0 < entries["allen_cahn"]["reference_error"] < 1e-6
    assert entries["poisson_2d"]["constants"] == {"f": 1}


def test_list_as_a_table(capsys):
    assert main(["list"]) == Exit.OK
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["problem", "equations", "constants", "reference", "its", "error", "target"]
    assert [row.split()[0] for row in rows] == phijax.problems.names()


def test_doctor(capsys):
    assert main(["doctor", "--json"]) == Exit.OK
    found = json.loads(capsys.readouterr().out)
    assert found["float64"] is True
    assert found["versions"]["phijax"] == phijax.__version__
    assert found["devices"] == ["0: cpu"]
    assert main(["doctor"]) == Exit.OK
    assert "determinism" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "burgers", "nu=0.1", "nuu=3"], "burgers has no constant 'nuu'; did you mean 'nu'"),
        (["run", "burgers", "--precision", "float16"], "precision='float16' is not known"),
        (["run", "burgers", "--max-seconds", "0"], "--max-seconds 0: give a positive number"),
        (["run", "burgers", "--seed", "-1"], "seed"),
        (["resume", "absent"], "there is no folder"),
        (["predict", "absent", "points.csv"], "there is no folder"),
        (["plot", "."], "is no run directory"),
        (["check", "burgers", "points.pde=3"], r"check takes constants alone; points\.\* is a run setting"),
    ],
)
def test_what_a_user_got_wrong_is_told_before_anything_is_written(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == Exit.USAGE
    err = capsys.readouterr().err
    assert err.startswith("phijax: ")
    assert message.replace("\\", "") in err
    assert list(tmp_path.iterdir()) == []


def fails_with(monkeypatch, error):
    def verb(as_json):
        raise error

    monkeypatch.setattr("phijax.cli.listing.list_verb", verb)
    return main(["list"])


def test_an_internal_fault_is_one_and_says_how_to_see_more(monkeypatch, capsys):
    assert fails_with(monkeypatch, ZeroDivisionError("of our own")) == Exit.FAULT
    err = capsys.readouterr().err
    assert err.startswith("phijax: internal fault: ZeroDivisionError: of our own. ")
    assert "--debug" in err
    assert "Traceback" not in err


def test_an_interrupt_is_130(monkeypatch, capsys):
    assert fails_with(monkeypatch, KeyboardInterrupt()) == Exit.INTERRUPTED
    assert capsys.readouterr().err == "phijax: interrupted.\n"


def test_debug_is_not_remembered():
    assert main(["--debug", "--version"]) == Exit.OK
    assert app._debug.get() is False


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOSPC, "phijax: /full/run: the disk is full; make room, and go on with a run by `phijax resume`.\n"),
        (errno.EROFS, "phijax: /full/run: nothing can be written there; choose another folder.\n"),
        (
            errno.EACCES,
            "phijax: /full/run: this user may not do that there; choose another folder, or ask for the right.\n",
        ),
    ],
)
def test_what_the_system_refuses_is_told_in_a_line(number, message, capsys):
    assert exit_code_of(OSError(number, "any", "/full/run"), debug=False) == Exit.USAGE
    assert capsys.readouterr().err == message


def test_a_folder_below_a_file_is_refused_in_a_line(decay, capsys):
    assert main(["run", "decay.py", "--run-dir", "decay.py/run"]) == Exit.USAGE
    assert capsys.readouterr().err.endswith("decay.py: a file of that name is in the way; choose another name.\n")


def test_a_full_disk_is_told_in_a_line_when_a_checkpoint_meets_it(capsys):
    error = ValueError('RESOURCE_EXHAUSTED: Error writing "leaf": [OS error 28: ENOSPC No space left on device]')
    assert exit_code_of(error, debug=False) == Exit.USAGE
    assert capsys.readouterr().err.startswith("phijax: the disk is full; make room")
