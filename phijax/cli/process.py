"""What the command line sets for its own process, and for no other: precision flag, cache, signals, warnings."""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from phijax.cli.errors import Terminated
from phijax.training.interrupt import AGAIN

COLLECT_AFTER = 50_000  # new objects: a trace makes many that stay, and looking through them takes a tenth of its time
CACHE_LEAST_SECONDS = 0.0  # a start has two dozen small programs, which read take a fifth of the time


def cache_folder() -> Path | None:
    """Folder of compiled programs, under the user's cache folder; None where PHIJAX_NO_CACHE turns it off."""
    if os.environ.get("PHIJAX_NO_CACHE", "") not in ("", "0"):
        return None
    own = os.environ.get("PHIJAX_CACHE_DIR")
    if own:
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "phijax"


def configure_jax(precision: str | None = None, cache: bool = True) -> None:
    """Sets what this process alone goes by: float64 where asked for, the folder of compiled programs, garbage collection.

    A cache that JAX's own variable names is left as it is; one that cannot be written is done without.
    """
    import jax

    gc.set_threshold(COLLECT_AFTER)
    if precision == "float64":
        jax.config.update("jax_enable_x64", True)
    folder = cache_folder() if cache else None
    if folder is None or os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", CACHE_LEAST_SECONDS)


def leave_a_shared_run(code: int) -> None:
    """Ends this process at once where others share its run: they wait for it, and JAX's own way out would wait for them."""
    jax = sys.modules.get("jax")
    if jax is None or not jax.distributed.is_initialized():
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code))


def ignore_late_reads() -> None:
    """Keeps quiet what orbax's reads of a damaged checkpoint tell after it was refused. For the process's whole life."""
    before = sys.unraisablehook

    def tell(unraised: Any) -> None:
        if "Event loop is closed" not in str(unraised.exc_value):
            before(unraised)

    sys.unraisablehook = tell


def end_at_second_signal() -> None:
    """A second SIGINT or SIGTERM ends this process at once, also within a compiled program, where Python handles none.

    What was saved before stands, as after a kill. For the process's whole life.
    """
    arrived, wakeup = socket.socketpair()
    wakeup.setblocking(False)
    signal.set_wakeup_fd(wakeup.detach(), warn_on_full_buffer=False)

    def watch() -> None:
        first = None
        while True:
            number = arrived.recv(1)[0]
            now = time.monotonic()
            if number not in (signal.SIGINT, signal.SIGTERM):
                continue
            first = now if first is None else first
            if now - first >= AGAIN:
                print(f"phijax: {signal.Signals(number).name} again: ended at once.", file=sys.stderr, flush=True)
                os._exit(128 + number)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def told_plainly() -> Iterator[None]:
    """Inside, warnings are single lines on standard error and SIGTERM raises Terminated."""

    def show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        print(f"phijax: warning: {message}", file=sys.stderr)

    def stop(number: int, frame: Any) -> None:
        raise Terminated

    main_thread = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, stop) if main_thread else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.showwarning = show
            logging.getLogger("absl").setLevel(
                logging.CRITICAL
            )  # orbax: what it does by design, and what it raises too
            yield
    finally:
        if main_thread:
            signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
