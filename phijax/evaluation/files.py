"""Files that are whole or not there: written beside their place and moved."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path to write to; what is there at the end becomes `path`, unless an error ends the block."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}; make it first.")
    part = path.with_name(f".{path.name}.{os.getpid()}.part{path.suffix}")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a whole text file."""
    with written_whole(path) as part:
        part.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Writes a whole JSON file; NaN and infinities become null, which JSON has."""
    write_text(path, json.dumps(jsonable(value), indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def jsonable(value: Any) -> Any:
    """The value in JSON's own types."""
    if isinstance(value, dict):
        return {str(name): jsonable(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
