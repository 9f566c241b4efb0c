"""Relay: passes on what a process of a shared run tells on standard error, and says who died where JAX ends it.

Where a process dies, JAX ends the others with a report in its own words. Read by `phijax launch`, and as a program of its
own, `python relay.py`, beside a process that was started by hand: so nothing but the standard library is imported.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from typing import TextIO

KEPT_LINES = 60  # of what a process told, by which its end is explained
GOODBYE = "phijax: goodbye"
FOLDER = "phijax: run folder "
_NOISE = re.compile(r"\[Gloo\] |[IWEF]\d{4} \d\d:\d\d:\d\d|Additional GRPC error|:UNKNOWN:Error received")
_FATAL = re.compile(r"[EF]\d{4} .*(coordination|Terminating process because the JAX distributed)")


class Relay:
    """One process's standard error, line by line."""

    def __init__(self, out: TextIO | None):
        self.out = out
        self.kept: deque[str] = deque(maxlen=KEPT_LINES)
        self.folder: str | None = None
        self.ended_well = self.fatal = False

    def pass_on(self, line: str) -> None:
        """Shows a line unless it is JAX's own of how processes meet and part."""
        self.kept.append(line)
        if line.startswith(FOLDER):
            self.folder = line.removeprefix(FOLDER).strip()
        self.ended_well = self.ended_well or line.startswith(GOODBYE)
        self.fatal = self.fatal or bool(_FATAL.match(line))
        if self.out is not None and not (self.fatal or line.startswith(GOODBYE) or _NOISE.match(line)):
            print(line, file=self.out, end="", flush=True)

    def dead(self) -> list[int] | None:
        """Numbers of the processes that JAX no longer hears of; None where it has ended nothing."""
        if not self.fatal:
            return None
        text = "".join(self.kept)
        silent = re.search(r"stopped sending heartbeats\):\n((?:.*(?:task:)?\d+\n)+)", text)
        # The first process holds the run together: where it is gone, the others hear of nobody.
        return [int(number) for number in re.findall(r"(\d+)\n", silent[1])] if silent else [0]


def told(dead: list[int], count: int, folder: str | None, how: str = "died") -> str:
    """The sentence that says who died, and how to go on."""
    who = f"process {dead[0]}" if len(dead) == 1 else f"processes {', '.join(map(str, dead))}"
    return f"phijax: {who} of {count} {how}; the others were ended. Go on with: phijax resume {folder or 'RUN_DIR'}"


def main(count: int, folder: str | None) -> None:
    """Relays standard input until it ends."""
    relay = Relay(sys.stderr)
    for line in sys.stdin:
        relay.pass_on(line)
    dead = relay.dead()
    if dead and not relay.ended_well:
        print(told(dead, count, relay.folder or folder), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
