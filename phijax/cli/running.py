"""`phijax run`, `resume`, `plot` and `report`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from phijax._devices import devices_of
from phijax.cli.errors import Exit, UsageError
from phijax.cli.placing import Place, tell_folder
from phijax.cli.process import configure_jax
from phijax.cli.run_settings import given_settings
from phijax.cli.settings import parse
from phijax.cli.source import find
from phijax.evaluation import Dated, Ensemble, RunDirectory, Solution, load_run
from phijax.evaluation.run_directory import REPORT
from phijax.solve import resume, solve
from phijax.training.schedule import OUT_OF_TIME


def run_verb(
    target: str,
    assignments: list[str],
    *,
    seed: int,
    seeds: int | None,
    precision: str | None,
    max_seconds: float | None,
    run_dir: str | None,
    as_json: bool,
    cache: bool,
    place: Place,
) -> int:
    """Solves a problem, prints the report and fills the run's folder."""
    _check_seconds(max_seconds)
    if seeds is not None and seeds < 2:
        raise UsageError(f"--seeds {seeds}: give at least 2, for a spread; --seed is for a single run.")
    constants, settings = parse(assignments)
    with place.taken(run_dir) as devices:
        source = find(target)
        configure_jax(precision, cache)
        problem = source.problem(constants)
        given = given_settings(problem, settings)
        folder: Any = Dated() if run_dir is None else run_dir
        if place.processes > 1 and devices_of(devices).leads:
            folder = Dated().reserved(problem.name) if run_dir is None else Path(run_dir).absolute()
            tell_folder(folder)
        start: Any = {"seed": seed} if seeds is None else {"seeds": range(seed, seed + seeds)}
        solution = solve(
            problem, **start, max_seconds=max_seconds, precision=precision, run_dir=folder, devices=devices, **given
        )
        return _told(solution, as_json)


def resume_verb(run_dir: str, *, max_seconds: float | None, as_json: bool, cache: bool, place: Place) -> int:
    """Goes on with a run; of one that is over, prints what it reached."""
    _check_seconds(max_seconds)
    run = RunDirectory.open(run_dir)
    summary = run.summary
    if summary is not None and _is_over(summary, max_seconds):
        report = run.path / REPORT
        print(report.read_text(encoding="utf-8") if report.is_file() else f"{run.path}: {summary['status']}")
        if as_json:
            print(json.dumps(summary, ensure_ascii=False))
        return Exit.DIVERGED if summary["status"] == "diverged" else Exit.OK
    recorded = run.config.get("devices")
    if place.devices is None and place.processes == 1:
        place = replace(place, devices=recorded)
    with place.taken(str(run.path)) as devices:
        configure_jax(run.config.get("precision"), cache)
        if place.processes > 1 and devices_of(devices).leads:
            tell_folder(run.path)
        return _told(resume(run.path, max_seconds=max_seconds, devices=devices), as_json)


def plot_verb(run_dir: str) -> int:
    """Draws a run's pictures into its folder."""
    run = RunDirectory.open(run_dir)
    for picture in run.write_plots(load_run(run.path)):
        print(picture)
    return Exit.OK


def report_verb(run_dir: str, out: str | None) -> int:
    """Writes a run's report as one HTML file."""
    print(load_run(run_dir).report_html(out))
    return Exit.OK


def _is_over(summary: dict[str, Any], max_seconds: float | None) -> bool:
    """Whether there is nothing to go on with: more time goes on with a run that the clock ended."""
    if summary["status"] == "interrupted":
        return False
    return max_seconds is None or OUT_OF_TIME not in summary["stop_reason"]


def _told(solution: Solution | Ensemble, as_json: bool) -> int:
    """Prints the report and where the pictures are, and gives the exit code; of several processes the first does."""
    if solution.folder is None:
        return _code_of(solution)
    print(solution.make_report(), flush=True)
    run = RunDirectory.open(str(solution.folder))
    if solution.status == "interrupted":
        print(f"\ngo on with: phijax resume {run.path}")
    else:
        print(f"\n{run.path}", *(f"  {picture.relative_to(run.path)}" for picture in run.pictures), sep="\n")
    if as_json:
        print(json.dumps(run.summary, ensure_ascii=False))
    return _code_of(solution)


def _code_of(solution: Solution | Ensemble) -> int:
    if solution.status == "diverged":
        return Exit.DIVERGED
    if solution.status == "interrupted":
        return Exit.TERMINATED if "SIGTERM" in solution.stop_reason else Exit.INTERRUPTED
    return Exit.OK


def _check_seconds(max_seconds: float | None) -> None:
    if max_seconds is not None and not max_seconds > 0:
        raise UsageError(f"--max-seconds {max_seconds:g}: give a positive number of seconds.")
