"""Devices: rows of a batch shared out among several of them, in one process or many; all else is on every one.

A batch is drawn as on one device, and has the same rows; what is computed of a row stays where the row is, and sums go
round once. Where rows do not divide, the last one is repeated, and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array

from phijax._numbers import is_whole

AXIS = "data"
Rows = Mapping[str, Any]  # trees of arrays with a leading axis of their own, by name
# Of the rows at hand, their marks (whether a row counts, None where all do) and whatever else it was given.
OfRows = Callable[..., Any]


class OneDevice:
    """The device that JAX itself would take: nothing is shared out, moved or agreed on."""

    count = 1
    leads = True

    @property
    def own(self) -> Devices:
        """Itself."""
        return self

    def jit(self, function: Callable) -> Callable:
        """The compiled function."""
        return jax.jit(function)

    def kept(self, function: Callable) -> Callable:
        """The compiled function."""
        return jax.jit(function)

    def each(self, function: Callable, rows: Any, *others: Any) -> Any:
        """What `function` gives of the rows."""
        return function(rows, *others)

    def stacked(self, function: OfRows, rows: Rows, *others: Any) -> Any:
        """What `function` gives of all rows."""
        return function(rows, dict.fromkeys(rows), *others)

    def summed(self, function: OfRows, rows: Rows, *others: Any) -> Any:
        """What `function` gives of all rows."""
        return function(rows, dict.fromkeys(rows), *others)

    def placed(self, tree: Any) -> Any:
        """The tree as it is."""
        return tree

    def local(self, tree: Any) -> Any:
        """The tree as it is."""
        return tree

    def whole(self, array: Array) -> Array:
        """The array as it is."""
        return array

    def agreed(self, values: Sequence[int]) -> list[tuple[int, ...]]:
        """The values of the one process."""
        return [tuple(values)]


@dataclass(frozen=True)
class SeveralDevices:
    """Devices in a row. Every process runs the same program; arrays that go in and come out are ordinary ones of its own."""

    devices: tuple[Any, ...]

    @property
    def count(self) -> int:
        """Number of devices, those of other processes included."""
        return len(self.devices)

    @property
    def leads(self) -> bool:
        """Whether this process is the one that writes and prints."""
        return jax.process_index() == 0

    @cached_property
    def _mesh(self) -> Mesh:
        return Mesh(np.array(self.devices), (AXIS,), axis_types=(AxisType.Auto,))

    @cached_property
    def _all(self) -> set[Any]:
        return set(self.devices)

    @property
    def own(self) -> Devices:
        """Those of this process, for what it computes by itself."""
        return SeveralDevices(self._own) if len(self._own) > 1 else ONE_DEVICE

    @cached_property
    def _own(self) -> tuple[Any, ...]:
        return tuple(device for device in self.devices if device.process_index == jax.process_index())

    def _sharding(self, spec: PartitionSpec) -> NamedSharding:
        return NamedSharding(self._mesh, spec)

    @property
    def _everywhere(self) -> NamedSharding:
        return self._sharding(PartitionSpec())

    def jit(self, function: Callable) -> Callable:
        """The compiled function, run on all devices, of ordinary arrays and giving such."""
        compiled = jax.jit(function, out_shardings=self._everywhere)
        return lambda *given: self.local(compiled(*self.placed(given)))

    def kept(self, function: Callable) -> Callable:
        """The same, its results left where they are, for another function that runs on all devices."""
        compiled = jax.jit(function)
        return lambda *given: compiled(*self.placed(given))

    def each(self, function: Callable, rows: Any, *others: Any) -> Any:
        """What `function` gives row by row, each device taking its own."""
        count = jax.tree.leaves(rows)[0].shape[0]
        found = self.stacked(lambda rows, _, *others: function(rows[AXIS], *others), {AXIS: rows}, *others)
        return jax.tree.map(lambda leaf: leaf[:count], found)

    def stacked(self, function: OfRows, rows: Rows, *others: Any) -> Any:
        """What `function` gives of each device's rows, one after the other along the leading axis."""
        return self._by_share(function, rows, others, PartitionSpec(AXIS))

    def summed(self, function: OfRows, rows: Rows, *others: Any) -> Any:
        """The sum of what `function` gives of each device's rows, exchanged once; not to be differentiated."""

        def share(*given: Any) -> Any:
            return jax.lax.psum(function(*given), AXIS)

        return self._by_share(share, rows, others, PartitionSpec())

    def _by_share(self, function: OfRows, rows: Rows, others: tuple, out: PartitionSpec) -> Any:
        counts = {name: jax.tree.leaves(own)[0].shape[0] for name, own in rows.items()}
        specs = {name: PartitionSpec() if count % self.count else PartitionSpec(AXIS) for name, count in counts.items()}
        arrays, static = eqx.partition(others, eqx.is_array)

        def share(rows: Rows, arrays: tuple) -> Any:
            taken, marks = {}, {}
            for name, own in rows.items():
                taken[name], marks[name] = self._taken(own, counts[name])
            return function(taken, marks, *eqx.combine(arrays, static))

        shares = jax.shard_map(
            share,
            mesh=self._mesh,
            in_specs=(specs, PartitionSpec()),
            out_specs=out,
            check_vma=False,  # else each gradient inside would be summed over the devices where it is taken
        )
        # Rows that divide are drawn by their devices; of others each draws all, which costs less than to exchange some.
        placed = {n: jax.lax.with_sharding_constraint(own, self._sharding(specs[n])) for n, own in rows.items()}
        return shares(placed, arrays)

    def _taken(self, rows: Any, count: int) -> tuple[Any, Array | None]:
        """The rows of the device at hand, and which of them count: None where rows divide, and are its own already."""
        if count % self.count == 0:
            return rows, None
        own = -(-count // self.count)
        place = jax.lax.axis_index(AXIS) * own + jnp.arange(own)
        last = jnp.minimum(place, count - 1)
        return jax.tree.map(lambda leaf: leaf[last], rows), place < count

    def placed(self, tree: Any) -> Any:
        """The arrays of `tree` on every device, those that are there already as they are."""
        return jax.tree.map(self._put, tree)

    def _put(self, leaf: Any) -> Any:
        if not isinstance(leaf, jax.Array) or leaf.sharding.device_set == self._all:
            return leaf
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            # A key itself cannot be put onto devices of other processes.
            return jax.random.wrap_key_data(self._put(jax.random.key_data(leaf)), impl=jax.random.key_impl(leaf))
        copies = [jax.device_put(leaf, device) for device in self._own]
        return jax.make_array_from_single_device_arrays(leaf.shape, self._everywhere, copies)

    def local(self, tree: Any) -> Any:
        """Arrays that are on every device as ordinary ones of this process."""

        def own(leaf: Any) -> Any:
            if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
                return jax.random.wrap_key_data(own(jax.random.key_data(leaf)), impl=jax.random.key_impl(leaf))
            return jnp.asarray(np.asarray(leaf))

        return jax.tree.map(own, tree)

    def whole(self, array: Array) -> Array:
        """An array of which each device holds a part, as an ordinary one of this process."""
        return self.jit(_same)(array)

    def agreed(self, values: Sequence[int]) -> list[tuple[int, ...]]:
        """The values of each process, in order, the same in all of them."""
        if jax.process_count() == 1:
            return [tuple(values)]
        from jax.experimental.multihost_utils import process_allgather

        return [tuple(map(int, row)) for row in np.asarray(process_allgather(np.asarray(values, np.int32)))]


def marked(values: Array, marks: Array | None) -> Array:
    """The values of rows, (n, ...), zero for a row that does not count."""
    return values if marks is None else jnp.where(marks.reshape(-1, *[1] * (values.ndim - 1)), values, 0)


def _same(array: Array) -> Array:
    return array


Devices = OneDevice | SeveralDevices
ONE_DEVICE = OneDevice()


def devices_that_answer(devices: Devices) -> int:
    """How many of the devices add up what each of them holds, once the processes have agreed on it."""
    devices.agreed((0,))
    total = devices.jit(lambda ones: devices.summed(lambda rows, marks: jnp.sum(rows[AXIS]), {AXIS: ones}))
    return int(total(jnp.ones(devices.count, jnp.int32)))


def check_count(owner: str, count: Any) -> None:
    """ValueError for what is no number of devices; None is the one that JAX takes."""
    if count is not None and not is_whole(count):
        raise ValueError(f"{owner}: devices={count!r} must be a whole number of at least 1, or None for one device.")


def devices_of(count: int | None) -> Devices:
    """So many devices, as many of each process; ValueError where there are not so many."""
    processes = jax.process_count()
    if count is None or count == processes == 1:
        return ONE_DEVICE
    if count % processes:
        raise ValueError(f"devices={count} do not divide among {processes} processes; give a multiple of {processes}.")
    by_process = [[d for d in jax.devices() if d.process_index == process] for process in range(processes)]
    each = count // processes
    fewest = min(map(len, by_process))
    if each > fewest:
        where = f"each of {processes} processes has {fewest}" if processes > 1 else f"JAX has {fewest} here"
        cure = f"; on a CPU set JAX_NUM_CPU_DEVICES={each} before JAX is first used" if _on_cpu() else ""
        raise ValueError(f"devices={count}, but {where}{cure}.")
    return SeveralDevices(tuple(device for own in by_process for device in own[:each]))


def _on_cpu() -> bool:
    return jax.default_backend() == "cpu"
