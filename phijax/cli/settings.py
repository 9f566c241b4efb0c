"""`key=value` on the command line: a problem's constants, and run settings, whose keys carry a dot."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from typing import Any

from phijax.cli.errors import UsageError
from phijax.formulation.faults import nearest

GROUPS = ("points", "network", "optimizer", "balancer", "causal", "run")
RUN_KEYS = ("max_steps", "slabs", "rows", "method", "causal")
_WORD = re.compile(r"[A-Za-z_][\w-]*")


def parse(assignments: Iterable[str]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """(constants, {group: {key: value}}). Values are read as TOML; a bare word counts as text."""
    constants: dict[str, Any] = {}
    settings: dict[str, dict[str, Any]] = {}
    for text in assignments:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise UsageError(
                f"{text!r} is no key=value; write a constant as nu=0.01, a run setting as points.pde=4096."
            )
        group, dot, name = key.partition(".")
        into = settings.setdefault(_group(group, key), {}) if dot else constants
        if (name or key) in into:
            raise UsageError(f"{key} is set twice.")
        if group == "run" and dot and name not in RUN_KEYS:
            raise UsageError(f"{key!r} is no run setting; {nearest(name, RUN_KEYS)}.")
        into[name or key] = _value(key, value.strip())
    return constants, settings


def _group(group: str, key: str) -> str:
    if group not in GROUPS:
        raise UsageError(f"{key!r} is no run setting; {nearest(group, GROUPS)}.")
    return group


def _value(key: str, text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        if _WORD.fullmatch(text):
            return text
        raise UsageError(
            f"{key}={text}: the value is not TOML; write a number as 0.01 or 1e-3, text as '\"...\"', a list as '[1, 2]'."
        ) from None
