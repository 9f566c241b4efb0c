"""How functions of the user's own are called: with what they take."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def keyed(function: Callable, key: Any) -> dict[str, Any]:
    """{"key": key} for a function that takes one, {} for one that does not or where there is none."""
    if key is None:
        return {}
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {"key": key}
    takes = any(p.name == "key" or p.kind is p.VAR_KEYWORD for p in parameters)
    return {"key": key} if takes else {}
