"""`phijax check`."""

from __future__ import annotations

from phijax.cli.errors import Exit, UsageError
from phijax.cli.process import configure_jax
from phijax.cli.settings import parse
from phijax.cli.source import find
from phijax.cli.tables import table


def check_verb(target: str, assignments: list[str], benchmark: bool) -> int:
    """Checks a declaration, and where asked for what a problem of the benchmark owes; faults end the command."""
    constants, settings = parse(assignments)
    if settings:
        raise UsageError(f"check takes constants alone; {next(iter(settings))}.* is a run setting.")
    source = find(target)
    problem = source.problem(constants)
    print(problem)
    if not benchmark:
        count = len(problem.warnings)
        print(f"\nno fault{f', {count} warning' if count else ''}{'s' if count > 1 else ''}")
        return Exit.OK
    configure_jax("float64")
    from phijax.bench.problem_rules import judge

    verdict = judge(source.module, source.make, {**source.constants, **source.checked(constants)})
    if verdict.left:
        rows = [(term.term, f"{term.value:.1e}", f"{term.limit:.0e}") for term in verdict.left]
        print(f"\n{table([('term', 'left by the reference', 'allowed'), *rows])}")
    for remark in verdict.remarks:
        print(f"remark: {remark}")
    if verdict.faults:
        count = "a fault" if len(verdict.faults) == 1 else f"{len(verdict.faults)} faults"
        listed = "\n".join(f"  {number}. {fault}" for number, fault in enumerate(verdict.faults, 1))
        raise UsageError(f"{source.name} has {count} as a problem of the benchmark:\n{listed}")
    print("\nit holds the rules of the benchmark")
    return Exit.OK
