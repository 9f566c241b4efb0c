"""Problems with known solutions, found and loaded by name: a file for each built-in one, and those that packages add."""

from pathlib import Path as _Path

from phijax.problems._catalogue import Errors, Info, ProblemError, built_in, clashes, get, names, package_of

__all__ = ["Errors", "Info", "ProblemError", "built_in", "clashes", "get", "names", "package_of"]

# The problem files stand in the checkout's own top folder; a wheel carries them in this one.
_checkout = _Path(__file__).resolve().parents[2]
if (_checkout / "pyproject.toml").is_file() and (_checkout / "problems").is_dir():
    __path__.append(str(_checkout / "problems"))
