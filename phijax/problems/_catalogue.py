"""Finding a built-in problem by name, and what is said about it beside its mathematics."""

import difflib
import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

Errors = float | Mapping[str, float]  # one for all fields, or by field or parameter


@dataclass(frozen=True)
class Info:
    """What a built-in problem is measured against; errors are relative, of fields in L2.

    target: to be reached in two minutes on two CPU cores. published: the best published error, and where it stands.
    classical: error, CPU seconds on one core and method of a classical solver. None where there is no such figure.
    """

    target: Errors
    published: tuple[Errors, str] | None = None
    classical: tuple[Errors, float, str] | None = None


def names() -> list[str]:
    """Names of the built-in problems, in alphabetical order."""
    import phijax.problems as package

    found = pkgutil.iter_modules(package.__path__)
    return sorted({module.name for module in found if not module.ispkg and not module.name.startswith("_")})


def get(name: str) -> ModuleType:
    """The file of a built-in problem: `problem(**constants)` makes its declaration, `INFO` is its `Info`.

    Raises KeyError with the nearest name where there is no such problem.
    """
    known = names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}."
        raise KeyError(f"No built-in problem is called {name!r}; {hint} `phijax list` shows them all.")
    return importlib.import_module(f"phijax.problems.{name}")
