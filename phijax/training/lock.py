"""Lock on a run's folder: one run, one process. The system lets go of it when the process ends, however it does."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from phijax.training.checkpoint import CheckpointError

try:
    import fcntl
except ImportError:  # Windows: nothing holds a folder there
    fcntl = None

LOCK = ".lock"  # holds the number of the process that uses the folder
_holders: dict[Path, tuple[int, int]] = {}  # folder: the process and the thread that hold it


class FolderInUse(CheckpointError):
    """A run folder that another run uses at this moment."""


@contextmanager
def held(folder: Path, again: bool = False) -> Iterator[None]:
    """Holds the folder inside. again: allowed for the thread that holds it already.

    Raises FolderInUse, naming the process, where another run holds it.
    """
    place, me = folder.resolve(), (os.getpid(), threading.get_ident())
    if again and _holders.get(place) == me:
        yield
        return
    with (place / LOCK).open("a+", encoding="utf-8") as file:
        _lock(file, folder)
        _holders[place] = me
        try:
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield
        finally:
            del _holders[place]


def _lock(file: IO[str], folder: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        raise FolderInUse(f"{folder} is in use by process {file.read()}; wait until it ends.") from None
    except OSError:
        return  # a file system that knows no locks
