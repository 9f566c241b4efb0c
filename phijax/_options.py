"""Options of a specification: checks at construction, and the plain dictionary that a run's configuration holds."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import math
import numbers
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """A sentence or two: the nearest of the `known` names, and all of them."""
    names = {name.lower(): name for name in sorted(known)}
    near = difflib.get_close_matches(str(word).lower(), names, n=1, cutoff=0.5)
    hint = f"Did you mean {names[near[0]]!r}? " if near else ""
    return f"{hint}Known: {', '.join(names.values()) or 'none'}."


def whole(owner: str, name: str, value: Any, *, least: int) -> int:
    """`value` as an int of at least `least`."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        raise ValueError(f"{owner}: {name}={value!r} must be a whole number of at least {least}.")
    return number


def real(
    owner: str, name: str, value: Any, rule: str = "", holds: Callable[[float], bool] = lambda number: True
) -> float:
    """`value` as a finite float for which `holds` is true; `rule` says the same in words."""
    number = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else math.nan
    if not (math.isfinite(number) and holds(number)):
        raise ValueError(f"{owner}: {name}={value!r} must be a finite number{rule and ' '}{rule}.")
    return number


def flag(owner: str, name: str, value: Any) -> bool:
    """`value` if it is True or False."""
    if value is not True and value is not False:
        raise ValueError(f"{owner}: {name}={value!r} must be True or False.")
    return value


def to_config(specification: Any) -> dict[str, Any]:
    """{"kind": class name, option: value} of a dataclass, in values that TOML and JSON have."""
    options = {field.name: getattr(specification, field.name) for field in dataclasses.fields(specification)}
    plain = {name: _plain(type(specification).__name__, name, value) for name, value in options.items()}
    return {"kind": type(specification).__name__} | {name: value for name, value in plain.items() if value is not None}


def _plain(owner: str, name: str, value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return [_plain(owner, name, item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(owner, name, item) for key, item in value.items()}
    if hasattr(value, "to_config"):
        return value.to_config()
    raise ValueError(
        f"{owner}: {name}={value!r} can't be written in a configuration; "
        "use a specification of this package there, or keep it in a Python file."
    )


def from_config(config: Mapping[str, Any], kinds: Mapping[str, type], what: str) -> Any:
    """The specification that `to_config` wrote, by the table of `kinds`; a nested one is read by the same table."""
    kind = config.get("kind", "")
    if kind not in kinds:
        raise ValueError(f"{what}: kind={kind!r} is not known. {did_you_mean(kind, kinds)}")
    options = {name: value for name, value in config.items() if name != "kind"}
    known = inspect.signature(kinds[kind]).parameters
    for name in options:
        if name not in known:
            raise ValueError(f"{kind} has no option {name!r}. {did_you_mean(name, known)}")
    nested = {
        name: from_config(value, kinds, what) if isinstance(value, Mapping) and "kind" in value else value
        for name, value in options.items()
    }
    return kinds[kind](**nested)
