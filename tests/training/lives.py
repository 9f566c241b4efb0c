"""A run in many lives, for the tests of what a kill leaves: each life is a process, forked from one that has imported
all and computed nothing, so that a life costs what its compiling costs.

    python lives.py soak FOLDER KILLS SEED     kills at random moments; prints a line of JSON
    python lives.py events FOLDER MOST         kills at the file operations of a run, at most MOST of them
"""

import contextlib
import functools
import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import jax
import numpy as np
import optax
import orbax.checkpoint  # noqa: F401  # imported before forking
from sympy import Eq

import phijax as phi
from phijax.training import CheckpointStore

t = phi.time("t")
y, span = phi.field("y", t), phi.Interval(t, 0, 1)
k = phi.parameter("k", initial=1.0)
DECAY = phi.Problem(
    span,
    {
        "ode": Eq(y.diff(t), -k * y),
        "start": phi.on(span.at(t=0), Eq(y, 1)),
        "seen": phi.data({"t": np.array([0.5]), "y": np.array([0.5])}),
    },
    name="decay",
)
EVERY = 20  # steps between checkpoints


def fit(folder, steps, every=EVERY):
    """Trains to `steps` in all, from the last checkpoint in `folder` where there is one; None writes nothing."""
    compiled = phi.compile(
        DECAY,
        network=phi.MLP(width=4, depth=1),
        points={"ode": 8},
        samplers={"ode": phi.ResidualAdaptive(phi.RegionSampler(span), period=7)},
    )
    trainer = phi.Trainer(
        steps,
        checkpoint=folder,
        checkpoint_every=every,
        log_every=5,
        callbacks=[phi.Average(every=3), phi.KeepBest(every=4), phi.EarlyStopping(every=5, patience=10**6)],
        progress=False,
    )
    begun = folder is not None and Path(folder, "checkpoints").is_dir() and CheckpointStore(folder).steps()
    stages = [(optax.adam(1e-3), 130), (optax.sgd(1e-3, momentum=0.9), None)]
    return trainer.fit(
        compiled.module,
        datamodule=compiled.datamodule,
        optimizer=stages,
        balancer=phi.ReLoBRaLo(every=11),
        seed=5,
        ckpt_path=folder if begun else None,
    )


def solve(folder, steps=12):
    """A run of `phi.solve`, or a resume of it where its folder is there."""
    if Path(folder).exists():
        return phi.resume(folder, progress=False)
    settings = {"network": phi.MLP(width=4, depth=1), "points": 8, "optimizer": {"kind": "Adam"}, "method": "network"}
    return phi.solve(DECAY, seed=0, max_steps=steps, run_dir=folder, progress=False, **settings)


def forked(work):
    """The process of a child that does `work` and ends with 0, or with 1 and a traceback."""
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def outcome(child):
    """Exit code of a child, minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def done(work):
    code = outcome(forked(work))
    if code:
        raise SystemExit(f"a life that was left alone ended with {code}")


def state_of(folder):
    """(step, values) of the last checkpoint."""
    store = CheckpointStore(folder)
    saved = store.latest()
    store.close()
    return saved.step, {leaf["path"]: array for leaf, array in zip(saved.leaves, saved.arrays, strict=True)}


def curve(folder):
    lines = [json.loads(text) for text in Path(folder, "metrics.jsonl").read_text().splitlines()]
    return [
        {name: value for name, value in line.items() if name != "seconds"} for line in lines if "reason" not in line
    ]


def stages_told(folder):
    lines = [json.loads(text) for text in Path(folder, "metrics.jsonl").read_text().splitlines()]
    return [(line["event"], line["step"]) for line in lines if line.get("event") == "stage"]


def steps_saved(folder):
    """Steps of the checkpoints, told by their folders alone: this process must compute nothing before it forks."""
    place = Path(folder, "checkpoints")
    return [int(child.name) for child in place.iterdir() if child.name.isdigit()] if place.is_dir() else []


def soak(folder, kills, seed):
    """Kills a run at random moments, lets it end, and compares it with one that was left alone."""
    moments, reached, lost = random.Random(seed), 0, []
    longest = first_checkpoint(folder)
    for _ in range(kills):
        child = forked(functools.partial(fit, folder / "killed", 10**9))
        time.sleep(moments.uniform(0.0, 1.3 * longest))
        os.kill(child, signal.SIGKILL)
        if (code := outcome(child)) != -signal.SIGKILL:
            raise SystemExit(f"a life ended by itself, with {code}")
        now = max(steps_saved(folder / "killed"), default=0)
        lost += [(reached, now)] if now < reached else []
        print(f"saved at step {now}", file=sys.stderr, flush=True)
        reached = now
    steps = reached + EVERY + 1
    done(lambda: fit(folder / "killed", steps))
    done(lambda: fit(folder / "whole", steps, every=steps))
    killed, whole = state_of(folder / "killed"), state_of(folder / "whole")
    differing = [path for path, value in whole[1].items() if value.tobytes() != killed[1][path].tobytes()]
    found = {"kills": kills, "steps": steps, "reached": [killed[0], whole[0]], "lost": lost, "differing": differing}
    found["records_equal"] = curve(folder / "killed") == curve(folder / "whole")
    found["stages_equal"] = stages_told(folder / "killed") == stages_told(folder / "whole")
    print(json.dumps(found))


def first_checkpoint(folder):
    """Seconds until a run has made its first checkpoint."""
    begun, child = time.monotonic(), forked(lambda: fit(folder / "measured", 10**9))
    while not steps_saved(folder / "measured"):
        time.sleep(0.02)
        if os.waitpid(child, os.WNOHANG)[0]:
            raise SystemExit("a life ended by itself")
    os.kill(child, signal.SIGKILL)
    outcome(child)
    return time.monotonic() - begun


OPERATIONS = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.truncate", "shutil.rmtree"}


def watched(folder, at, then):
    """Calls `then` at file operation number `at` in `folder`, before it is done."""
    count = 0

    def hook(event, arguments):
        nonlocal count
        if event in OPERATIONS and arguments and str(arguments[0]).startswith(str(folder)):
            count += 1
            Path(f"{folder.parent}/count-{folder.name}").write_text(str(count))
            if count == at:
                then()

    sys.addaudithook(hook)


def killed_at(folder, at):
    watched(folder, at, lambda: os.kill(os.getpid(), signal.SIGKILL))
    solve(folder / "run")


def events(folder, most):
    """Kills a run of `phi.solve` before one of its file operations, resumes it, and compares its end; for many of them."""
    (folder / "all").mkdir()
    done(lambda: killed_at(folder / "all", 0))
    count = int((folder / "count-all").read_text())
    whole = state_of_child(folder / "all" / "run")
    numbers = sorted({1 + round(i * (count - 1) / max(most - 1, 1)) for i in range(min(most, count))})
    differing = []
    for number in numbers:
        place = folder / str(number)
        place.mkdir()
        if outcome(forked(functools.partial(killed_at, place, number))) != -signal.SIGKILL:
            raise SystemExit(f"no file operation {number}")
        done(functools.partial(solve, place / "run"))
        summary = json.loads((place / "run" / "summary.json").read_text())
        if state_of_child(place / "run") != whole or summary["status"] != "finished":
            differing.append(number)
        shutil.rmtree(place)
    print(json.dumps({"operations": count, "killed_at": numbers, "differing": differing}))


def state_of_child(folder):
    """The weights of the last checkpoint as text, read in a child."""
    reading, writing = os.pipe()

    def told():
        step, values = state_of(folder)
        weights = {path: value.tobytes().hex() for path, value in values.items() if path.startswith(".model_state")}
        os.write(writing, json.dumps([step, weights]).encode())

    done(told)
    os.close(writing)
    with os.fdopen(reading) as file:
        return file.read()


if __name__ == "__main__":
    verb, folder, *numbers = sys.argv[1:]
    # Programs are kept between lives, as the command line keeps them; killed lives leave halves of these too.
    jax.config.update("jax_compilation_cache_dir", f"{folder}/programs")
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    with contextlib.suppress(BrokenPipeError):
        {"soak": soak, "events": events}[verb](Path(folder), *map(int, numbers))
