"""Where a command runs: how many devices, and which of the processes that share a run this one is."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from phijax._devices import devices_of, devices_that_answer
from phijax.cli.errors import UsageError
from phijax.cli.relay import FOLDER, GOODBYE

LAUNCHED = "PHIJAX_LAUNCHED"  # set by `phijax launch`, which relays what its processes tell
HEARTBEAT_SECONDS = 30  # after so long a silence a process counts as dead, and JAX ends the others
SHUTDOWN_SECONDS = 3600  # the first process writes report and pictures while the others wait
# Variables in which launchers that JAX knows say how many processes they have started.
LAUNCHERS = ("SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE")
# What exchanges say that another process no longer takes part in, whatever JAX makes of it on the way.
_OF_ANOTHER = re.compile(r"Gloo|NCCL|UNAVAILABLE")
WORDS = ("--coordinator", "--num-processes", "--process-id")


@dataclass(frozen=True)
class Place:
    """Options of a command. devices: in all. The others, given together, say where its processes meet, and which this is."""

    devices: int | None = None
    coordinator: str | None = None
    num_processes: int | None = None
    process_id: int | None = None

    def __post_init__(self) -> None:
        given = (self.coordinator, self.num_processes, self.process_id)
        missing = [word for word, value in zip(WORDS, given, strict=True) if value is None]
        if 0 < len(missing) < len(WORDS):
            raise UsageError(f"{missing[0]} is missing: {', '.join(WORDS)} are given together, or none of them.")
        if self.devices is not None and self.devices < 1:
            raise UsageError(f"--devices {self.devices}: give a whole number of at least 1.")
        if missing:
            return
        host, colon, port = str(self.coordinator).rpartition(":")
        if not (host and colon and port.isdigit()):
            raise UsageError(f"--coordinator {self.coordinator}: give HOST:PORT of the first process.")
        if not 0 <= int(self.process_id or 0) < int(self.num_processes or 0):
            raise UsageError(
                f"--process-id {self.process_id}: {self.num_processes} processes are numbered from 0 to "
                f"{int(self.num_processes or 0) - 1}."
            )

    @property
    def processes(self) -> int:
        """How many share the run: as given, or as a launcher says."""
        return self.num_processes or next((int(os.environ[name]) for name in LAUNCHERS if name in os.environ), 1)

    @contextmanager
    def taken(self, run_dir: str | None = None) -> Iterator[int | None]:
        """Inside, JAX has its devices and has met the other processes; gives the number of devices, None for one.

        To be entered before anything asks JAX for a device. run_dir: folder of the run where it is known.
        """
        import jax

        if self.devices is not None:
            _set_cpu_devices(self.devices, self.processes)
        if self.processes == 1:
            yield self.devices
            return
        with _relayed(self, run_dir), _met(self):
            yield self.devices or jax.device_count()


def _set_cpu_devices(devices: int, processes: int) -> None:
    """So many devices on this machine's CPU, unless the user has said how many there are."""
    import jax

    if devices % processes:
        raise UsageError(f"--devices {devices} do not divide among {processes} processes; give a multiple.")
    if "JAX_NUM_CPU_DEVICES" in os.environ or "host_platform_device_count" in os.environ.get("XLA_FLAGS", ""):
        return
    if devices > processes:  # else one each, which is what there is
        jax.config.update("jax_num_cpu_devices", devices // processes)


@contextmanager
def _met(place: Place) -> Iterator[None]:
    """Inside, this process belongs to those of the run. An error that another's death caused waits to be explained."""
    import jax

    local = str(place.coordinator).startswith("127.0.0.1:")
    jax.distributed.initialize(
        place.coordinator,
        place.num_processes,
        place.process_id,
        local_device_ids=_own_devices(place),
        heartbeat_timeout_seconds=HEARTBEAT_SECONDS,
        shutdown_timeout_seconds=SHUTDOWN_SECONDS,
        coordinator_bind_address=place.coordinator if local else None,
    )
    try:
        # The first exchange waits half a minute for others to come to it, and none of them has anything else to do yet.
        devices_that_answer(devices_of(place.devices or jax.device_count()))
        yield
    except Exception as error:
        if isinstance(error, jax.errors.JaxRuntimeError) or _OF_ANOTHER.search(str(error)):
            time.sleep(2 * HEARTBEAT_SECONDS)  # JAX ends this process meanwhile, naming who is gone
        raise


def _own_devices(place: Place) -> range | None:
    """The numbers of a machine's GPUs that are this process's, where `phijax launch` parts them; None for all there are."""
    if LAUNCHED not in os.environ or place.devices is None or place.process_id is None:
        return None
    each = place.devices // place.processes
    return range(place.process_id * each, (place.process_id + 1) * each)


@contextmanager
def _relayed(place: Place, run_dir: str | None) -> Iterator[None]:
    """Inside, standard error goes through a relay, which outlives this process by a moment and explains its end."""
    if LAUNCHED in os.environ:
        yield
        return
    from phijax.cli import relay

    folder = [] if run_dir is None else [str(Path(run_dir).absolute())]
    command = [sys.executable, str(Path(relay.__file__)), str(place.processes), *folder]
    helper = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    assert helper.stdin is not None
    before = os.dup(2)
    os.dup2(helper.stdin.fileno(), 2)
    helper.stdin.close()
    try:
        yield
    finally:
        print(GOODBYE, file=sys.stderr, flush=True)
        os.dup2(before, 2)
        os.close(before)
        helper.wait()


def tell_folder(folder: Path) -> None:
    """Says, to whoever relays, where the run is."""
    print(f"{FOLDER}{folder}", file=sys.stderr, flush=True)


def name_of(code: int) -> str:
    """What ended a process, by its exit code."""
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
