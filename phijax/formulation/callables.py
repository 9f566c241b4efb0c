"""Callables by import name: how a run folder remembers a user's function without holding code."""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any


class ImportedFunction:
    """A function known by `module:name`, imported at its first call. Raises ImportError naming what is missing."""

    def __init__(self, module: str, name: str, source: str | None = None):
        self.module, self.__name__ = module, name.rsplit(".", 1)[-1]
        self.qualified, self.source = name, source

    def _resolve(self) -> Callable:
        cure = "put its module on the Python path"
        if self.module == "__main__" or "<" in self.qualified:
            raise ImportError(
                f"the function {self.qualified!r} of {self.module!r} has no import name; {cure} under a name."
            )
        try:
            found: Any = importlib.import_module(self.module)
            for part in self.qualified.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError) as error:
            raise ImportError(f"the function {self.module}:{self.qualified} cannot be imported; {cure}.") from error
        return found

    def _key(self) -> tuple[str, str, str | None]:
        return self.module, self.qualified, self.source

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._resolve()(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ImportedFunction) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def callable_to_tree(function: Callable) -> dict[str, Any]:
    """{"callable": "module:name"}, with a hash of its source where it has one, and bound arguments of a partial."""
    if isinstance(function, partial):
        if function.args:
            raise TypeError(f"{function} binds arguments by position; bind them by name.")
        return {**callable_to_tree(function.func), "bound": dict(function.keywords)}
    if isinstance(function, ImportedFunction):
        tree = {"callable": f"{function.module}:{function.qualified}"}
        return tree if function.source is None else {**tree, "source": function.source}
    module = getattr(function, "__module__", None) or type(function).__module__
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", type(function).__qualname__)
    tree: dict[str, Any] = {"callable": f"{module}:{name}"}
    with suppress(OSError, TypeError):
        tree["source"] = hashlib.sha256(inspect.getsource(function).encode()).hexdigest()[:16]
    return tree


def callable_from_tree(tree: dict[str, Any]) -> Callable:
    """A callable that imports itself when called; nothing is imported before."""
    module, _, name = tree["callable"].partition(":")
    function = ImportedFunction(module, name, tree.get("source"))
    return partial(function, **tree["bound"]) if "bound" in tree else function
