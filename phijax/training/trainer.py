"""Trainer: conducts a run; what it conducts is in the modules beside it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from phijax._devices import check_count, devices_of
from phijax._numbers import is_positive, is_whole
from phijax._precision import ambient_precision, check_precision, precision_scope
from phijax.balancing import Static
from phijax.training.balancer_checks import check_parts
from phijax.training.callbacks import Callback, Callbacks
from phijax.training.checkpoint import CheckpointError, CheckpointStore, Saved, checkpoint_folder
from phijax.training.keys import root_key, split_root
from phijax.training.lock import held
from phijax.training.metrics import METRICS_FILE, History, MetricsWriter, read_metrics
from phijax.training.module import Module
from phijax.training.predict import CHUNK, predict_rows
from phijax.training.prepare import prepare
from phijax.training.progress import Progress, make_progress
from phijax.training.result import FitResult
from phijax.training.schedule import Events, Pace
from phijax.training.session import Session
from phijax.training.stages import Plan
from phijax.training.state import TrainState, initialize_train_state


class Trainer:
    """Trains a module. Holds settings alone: each fit is a run of its own.

    max_steps: the run ends after so many steps in all, those before a resume included.
    checkpoint: run folder, for checkpoints and metrics.jsonl; None writes nothing.
    checkpoint_every: steps between checkpoints; None saves about every 30 seconds, which changes no number.
    keep: how many checkpoints are kept. log_every: steps between records.
    callbacks: called in this order. precision: None takes the module's, else that of the surroundings.
    max_seconds: decides only where the run stops; a resumed run spends what is left.
    progress: None shows a bar on a terminal and a line about every ten seconds elsewhere, False nothing.
    devices: among how many, those of other processes included, the points are shared out; None takes one. Batches are
    the same whatever their number, and results to rounding.
    """

    def __init__(
        self,
        max_steps: int,
        *,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | None = None,
        keep: int = 2,
        callbacks: Sequence[Callback] = (),
        log_every: int = 100,
        precision: str | None = None,
        max_seconds: float | None = None,
        progress: bool | Progress | None = None,
        devices: int | None = None,
    ):
        counts = {"max_steps": max_steps, "keep": keep, "log_every": log_every}
        if checkpoint_every is not None:
            counts["checkpoint_every"] = checkpoint_every
        for name, count in counts.items():
            if not is_whole(count):
                raise ValueError(f"Trainer({name}={count!r}): give a whole number of at least 1.")
        check_seconds(max_seconds)
        check_count("Trainer", devices)
        if checkpoint is not None and not isinstance(checkpoint, str | os.PathLike):
            raise TypeError(f"Trainer(checkpoint={checkpoint!r}): give the path of a folder, or None.")
        self.max_steps = int(max_steps)
        self.checkpoint = None if checkpoint is None else Path(checkpoint).absolute()
        self.keep = keep
        self.precision = None if precision is None else check_precision(precision)
        self.max_seconds = max_seconds
        self.progress = progress
        self.devices = devices
        self.callbacks = Callbacks.of(callbacks)
        self._events = Events(log_every, checkpoint_every, self.callbacks)

    def fit(
        self,
        module: Module,
        *,
        datamodule: Any,
        optimizer: Any,
        balancer: Any = None,
        seed: Any = None,
        ckpt_path: str | Path | None = None,
        weights_only: bool = False,
    ) -> FitResult:
        """Train a fresh model, or go on from a checkpoint.

        datamodule: has `train_batch_source(batch_keys, key)`. optimizer: of optax, a least-squares one, or stages
        [(optimizer, steps), ...]. balancer: a LossBalancer; None gives each term the weight one.
        seed: an int from 0 to 2^32 - 1 or one JAX key. It is split into model, runtime, sampling and balancer streams.
        ckpt_path: run folder or checkpoint folder to resume from, seed unused; with `weights_only`, only the model's
        weights come from there.
        """
        resumes = ckpt_path is not None and not weights_only
        if seed is None and not resumes:
            raise ValueError("fit needs seed=, an int or a JAX key: a run that cannot be repeated is not offered.")
        with precision_scope(self._precision_for(module)):
            streams = split_root(root_key(0 if seed is None else seed))
            model = module.factory(streams.model)
            arrays, static = eqx.partition(model, eqx.is_array)
            saved = self._saved(ckpt_path)
            if saved is not None and weights_only:
                arrays, saved = saved.into(arrays, ".model_state"), None
            state = initialize_train_state(arrays, optimizer, None, *streams[1:])
            return self._run(module, state, static, datamodule, optimizer, balancer, saved, ckpt_path)

    def fit_state(
        self,
        module: Module,
        state: TrainState,
        *,
        datamodule: Any,
        optimizer: Any,
        balancer: Any = None,
        ckpt_path: str | Path | None = None,
        weights_only: bool = False,
    ) -> FitResult:
        """Train on from a complete state, such as `initialize_train_state` or `FitResult.state` gives.

        A checkpoint replaces all of the state, or with `weights_only` its model alone, with a fresh optimizer state.
        """
        with precision_scope(self._precision_for(module)):
            model = eqx.filter_eval_shape(module.factory, jax.random.key(0))
            static = eqx.filter(model, lambda leaf: not isinstance(leaf, jax.ShapeDtypeStruct))
            state = state._replace(model_state=eqx.filter(state.model_state, eqx.is_array))
            saved = self._saved(ckpt_path)
            if saved is not None and weights_only:
                arrays, saved = saved.into(state.model_state, ".model_state"), None
                fresh = initialize_train_state(arrays, optimizer, None, state.rng_key)
                state = state._replace(model_state=arrays, opt_state=fresh.opt_state)
            return self._run(module, state, static, datamodule, optimizer, balancer, saved, ckpt_path)

    def predict(self, model_or_result: Any, *inputs: Any, chunk: int = CHUNK) -> Any:
        """The model's values at rows of inputs of shape (n, ...), as NumPy of shape (n, ...), `chunk` rows at a time."""
        model = model_or_result.model if isinstance(model_or_result, FitResult) else model_or_result
        return predict_rows(model, *inputs, chunk=chunk, devices=devices_of(self.devices))

    def _precision_for(self, module: Module) -> str:
        if self.precision and module.precision and self.precision != module.precision:
            raise ValueError(
                f"Trainer(precision={self.precision!r}), but the module was compiled for {module.precision}: leave the "
                "Trainer's out, or compile with the same precision."
            )
        return self.precision or module.precision or ambient_precision()

    def _saved(self, path: str | Path | None) -> Saved | None:
        if path is None:
            return None
        store = CheckpointStore(path)
        try:
            return store.latest()
        finally:
            store.close()

    def _run(
        self,
        module: Module,
        state: TrainState,
        static: Any,
        datamodule: Any,
        optimizer: Any,
        balancer: Any,
        saved: Saved | None,
        ckpt_path: str | Path | None,
    ) -> FitResult:
        _check_parts(datamodule, balancer)
        _check_problem(module, saved)
        plan = Plan.of(optimizer)
        if module.course is not None:
            plan.check_ends()
        spent = 0.0 if saved is None else float(saved.notes["seconds"])
        pace = Pace(self.max_seconds, spent)
        precision = self._precision_for(module)
        devices = devices_of(self.devices)
        prepared = prepare(
            module,
            jax.tree.map(jnp.asarray, state),
            static,
            datamodule=datamodule,
            plan=plan,
            balancer=Static({}) if balancer is None else balancer,
            callbacks=self.callbacks,
            saved=saved,
            precision=precision,
            devices=devices,
        )
        folder = self.checkpoint if devices.leads else None
        with _holding(folder):
            return Session(
                program=prepared.program,
                sources=prepared.sources,
                plan=plan,
                max_steps=self.max_steps,
                events=self._events,
                pace=pace,
                callbacks=self.callbacks,
                store=self._store(folder, saved),
                metrics=_metrics(folder, saved, ckpt_path),
                progress=make_progress(self.progress if devices.leads else False),
                precision=precision,
                folder=folder,
                restored=saved is not None,
                course=module.course,
                fingerprint=module.fingerprint,
            ).run(prepared.state)

    def _store(self, folder: Path | None, saved: Saved | None) -> CheckpointStore | None:
        """The run's own store, empty or the one that `saved` came from."""
        if folder is None:
            return None
        store = CheckpointStore(folder, self.keep)
        if saved is not None and saved.folder.parent == store.folder:
            store.set_aside_after(saved.step)
        elif store.steps():
            latest = store.steps()[0]
            store.close()
            raise CheckpointError(
                f"{folder} already holds a run, saved at step {latest}: go on with it by ckpt_path={str(folder)!r}, or "
                "choose another folder."
            )
        return store


@contextmanager
def _holding(folder: Path | None) -> Iterator[None]:
    """The run's folder, made where there is none, for this process alone."""
    if folder is None:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder, again=True):
        yield


def _metrics(folder: Path | None, saved: Saved | None, ckpt_path: str | Path | None) -> MetricsWriter:
    """The run's metrics, after those of the steps before the checkpoint."""
    history = History()
    if saved is not None and ckpt_path is not None:
        begun = checkpoint_folder(ckpt_path).parent
        history = read_metrics(begun / METRICS_FILE, before=saved.step, stage_begun=_begins_stage(saved))
    return MetricsWriter(folder and folder / METRICS_FILE, history)


def _begins_stage(saved: Saved) -> bool:
    """Whether a checkpoint was made at the first step of a stage, once that had been told."""
    start = next((i for i, leaf in enumerate(saved.leaves) if leaf["path"] == ".opt_state.start"), None)
    # Other optimizers keep arrays by that name, such as where a race began.
    return start is not None and np.ndim(saved.arrays[start]) == 0 and int(saved.arrays[start]) == saved.step > 0


def _check_problem(module: Module, saved: Saved | None) -> None:
    then = None if saved is None else saved.notes.get("fingerprint")
    if saved is not None and None not in (then, module.fingerprint) and then != module.fingerprint:
        raise CheckpointError(
            f"checkpoint {saved.folder} is of another problem (fingerprint {str(then)[:12]}; this one has "
            f"{str(module.fingerprint)[:12]}). Go on with the problem as it was, or give weights_only=True to begin this "
            f"one from its weights."
        )


def _check_parts(datamodule: Any, balancer: Any) -> None:
    if not hasattr(datamodule, "train_batch_source"):
        raise TypeError(f"datamodule={datamodule!r} has no method train_batch_source(batch_keys, key).")
    check_balancer(balancer)


def check_seconds(max_seconds: Any) -> None:
    """ValueError for what bounds no run; None and infinity do not, by right."""
    if max_seconds is not None and not (is_positive(max_seconds) or max_seconds == math.inf):
        raise ValueError(f"max_seconds={max_seconds!r}: give a positive number of seconds, or None.")


def check_balancer(balancer: Any) -> None:
    """TypeError for what combines no losses, such as the class of a balancer; None does by the weights of one."""
    if isinstance(balancer, type):
        raise TypeError(f"balancer={balancer.__name__} is the class; write {balancer.__name__}(), with its options.")
    if balancer is not None and not hasattr(balancer, "combine"):
        raise TypeError(f"balancer={balancer!r} is no LossBalancer: give phijax.GradNorm() or another, or None.")
    if balancer is not None:
        check_parts(balancer)
