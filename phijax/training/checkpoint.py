"""Checkpoints: whole train states on disk, checked leaf by leaf when they are read."""

from __future__ import annotations

import hashlib
import shutil
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jax.tree_util import keystr, tree_flatten_with_path, tree_unflatten

from phijax.training.state import trainable

FORMAT = 1
FOLDER = "checkpoints"
_PRUNED = "trash"
_DAMAGED = "damaged"


class CheckpointError(RuntimeError):
    """No checkpoint that can be used, or one that does not fit what it is restored into."""


def is_key(leaf: Any) -> bool:
    """Whether a leaf is a typed random key."""
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _implementation(leaf: Any) -> str | None:
    return str(jax.random.key_impl(leaf)) if is_key(leaf) else None


def _to_host(leaf: Any) -> np.ndarray:
    return np.array(jax.random.key_data(leaf) if is_key(leaf) else leaf)


def _describe(path: tuple, leaf: Any) -> dict[str, Any]:
    host = _to_host(leaf)
    return {"path": keystr(path), "shape": list(host.shape), "dtype": host.dtype.name, "key": _implementation(leaf)}


def _digest(arrays: list[np.ndarray]) -> str:
    """Checksum of the values, against damage that leaves a file readable."""
    checksum = hashlib.blake2b(digest_size=16)
    for array in arrays:
        checksum.update(np.ascontiguousarray(array).tobytes())
    return checksum.hexdigest()


def _slot(position: int) -> str:
    return f"leaf{position:05d}"


@dataclass(frozen=True)
class Saved:
    """One checkpoint as read: arrays in order, with the path, shape and dtype of each, and the writer's notes."""

    step: int
    arrays: list[np.ndarray]
    leaves: list[dict[str, Any]]
    notes: dict[str, Any]
    folder: Path

    def array(self, path: str) -> Any:
        """The leaf of that path, a key as a typed key."""
        position = next((i for i, leaf in enumerate(self.leaves) if leaf["path"] == path), None)
        if position is None:
            raise CheckpointError(f"checkpoint {self.folder} holds no {path}.")
        return self._leaf(position)

    def member(self, position: int) -> Saved:
        """The state at `position` where a tuple of train states was saved, as if it had been saved alone."""
        prefix = f"[{position}]"
        kept = [i for i, leaf in enumerate(self.leaves) if leaf["path"].startswith(prefix)]
        leaves = [self.leaves[i] | {"path": self.leaves[i]["path"].removeprefix(prefix)} for i in kept]
        seed, notes = str(self.notes["seeds"][position]), dict(self.notes)
        if seed in notes["answers"]:
            notes["answer"] = notes["answers"][seed]
        own = replace(self, arrays=[self.arrays[i] for i in kept], leaves=leaves, notes=notes)
        return replace(own, step=int(own.array(".step")))

    def _leaf(self, position: int) -> Any:
        kind = self.leaves[position]["key"]
        array = jnp.array(self.arrays[position])  # a copy: no array of the run shares memory with what was read
        return array if kind is None else jax.random.wrap_key_data(array, impl=kind)

    def into(self, template: Any, prefix: str = "") -> Any:
        """The tree of `template` with the saved values; `prefix` is the path of `template` in what was saved.

        CheckpointError names the first leaf that is missing, left over, or of another shape or dtype.
        """
        flat, structure = tree_flatten_with_path(template)
        saved = {leaf["path"]: i for i, leaf in enumerate(self.leaves) if leaf["path"].startswith(prefix)}
        restored = []
        for path, leaf in flat:
            want = _describe(path, leaf)
            want["path"] = prefix + want["path"]
            position = saved.pop(want["path"], None)
            if position is None:
                raise self._misfit(f"has no {want['path']}, which this run has ({_words(want)})")
            if self.leaves[position] != want:
                raise self._misfit(
                    f"has {want['path']} of {_words(self.leaves[position])}; this run has {_words(want)}"
                )
            restored.append(self._leaf(position))
        if saved:
            path, position = next(iter(saved.items()))
            raise self._misfit(f"has {path} ({_words(self.leaves[position])}), which this run has not")
        return tree_unflatten(structure, restored)

    def model(self, template: Any) -> Any:
        """The arrays of the model as a run that ends here gives it; `template` has the arrays of a model of its kind."""
        arrays = self.into(template, ".model_state")
        if "answer" not in self.notes:
            return arrays
        params, rest = trainable(arrays)
        theta, unravel = ravel_pytree(params)
        return eqx.combine(unravel(jnp.asarray(self.notes["answer"], theta.dtype)), rest)

    def _misfit(self, difference: str) -> CheckpointError:
        return CheckpointError(
            f"checkpoint {self.folder} does not fit this run: it {difference}. Use the model, optimizer, balancer, "
            "samplers, callbacks and precision that it was saved with, or weights_only=True for the weights of the "
            "same model."
        )


def _words(leaf: dict[str, Any]) -> str:
    kind = f"{leaf['key']} key" if leaf["key"] else leaf["dtype"]
    return f"{kind} of shape {tuple(leaf['shape'])}"


class CheckpointStore:
    """The checkpoints of one run folder, `FOLDER/checkpoints/STEP`, by orbax.

    keep: how many of the latest are kept; None opens the folder for reading alone.
    Of several processes each reads for itself and one writes, since all have the whole state: none waits for another.
    """

    def __init__(self, path: str | Path, keep: int | None = None):
        import orbax.checkpoint as ocp

        self._ocp = ocp
        self.folder = checkpoint_folder(path) if keep is None else Path(path).absolute() / FOLDER
        self._trash = self.folder / _PRUNED
        # A half-deleted old step could pass for a whole one; moved aside first, it cannot.
        if keep is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        options = ocp.CheckpointManagerOptions(
            max_to_keep=keep,
            todelete_subdir=_PRUNED if keep else None,
            cleanup_tmp_directories=keep is not None,
            create=False,
            **_by_itself(ocp),
        )
        self._manager = ocp.CheckpointManager(self.folder, options=options)

    def steps(self) -> list[int]:
        """Steps of the checkpoints, latest first."""
        return sorted(self._manager.all_steps(), reverse=True)

    def save(self, step: int, tree: Any, notes: dict[str, Any]) -> None:
        """Save a tree of arrays and keys as of `step`, unless that step is there; returns before it is on disk."""
        if step in self._manager.all_steps():
            return
        flat = tree_flatten_with_path(tree)[0]
        arrays = [_to_host(leaf) for _, leaf in flat]
        meta = {
            "format": FORMAT,
            "leaves": [_describe(path, leaf) for path, leaf in flat],
            "digest": _digest(arrays),
            "notes": notes,
        }
        # Orbax refuses arrays of size zero; their shape says all.
        state = {_slot(i): array for i, array in enumerate(arrays) if array.size}
        args = self._ocp.args.Composite(
            state=self._ocp.args.StandardSave(state),
            meta=self._ocp.args.JsonSave(meta),  # type: ignore[call-arg]
        )
        if not self._manager.save(step, args=args):
            raise CheckpointError(f"step {step} was not saved in {self.folder}, whose latest is {self.steps()[0]}.")

    def read(self, step: int) -> Saved:
        """One checkpoint; any error means that it is damaged."""
        args = self._ocp.args
        meta = self._manager.restore(step, args=args.Composite(meta=args.JsonRestore()))["meta"]
        if meta["format"] != FORMAT:
            raise CheckpointError(f"checkpoint {self.folder / str(step)} is of format {meta['format']}, not {FORMAT}.")
        empty = [np.zeros(leaf["shape"], leaf["dtype"]) for leaf in meta["leaves"]]
        template = {_slot(i): array for i, array in enumerate(empty) if array.size}
        state = self._manager.restore(step, args=args.Composite(state=args.StandardRestore(template)))["state"]  # type: ignore[call-arg]
        arrays = [np.asarray(state.get(_slot(i), array)) for i, array in enumerate(empty)]
        if _digest(arrays) != meta["digest"]:
            raise CheckpointError("its values are not those that were saved")
        return Saved(step, arrays, meta["leaves"], meta["notes"], self.folder / str(step))

    def latest(self) -> Saved:
        """The latest whole checkpoint. A damaged one is named in a warning and the one before it used."""
        faults = []
        for step in self.steps():
            try:
                return self.read(step)
            except Exception as error:  # whatever orbax meets in a damaged folder
                reason = (str(error) or type(error).__name__).splitlines()[0][:160]
                faults.append(f"step {step}: {reason}")
                warnings.warn(
                    f"checkpoint {self.folder / str(step)} is damaged and refused ({reason}); the one before it is "
                    "tried.",
                    RuntimeWarning,
                    stacklevel=2,
                )
        found = "; ".join(faults) if faults else "it holds none; a run folder goes on by phijax resume"
        cure = " Remove that folder, and phijax resume starts the run anew from its settings." if faults else ""
        raise CheckpointError(f"no whole checkpoint in {self.folder}: {found}.{cure}")

    def set_aside_after(self, step: int) -> None:
        """Move checkpoints later than `step` to `damaged/`, so that the run can save those steps again."""
        for later in [s for s in self.steps() if s > step]:
            target = self.folder / _DAMAGED / str(later)
            shutil.rmtree(target, ignore_errors=True)
            target.parent.mkdir(exist_ok=True)
            shutil.move(self.folder / str(later), target)
        self._manager.reload()

    def close(self) -> None:
        """Wait until all is on disk, and empty the trash."""
        self._manager.wait_until_finished()
        self._manager.close()
        shutil.rmtree(self._trash, ignore_errors=True)


def _by_itself(ocp: Any) -> dict[str, Any]:
    """What tells orbax that this process, of several, is not followed by the others."""
    if jax.process_count() == 1:
        return {}
    own = jax.process_index()
    alone = ocp.options.MultiprocessingOptions(
        primary_host=own, active_processes={own}, barrier_sync_key_prefix=f"process{own}"
    )
    return {"multiprocessing_options": alone}


def checkpoint_folder(path: str | Path) -> Path:
    """The folder of the steps: `path` itself, or `path/checkpoints`. CheckpointError where there is none."""
    folder = Path(path).absolute()
    inside = folder / FOLDER
    if inside.is_dir():
        return inside
    if folder.is_dir() and any(child.name.isdigit() for child in folder.iterdir()):
        return folder
    raise CheckpointError(f"no checkpoints in {folder}: it is neither a run folder nor a checkpoint folder.")
