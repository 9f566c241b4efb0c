"""The report of a run as one HTML file that needs nothing else: mathematics, settings, tables and figures."""

from __future__ import annotations

import base64
import io
import json
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from phijax.evaluation.ensemble_report import EnsembleReport
from phijax.evaluation.environment import environment
from phijax.evaluation.files import write_text
from phijax.evaluation.mathml import problem_html
from phijax.evaluation.report import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from phijax.evaluation.ensemble import Ensemble
    from phijax.evaluation.solution import Solution

DPI = 100
STYLE = """
.phijax { font: 15px/1.5 system-ui, sans-serif; color: #1c2733; max-width: 72rem; margin: 0 auto; padding: 1rem 1.5rem; }
.phijax h1 { font-size: 1.6rem; margin: 0.3rem 0; } .phijax h2 { font-size: 1.15rem; margin: 1.8rem 0 0.4rem;
border-bottom: 1px solid #d5dde6; } .phijax table { border-collapse: collapse; margin: 0.6rem 0; }
.phijax th, .phijax td { text-align: left; padding: 0.2rem 0.9rem 0.2rem 0; vertical-align: top; font-weight: normal; }
.phijax th { color: #51606f; } .phijax thead th { border-bottom: 1px solid #d5dde6; font-size: 0.9em; }
.phijax td.n { font-variant-numeric: tabular-nums; white-space: nowrap; } .phijax .problem td { padding-top: 0.35rem; }
.phijax ul.cautions { background: #fff6e5; border-left: 4px solid #d9822b; padding: 0.6rem 1rem 0.6rem 2rem; }
.phijax img { max-width: 100%; height: auto; } .phijax pre { background: #f4f6f9; padding: 0.7rem; overflow-x: auto;
font-size: 0.85em; } .phijax .quiet { color: #6b7988; font-size: 0.9em; }
"""
PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title><style>body { margin: 0; background: white; }$style</style></head>
<body><div class="phijax">
$body
</div></body></html>
""")


def write_report(solution: Solution | Ensemble, path: str | Path, drawn: Mapping[str, Figure] | None = None) -> Path:
    """Writes the report and gives its path. drawn: figures by title, made here unless given."""
    target = Path(path)
    target = target if target.suffix else target.with_suffix(".html")
    write_text(target, page(solution, drawn))
    return target


def report_file(solution: Solution | Ensemble, path: str | Path | None) -> Path:
    """Writes the report, into the run's folder where no path is given."""
    if path is None and solution.folder is None:
        raise ValueError("the run has no folder for its report; give a path, as in report_html('report.html').")
    return write_report(solution, Path(solution.folder or "") / "report.html" if path is None else path)


def page(solution: Solution | Ensemble, drawn: Mapping[str, Figure] | None = None) -> str:
    """The whole file as text."""
    report = solution.make_report()
    settings, reasons = _settings(solution)
    pictures = figures(solution) if drawn is None else drawn
    parts = [
        _heading(solution),
        _section("Problem", problem_html(solution.problem)),
        _cautions(report),
        _section("Run", _pairs(report.facts)),
        _section("Results", _tables(report)),
        *(_section(title, _image(figure, title)) for title, figure in pictures.items()),
        _section("What was chosen, and why", _list(report.reasons or reasons)),
        _section("Settings", settings),
        _section("Versions", _versions(solution)),
    ]
    return PAGE.substitute(title=escape(solution.problem.name), style=STYLE, body="\n".join(filter(None, parts)))


def fragment(solution: Solution | Ensemble) -> str:
    """What a notebook shows of a solution: problem, results, cautions and the fields."""
    report = solution.make_report()
    picture = _drawn({"Fields": solution.plot}).get("Fields")
    parts = [_heading(solution), problem_html(solution.problem), _cautions(report), _tables(report)]
    parts += [] if picture is None else [_image(picture, "Fields")]
    return f'<style>{STYLE}</style><div class="phijax">{"".join(parts)}</div>'


def figures(solution: Solution | Ensemble) -> dict[str, Figure]:
    """The pictures of a run by title; one that cannot be drawn is left out, with a warning."""
    return _drawn(solution.pictures())


def _drawn(makers: Mapping[str, Callable[[], Figure]]) -> dict[str, Figure]:
    found = {}
    for title, make in makers.items():
        try:
            found[title] = make()
        except Exception as error:  # a run that has ended is told of, whatever a picture of it lacks
            warnings.warn(f"the picture {title!r} was left out of the report: {error}", UserWarning, stacklevel=3)
    return found


def _heading(solution: Solution | Ensemble) -> str:
    problem = solution.problem
    about = f'<p class="quiet">{escape(solution.about)}; fingerprint {problem.fingerprint[:12]}</p>'
    return f"<h1>{escape(problem.name)}</h1>{about}"


def _section(title: str, body: str) -> str:
    return f"<h2>{escape(title)}</h2>{body}" if body else ""


def _cautions(report: Report | EnsembleReport) -> str:
    return _list(report.cautions, "cautions") if report.cautions else ""


def _list(sentences: Iterable[str], kind: str = "") -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f'<ul class="{kind}">{items}</ul>' if items else ""


def _pairs(facts: Mapping[str, Any]) -> str:
    return (
        "<table>"
        + "".join(f"<tr><th>{escape(n)}</th><td>{escape(str(v))}</td></tr>" for n, v in facts.items())
        + "</table>"
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns that are empty in every row are left out."""
    rows = list(rows)
    kept = [i for i in range(len(head)) if any(row[i] for row in rows)]
    top = "".join(f"<th>{escape(head[i])}</th>" for i in kept)
    body = "".join("<tr>" + "".join(f'<td class="n">{escape(row[i])}</td>' for i in kept) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>" if rows else ""


def _place(where: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in where.items())


def _tables(report: Report | EnsembleReport) -> str:
    if isinstance(report, EnsembleReport):
        return "".join(_table(head, rows) for head, rows in report.tables)
    errors = [
        (
            name,
            "" if math.isnan(e.relative_l2) else f"{e.relative_l2:.2e}",
            f"{e.max:.2e}",
            _place(e.where),
            str(e.points),
        )
        for name, e in report.errors.items()
    ]
    residuals = [
        (
            r.term + (" (exact)" if r.exact else ""),
            f"{r.rms:.2e}",
            "" if r.relative is None else f"{r.relative:.1e}",
            f"{r.max:.2e}",
            _place(r.where),
            str(r.points),
            f"{report.trained[r.term]:.2e}" if r.term in report.trained else "",
        )
        for r in report.residuals
    ]
    parameters = []
    for name, p in report.parameters.items():
        spread = "" if p.standard_error is None else f"{p.standard_error:.1e}" if p.determined else "undetermined"
        known = ("", "") if p.reference is None else (f"{p.reference:.8g}", f"{p.relative_error or 0:.1e}")
        parameters.append((name, f"{p.value:.8g}", spread, *known))
    source = f"error against {report.reference or 'the reference'}"
    return "".join(
        [
            _table((source, "relative L2", "largest", "at", "points"), errors),
            _table(("unknown constant", "value", "standard error", "reference", "relative error"), parameters),
            _table(
                ("residual on fresh points", "rms", "relative", "largest", "at", "points", "trained rms"), residuals
            ),
        ]
    )


def _image(figure: Figure, title: str) -> str:
    held = io.BytesIO()
    figure.savefig(held, format="png", dpi=DPI)
    data = base64.b64encode(held.getvalue()).decode()
    width = round(figure.get_figwidth() * DPI)
    return f'<img alt="{escape(title)}" width="{width}" src="data:image/png;base64,{data}">'


def _settings(solution: Solution | Ensemble) -> tuple[str, list[str]]:
    """The run's settings, and the sentences that say why; out of its folder, or of what was chosen."""
    from phijax.evaluation.run_directory import CONFIG, RunDirectory, RunDirectoryError, config_text

    if solution.folder is not None and (solution.folder / CONFIG).is_file():
        try:
            config = RunDirectory(solution.folder).config
        except RunDirectoryError:
            return "", []
        reasons = [str(reason) for reason in config.pop("reasons", [])]
        return f"<pre>{escape(config_text(config))}</pre>", reasons
    if solution.choice is None:
        return "", []
    names = ("network", "points", "optimizer", "balancer", "max_steps")
    return _pairs({name: getattr(solution.choice, name) for name in names}), list(solution.choice.reasons)


def _versions(solution: Solution | Ensemble) -> str:
    from phijax.evaluation.run_directory import ENVIRONMENT

    found: dict[str, Any] | None = None
    if solution.folder is not None and (solution.folder / ENVIRONMENT).is_file():
        try:
            found = json.loads((solution.folder / ENVIRONMENT).read_text(encoding="utf-8"))
        except ValueError:
            found = None
    whole = found or environment(solution.precision)
    versions = whole.get("versions") or {}
    rows = {name: number for name, number in versions.items() if number}
    rows |= {name: whole[name] for name in ("platform", "backend", "devices", "determinism") if name in whole}
    return _pairs({name: ", ".join(v) if isinstance(v, list) else v for name, v in rows.items()})
