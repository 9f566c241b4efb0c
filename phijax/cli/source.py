"""Problems by name or from a user's file."""

from __future__ import annotations

import ast
import copy
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from phijax.cli.errors import UsageError
from phijax.formulation import Problem
from phijax.formulation.faults import nearest


@dataclass(frozen=True)
class Source:
    """Where a problem comes from. constants: {name: default}, what `key=value` sets. module: the file, as it was run."""

    name: str
    constants: Mapping[str, Any]
    make: Callable[..., Problem]
    module: ModuleType

    def problem(self, constants: Mapping[str, Any]) -> Problem:
        """The problem with these constants in place of the defaults, by the name of its source."""
        problem = self.make(**self.checked(constants))
        if problem.name == "problem":  # it was given no name of its own
            problem = copy.copy(problem)
            object.__setattr__(problem, "name", self.name)  # the copy is ours, and no one has seen it
        return problem

    def checked(self, constants: Mapping[str, Any]) -> dict[str, Any]:
        """The constants, each known and of the kind of its default."""
        for name in constants:
            if name not in self.constants:
                known = nearest(name, self.constants) if self.constants else "it has no constants"
                raise UsageError(
                    f"{self.name} has no constant {name!r}; {known}. Run settings carry a dot, as in points.pde=4096."
                )
        return {name: _of_kind(name, value, self.constants[name]) for name, value in constants.items()}


def find(target: str) -> Source:
    """The problem of that name, built-in or of an installed package, or the one in a Python file."""
    path = Path(target)
    if path.suffix == ".py" or path.is_file():
        return from_file(path)
    from phijax import problems

    try:
        module = problems.get(target)
    except KeyError as error:
        also = f" There is a file {target}.py here: add the ending." if path.with_suffix(".py").exists() else ""
        raise UsageError(f"{error.args[0]}{also}") from None
    except problems.ProblemError as error:
        raise UsageError(f"{error}") from error
    return Source(target, _constants(module.problem), _maker(target, module), module)


def _maker(name: str, module: ModuleType) -> Callable[..., Problem]:
    """What makes the problem; of another package's, errors are told as those of a user's file are."""
    from phijax import problems

    if name in problems.built_in():
        return module.problem
    who = f"the problem {name!r} of the package {problems.package_of(name)}: "
    return _within(Path(module.__file__ or module.__name__), module.problem, who)


def from_file(path: Path) -> Source:
    """The one problem that a file binds, or the one function in it that returns one.

    UsageError with file and line for anything that goes wrong in the file, its own exceptions included.
    """
    tree, text = _parsed(path)
    doubled = [f"{path}:{line}: {message}" for line, message in duplicate_keys(tree)]
    try:
        source = _source_in(path, tree, text)
    except UsageError as error:
        raise UsageError("\n".join([*doubled, str(error)])) from error
    if doubled:
        raise UsageError("\n".join(doubled))
    return source


def _source_in(path: Path, tree: ast.Module, text: str) -> Source:
    module = _executed(path, tree, text)
    bound = {id(value): value for value in vars(module).values() if isinstance(value, Problem)}
    makers = _makers(module, tree)
    if len(bound) > 1:
        names = ", ".join(name for name, value in vars(module).items() if isinstance(value, Problem))
        raise UsageError(f"{path} binds {len(bound)} problems ({names}); leave one, or return one from a function.")
    if len(makers) == 1 and (not bound or _constants(makers[0])):
        return Source(path.stem, _constants(makers[0]), _within(path, makers[0]), module)
    if bound:
        (problem,) = bound.values()
        return Source(path.stem, {}, lambda: problem, module)
    if makers:
        names = ", ".join(maker.__name__ for maker in makers)
        raise UsageError(
            f"{path} has several functions that may make its problem ({names}); call one of them 'problem'."
        )
    raise UsageError(
        f"{path} makes no problem: bind one, as in `burgers = phi.Problem(...)`, or define a function that returns one "
        f"and whose arguments all have defaults."
    )


def _parsed(path: Path) -> tuple[ast.Module, str]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no Python file: it is not text in UTF-8.") from None
    try:
        return ast.parse(text, str(path)), text
    except SyntaxError as error:
        raise UsageError(f"{path}:{error.lineno}: SyntaxError: {error.msg}: {(error.text or '').strip()}") from None
    except (ValueError, RecursionError, MemoryError) as error:  # a null byte, or brackets too deep
        raise UsageError(f"{path} is no Python file: {error or 'it is nested too deeply'}.") from None


def duplicate_keys(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, message) for each key that a dict literal has twice: Python keeps the last alone."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Dict):
            continue
        first: dict[str, int] = {}
        for key in node.keys:
            if key is None or isinstance(key, ast.Call):  # ** entries; a call may give another value each time
                continue
            same = ast.dump(key)
            if same in first:
                name = ast.unparse(key)
                yield (
                    key.lineno,
                    f"the key {name} stands twice in this dict (first in line {first[same]}), and the first is lost; "
                    f"give the second a name of its own.",
                )
            first.setdefault(same, key.lineno)


def _executed(path: Path, tree: ast.Module, text: str) -> ModuleType:
    """The file as a module, run with its own folder first on the path and the working directory as it is."""
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"phijax_file_{path.stem}"
    spec = importlib.util.spec_from_loader(name, loader=None, origin=str(path))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path.absolute())
    sys.modules[name] = module  # functions of the file are found by its name
    folder = str(path.absolute().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    with _told_by_line(path):
        exec(compile(tree, str(path), "exec"), module.__dict__)  # the user's own program, as `python FILE.py` would
    return module


class _told_by_line:
    """Context that turns an exception of the user's file into a UsageError with file and line. who: said before them."""

    def __init__(self, path: Path, who: str = ""):
        self._path, self._who = path, who

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type | None, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, KeyboardInterrupt | UsageError):
            return
        line = None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == str(self._path):
                line = trace.tb_lineno
            trace = trace.tb_next
        place = f"{self._path}:{line}" if line is not None else str(self._path)
        what = "" if type(error).__module__.startswith("phijax") else f"{type(error).__name__}: "
        raise UsageError(f"{self._who}{place}: {what}{error}") from error


def _within(path: Path, function: Callable[..., Problem], who: str = "") -> Callable[..., Problem]:
    def make(**constants: Any) -> Problem:
        with _told_by_line(path, who):
            made = function(**constants)
        if not isinstance(made, Problem):
            raise UsageError(f"{who}{path}: {function.__name__}() gives {type(made).__name__}, not a phi.Problem.")
        return made

    return make


def _makers(module: ModuleType, tree: ast.Module) -> list[Callable[..., Problem]]:
    """Functions of the file that can be called without arguments and may return a problem, the likeliest alone."""
    own = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    callable_ones = {node.name: node for node in own if _needs_nothing(getattr(module, node.name, None))}
    named = [name for name in callable_ones if name == "problem"]
    telling = [name for name, node in callable_ones.items() if _speaks_of_problems(node)]
    return [getattr(module, name) for name in named or telling or callable_ones]


def _needs_nothing(function: Any) -> bool:
    if not inspect.isfunction(function):
        return False
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return all(p.default is not p.empty or p.kind in kinds for p in inspect.signature(function).parameters.values())


def _speaks_of_problems(function: ast.FunctionDef) -> bool:
    words = {"Problem", "manufactured"}
    for node in ast.walk(function):
        if (isinstance(node, ast.Name) and node.id in words) or (
            isinstance(node, ast.Attribute) and node.attr in words
        ):
            return True
    return False


def _constants(function: Callable[..., Problem]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _of_kind(name: str, value: Any, default: Any) -> Any:
    """The value, if it is of the kind of the default: a whole number may stand for a real one."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(default, bool):
        right, kind = isinstance(value, bool), "true or false"
    elif isinstance(default, int):
        right, kind = isinstance(value, int) and not isinstance(value, bool), "a whole number"
    elif isinstance(default, str):
        right, kind = isinstance(value, str), "text"
    elif isinstance(default, list | tuple):
        right, kind = isinstance(value, list), "a list"
    elif default is None:
        right, kind = True, ""
    else:  # a float, or an exact number of sympy
        right, kind = number, "a number"
    if not right:
        raise UsageError(f"{name}={value!r}: {name} is {kind}, such as its default {default}.")
    if isinstance(default, tuple):
        return tuple(value)  # type: ignore[arg-type]
    return float(value) if isinstance(default, float) else value
