"""`key=value`: constants, run settings by group, values as TOML."""

import pytest

import phijax as phi
from phijax.cli.errors import UsageError
from phijax.cli.run_settings import given_settings
from phijax.cli.settings import parse
from phijax.cli.source import find


def test_constants_and_settings_are_told_apart_by_the_dot():
    constants, settings = parse(["nu=0.01", "points.pde=4096", "network.width=64", "network.depth=2", "variant=smooth"])
    assert constants == {"nu": 0.01, "variant": "smooth"}
    assert settings == {"points": {"pde": 4096}, "network": {"width": 64, "depth": 2}}


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("1e-3", 1e-3), ("true", True), ('"two words"', "two words"), ("[1, 2]", [1, 2]), ("tanh", "tanh")],
)
def test_values_are_toml(text, value):
    (read,) = parse([f"key={text}"])[0].values()
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["nu"], "'nu' is no key=value"),
        (["=3"], "'=3' is no key=value"),
        (["nu=0.01/pi"], "nu=0.01/pi: the value is not TOML; write a number as"),
        (["nu="], "nu=: the value is not TOML"),
        (["nu=1", "nu=2"], "nu is set twice"),
        (["point.pde=3"], r"'point\.pde' is no run setting; did you mean 'points'"),
        (["run.max_step=3"], r"'run\.max_step' is no run setting; did you mean 'max_steps'"),
    ],
)
def test_what_is_wrong_is_named(assignments, message):
    with pytest.raises(UsageError, match=message):
        parse(assignments)


@pytest.fixture(scope="module")
def burgers():
    return find("burgers").problem({})


def settings_of(problem, *assignments):
    return given_settings(problem, parse(assignments)[1])


def test_settings_become_what_solve_takes(burgers):
    given = settings_of(burgers, "points.pde=100", "network.width=8", "optimizer.damping=0.1", "run.max_steps=7")
    assert given["points"] == {"pde": 100}
    assert given["network"].width == 8
    assert given["network"].depth == 3  # as it would be chosen
    assert given["optimizer"] == {"kind": "GaussNewton", "damping": 0.1}
    assert given["max_steps"] == 7


def test_another_kind_begins_from_its_own_defaults(burgers):
    given = settings_of(
        burgers, "network.kind=ModifiedMLP", "optimizer.kind=Adam", "balancer.kind=GradNorm", "balancer.every=50"
    )
    assert given["network"] == phi.ModifiedMLP()
    assert given["optimizer"] == {"kind": "Adam"}
    assert given["balancer"].every == 50


@pytest.mark.parametrize(
    ("assignments", "causal"),
    [
        (["run.causal=true"], phi.Causal()),
        (["run.causal=false"], None),
        (["causal.chunks=8", "causal.tolerance=0.5"], phi.Causal(chunks=8, tolerance=0.5)),
        (["run.causal=true", "causal.tolerance=1e2"], phi.Causal(tolerance=100.0)),
    ],
)
def test_causal_weights_are_asked_for_by_their_own_keys(burgers, assignments, causal):
    assert settings_of(burgers, *assignments) == {"causal": causal}


@pytest.mark.parametrize(
    ("name", "assignments", "message"),
    [
        ("burgers", ["run.causal=yes"], r"run\.causal='yes' must be true or false; its options are causal\.chunks"),
        ("burgers", ["causal.tolerances=1"], "'tolerances' is no option of causal weights; did you mean 'tolerance'"),
        ("burgers", ["causal.chunks=1"], "causal: Causal: chunks=1 must be a whole number of at least 2"),
        ("burgers", ["run.causal=false", "causal.chunks=4"], r"run\.causal=false, but causal\.chunks is set"),
        ("poisson_2d", ["run.causal=true"], r"run\.causal: causal weights follow the time of .*, but there is none"),
    ],
)
def test_causal_weights_that_cannot_be_are_refused(name, assignments, message):
    with pytest.raises(UsageError, match=message):
        settings_of(find(name).problem({}), *assignments)


def test_stages_are_a_list_of_tables(burgers):
    given = settings_of(
        burgers, "optimizer.kind=Stages", 'optimizer.stages=[{kind="Adam", steps=20}, {kind="LevenbergMarquardt"}]'
    )
    stages = [{"kind": "Adam", "steps": 20}, {"kind": "LevenbergMarquardt"}]
    assert given["optimizer"] == {"kind": "Stages", "stages": stages}


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("points.pdf=3", r"points\.pdf: 'pdf' is no constraint; did you mean 'pde'"),
        ("points.pde=2.5", r"points\.pde=2\.5 must be a whole number"),
        ("network.widht=3", "network: MLP has no option 'widht'. Did you mean 'width'"),
        ("network.activation=tan", "network: .*activation"),
        ("network.kind=MPL", "network: .*kind='MPL' is not known. Did you mean 'MLP'"),
        ("optimizer.kind=Adm", "optimizer: .*kind='Adm' is not known. Did you mean 'Adam'"),
        ("optimizer.rate=1", "optimizer: GaussNewton has no option 'rate'"),
        ("optimizer.kind=Stages", r"optimizer: Stages: stages=None must be a list of tables"),
        ("balancer.every=3", r"balancer\.every needs balancer\.kind"),
        ("run.max_steps=0", r"run\.max_steps=0 must be a whole number of at least 1"),
    ],
)
def test_misspelt_settings_are_named_with_the_nearest(burgers, assignment, message):
    with pytest.raises(UsageError, match=message):
        settings_of(burgers, assignment)
