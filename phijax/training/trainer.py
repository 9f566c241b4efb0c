"""Trainer: conducts a run; what it conducts is in the modules beside it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
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
from phijax.training.ensemble import Asked, Lockstep, Voice, shared_by
from phijax.training.identity import check_identity, identity
from phijax.training.keys import root_key, root_keys, split_root
from phijax.training.lock import held
from phijax.training.metrics import METRICS_FILE, History, MetricsWriter, read_metrics
from phijax.training.module import Module
from phijax.training.predict import CHUNK, predict_rows
from phijax.training.prepare import Prepared, prepare
from phijax.training.progress import Progress, make_progress
from phijax.training.result import EnsembleResult, FitResult
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
                arrays, saved = saved.model(arrays), None
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
                arrays, saved = saved.model(state.model_state), None
                fresh = initialize_train_state(arrays, optimizer, None, state.rng_key)
                state = state._replace(model_state=arrays, opt_state=fresh.opt_state)
            return self._run(module, state, static, datamodule, optimizer, balancer, saved, ckpt_path)

    def fit_ensemble(
        self,
        module: Module,
        *,
        datamodule: Any,
        optimizer: Any,
        balancer: Any = None,
        seeds: Iterable[Any] | None = None,
        ckpt_path: str | Path | None = None,
    ) -> EnsembleResult:
        """Train several seeds at once, on programs that are compiled once; each goes as `fit` with that seed does.

        A member whose loss is not finite ends alone. All are saved in one checkpoint; steps to record and to save are
        each member's own. seeds: at least two, such as range(8). ckpt_path: where to resume from, seeds unused. The rest
        is as for `fit`.
        """
        if seeds is None and ckpt_path is None:
            raise ValueError("fit_ensemble needs seeds=, such as range(8).")
        check_one_device(self.devices)
        with precision_scope(self._precision_for(module)):
            saved = self._saved(ckpt_path, ensemble=True)
            given = {} if saved is not None or seeds is None else root_keys(seeds)
            names = tuple(given) if saved is None else tuple(saved.notes["seeds"])
            plan, pace = self._begun(module, datamodule, optimizer, balancer, saved)
            members = {name: None if saved is None else saved.member(i) for i, name in enumerate(names)}
            static, prepared = None, {}
            for name, own in members.items():
                streams = split_root(given.get(name, root_key(0)))
                arrays, others = eqx.partition(module.factory(streams.model), eqx.is_array)
                static = others if static is None else static  # what is no array is the factory's, whatever the key
                state = initialize_train_state(arrays, optimizer, None, *streams[1:])
                prepared[name] = self._prepared(module, state, static, datamodule, plan, balancer, own)
            with _holding(self._folder):
                return self._in_lockstep(module, prepared, plan, pace, members, saved, ckpt_path)

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

    def _saved(self, path: str | Path | None, ensemble: bool = False) -> Saved | None:
        if path is None:
            return None
        store = CheckpointStore(path)
        try:
            saved = store.latest()
        finally:
            store.close()
        seeds = saved.notes.get("seeds")
        if seeds is not None and not ensemble:
            raise CheckpointError(
                f"checkpoint {saved.folder} holds the seeds {', '.join(map(str, seeds))}: go on with all by fit_ensemble."
            )
        if seeds is None and ensemble:
            raise CheckpointError(f"checkpoint {saved.folder} holds one run: go on with it by fit.")
        return saved

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
        plan, pace = self._begun(module, datamodule, optimizer, balancer, saved)
        prepared = self._prepared(module, state, static, datamodule, plan, balancer, saved)
        with _holding(self._folder):
            session = self._session(
                module,
                prepared,
                plan,
                pace,
                restored=saved is not None,
                store=self._store(saved),
                metrics=MetricsWriter(self._metrics_file, _history(saved, ckpt_path)),
                progress=make_progress(self.progress if devices_of(self.devices).leads else False),
            )
            return session.run(prepared.state)

    def _begun(
        self, module: Module, datamodule: Any, optimizer: Any, balancer: Any, saved: Saved | None
    ) -> tuple[Plan, Pace]:
        """The stages and the clock of a run, once its parts are checked."""
        _check_parts(datamodule, balancer)
        if saved is not None:
            check_identity(module, saved)
        plan = Plan.of(optimizer)
        if module.course is not None:
            plan.check_ends()
        return plan, Pace(self.max_seconds, 0.0 if saved is None else float(saved.notes["seconds"]))

    def _prepared(
        self,
        module: Module,
        state: TrainState,
        static: Any,
        datamodule: Any,
        plan: Plan,
        balancer: Any,
        saved: Saved | None,
    ) -> Prepared:
        return prepare(
            module,
            jax.tree.map(jnp.asarray, state),
            static,
            datamodule=datamodule,
            plan=plan,
            balancer=Static({}) if balancer is None else balancer,
            callbacks=self.callbacks,
            saved=saved,
            precision=self._precision_for(module),
            devices=devices_of(self.devices),
        )

    def _session(self, module: Module, prepared: Prepared, plan: Plan, pace: Pace, **own: Any) -> Session:
        """A run of this Trainer. own: what is its own where it is one of several."""
        return Session(
            program=prepared.program,
            sources=prepared.sources,
            plan=plan,
            max_steps=self.max_steps,
            events=self._events,
            pace=pace,
            callbacks=self.callbacks,
            precision=self._precision_for(module),
            folder=self._folder,
            course=module.course,
            identity=identity(module),
            **own,
        )

    def _in_lockstep(
        self,
        module: Module,
        prepared: Mapping[int | str, Prepared],
        plan: Plan,
        pace: Pace,
        members: Mapping[int | str, Saved | None],
        saved: Saved | None,
        ckpt_path: str | Path | None,
    ) -> EnsembleResult:
        shown, asked = make_progress(self.progress), Asked()
        voices = {name: Voice(shown, name) for name in prepared}
        histories = {name: _history(own, ckpt_path, name) for name, own in members.items()}
        shares = shared_by([each.sources for each in prepared.values()])
        sessions = {
            name: self._session(
                module,
                each,
                plan,
                replace(pace),
                restored=saved is not None,
                store=asked,
                metrics=metrics,
                progress=voices[name],
                shared=shared,
            )
            for (name, each), metrics, shared in zip(
                prepared.items(), MetricsWriter.several(self._metrics_file, histories), shares, strict=True
            )
        }
        over = {} if saved is None else saved.notes["ended"]
        ended = {name: tuple(over[str(name)]) for name in prepared if str(name) in over}
        lockstep = Lockstep(sessions, voices, self._store(saved), asked, shown, self.max_steps, ended)
        results = lockstep.run({name: each.state for name, each in prepared.items()})
        return EnsembleResult(
            tuple(prepared), tuple(results), pace.seconds, self._precision_for(module), self.checkpoint
        )

    @property
    def _folder(self) -> Path | None:
        """The run's folder, in the process that writes it."""
        return self.checkpoint if devices_of(self.devices).leads else None

    def _store(self, saved: Saved | None) -> CheckpointStore | None:
        """The run's own store, empty or the one that `saved` came from."""
        folder = self._folder
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

    @property
    def _metrics_file(self) -> Path | None:
        return self._folder and self._folder / METRICS_FILE


def _history(saved: Saved | None, ckpt_path: str | Path | None, seed: int | str | None = None) -> History:
    """The records of the steps before a checkpoint. seed: of the member of an ensemble."""
    if saved is None or ckpt_path is None:
        return History()
    file = checkpoint_folder(ckpt_path).parent / METRICS_FILE
    return read_metrics(file, before=saved.step, stage_begun=_begins_stage(saved), seed=seed)


@contextmanager
def _holding(folder: Path | None) -> Iterator[None]:
    """The run's folder, made where there is none, for this process alone."""
    if folder is None:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder, again=True):
        yield


def _begins_stage(saved: Saved) -> bool:
    """Whether a checkpoint was made at the first step of a stage, once that had been told."""
    start = next((i for i, leaf in enumerate(saved.leaves) if leaf["path"] == ".opt_state.start"), None)
    # Other optimizers keep arrays by that name, such as where a race began.
    return start is not None and np.ndim(saved.arrays[start]) == 0 and int(saved.arrays[start]) == saved.step > 0


def _check_parts(datamodule: Any, balancer: Any) -> None:
    if not hasattr(datamodule, "train_batch_source"):
        raise TypeError(f"datamodule={datamodule!r} has no method train_batch_source(batch_keys, key).")
    check_balancer(balancer)


def check_seconds(max_seconds: Any) -> None:
    """ValueError for what bounds no run; None and infinity do not, by right."""
    if max_seconds is not None and not (is_positive(max_seconds) or max_seconds == math.inf):
        raise ValueError(f"max_seconds={max_seconds!r}: give a positive number of seconds, or None.")


def check_one_device(devices: int | None) -> None:
    """ValueError where several seeds would share several devices."""
    if devices_of(devices).count > 1:
        raise ValueError(
            f"several seeds are trained on one device, not on {devices}; leave devices= out, or give seed=."
        )


def check_balancer(balancer: Any) -> None:
    """TypeError for what combines no losses, such as the class of a balancer; None does by the weights of one."""
    if isinstance(balancer, type):
        raise TypeError(f"balancer={balancer.__name__} is the class; write {balancer.__name__}(), with its options.")
    if balancer is not None and not hasattr(balancer, "combine"):
        raise TypeError(f"balancer={balancer!r} is no LossBalancer: give phijax.GradNorm() or another, or None.")
    if balancer is not None:
        check_parts(balancer)
