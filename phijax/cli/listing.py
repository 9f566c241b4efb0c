"""`phijax list`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from phijax import problems
from phijax.cli.errors import Exit, UsageError
from phijax.cli.source import Source, find
from phijax.cli.tables import table
from phijax.evaluation.files import jsonable
from phijax.formulation.printing import equation_text


def list_verb(as_json: bool) -> int:
    """Prints a line, or a JSON object, for each problem; what other packages add and cannot be used is told beside it."""
    entries, faults = [], problems.clashes()
    for name in problems.names():
        try:
            entries.append(entry(find(name)))
        except UsageError as error:  # of another package: it is named, and the others are listed
            faults.append(str(error))
    for fault in faults:
        print(f"phijax: warning: {fault}", file=sys.stderr)
    if as_json:
        print(json.dumps(jsonable(entries), ensure_ascii=False))
        return Exit.OK
    rows = [("problem", "equations", "constants", "reference", "its error", "target")]
    for e in entries:
        constants = ", ".join(f"{name}={value}" for name, value in e["constants"].items())
        error = f"{e['reference_error']:.0e}" if e["reference_error"] else ""
        equations = "; ".join(e["equations"])
        rows.append((e["name"], equations, constants, e["reference"], error, _target_text(e["target"])))
    print(table(rows, widest=72))
    return Exit.OK


def entry(source: Source) -> dict[str, Any]:
    """What is said of one problem."""
    problem = source.problem({})
    reference, info = problem.reference, source.module.INFO
    closed = reference is not None and reference.solver is None and reference.source == "closed form"
    return {
        "name": source.name,
        "package": problems.package_of(source.name),
        "fields": list(problem.fields),
        "parameters": list(problem.parameters),
        "equations": [equation_text(t) for c in problem.constraints.values() if c.on_domain for t in c.terms],
        "constants": {name: _plain(value) for name, value in source.constants.items()},
        "reference": "none" if reference is None else "closed" if closed else reference.source,
        "reference_error": None if reference is None else float(reference.error),
        "target": dict(info.target) if isinstance(info.target, Mapping) else info.target,
        "published": info.published,
        "classical": info.classical,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)


def _target_text(target: Any) -> str:
    if isinstance(target, dict):
        return ", ".join(f"{name} {value:.0e}" for name, value in target.items())
    return f"{target:.0e}"
