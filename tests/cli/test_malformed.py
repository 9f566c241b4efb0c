"""Malformed declarations, configurations and run folders, made by hypothesis: each ends in a line, with code 2, or is none
the worse; never in a traceback, an internal fault or a hang. `-m slow` makes 2,000 of them."""

import contextlib
import importlib
import io
import json
import re
import shutil
import signal
import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sympy import Eq

import phijax as phi
from phijax.choice import choose
from phijax.cli import main, running
from phijax.cli.errors import UsageError
from phijax.evaluation import stored
from phijax.evaluation.run_directory import config_text
from phijax.record import choice_of, config_of, seed_of

solving = importlib.import_module("phijax.solve")  # phijax.solve is its function
MANY = pytest.param(700, marks=pytest.mark.slow)
LONGEST = 120  # seconds of one command, on a machine that others share; a hang has no end
DECLARATION = """import phijax as phi
from sympy import Eq, sin, exp
x, t = phi.coordinate("x"), phi.time("t")
u = phi.field("u", x, t)
k = phi.parameter("k", initial=1.0, positive=True)
space = phi.Interval(x, -1, 1)
domain = space * phi.Interval(t, 0, 1)
hole = phi.Rectangle((x, 0, 1), (t, 0, 1))
def problem(nu=0.01, name="heat"):
    return phi.Problem(
        domain,
        {
            "pde": Eq(u.diff(t), k * nu * u.diff(x, 2)),
            "initial": phi.on(domain.at(t=0), Eq(u, sin(x))),
            "walls": phi.on(domain.boundary(x), {"u": Eq(phi.normal_derivative(u), 0)}),
            "seen": phi.data({"x": [0.5, 0.25], "t": [0.5, 1.0], "u": [0.1, 0.2]}),
        },
        name=name,
        reference={u: exp(-t) * sin(x)},
    )
"""
TOKENS = re.findall(r'"[^"]*"|\w+|\n *|[^\w\s]', DECLARATION)
PIECES = [
    *dict.fromkeys(TOKENS),
    "None",
    "True",
    "1e400",
    "-1",
    "nan",
    '""',
    "[]",
    "{}",
    "()",
    "lambda: 0",
    "é",
    "\0",
    "u.x",
]


def phijax(*arguments):
    """(exit code, what stands on standard error) of a command in this process, which is stopped if it hangs."""

    def hangs(*_):
        raise KeyboardInterrupt

    err, before = io.StringIO(), signal.signal(signal.SIGALRM, hangs)
    signal.alarm(LONGEST)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
            code = main([str(argument) for argument in arguments])
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return code, err.getvalue()


def judged(code, err, lines=1):
    """Fails unless a command ended well, or with one message of so many lines at most."""
    assert code in (0, 2), err
    assert "Traceback" not in err
    assert "internal fault" not in err
    if code == 2:
        said = [line for line in err.splitlines() if not line.startswith("phijax: warning: ")]
        assert said, "no message"
        assert said[0].startswith(("phijax: ", "Usage: ")), err
        assert said[0].startswith("Usage: ") or len(said) <= lines, err


def examples(count, strategy, check):
    """Runs `check` on so many values, the same ones every time."""
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    options = {"database": None, "deadline": None, "derandomize": True, "suppress_health_check": quiet}
    settings(max_examples=count, **options)(given(strategy)(check))()


changes = st.tuples(st.sampled_from("drisc"), st.integers(0, len(TOKENS) - 1), st.sampled_from(PIECES))


def changed(edits):
    """The declaration with tokens deleted, replaced, inserted, swapped, or the file cut off."""
    tokens = list(TOKENS)
    for edit, place, piece in edits:
        place = min(place, len(tokens) - 1)
        if edit == "d" and len(tokens) > 1:
            del tokens[place]
        elif edit == "r":
            tokens[place] = piece
        elif edit == "i":
            tokens.insert(place, piece)
        elif edit == "s":
            tokens[place - 1], tokens[place] = tokens[place], tokens[place - 1]
        elif place > len(tokens) // 2:
            del tokens[place:]
    return " ".join(tokens).replace(" . ", ".")


@pytest.mark.parametrize("count", [25, MANY])
def test_malformed_declarations(tmp_path, count):
    path = tmp_path / "heat.py"

    def check(edits):
        path.write_text(changed(edits))
        judged(*phijax("check", path), lines=40)  # all faults are told at once

    assert phijax("check", path)[0] == 2
    path.write_text(DECLARATION)
    assert phijax("check", path) == (0, "")
    examples(count, st.lists(changes, min_size=1, max_size=3), check)


KEYS = """points.pde points.initial points.seen points network.width network.depth network.kind network.activation network
optimizer.kind optimizer.peak optimizer.steps optimizer.stages optimizer balancer.kind balancer.every balancer.weights
causal.chunks causal.tolerance run.max_steps run.slabs run.rows run.method run.causal nu name a.b . x= é.é"""
WORDS = """MLP SIREN FourierFeatures Separable Adam SOAP GaussNewton Stages Race LBFGS GradNorm Static NTK tune network tanh
random_features true false nan inf -inf 1e400 [] {} [[1]] 0x10 1979-05-27 '' "" é"""
tables = [
    '[{kind = "Adam", steps = 5}, {kind = "GaussNewton"}]',
    '[{kind = "Adam"}, {steps = -1}]',
    '{pde = 3, walls = "x"}',
    '[{kind = "Stages", stages = []}]',
    "[1, 2.5]",
]
written = st.one_of(
    st.sampled_from(WORDS.split() + tables),
    st.integers(-3, 40).map(str),
    st.sampled_from([10**9, 2**31, 2**63, 10**30]).map(str),
    st.floats(width=32).map(str),
    st.text(max_size=4),
)
assignments = st.tuples(st.sampled_from(KEYS.split()), written).map("=".join)
options = st.one_of(
    st.tuples(st.sampled_from(["--seed", "--max-seconds", "--precision"]), written),
    st.just(("--json",)),
    st.just(()),
)


@pytest.mark.parametrize("count", [25, MANY])
def test_malformed_configurations(tmp_path, monkeypatch, count):
    path = tmp_path / "heat.py"
    path.write_text(DECLARATION)

    def recorded(problem, *, seed, max_seconds, run_dir, devices, **given):
        """What `solve` does before it compiles, its settings written and read back."""
        solving.check_seconds(max_seconds)
        choice = choose(problem, max_seconds=max_seconds, **given)
        optimizer = given.get("optimizer")
        config = config_of(choice, problem=problem.name, seed=seed, max_seconds=max_seconds, optimizer=optimizer)
        config = tomllib.loads(config_text(config))
        assert choice_of(config).network == choice.network
        assert seed_of(config) == seed
        raise UsageError("as far as compiling")

    monkeypatch.setattr(running, "solve", recorded)
    monkeypatch.setattr(running, "configure_jax", lambda *_: None)

    def check(drawn):
        given, more = drawn
        judged(*phijax("run", path, *more, "--", *given))

    assert phijax("run", path) == (2, "phijax: as far as compiling\n")
    examples(count, st.tuples(st.lists(assignments, min_size=1, max_size=3), options), check)


t = phi.time("t")
y, span = phi.field("y", t), phi.Interval(t, 0, 1)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    problem = phi.Problem(span, {"ode": Eq(y.diff(t), -y), "start": phi.on(span.at(t=0), Eq(y, 1))}, name="decay")
    network, adam = phi.MLP(width=2, depth=1), {"kind": "Adam"}
    given = {"points": 4, "method": "network", "max_steps": 3, "progress": False}
    phi.solve(problem, seed=0, run_dir=folder, network=network, optimizer=adam, **given)
    (folder.parent / "points.csv").write_text("t\n0.5\n")
    return folder


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 40), st.floats(), st.sampled_from(["", "x", "MLP", "node"])
)
values = st.recursive(scalars, lambda v: st.lists(v, max_size=2) | st.dictionaries(st.text(max_size=3), v, max_size=2))
damage = st.one_of(
    st.tuples(st.just("removed"), st.none(), st.none()),
    st.tuples(st.just("folder"), st.none(), st.none()),
    st.tuples(st.just("cut"), st.floats(0, 1), st.none()),
    st.tuples(st.just("flipped"), st.floats(0, 1), st.integers(0, 7)),
    st.tuples(st.just("junk"), st.binary(max_size=40), st.none()),
    st.tuples(st.just("value"), st.lists(st.integers(0, 40), min_size=1, max_size=9), values),
)


def damaged(path, kind, where, what):
    """Does one kind of damage to a file."""
    content = bytearray(path.read_bytes())
    if kind == "removed" or kind == "folder":
        path.unlink()
        if kind == "folder":
            path.mkdir()
    elif kind == "cut":
        path.write_bytes(content[: int(where * len(content))])
    elif kind == "flipped" and content:
        content[min(int(where * len(content)), len(content) - 1)] ^= 1 << what
        path.write_bytes(content)
    elif kind == "junk":
        path.write_bytes(where)
    elif kind == "value" and path.suffix in (".json", ".toml"):
        tree = json.loads(content) if path.suffix == ".json" else tomllib.loads(content.decode())
        put(tree, where, what)
        path.write_text(json.dumps(tree) if path.suffix == ".json" else config_text(tree))


def put(tree, where, what):
    """Puts a value at a place of a tree, which the numbers lead to."""
    for depth, number in enumerate(where):
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        key = keys[number % len(keys)]
        below = tree[key]
        if depth == len(where) - 1 or not (isinstance(below, dict | list) and below):
            tree[key] = what
            return
        tree = below


def judge_folders(run, tmp_path, count):
    files = [file.relative_to(run) for file in sorted(run.rglob("*")) if file.is_file()]
    own = [file for file in files if len(file.parts) == 1]
    which = st.one_of(st.sampled_from(own), st.sampled_from(files))
    copy = tmp_path / "copy"

    def check(drawn):
        file, (kind, where, what), verb = drawn
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(run, copy)
        if verb != "resume finished":
            (copy / "summary.json").unlink()
        if (copy / file).exists():
            damaged(copy / file, kind, where, what)
        more = [run.parent / "points.csv", "--out", tmp_path / "out.csv"] if verb == "predict" else []
        judged(*phijax(verb.split()[0], copy, *more))

    verbs = st.sampled_from(["resume", "resume finished", "predict"])
    examples(count, st.tuples(which, damage, verbs), check)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of orbax's, where a read fails
@pytest.mark.parametrize("count", [25, MANY])
def test_malformed_run_folders(run, tmp_path, monkeypatch, count):
    def reached(*_, **__):
        raise UsageError("as far as compiling")

    monkeypatch.setattr(solving, "compile_choice", reached)
    monkeypatch.setattr(stored, "compile", reached)
    monkeypatch.setattr(running, "configure_jax", lambda *_: None)
    judge_folders(run, tmp_path, count)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_malformed_run_folders_as_far_as_they_go(run, tmp_path, monkeypatch):
    monkeypatch.setattr(phi.RunDirectory, "write_plots", lambda run, solution: [])
    monkeypatch.setattr(running, "configure_jax", lambda *_: None)
    judge_folders(run, tmp_path, 60)
