"""The report: what is said of a run, and what is never said."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from sympy import Eq, cos, sin, sqrt

import phijax as phi
from phijax.training import History

t = phi.time("t")
y = phi.field("y", t)
k = phi.parameter("k", initial=1.0)
span = phi.Interval(t, 0, 10)


def oscillator(reference=None, **more):
    return phi.Problem(
        span,
        {
            "motion": Eq(y.diff(t, 2) / 2 + y, 0),
            "place": phi.on(span.at(t=0), Eq(y, 1)),
            "speed": phi.on(span.at(t=0), Eq(y.diff(t), 0)),
        }
        | more,
        name="oscillator",
        reference=reference,
    )


def record(**losses):
    ones = dict.fromkeys(losses, 1.0)
    return {"step": 100, "total": sum(losses.values()), "losses": losses, "weights": ones, "weighted": losses}


SOLVED = cos(sqrt(2) * t)


def test_report_is_printed_and_returned(exact_solution, capsys):
    run = {"seed": 7, "status": "stopped", "stop_reason": "the loss stalls (step 12)", "steps": 12}
    solution = exact_solution(oscillator({y: SOLVED}), {y: SOLVED}, **run, seconds={"compile": 1.5, "train": 2.25})
    report = solution.report()
    text = capsys.readouterr().out
    assert text == f"{report}\n"
    assert f"oscillator  ({solution.problem.fingerprint[:12]})" in text
    for words in ("stopped: the loss stalls (step 12)", "seed         7", "compile 1.5, train 2.2", "float64"):
        assert words in text
    assert "equal seeds give equal bits here" in text  # what the determinism flags come to
    lines = [line.split() for line in text.splitlines()]
    assert [line[0] for line in lines if line[:1] and line[0] in solution.problem.constraints] == [
        "motion",
        "place",
        "speed",
    ]
    assert report.cautions == []


def test_a_small_training_loss_is_no_success(exact_solution):
    flat = exact_solution(
        oscillator(), {y: 1 + 0 * t}, status="finished", history=History([record(motion=1e-16, place=1e-18, speed=0.0)])
    )
    report = flat.make_report()
    assert any("motion: on fresh points the residual is 1" in caution for caution in report.cautions)
    assert any("motion: the residual is 100% of the equation's own terms" in caution for caution in report.cautions)
    assert any("no reference solution is known" in caution for caution in report.cautions)
    assert "converged" not in str(report)
    assert "solved" not in str(report)
    (row,) = [line.split() for line in str(report).splitlines() if line.split()[:1] == ["motion"]]
    assert (row[1], row[-1]) == ("1.00e+00", "1.00e-08")  # on fresh points, and trained
    assert flat.summary()["residuals"] == pytest.approx({"motion": 1.0, "place": 0.0, "speed": 0.0})


def test_trained_and_fresh_residuals_stand_side_by_side(exact_solution):
    history = History([record(motion=4e-4, place=1e-6, speed=0.0)])
    report = exact_solution(oscillator(), {y: SOLVED}, history=history).make_report()
    assert report.trained == pytest.approx({"motion": 2e-2, "place": 1e-3, "speed": 0.0})
    assert "trained rms" in str(report)


def test_the_parts_of_a_complex_term_count_together(exact_solution):
    h = phi.field("h", t, complex=True)
    problem = phi.Problem(
        span,
        {
            "two": {"a": Eq(h.diff(t), h), "b": Eq(h.diff(t, 2), h)},
            "start": phi.on(span.at(t=0), Eq(h, 1), Eq(h.diff(t), 1)),
        },
    )
    losses = {"two/a_real": 9.0, "two/a_imag": 16.0, "two/b_real": 0.0, "two/b_imag": 1.0}
    report = exact_solution(problem, {h: 1 + 0 * t}, history=History([record(**losses)])).make_report()
    assert report.trained == pytest.approx({"two/a": 5.0, "two/b": 1.0})


def test_exact_constraints_are_marked(untrained_solution):
    problem = phi.Problem(span, {"pde": Eq(y.diff(t), y), "start": phi.on(span.at(t=0), Eq(y, 1), exact=True)})
    text = str(untrained_solution(problem).make_report())
    (line,) = [line for line in text.splitlines() if "start" in line]
    assert line.split()[:3] == ["start", "(exact)", "0.00e+00"]


def test_parameters_are_shown_with_many_digits(exact_solution):
    problem = oscillator({k: 0.125}, seen=phi.on(span.at(t=1), Eq(y, k)))
    solution = exact_solution(problem, {y: SOLVED, k: 0.1234567891})
    text = str(solution.make_report())
    assert "0.1234567891" in text
    assert "1.23e-02" in text  # its relative error
    assert solution.parameters == {"k": pytest.approx(0.1234567891, abs=1e-15)}


def test_an_error_at_the_references_limit_is_called_so(exact_solution):
    reference = phi.Reference({y: SOLVED}, error=1e-3, source="a table")
    solution = exact_solution(oscillator(reference), {y: 1.002 * SOLVED})
    text = str(solution.make_report())
    assert "error against a table" in text
    assert "at the reference's limit" in text


def test_summary_has_the_documented_fields(exact_solution):
    solution = exact_solution(
        oscillator({y: SOLVED}), {y: SOLVED + 1e-3 * sin(t)}, seed=np.int64(3), status="finished", steps=5
    )
    summary = solution.summary()
    names = "problem fingerprint seed precision status stop_reason steps seconds errors residuals parameters cautions"
    assert list(summary) == names.split()
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert list(summary["seconds"]) == ["compile", "train", "evaluate", "total"]
    assert summary["seconds"]["train"] is None
    assert summary["seconds"]["total"] == summary["seconds"]["evaluate"] > 0
    assert summary["seed"] == 3
    assert list(summary["residuals"]) == ["motion", "place", "speed"]
    assert set(summary["errors"]["y"]) == {"relative_l2", "max"}
    assert summary["errors"]["y"]["max"] == pytest.approx(1e-3, rel=1e-5)


def test_what_was_chosen_by_rule_is_said(exact_solution):
    solution = exact_solution(oscillator(), {y: SOLVED})
    solution.choice = SimpleNamespace(reasons=("Adam: too many parameters",))
    assert "chosen by rule\n  - Adam: too many parameters" in str(solution.make_report())


def test_weighted_sizes_at_step_0_are_shown_and_told_where_they_lie_far_apart(exact_solution):
    first = record(motion=1e-8, place=1.0, speed=0.0) | {"step": 0}
    first["weighted"] = first["losses"] | {"place": 100.0}
    report = exact_solution(oscillator(), {y: SOLVED}, history=History([first])).make_report()
    assert report.initial == pytest.approx({"motion": 1e-4, "place": 10.0, "speed": 0.0})
    assert "weighted, step 0" in str(report)
    (said,) = [caution for caution in report.cautions if "decades" in caution]
    assert said.startswith("place and motion: at step 0 their weighted sizes are 1.0e+01 and 1.0e-04, more than four")
    assert "larger weight for motion" in said
    first["weighted"]["motion"] = 1e-5
    assert not any(
        "decades" in c
        for c in exact_solution(oscillator(), {y: SOLVED}, history=History([first])).make_report().cautions
    )
