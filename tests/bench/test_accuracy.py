"""The accuracy benchmark: what counts, what records say together, and that a run is made once."""

import json
import math
from types import SimpleNamespace

import pytest

from phijax import problems
from phijax.bench.accuracy import Run, curve_of, errors_of, reached, read_records, record_of, rows_of, solved
from phijax.bench.accuracy_cases import GOALS, METHODS, AccuracyCase, case_named, case_names, select
from phijax.cli import bench_accuracy
from phijax.cli.errors import Exit, UsageError
from phijax.optimizers import optimizer_from_config


def record(case, seed, errors, budget=60, method="solve", status="finished", wall=50.0, **more):
    return {
        "case": case,
        "method": method,
        "budget": budget,
        "seed": seed,
        "errors": errors,
        "status": status,
        "stop_reason": "all steps done",
        "wall": wall,
        **more,
    }


def test_every_problem_is_a_case_and_a_problem_has_its_variants_behind_it():
    names = case_names()
    assert set(problems.built_in()) <= set(names)
    assert set(GOALS) <= set(names)
    assert select(["poisson_2d"], names) == ["poisson_2d", "poisson_2d-f4"]
    assert select(["poisson_2d-f4"], names) == ["poisson_2d-f4"]
    assert select([], list(GOALS)) == list(GOALS)
    assert len(GOALS) == 14
    with pytest.raises(ValueError, match="'burger' is no case of the accuracy benchmark; did you mean 'burgers'"):
        select(["burger"], names)


def test_a_case_asks_for_the_goals_of_its_row_and_in_two_minutes_for_the_target_of_its_problem():
    burgers, beltrami, noisy = map(case_named, ["burgers", "beltrami", "burgers_inverse-noise"])
    assert burgers.goals == {60: 5e-6, 120: burgers.info.target, 600: 3e-7}
    assert [burgers.goal(budget) for budget in (20, 60, 100, 700)] == [5e-6, 5e-6, 5e-6, 3e-7]
    assert beltrami.goals == {120: problems.get("beltrami").INFO.target}
    assert beltrami.goal(60) == beltrami.goal(600) == beltrami.info.target
    assert noisy.goal(120) == {"lambda1": 2e-3, "lambda2": 2e-2}
    assert noisy.info.classical is None  # what stands in the problem's file is for data without noise
    with pytest.raises(KeyError, match="did you mean 'burgers'"):
        case_named("burger")


def test_the_worst_field_counts_and_those_that_are_not_asked_for_do_not():
    assert reached(GOALS["kovasznay"], 2e-7, record("kovasznay", 0, {"u": 1e-8, "v": 3e-7, "p": 1e-7})) == {"": 3e-7}
    assert reached(GOALS["cavity"], 2e-3, record("cavity", 0, {"u": 1e-3, "v": 2e-3, "p": 0.1})) == {"": 2e-3}
    inverse = record("burgers_inverse", 0, {"u": 1e-5, "lambda1": 1e-4, "lambda2": 2e-3})
    assert reached(GOALS["burgers_inverse"], {"lambda1": 1, "lambda2": 1}, inverse) == {
        "lambda1": 1e-4,
        "lambda2": 2e-3,
    }
    assert reached(GOALS["helmholtz"], 1e-5, record("helmholtz", 0, {"u": None})) == {"": math.inf}


def test_a_row_is_the_median_of_its_seeds_and_a_failed_run_counts_as_infinite():
    cases = {"burgers": GOALS["burgers"]}
    records = [record("burgers", seed, {"u": error}) for seed, error in enumerate([1e-6, 2e-6, 9e-6])]
    (row,) = rows_of(records, cases)
    assert (row.median, row.worst, row.seeds, row.goal, row.met) == ({"": 2e-6}, {"": 9e-6}, 3, 5e-6, True)
    assert (row.failed, row.errors) == (0, {"u": 2e-6})
    (row,) = rows_of([*records[1:], record("burgers", 0, {}, status="failed")], cases)
    assert (row.median[""], row.worst[""], row.failed, row.met) == (9e-6, math.inf, 1, False)
    (row,) = rows_of([record("burgers", 0, {}, status="failed")], cases)
    assert (row.median[""], row.errors, row.met) == (math.inf, {}, False)


def test_a_goal_by_name_is_met_by_each_name():
    case = AccuracyCase("kovasznay", {120: {"u": 1e-3, "p": 1e-2}})
    rows = [
        rows_of([record("kovasznay", 0, {"u": u, "v": 1.0, "p": 5e-3}, 120)], {"kovasznay": case})[0]
        for u in (9e-4, 2e-3)
    ]
    assert [row.met for row in rows] == [True, False]


def test_every_method_is_one_that_solve_takes():
    for method, settings in METHODS.items():
        if method != "solve":
            optimizer_from_config(settings["optimizer"])


OPTIONS = {"goals": True, "budgets": [60], "seeds": 2, "methods": ["solve"], "page": None, "only_table": False}


def test_a_run_is_made_once_and_a_missed_goal_is_told_by_the_exit_code_and_with_its_curve(
    tmp_path, monkeypatch, capsys
):
    made = []

    def measured(run, picture):
        made.append((run, picture))
        curve = [[float(i), 10.0**-i] for i in range(12)]
        return record(run.case, run.seed, {"u": 1e-3}, run.budget, curve=curve)

    monkeypatch.setattr(bench_accuracy, "_measured", measured)
    options = OPTIONS | {"results": str(tmp_path)}
    assert bench_accuracy.accuracy_verb(["helmholtz"], as_json=False, **options) == Exit.MISSED
    told = capsys.readouterr()
    assert "[2/2] helmholtz solve 60 s seed 1: u 1.0e-03 in 50.0 s" in told.err
    assert (
        "helmholtz, solve, 60 s missed its goal:\n  seed 0: finished. all steps done\n    loss 1.0e+00 at 0 s, "
        in told.out
    )
    assert "1.0e-11 at 11 s" in told.out
    assert "SPRING, 540 s on a GPU" in told.out
    assert bench_accuracy.accuracy_verb(["helmholtz"], as_json=True, **options) == Exit.MISSED
    assert [run.seed for run, _ in made] == [0, 1]
    assert [picture for _, picture in made] == [tmp_path / "helmholtz" / "solve-60s-seed0.png", None]
    (row,) = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (row["median"], row["goal"], row["met"]) == ({"": 1e-3}, 5e-7, False)
    assert row["classical"] == list(problems.get("helmholtz").INFO.classical)
    path = Run("helmholtz", "solve", 60, 1).path(tmp_path)
    assert json.loads(path.read_text())["seed"] == 1
    assert len(read_records(tmp_path, ["helmholtz"])) == 2
    with pytest.raises(UsageError, match="--methods adm: no method is called so; did you mean 'adam'"):
        bench_accuracy.accuracy_verb([], as_json=False, **(options | {"methods": ["adm"]}))


def test_a_stopped_sweep_goes_on_where_it_was(tmp_path, monkeypatch):
    made, budgets = [], OPTIONS | {"results": str(tmp_path), "as_json": False, "goals": False, "budgets": []}

    def measured(run, picture):
        if len(made) == 3 and stops:
            raise KeyboardInterrupt
        made.append((run.case, run.seed, run.budget))
        return record(run.case, run.seed, {"u": 1e-15}, run.budget)

    monkeypatch.setattr(bench_accuracy, "_measured", measured)
    stops = True
    with pytest.raises(KeyboardInterrupt):
        bench_accuracy.accuracy_verb(["poisson_2d", "heat_1d"], **budgets)
    stops = False
    assert bench_accuracy.accuracy_verb(["poisson_2d", "heat_1d"], **budgets) == Exit.OK
    cases = ["poisson_2d", "poisson_2d-f4", "heat_1d"]
    assert made == [(case, seed, 120) for seed in (0, 1) for case in cases]


def test_a_process_that_fails_is_a_record_that_says_why(tmp_path):
    found = bench_accuracy._measured(Run("no_such_case", "solve", 1, 0), None)
    assert found["status"] == "failed"
    assert found["stop_reason"].startswith("phijax: ") or "`phijax list` shows them all" in found["stop_reason"]
    assert found["errors"] == {}


def test_a_measured_run_holds_the_errors_the_choice_and_the_curve():
    run = Run("poisson_2d", "solve", 600, 0)  # it ends long before, on a machine that is busy too
    found = record_of(run, solved(run))
    assert found["errors"]["u"] < 1e-12
    assert found["status"] == "finished"
    assert any("random features" in reason for reason in found["choice"])
    assert [loss < 1e-20 for _, loss in found["curve"]] == [False, True]
    json.dumps(found)


def test_errors_are_relative_for_parameters_and_curves_are_thinned():
    class Known:
        def parameter(self, name):
            return {"k": 2.0}.get(name)

    solution = SimpleNamespace(
        parameters={"k": 2.1, "unknown": 1.0},
        problem=SimpleNamespace(reference=Known()),
        history=SimpleNamespace(records=[{"seconds": float(i), "total": 1.23456} for i in range(500)]),
        errors=lambda: {"u": {"relative_l2": 0.1, "max": 1.0}},
    )
    assert errors_of(solution) == {"u": 0.1, "k": pytest.approx(0.05)}
    assert len(curve_of(solution)) <= 60
    assert curve_of(solution)[0] == [0.0, 1.23]
