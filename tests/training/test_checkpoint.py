"""P60, T2: state trees round-trip exactly; a damaged checkpoint is refused by name and the one before it used."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from training_toy import bits

from phijax.training import CheckpointError, CheckpointStore


class Pair(NamedTuple):
    key: jax.Array
    nested: tuple


def tree(scale=1.0, implementation="threefry2x32"):
    return Pair(
        jax.random.key(7, impl=implementation),
        (
            {"matrix": jnp.full((1, 1), 1.1 * scale), "count": jnp.int32(16777217), "flag": jnp.array(True)},
            [jnp.arange(3, dtype=jnp.float32), (jnp.asarray(0.1) * scale, jnp.zeros((0, 3)))],
            jax.random.split(jax.random.key(1, impl=implementation), 3),
        ),
    )


def saved(folder, steps=(1, 2), keep=5):
    store = CheckpointStore(folder, keep)
    for step in steps:
        store.save(step, tree(step), {"seconds": 1.5})
    store.close()
    return folder


@pytest.mark.parametrize("implementation", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_p60_a_state_round_trips_with_types_shapes_and_dtypes(tmp_path, implementation):
    with jax.enable_x64(True):
        original = tree(implementation=implementation)
        store = CheckpointStore(tmp_path, 2)
        store.save(3, original, {})
        store.close()
        restored = CheckpointStore(tmp_path).latest().into(jax.tree.map(jnp.zeros_like, original))
        assert jax.tree.structure(restored) == jax.tree.structure(original)
        assert bits(restored) == bits(original)
        assert [leaf.shape for leaf in jax.tree.leaves(restored)] == [leaf.shape for leaf in jax.tree.leaves(original)]
        assert str(jax.random.key_impl(restored.key)) == implementation


def victims(folder, step):
    """Files of a checkpoint that hold values or their description."""
    files = [file for file in sorted((folder / "checkpoints" / str(step)).rglob("*")) if file.is_file()]
    return [file for file in files if file.stat().st_size > 40]


def truncate(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def flip(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(bytes(content))


@pytest.mark.parametrize("damage", [truncate, flip])
def test_t2_a_damaged_checkpoint_is_refused_by_name_and_the_one_before_used(tmp_path, damage):
    folder = saved(tmp_path)
    for file in victims(folder, 2):
        damage(file)
    with pytest.warns(RuntimeWarning, match=r"checkpoints/2 is damaged and refused.*the one before it is tried"):
        found = CheckpointStore(folder).latest()
    assert found.step == 1
    assert bits(found.into(tree())) == bits(tree(1))


def test_t2_a_single_flipped_value_is_found(tmp_path, monkeypatch):
    folder = saved(tmp_path)
    store = CheckpointStore(folder)
    restore = store._manager.restore

    def falsified(step, args):
        result = restore(step, args=args)
        if step == 2 and "state" in result:
            result["state"]["leaf00003"] = result["state"]["leaf00003"] * np.float32(1.0000001)
        return result

    monkeypatch.setattr(store._manager, "restore", falsified)
    with pytest.warns(RuntimeWarning, match="its values are not those that were saved"):
        assert store.latest().step == 1


def test_t2_with_no_whole_checkpoint_all_faults_are_named(tmp_path):
    folder = saved(tmp_path)
    for step in (1, 2):
        for file in victims(folder, step):
            truncate(file)
    with (
        pytest.warns(RuntimeWarning, match="damaged"),
        pytest.raises(CheckpointError, match=r"no whole checkpoint in .*: step 2: .*; step 1: "),
    ):
        CheckpointStore(folder).latest()


def test_damaged_ones_are_set_aside_so_that_their_steps_can_be_saved_again(tmp_path):
    folder = saved(tmp_path)
    store = CheckpointStore(folder, 5)
    store.set_aside_after(1)
    assert store.steps() == [1]
    assert (folder / "checkpoints" / "damaged" / "2").is_dir()
    store.save(2, tree(20.0), {})
    store.close()
    assert bits(CheckpointStore(folder).latest().into(tree())) == bits(tree(20.0))


def test_only_the_latest_are_kept_and_the_trash_is_emptied(tmp_path):
    folder = saved(tmp_path, steps=(1, 2, 3, 4), keep=2)
    assert CheckpointStore(folder).steps() == [4, 3]
    assert not (folder / "checkpoints" / "trash").exists()


def test_a_step_that_is_there_is_not_saved_twice(tmp_path):
    folder = saved(tmp_path)
    store = CheckpointStore(folder, 5)
    store.save(2, tree(99.0), {})
    store.close()
    assert bits(CheckpointStore(folder).latest().into(tree())) == bits(tree(2))


def test_a_step_before_the_latest_is_refused(tmp_path):
    store = CheckpointStore(saved(tmp_path, steps=(2, 5)), 5)
    with pytest.raises(CheckpointError, match=r"step 3 was not saved in .*, whose latest is 5"):
        store.save(3, tree(), {})
    store.close()


def changed(**parts):
    base = tree()
    first, second, third = base.nested
    return Pair(parts.get("key", base.key), (first | parts.get("first", {}), second, third))


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (changed(first={"matrix": jnp.ones((1,))}), r"nested\[0\]\['matrix'\] of float32 of shape \(1, 1\); .*\(1,\)"),
        (changed(first={"count": jnp.float32(0)}), r"\['count'\] of int32 of shape \(\); this run has float32"),
        (changed(first={"more": jnp.ones(2)}), r"has no \.nested\[0\]\['more'\], which this run has"),
        (changed(key=jax.random.key(7, impl="rbg")), r"has \.key of threefry2x32 key.*this run has rbg key"),
        (changed(key=jnp.zeros(2, jnp.uint32)), r"has \.key of threefry2x32 key.*this run has uint32"),
        (Pair(tree().key, ()), r"has \.nested\[0\]\['count'\].*which this run has not"),
    ],
)
def test_a_tree_that_does_not_fit_is_refused_naming_the_leaf(tmp_path, template, message):
    with pytest.raises(CheckpointError, match=message):
        CheckpointStore(saved(tmp_path)).latest().into(template)


def test_relative_paths_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved("here")
    assert CheckpointStore("here").latest().notes == {"seconds": 1.5}
