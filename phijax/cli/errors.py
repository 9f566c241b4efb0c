"""What ends a command: exit codes, and errors as one readable message."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from enum import IntEnum

from phijax.evaluation import RunDirectoryError
from phijax.formulation import DeclarationError
from phijax.formulation.serialization import StorageError
from phijax.lowering import LoweringError
from phijax.training import CheckpointError


class Exit(IntEnum):
    """Exit codes of the command line."""

    OK = 0
    FAULT = 1
    USAGE = 2
    DIVERGED = 3
    MISSED = 4
    INTERRUPTED = 130
    TERMINATED = 143


class UsageError(Exception):
    """Something that the user wrote, with its cure."""


class Terminated(BaseException):
    """SIGTERM, outside of training."""


USERS_FAULTS = (
    UsageError,
    DeclarationError,
    LoweringError,
    StorageError,
    RunDirectoryError,
    CheckpointError,
    ValueError,
    TypeError,
)

# What the system says of files, with its cure; anything else that it says of them keeps its own words.
SYSTEM_SAYS = {
    errno.ENOSPC: "the disk is full; make room, and go on with a run by `phijax resume`",
    errno.EDQUOT: "the quota of the disk is used up; make room, and go on with a run by `phijax resume`",
    errno.EFBIG: "the file would be larger than is allowed here",
    errno.EROFS: "nothing can be written there; choose another folder",
    errno.EACCES: "this user may not do that there; choose another folder, or ask for the right",
    errno.EPERM: "this user may not do that there; choose another folder, or ask for the right",
    errno.ENOENT: "there is no such file or folder",
    errno.EEXIST: "a file of that name is in the way; choose another name",
    errno.ENOTDIR: "a part of that path is no folder",
    errno.EISDIR: "that is a folder, where a file is needed",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
}


def exit_code_of(error: BaseException, debug: bool) -> int:
    """Tells the error on standard error and gives its exit code; `debug` shows the traceback."""
    if debug:
        traceback.print_exception(error)
    if isinstance(error, KeyboardInterrupt):
        print(f"phijax: interrupted.{_notes(error)}", file=sys.stderr)
        return Exit.INTERRUPTED
    if isinstance(error, Terminated):
        print(f"phijax: terminated.{_notes(error)}", file=sys.stderr)
        return Exit.TERMINATED
    if isinstance(error, BrokenPipeError):
        # Whoever read the output has seen enough, as `head` does; what Python still holds must go somewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    if isinstance(error, USERS_FAULTS) and _meant_for_users(error):
        print(f"phijax: {error}", file=sys.stderr)
        return Exit.USAGE
    said = None if isinstance(error, OSError) else _of_a_full_disk(error)
    if said is not None:
        print(f"phijax: {said}.", file=sys.stderr)
        return Exit.USAGE
    if isinstance(error, OSError) and (error.errno is None or error.errno in SYSTEM_SAYS):  # None: our own sentence
        place = f"{error.filename2 or error.filename}: " if error.filename else ""
        sentence = str(error) if error.errno is None else f"{place}{SYSTEM_SAYS[error.errno]}."
        print(f"phijax: {sentence}", file=sys.stderr)
        return Exit.USAGE
    if isinstance(error, RuntimeError) and "Unable to initialize backend" in str(error):
        named = os.environ.get("JAX_PLATFORMS", "")
        print(
            f"phijax: JAX finds no device for JAX_PLATFORMS={named!r}; unset it, or set cpu, cuda or tpu.",
            file=sys.stderr,
        )
        return Exit.USAGE
    first = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else "no message"
    hint = "" if debug else " Run again with --debug for the traceback."
    print(f"phijax: internal fault: {type(error).__name__}: {first}.{hint}", file=sys.stderr)
    return Exit.FAULT


def _notes(error: BaseException) -> str:
    return "".join(f" {note}" for note in getattr(error, "__notes__", ()))


def _of_a_full_disk(error: BaseException) -> str | None:
    """What the system said, inside an error of orbax's own, of a checkpoint that it could not write."""
    numbers = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES)
    return next((SYSTEM_SAYS[number] for number in numbers if os.strerror(number) in str(error)), None)


def _meant_for_users(error: BaseException) -> bool:
    """Whether the message was written by this package: a stray ValueError or TypeError is an internal fault."""
    if not isinstance(error, ValueError | TypeError) or isinstance(
        error, DeclarationError | LoweringError | StorageError
    ):
        return True
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    module = frame.tb_frame.f_globals.get("__name__", "") if frame is not None else ""
    return module.split(".")[0] == "phijax"
