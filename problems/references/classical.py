"""Classical solvers of the built-in problems, for their time and error: `python -m phijax.problems.references.classical`.

CPU seconds of one core, relative L2 error against the problem's reference; what it prints is kept in each `INFO`.
"""

import inspect
import sys
import time
from collections.abc import Callable

from phijax.problems.references import classical_evolutions, classical_inverse, classical_shapes, classical_steady
from phijax.problems.references._collocation import Measured

_MODULES = (classical_steady, classical_evolutions, classical_inverse, classical_shapes)


def solvers() -> dict[str, Callable[[], Measured]]:
    """{built-in problem: its classical solver}."""
    functions = [pair for module in _MODULES for pair in inspect.getmembers(module, inspect.isfunction)]
    public = {name: function for name, function in functions if not name.startswith("_")}
    return {name: function for name, function in public.items() if function.__annotations__.get("return") == Measured}


def main(names: list[str]) -> None:
    """Run each twice; the second is timed, with imports and caches behind it."""
    known = solvers()
    for name in names or known:
        known[name]()
        began = time.process_time()
        error, method = known[name]()
        print(f"{name}: {error}, {time.process_time() - began:.2g} s, {method}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
