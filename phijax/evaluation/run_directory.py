"""Run directory: all that is kept of a run on disk.

It appears whole, with the declaration and the settings in it, before anything is compiled. Nothing of it is executed
when it is read.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phijax._numbers import is_whole
from phijax.evaluation.environment import environment
from phijax.evaluation.files import jsonable, write_json, write_text
from phijax.formulation import DeclarationWarning, Problem
from phijax.formulation.serialization import fingerprint_of_tree, from_json, to_json
from phijax.training import History, read_metrics
from phijax.training.lock import FolderInUse, held
from phijax.training.metrics import METRICS_FILE

if TYPE_CHECKING:
    from phijax.evaluation.ensemble import Ensemble
    from phijax.evaluation.solution import Solution

CONFIG, ENVIRONMENT, SUMMARY = "config.toml", "environment.json", "summary.json"
PROBLEM_TEXT, PROBLEM_TREE = "problem.txt", "problem.json"
PLOTS, REPORT, REPORT_PAGE = "plots", "report.txt", "report.html"
PICTURES = {
    "Fields": "solution.png",
    "Losses": "history.png",
    "Unknown constants": "parameters.png",
    "Residuals": "residuals.png",
    "Domain and points": "points.png",
}
SUMMARY_NEEDS = {"status", "stop_reason", "steps"}


class RunDirectoryError(RuntimeError):
    """A folder that cannot be used as, or is no, run directory."""


@dataclass(frozen=True)
class Dated:
    """In place of a path: a new folder `root/NAME-YYYYmmdd-HHMMSS`, never that of another run."""

    root: str | Path = "runs"

    def reserved(self, name: str) -> Path:
        """A new empty folder for a run of the problem `name`, numbered where another of the same second has its name."""
        safe = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "problem"
        base = Path(self.root).absolute() / f"{safe}-{datetime.now():%Y%m%d-%H%M%S}"
        base.parent.mkdir(parents=True, exist_ok=True)
        for number in itertools.count(1):
            folder = base if number == 1 else base.with_name(f"{base.name}-{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
        raise AssertionError


class RunDirectory:
    """The folder of one run; `create` makes one and `open` finds one."""

    def __init__(self, path: Path):
        self.path = path

    @classmethod
    def create(
        cls,
        path: str | Path | Dated,
        problem: Problem,
        config: Mapping[str, Any],
    ) -> RunDirectory:
        """A new run directory with config.toml, environment.json, problem.txt and problem.json.

        config: settings in TOML's types, nested as tables; None is left out. Raises RunDirectoryError where `path`
        already holds something.
        """
        target = path.reserved(problem.name) if isinstance(path, Dated) else Path(path).absolute()
        target.parent.mkdir(parents=True, exist_ok=True)
        whole = target.with_name(f".{target.name}.{os.getpid()}.part")
        shutil.rmtree(whole, ignore_errors=True)  # of a process of this number that was killed
        whole.mkdir()
        try:
            _write_declaration(whole, problem, {**config, "fingerprint": problem.fingerprint})
            return cls(_placed(whole, target))
        except BaseException:
            shutil.rmtree(whole, ignore_errors=True)
            raise

    @classmethod
    def open(cls, path: str | Path) -> RunDirectory:
        """An existing run directory. Raises RunDirectoryError where there is none."""
        folder = Path(path).absolute()
        if not folder.is_dir():
            raise RunDirectoryError(f"there is no folder {folder}.")
        missing = [name for name in (CONFIG, PROBLEM_TREE) if not (folder / name).is_file()]
        if missing:
            raise RunDirectoryError(f"{folder} is no run directory: it has no {missing[0]}.")
        return cls(folder)

    @property
    def config(self) -> dict[str, Any]:
        """The settings of the run."""
        with reading(self.path / CONFIG) as path:
            return tomllib.loads(path.read_text(encoding="utf-8"))

    @property
    def is_ensemble(self) -> bool:
        """Whether several seeds were trained in it."""
        return "seeds" in self.config

    @property
    def problem(self) -> Problem:
        """The problem, from problem.json. Raises RunDirectoryError where it is not the one that the run was begun with."""
        begun = self.config.get("fingerprint")
        with reading(self.path / PROBLEM_TREE) as path, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeclarationWarning)  # told when the run was declared
            tree = json.loads(path.read_text(encoding="utf-8"))
            if begun is not None and (found := fingerprint_of_tree(tree)) != begun:
                raise RunDirectoryError(
                    f"{path} is not the problem that this run was begun with: its fingerprint is {found[:12]}, and "
                    f"{CONFIG} says {str(begun)[:12]}. Put the file back as it was, or run the problem in a new folder."
                )
            return from_json(tree)

    @property
    def summary(self) -> dict[str, Any] | None:
        """summary.json, None where the run has not come to an end; a damaged one is as good as none, with a warning."""
        path = self.path / SUMMARY
        if not path.is_file():
            return None
        try:
            summary = json.loads(path.read_text(encoding="utf-8"))
            if is_summary(summary):
                return summary
        except (ValueError, RecursionError):
            pass
        warnings.warn(f"{path} is damaged and left out; `phijax resume` writes it anew.", UserWarning, stacklevel=2)
        return None

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Holds the folder for this process inside; the system lets go of it when the process ends, however it does.

        Raises RunDirectoryError where another process holds it.
        """
        try:
            with held(self.path):
                yield
        except FolderInUse as error:
            raise RunDirectoryError(str(error)) from None
        except BaseException as error:
            if not isinstance(error, Exception):  # a signal
                error.add_note(f"Go on with: phijax resume {self.path}")
            raise

    def changed_versions(self) -> dict[str, tuple[str, str]]:
        """{package: (version that the run was begun with, version now)} of those that differ, as far as is known."""
        try:
            begun = json.loads((self.path / ENVIRONMENT).read_text(encoding="utf-8"))["versions"]
            now = environment()["versions"]
            return {name: (str(begun[name]), str(own)) for name, own in now.items() if begun.get(name, own) != own}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return {}  # nothing else needs this file

    @property
    def history(self) -> History:
        """The records of the run so far."""
        return read_metrics(self.path / METRICS_FILE)

    @property
    def plots(self) -> Path:
        """The folder of pictures, made when it is asked for."""
        folder = self.path / PLOTS
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def pictures(self) -> list[Path]:
        """The pictures and the report with them that have been written."""
        known = [*(self.path / PLOTS / name for name in PICTURES.values()), self.path / REPORT_PAGE]
        return [path for path in known if path.is_file()]

    def update_config(self, changes: Mapping[str, Any]) -> None:
        """Writes config.toml anew with further settings, as of what was decided by measuring."""
        write_text(self.path / CONFIG, config_text(self.config | dict(changes)))

    def write_summary(self, solution: Solution | Ensemble) -> dict[str, Any]:
        """Writes summary.json and report.txt, and gives the summary."""
        summary = solution.summary()
        write_text(self.path / REPORT, f"{solution.make_report()}\n")
        write_json(self.path / SUMMARY, summary)
        return summary

    def write_plots(self, solution: Solution | Ensemble) -> list[Path]:
        """Draws the solution, its training and its points, writes the report with them, and gives the files' paths."""
        from phijax.evaluation.html import figures, write_report
        from phijax.evaluation.plots import save_figure

        drawn = figures(solution)
        pictures = {self.plots / PICTURES[title]: figure for title, figure in drawn.items()}
        for path, figure in pictures.items():
            save_figure(figure, path)
        return [*pictures, write_report(solution, self.path / REPORT_PAGE, drawn)]


@contextmanager
def reading(path: Path) -> Iterator[Path]:
    """Inside, whatever a damaged file makes of its reader is a RunDirectoryError that names the file and the cure."""
    try:
        yield path
    except (RunDirectoryError, OSError):
        raise
    except Exception as error:
        said = (str(error).strip() or "it does not fit").splitlines()[0].rstrip(".")
        raise RunDirectoryError(
            f"{path} is damaged ({said}); put it back as it was, or run the problem in a new folder."
        ) from error


def is_summary(value: Any) -> bool:
    """Whether this is what a run that came to an end leaves."""
    if not (isinstance(value, dict) and set(value) >= SUMMARY_NEEDS):
        return False
    return (
        isinstance(value["status"], str) and isinstance(value["stop_reason"], str) and is_whole(value["steps"], least=0)
    )


def config_text(config: Mapping[str, Any]) -> str:
    """Settings as TOML; None, which TOML has not, is left out."""
    import tomli_w

    return tomli_w.dumps(_plain(jsonable(dict(config))))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items() if entry is not None}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return value if isinstance(value, bool | int | float | str) else str(value)


def _write_declaration(folder: Path, problem: Problem, config: Mapping[str, Any]) -> None:
    precision = config.get("precision")
    write_text(folder / CONFIG, config_text(config))
    write_json(folder / ENVIRONMENT, environment(precision))
    write_text(folder / PROBLEM_TEXT, f"{problem}\n\nfingerprint {problem.fingerprint}\n")
    write_text(folder / PROBLEM_TREE, json.dumps(to_json(problem)) + "\n")


def _placed(whole: Path, target: Path) -> Path:
    """Moves a folder to its place; an empty folder there is replaced, anything else refused."""
    try:
        os.rename(whole, target)
    except OSError as error:
        if not target.exists():
            raise
        holds = "a run" if (target / CONFIG).exists() else "something"
        raise RunDirectoryError(
            f"{target} already holds {holds}; go on with a run by `phijax resume`, or choose another folder."
        ) from error
    return target
