"""Finding a problem by name, built-in or of another package, and what is said about it beside its mathematics."""

import difflib
import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType

GROUP = "phijax.problems"  # of entry points: `name = "package.module"`
OWN = "phijax"

Errors = float | Mapping[str, float]  # one for all fields, or by field or parameter


@dataclass(frozen=True)
class Info:
    """What a problem is measured against; errors are relative, of fields in L2.

    target: to be reached in two minutes on two CPU cores. published: the best published error, and where it stands.
    classical: error, CPU seconds on one core and method of a classical solver. None where there is no such figure.
    """

    target: Errors
    published: tuple[Errors, str] | None = None
    classical: tuple[Errors, float, str] | None = None


class ProblemError(ImportError):
    """A problem of another package that cannot be used; the message names the package and says why."""


def built_in() -> list[str]:
    """Names of the problems that come with this package, in alphabetical order."""
    import phijax.problems as package

    found = pkgutil.iter_modules(package.__path__)
    return sorted({module.name for module in found if not module.ispkg and not module.name.startswith("_")})


def names() -> list[str]:
    """Names of all problems, in alphabetical order: the built-in ones, and those that installed packages add."""
    return sorted({*built_in(), *_added()[0]})


def package_of(name: str) -> str:
    """The distribution that a problem comes with."""
    return OWN if name in built_in() else _distribution(_added()[0][name])


def clashes() -> list[str]:
    """A sentence for each name that another package gives to a problem and cannot have."""
    return _added()[1]


def get(name: str) -> ModuleType:
    """The file of a problem: `problem(**constants)` makes its declaration, `INFO` is its `Info`.

    Raises KeyError with the nearest name where there is no such problem, ProblemError where another package's module
    cannot be imported, or lacks one of the two.
    """
    if name in built_in():
        return importlib.import_module(f"phijax.problems.{name}")
    added, _ = _added()
    if name in added:
        return _loaded(added[name])
    known = names()
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}."
    raise KeyError(f"No built-in problem is called {name!r}; {hint} `phijax list` shows them all.")


def _added() -> tuple[dict[str, EntryPoint], list[str]]:
    """({name: entry point} of other packages, sentences of those that clash). Nothing is imported."""
    together: dict[str, dict[str, EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        together.setdefault(entry.name, {})[_distribution(entry)] = entry
    own, clear, told = built_in(), {}, []
    for name, by_package in sorted(together.items()):
        packages = " and ".join(sorted(by_package))
        if name in own:
            told.append(f"{packages} adds a problem {name!r}, which is built in; the built-in one is taken. {_RENAME}")
        elif len(by_package) > 1:
            told.append(f"{packages} both add a problem {name!r}; neither is taken. {_RENAME}")
        else:
            (clear[name],) = by_package.values()
    return clear, told


_RENAME = f'Give the entry of the group "{GROUP}" another name.'


def _distribution(entry: EntryPoint) -> str:
    return "an unknown package" if entry.dist is None else entry.dist.name


def _loaded(entry: EntryPoint) -> ModuleType:
    who = f"the problem {entry.name!r} of the package {_distribution(entry)}"
    try:
        module = entry.load()
    except Exception as error:  # whatever the other package's own code raises
        raise ProblemError(f"{who} cannot be used: {type(error).__name__}: {error}. Mend {entry.module}.") from error
    if not callable(getattr(module, "problem", None)):
        raise ProblemError(f"{who} cannot be used: {entry.value} has no function `problem(**constants)`; add it.")
    if not isinstance(getattr(module, "INFO", None), Info):
        raise ProblemError(f"{who} cannot be used: {entry.value} has no `INFO = Info(target=...)`; add it.")
    return module
