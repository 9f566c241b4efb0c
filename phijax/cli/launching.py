"""`phijax launch`: several processes of one run on this machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from phijax.cli.errors import Exit, UsageError
from phijax.cli.placing import LAUNCHED, name_of
from phijax.cli.relay import Relay, told

VERBS = ("run", "resume", "doctor")
DIED = Exit.FAULT  # an exit code by which others were ended; a signal is another
GRACE_SECONDS = 10.0  # in which the others may end by themselves, once one has
LOOK_SECONDS = 0.1


def launch_verb(count: int, command: Sequence[str]) -> int:
    """Runs `phijax COMMAND` in `count` processes that meet on the loopback address; shows what the first one tells.

    Gives its exit code. Where one dies, ends the others, and says which and how to go on.
    """
    if count < 1:
        raise UsageError(f"-n {count}: give a whole number of processes, at least 1.")
    if not command or command[0] not in VERBS:
        verbs = ", ".join(VERBS)
        raise UsageError(f"write `phijax launch -n {count} -- VERB ...`, the verb one of {verbs}.")
    meeting = f"127.0.0.1:{_free_port()}"
    members = [_Member(index, count, command, meeting) for index in range(count)]
    with _passing_on_signals(members):
        return _watched(members)


class _Member:
    """One of the processes. Only the first is shown; of the others what they told is kept."""

    def __init__(self, index: int, count: int, command: Sequence[str], meeting: str):
        self.index = index
        place = ["--coordinator", meeting, "--num-processes", str(count), "--process-id", str(index)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "phijax", *command, *place],
            env={**os.environ, LAUNCHED: "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # a terminal's signals come by the launcher alone, and once
        )
        self.relay = Relay(sys.stderr if index == 0 else None)
        printed = Relay(sys.stdout if index == 0 else None)
        ways = ((self.process.stdout, printed), (self.process.stderr, self.relay))
        self._readers = [threading.Thread(target=_read, args=way, daemon=True) for way in ways]
        for reader in self._readers:
            reader.start()

    @property
    def code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self.process.poll()

    def end(self) -> None:
        """Ends it, by force where it waits for a process that is gone."""
        if self.code is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join()


def _read(stream: IO[str], relay: Relay) -> None:
    with stream:
        for line in stream:
            relay.pass_on(line)


def _watched(members: list[_Member]) -> int:
    """Waits for the members; gives the exit code of all."""
    while all(member.code in (None, 0) for member in members):
        if all(member.code == 0 for member in members):
            return Exit.OK
        time.sleep(LOOK_SECONDS)
    first = next(member for member in members if member.code not in (None, 0))
    died = first.code is not None and (first.code < 0 or first.code == DIED)
    until = time.monotonic() + (0.0 if died else GRACE_SECONDS)
    while time.monotonic() < until and any(member.code is None for member in members):
        time.sleep(LOOK_SECONDS)
    for member in members:
        member.end()
    return _explained(members, first, died)


def _explained(members: list[_Member], first: _Member, died: bool) -> int:
    code = first.process.returncode
    if not died:
        if members[0].process.returncode != code:  # else the first has said the same
            print(*first.relay.kept, sep="", end="", file=sys.stderr)
        return code
    if first.index:
        said = (f"[process {first.index}] {line}" for line in first.relay.kept)
        print(*said, sep="", end="", file=sys.stderr)
    print(told([first.index], len(members), members[0].relay.folder, name_of(code)), file=sys.stderr, flush=True)
    return Exit.FAULT


@contextmanager
def _passing_on_signals(members: list[_Member]) -> Iterator[None]:
    """Inside, SIGINT and SIGTERM are told to all members, which save and end; the second one ends them at once."""

    def pass_on(number: int, frame: Any) -> None:
        for member in members:
            if member.code is None:
                member.process.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for member in members:
            member.end()
        for number, handler in before.items():
            signal.signal(number, handler)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
