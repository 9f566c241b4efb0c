"""The accuracy benchmark: what counts, what records say together, and that a run is made once."""

import json
import math
from types import SimpleNamespace

import pytest

from phijax.bench.accuracy import Run, curve_of, errors_of, measure, reached, read_records, rows_of
from phijax.bench.accuracy_cases import CASES, METHODS, cases_of
from phijax.cli import bench_accuracy
from phijax.cli.errors import Exit, UsageError
from phijax.optimizers import optimizer_from_config


def record(case, seed, errors, budget=60, method="solve", status="finished", wall=50.0):
    return {
        "case": case,
        "method": method,
        "budget": budget,
        "seed": seed,
        "errors": errors,
        "status": status,
        "stop_reason": "all steps done",
        "wall": wall,
    }


def test_a_case_has_its_variants_by_the_name_of_its_problem_and_itself_by_its_own():
    assert list(cases_of(["poisson_2d"])) == ["poisson_2d", "poisson_2d-f4"]
    assert list(cases_of(["poisson_2d-f4"])) == ["poisson_2d-f4"]
    assert len(cases_of([])) == 14
    with pytest.raises(ValueError, match="'burger' is no case of the accuracy benchmark; did you mean 'burgers'"):
        cases_of(["burger"])


def test_the_worst_field_counts_and_those_that_are_not_asked_for_do_not():
    assert reached(CASES["kovasznay"], record("kovasznay", 0, {"u": 1e-8, "v": 3e-7, "p": 1e-7})) == {"": 3e-7}
    assert reached(CASES["cavity"], record("cavity", 0, {"u": 1e-3, "v": 2e-3, "p": 0.1})) == {"": 2e-3}
    inverse = {"u": 1e-5, "lambda1": 1e-4, "lambda2": 2e-3}
    assert reached(CASES["burgers_inverse"], record("burgers_inverse", 0, inverse)) == {
        "lambda1": 1e-4,
        "lambda2": 2e-3,
    }


def test_a_row_is_the_median_of_its_seeds_and_a_failed_run_counts_as_infinite():
    records = [record("burgers", seed, {"u": error}) for seed, error in enumerate([1e-6, 2e-6, 9e-6])]
    (row,) = rows_of(records)
    assert (row.median, row.worst, row.seeds, row.goal, row.met) == ({"": 2e-6}, {"": 9e-6}, 3, 5e-6, True)
    (row,) = rows_of([*records[1:], record("burgers", 0, {}, status="failed")])
    assert (row.median[""], row.worst[""], row.met) == (9e-6, math.inf, False)


def test_the_goal_is_that_of_the_longest_budget_within_the_runs_own():
    rows = rows_of(record("burgers", 0, {"u": 1e-6}, budget=budget) for budget in (20, 60, 300, 600))
    assert [row.goal for row in rows] == [5e-6, 5e-6, 5e-6, 3e-7]


def test_every_method_is_one_that_solve_takes():
    for method, settings in METHODS.items():
        if method != "solve":
            optimizer_from_config(settings["optimizer"])


def test_a_run_is_made_once_and_a_missed_goal_is_told_by_the_exit_code(tmp_path, monkeypatch, capsys):
    made = []

    def measured(run):
        made.append(run)
        return record(run.case, run.seed, {"u": 1e-9 if run.case == "poisson_2d" else 1e-3}, run.budget)

    monkeypatch.setattr(bench_accuracy, "_measured", measured)
    options = {"budgets": [60], "seeds": 2, "methods": ["solve"], "results": str(tmp_path), "only_table": False}
    assert bench_accuracy.accuracy_verb(["helmholtz"], as_json=False, **options) == Exit.MISSED
    assert bench_accuracy.accuracy_verb(["helmholtz"], as_json=True, **options) == Exit.MISSED
    assert [run.seed for run in made] == [0, 1]
    told = capsys.readouterr().out
    assert "missed" in told
    (row,) = json.loads(told.splitlines()[-1])
    assert (row["median"], row["goal"], row["met"]) == ({"": 1e-3}, 5e-7, False)
    path = Run("helmholtz", "solve", 60, 1).path(tmp_path)
    assert json.loads(path.read_text())["seed"] == 1
    assert len(read_records(tmp_path)) == 2
    with pytest.raises(UsageError, match="--methods adm: no method is called so; did you mean 'adam'"):
        bench_accuracy.accuracy_verb([], as_json=False, **(options | {"methods": ["adm"]}))


def test_a_measured_run_holds_the_errors_the_choice_and_the_curve():
    found = measure(Run("poisson_2d", "solve", 40, 0))
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
