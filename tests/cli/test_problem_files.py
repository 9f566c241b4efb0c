"""A user's file: the one problem in it is found, its constants are set, and what is wrong is told by file and line."""

import pytest

from phijax.cli.errors import UsageError
from phijax.cli.source import find

HEAD = """import phijax as phi
from sympy import Eq
t = phi.time("t")
y = phi.field("y", t); span = phi.Interval(t, 0, 1)
"""
BODY = 'phi.Problem(span, {"ode": Eq(y.diff(t), -2 * y), "start": phi.on(span.at(t=0), Eq(y, 1))})'


@pytest.fixture
def written(tmp_path):
    def write(text, name="decay.py"):
        path = tmp_path / name
        path.write_text(HEAD + text)
        return path

    return write


def test_the_one_problem_that_is_bound(written):
    path = written(f"mine = {BODY}\nalso = mine\n")
    problem = find(str(path)).problem({})
    assert list(problem.constraints) == ["ode", "start"]
    assert problem.name == "decay"  # after the file, where it has no name of its own


def test_a_name_of_its_own_is_kept(written):
    path = written(f"mine = {BODY[:-1]}, name='mine')\n")
    assert find(str(path)).problem({}).name == "mine"


def test_the_one_function_and_its_constants(written):
    path = written(
        f"def helper(a):\n    return a\ndef make(rate=2.0, label='x', n=3):\n    return {BODY.replace('2 *', 'rate *')}\n"
    )
    source = find(str(path))
    assert dict(source.constants) == {"rate": 2.0, "label": "x", "n": 3}
    problem = source.problem({"rate": 5})
    assert "-5.0*y" in str(problem)
    assert problem.fingerprint != source.problem({}).fingerprint


def test_helpers_with_defaults_are_not_taken_for_it(written):
    path = written(f"def grid(n=3):\n    return n\ndef make(rate=2.0):\n    return {BODY}\n")
    assert dict(find(str(path)).constants) == {"rate": 2.0}


def test_the_file_may_import_its_neighbours_and_runs_where_the_user_is(written, tmp_path, monkeypatch):
    (tmp_path / "neighbour_of_decay.py").write_text("RATE = 2\n")
    path = written(f"import os, neighbour_of_decay\nwhere = os.getcwd()\nmine = {BODY}\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert list(find("../decay.py").problem({}).constraints) == ["ode", "start"]
    assert list(elsewhere.iterdir()) == []
    assert not (tmp_path / "__pycache__").exists()
    assert path.exists()


def test_the_main_block_is_not_run(written):
    path = written(f"mine = {BODY}\nif __name__ == '__main__':\n    raise SystemExit(5)\n")
    assert find(str(path)).problem({}).name == "decay"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mine = 1\n", "makes no problem: bind one"),
        (f"a = {BODY}\nb = {BODY}\n", r"binds 2 problems \(a, b\); leave one"),
        (
            f"def a():\n    return {BODY}\ndef b():\n    return {BODY}\n",
            r"may make its problem \(a, b\); call one of them",
        ),
        ("def problem():\n    return 3\n", r"problem\(\) gives int, not a phi\.Problem"),
        ("x = (\n", r"decay\.py:5: SyntaxError: '\(' was never closed"),
        ("x = undefined + 1\n", r"decay\.py:5: NameError: name 'undefined' is not defined"),
        ("import nothing_of_that_name\n", r"decay\.py:5: ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("def f():\n    return 1 / 0\n\nf()\n", r"decay\.py:6: ZeroDivisionError"),
        ("import sys\nsys.exit(3)\n", r"decay\.py:6: SystemExit: 3"),
    ],
)
def test_what_is_wrong_is_told_by_file_and_line(written, text, message):
    path = written(text)
    with pytest.raises(UsageError, match=message):
        find(str(path)).problem({})


def test_every_fault_of_the_declaration_is_told_at_once(written):
    text = 'mine = phi.Problem(phi.Interval(t, 0, 1), {"ode": Eq(y.diff(t), -phi.coordinate("q") * y), "dead": Eq(t, 1)})\n'
    with pytest.raises(UsageError) as caught:
        find(str(written(text)))
    message = str(caught.value)
    assert message.startswith(f"{written(text)}:5: The problem has 3 faults:")
    assert "'q'" in message
    assert "'dead'" in message
    assert "initial condition" in message


def test_keys_that_stand_twice_in_a_dict_are_told(written):
    path = written('a = {"pde": 1,\n     "x": 2,\n     "pde": 3}\nb = {t: 1, y: 2, t: 3}\n' + f"mine = {BODY}\n")
    with pytest.raises(UsageError) as caught:
        find(str(path))
    first, second = str(caught.value).splitlines()
    assert first.startswith(
        f"{path}:7: the key 'pde' stands twice in this dict (first in line 5), and the first is lost"
    )
    assert second.startswith(f"{path}:8: the key t stands twice")


def test_keys_told_with_the_faults_they_may_cause(written):
    path = written('mine = phi.Problem(phi.Interval(t, 0, 1), {"ode": Eq(y.diff(t), y), "ode": Eq(y.diff(t), 2)})\n')
    with pytest.raises(UsageError, match=r"(?s)the key 'ode' stands twice.*initial condition"):
        find(str(path))


def test_a_folder_named_like_a_problem_does_not_hide_it(tmp_path, monkeypatch):
    (tmp_path / "burgers").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find("burgers").name == "burgers"


def test_missing_files_and_unknown_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "waves.py").write_text("")
    with pytest.raises(UsageError, match=r"there is no file absent\.py"):
        find("absent.py")
    with pytest.raises(UsageError, match="No built-in problem is called 'burger'; did you mean 'burgers'"):
        find("burger")
    with pytest.raises(UsageError, match=r"There is a file waves\.py here: add the ending"):
        find("waves")


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({"rat": 1.0}, "decay has no constant 'rat'; did you mean 'rate'"),
        ({"rate": "fast"}, r"rate='fast': rate is a number, such as its default 2\.0"),
        ({"n": 2.5}, "n=2.5: n is a whole number"),
        ({"n": True}, "n=True: n is a whole number"),
        ({"label": 3}, "label=3: label is text"),
        ({"axes": 3}, "axes=3: axes is a list"),
        ({"flag": 1}, "flag=1: flag is true or false"),
    ],
)
def test_constants_are_checked_by_name_and_kind(written, constants, message):
    path = written(f"def make(rate=2.0, n=3, label='a', axes=(1, 2), flag=False):\n    return {BODY}\n")
    with pytest.raises(UsageError, match=message):
        find(str(path)).problem(constants)


def test_a_list_stands_for_a_tuple(written):
    path = written(f"def make(axes=(1, 2)):\n    assert isinstance(axes, tuple)\n    return {BODY}\n")
    assert find(str(path)).checked({"axes": [3, 4]}) == {"axes": (3, 4)}


def test_a_bound_problem_has_no_constants(written):
    with pytest.raises(UsageError, match="has no constant 'rate'; it has no constants"):
        find(str(written(f"mine = {BODY}\n"))).problem({"rate": 1})


def test_built_in_problems_have_theirs():
    source = find("burgers")
    assert list(source.constants) == ["nu"]
    assert source.problem({"nu": 0.1}).name == "burgers"
