"""The page of the benchmark, from the records of its runs: `phijax bench accuracy --page docs/benchmark.md`."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from phijax import problems
from phijax.bench.accuracy import Row, Run, has_failed, read_records, rows_of
from phijax.bench.accuracy_cases import DEFAULT, TWO_MINUTES, AccuracyCase
from phijax.bench.comparison import Ahead, against_classical, against_published, errors_text
from phijax.bench.pictures import loss_figure, save_small
from phijax.evaluation.errors import REFERENCE_LIMIT
from phijax.evaluation.files import write_text
from phijax.evaluation.mathml import problem_html
from phijax.formulation import Problem

IMAGES = "images/benchmark"  # beside the page

INTRODUCTION = """# Benchmark

<!-- Made by `phijax bench accuracy --page docs/benchmark.md` from the records in docs/results. Do not edit. -->

What `phi.solve` reaches by its default settings on problems whose solution is known, beside what is asked of it, the best
published figure, and what a classical solver needs for the same problem. Errors are relative, in L2 over a fine grid of the whole
domain, and those of unknown constants are relative to their values; median and worst are over the seeds. Seconds are those of a
whole process, from its start to its result, importing and compiling included; a classical solver's are CPU seconds of one core,
without its import. Every run counts: one that failed has an infinite error. How problems are checked and added is told in
[Problems of your own](own_problems.md), what `solve` chooses in [Accuracy](accuracy.md).
"""


def write_page(cases: Mapping[str, AccuracyCase], results: Path, page: Path) -> Path:
    """Writes the page with its pictures, and gives its path; what has not been run is said to be so."""
    images = page.parent / IMAGES
    images.mkdir(parents=True, exist_ok=True)
    records = [record for record in read_records(results, cases) if record["method"] == DEFAULT]
    rows = rows_of(records, cases)
    by_case = {name: [row for row in rows if row.case == name] for name in cases}
    parts = [
        INTRODUCTION,
        _made_on(records),
        *_summary(cases, by_case),
        *_who_wins(cases, rows),
        *_misses(rows, records, images),
    ]
    for name, case in cases.items():
        own = [record for record in records if record["case"] == name]
        _copy_picture(name, own, results, images)
        parts += _section(name, case, by_case[name], own, images)
    write_text(page, "\n".join(parts).rstrip() + "\n")
    return page


def _made_on(records: Sequence[Mapping[str, Any]]) -> str:
    machines = Counter(
        f"{record['cpus']} core{'s' if record['cpus'] != 1 else ''} with jax {record['versions']['jax']}"
        for record in records
        if "versions" in record  # a process that failed has told nothing
    )
    commits = sorted({record["commit"][:7] for record in records if record.get("commit")})
    told = "; ".join(f"{count} runs on {machine}" for machine, count in machines.items())
    return f"Made on: {told}. Commits: {', '.join(commits)}.\n" if told else ""


def _summary(cases: Mapping[str, AccuracyCase], by_case: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    recorded = sum(bool(rows) for rows in by_case.values())
    met = [all(row.met for row in rows) for rows in by_case.values() if rows]
    yield f"## All problems\n\n{recorded} of {len(cases)} cases have been run; {sum(met)} of these meet what is asked of them.\n"
    head = ["case", "time given", "seeds", "failed", "median", "worst", "asked", "met", "seconds"]
    yield from _table_head([*head, "best published", "classical", "its seconds"])
    for name, rows in by_case.items():
        info = cases[name].info
        beside = [
            errors_text(info.published[0]) if info.published else "",
            errors_text(info.classical[0]) if info.classical else "",
            f"{info.classical[1]:g}" if info.classical else "",
        ]
        link = f"[{name}](#{name})"
        if not rows:
            asked = errors_text(cases[name].goal(TWO_MINUTES))
            yield _line([link, "not run", "", "", "", "", asked, "", "", *beside])
        for row in rows:
            counted = [str(row.seeds), str(row.failed or "")]
            reached = [errors_text(_plain(row.median)), errors_text(_plain(row.worst)), errors_text(row.goal)]
            yield _line(
                [
                    link,
                    f"{row.budget} s",
                    *counted,
                    *reached,
                    "yes" if row.met else "**no**",
                    row.time,
                    *beside,
                ]
            )
    yield ""


def _who_wins(cases: Mapping[str, AccuracyCase], rows: Iterable[Row]) -> Iterator[str]:
    compared = {(row.case, row.budget): against_classical(row, cases[row.case].info) for row in rows}
    ahead = Counter(one.ahead for one in compared.values() if one is not None)
    yield "## Who is ahead\n"
    yield (
        f"{sum(ahead.values())} cases and times stand beside a classical solver. It has less error in less time, or the same "
        f"error in less time, in {ahead[Ahead.CLASSICAL]}; one has less error and the other takes less time in "
        f"{ahead[Ahead.EITHER]}; the network is ahead in {ahead[Ahead.NETWORK]}. What is left to networks is said in "
        f"[When to trust it](trust.md#when-to-take-another-method).\n"
    )
    alone = dict.fromkeys(name for (name, _), one in compared.items() if one is None)
    if alone:
        yield f"No classical figure stands beside {', '.join(alone)}.\n"
    for (name, budget), one in compared.items():
        if one is not None:
            yield f"- [{name}](#{name}), {budget} s: {one.sentence}"
    yield ""


def _misses(rows: Iterable[Row], records: Sequence[Mapping[str, Any]], images: Path) -> Iterator[str]:
    """Each goal that is missed, its loss drawn; pictures of misses that are none any more are removed."""
    missed = [row for row in rows if not row.met]
    drawn = {images / f"{row.case}-{row.budget}s-loss.png": row for row in missed}
    for stale in set(images.glob("*-loss.png")) - set(drawn):
        stale.unlink()
    yield "## Misses\n" if missed else "## Misses\n\nNone of what has been run.\n"
    for path, row in drawn.items():
        own = [r for r in records if (r["case"], r["budget"]) == (row.case, row.budget)]
        save_small(loss_figure(own), path)
        reached = errors_text(_plain(row.median))
        yield f"[{row.case}](#{row.case}), {row.budget} s: {reached}, where {errors_text(row.goal)} is asked.\n"
        for record in own:
            yield f"- seed {record['seed']}: {_safe(record['status'])}. {_safe(record['stop_reason'])}"
        yield f"\n![Losses of {row.case}]({IMAGES}/{path.name})\n"


def _section(
    name: str, case: AccuracyCase, rows: Sequence[Row], records: Sequence[Mapping[str, Any]], images: Path
) -> Iterator[str]:
    module = problems.get(case.problem)
    problem: Problem = module.problem(**case.constants)
    yield f"## {name}\n\n{_paragraph(module.__doc__)}\n"
    if case.constants:
        given = ", ".join(f"{key} = {value}" for key, value in case.constants.items())
        yield f"[{case.problem}](#{case.problem}) with {given}.\n"
    yield f"<div>{problem_html(problem)}</div>\n"
    reference, info = problem.reference, case.info
    if reference is not None:
        own = f", good to {reference.error:.0e}" if reference.error else ""
        yield f"Reference: {_safe(reference.source)}{own}. Asked in two minutes: {errors_text(case.goal(TWO_MINUTES))}.\n"
    if info.classical is not None:
        errors, seconds, method = info.classical
        yield f"Classical: {_safe(method)}, {errors_text(errors)} in {seconds:g} s.\n"
    if (images / f"{name}.png").exists():
        yield f"![Solution, reference and error of {name}]({IMAGES}/{name}.png)\n"
    if not rows:
        yield "Not run.\n"
        return
    yield from _runs(records, 0.0 if reference is None else reference.error)
    for row in rows:
        compared = against_classical(row, info)
        said = [compared.sentence if compared is not None else "", _safe(against_published(row, info))]
        if any(said):
            yield f"In {row.budget} s: {' '.join(filter(None, said))}\n"


def _runs(records: Sequence[Mapping[str, Any]], reference_error: float) -> Iterator[str]:
    names = list(dict.fromkeys(name for record in records for name in record["errors"]))
    yield from _table_head(["time given", "seed", *names, "seconds", "ended"])
    for record in records:
        errors = [_error(record["errors"].get(name), reference_error) for name in names]
        ended = "failed" if has_failed(record) else record["status"]
        yield _line([f"{record['budget']} s", str(record["seed"]), *errors, f"{record.get('wall') or 0:.0f}", ended])
    yield ""


def _error(error: float | None, reference_error: float) -> str:
    if error is None:
        return ""
    return f"{error:.1e}{' (at the limit of the reference)' if 0 < error < REFERENCE_LIMIT * reference_error else ''}"


def _copy_picture(name: str, records: Iterable[Mapping[str, Any]], results: Path, images: Path) -> None:
    """The picture of the longest run that has one."""
    runs = [Run(name, record["method"], record["budget"], record["seed"]) for record in records]
    drawn = [(run.budget, path) for run in runs if (path := run.picture(results)) is not None and path.exists()]
    if drawn:
        shutil.copyfile(max(drawn)[1], images / f"{name}.png")


def _plain(reached: Mapping[str, float]) -> float | Mapping[str, float]:
    return reached.get("", reached)


def _safe(text: str) -> str:
    return escape(text, quote=False)


def _paragraph(docstring: str | None) -> str:
    return _safe((docstring or "").strip().split("\n\n")[0].replace("\n", " "))


def _table_head(names: Sequence[str]) -> Iterator[str]:
    yield _line(names)
    yield _line(["---"] * len(names))


def _line(entries: Sequence[str]) -> str:
    return f"| {' | '.join(entries)} |"
