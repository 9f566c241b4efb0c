"""The built-in problems: a file for each, found and loaded by name."""

from pathlib import Path as _Path

from phijax.problems._catalogue import Info, get, names

__all__ = ["Info", "get", "names"]

# The problem files stand in the checkout's own top folder; a wheel carries them in this one.
_checkout = _Path(__file__).resolve().parents[2]
if (_checkout / "pyproject.toml").is_file() and (_checkout / "problems").is_dir():
    __path__.append(str(_checkout / "problems"))
