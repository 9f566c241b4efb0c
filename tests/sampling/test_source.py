"""The batch of a step: a pure function of the sampling key, the step and the samplers' states (R5-R8)."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import phijax.geometry as geo
from phijax.sampling import (
    DataModule,
    Held,
    NamedBatchSource,
    Points,
    RegionSampler,
    ResidualAdaptive,
    ResidualRefinement,
    RetainResampleRelease,
    SamplerDataModule,
)
from phijax.symbolic import coordinates, time

(x,) = coordinates("x")
t = time("t")
spacetime = geo.Interval(x, -1, 1) * geo.Interval(t, 0, 1)
SAMPLERS = {
    "pde": RegionSampler(spacetime),
    "initial": RegionSampler(spacetime.at(t=0)),
    "walls": RegionSampler(spacetime.boundary(x), "uniform"),
}
SIZES = {"pde": 8, "initial": 4, "walls": 6}
KEY = jax.random.key(11)


class Uniform(eqx.Module):
    """A sampler as a user writes one."""

    def sample(self, key, n):
        return Points({"x": jax.random.uniform(key, (n,))})


class Walk(eqx.Module):
    """A sampler with state: points that move at every step."""

    period: int = eqx.field(static=True, default=1)

    def init(self, key):
        return jnp.zeros(())

    def sample(self, state, key, n):
        state = state + 1
        return state, Points({"x": state + jax.random.uniform(key, (n,))})


def same(a, b):
    return jax.tree.structure(a) == jax.tree.structure(b) and all(
        map(np.array_equal, jax.tree.leaves(a), jax.tree.leaves(b))
    )


def test_the_key_of_a_step_is_folded_in_and_split_in_declaration_order():
    """Spelled out: any other derivation, or another order, gives other points."""
    batch = NamedBatchSource(SAMPLERS, SIZES, KEY)(37)
    keys = jax.random.split(jax.random.fold_in(KEY, 37), 3)
    for key, name in zip(keys, ("pde", "initial", "walls"), strict=True):
        assert same(batch[name], SAMPLERS[name].sample(key, SIZES[name]))
    assert tuple(batch) == ("pde", "initial", "walls")


def test_a_step_gives_the_same_batch_however_it_is_reached():
    source = NamedBatchSource(SAMPLERS, SIZES, KEY)
    forward = [source(step) for step in range(4)]
    again = NamedBatchSource(SAMPLERS, SIZES, KEY)
    compiled = eqx.filter_jit(lambda source, step: source(step))
    for step in (3, 1, 0, 2):
        assert same(again(step), forward[step])
        assert same(compiled(source, step), forward[step])
        assert same(compiled(source, jnp.asarray(step)), forward[step])
        assert same(source.draw({}, step, None)[1], forward[step])
    assert not same(forward[0], forward[1])


def test_reordering_or_inserting_samplers_changes_their_points():
    before = NamedBatchSource(SAMPLERS, SIZES, KEY)(0)
    turned = NamedBatchSource(dict(reversed(SAMPLERS.items())), SIZES, KEY)(0)
    assert same(turned["initial"], before["initial"])  # in the middle either way
    assert not same(turned["pde"], before["pde"])
    more = NamedBatchSource({"extra": Uniform(), **SAMPLERS}, {"extra": 2, **SIZES}, KEY)(0)
    assert not same(more["pde"], before["pde"])


def test_names_keep_their_order_through_compilation():
    """A dict would come back sorted, and "pde" would get the key of "initial"."""
    source = NamedBatchSource(SAMPLERS, SIZES, KEY)
    assert jax.tree.unflatten(jax.tree.structure(source), jax.tree.leaves(source)).names == tuple(SAMPLERS)


def test_another_seed_needs_no_other_compilation():
    traces = []

    @eqx.filter_jit
    def draw(source, step):
        traces.append(step)
        return source(step)

    first = draw(NamedBatchSource(SAMPLERS, SIZES, jax.random.key(0)), jnp.asarray(0))
    second = draw(NamedBatchSource(SAMPLERS, SIZES, jax.random.key(1)), jnp.asarray(5))
    assert len(traces) == 1
    assert not same(first, second)


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_every_implementation_of_keys_gives_batches(impl):
    typed = jax.random.key(3, impl=impl)
    first, second = (NamedBatchSource(SAMPLERS, SIZES, typed)(step) for step in (0, 1))
    assert first["pde"].size == 8
    assert not same(first, second)


def test_raw_keys_equal_typed_ones():
    raw, typed = jax.random.PRNGKey(3), jax.random.key(3)
    assert same(NamedBatchSource(SAMPLERS, SIZES, raw)(9), NamedBatchSource(SAMPLERS, SIZES, typed)(9))


def test_held_points_are_those_of_the_step_at_which_they_were_due():
    source = NamedBatchSource({**SAMPLERS, "pde": Held(SAMPLERS["pde"], every=3)}, SIZES, KEY)
    plain = NamedBatchSource(SAMPLERS, SIZES, KEY)
    compiled = eqx.filter_jit(lambda source, step: source(step))
    for step in range(7):
        assert same(source(step)["pde"], plain(3 * (step // 3))["pde"])
        assert same(compiled(source, jnp.asarray(step))["pde"], plain(3 * (step // 3))["pde"])
        assert same(source(step)["walls"], plain(step)["walls"])
    assert not source.stateful


def test_pools_have_the_same_property_and_mix_with_samplers():
    rows = np.arange(20.0)
    pools = {"sensors": {"x": rows, "u": rows**2}, "pde": SAMPLERS["pde"], "ends": Points({"x": np.array([-1.0, 1.0])})}
    sizes = {"sensors": 5, "pde": 8, "ends": 2}
    source = NamedBatchSource.from_pools(pools, sizes, KEY, names=["pde", "sensors", "ends"])
    keys = jax.random.split(jax.random.fold_in(KEY, 4), 3)
    batch = source(4)
    assert tuple(batch) == ("pde", "sensors", "ends")
    assert same(batch["pde"], SAMPLERS["pde"].sample(keys[0], 8))
    np.testing.assert_array_equal(batch["sensors"]["x"], rows[np.asarray(jax.random.randint(keys[1], (5,), 0, 20))])
    np.testing.assert_array_equal(batch["sensors"]["u"], batch["sensors"]["x"] ** 2)
    np.testing.assert_array_equal(batch["ends"].coordinates["x"], [-1, 1])
    assert same(batch, eqx.filter_jit(lambda source, step: source(step))(source, jnp.asarray(4)))
    assert tuple(NamedBatchSource.from_pools(pools, sizes, KEY)(0)) == tuple(pools)


def test_a_large_pool_is_an_argument_of_compiled_code_and_no_constant_of_it():
    """Two million rows: made at once, in the pool's own precision, and the executable stays small."""
    rows = np.linspace(0, 1, 2_000_000)
    source = NamedBatchSource.from_pools({"data": {"x": rows, "u": rows**2}}, {"data": 100}, KEY)
    arrays, static = eqx.partition(source, eqx.is_array)
    lowered = jax.jit(lambda arrays, step: eqx.combine(arrays, static)(step)).lower(arrays, 0)
    assert len(lowered.as_text()) < 100_000
    batch = lowered.compile()(arrays, 0)["data"]
    np.testing.assert_allclose(batch["u"], batch["x"] ** 2, rtol=1e-5)


def test_a_sampler_with_state_moves_with_it():
    source = NamedBatchSource({"walk": Walk(), "pde": SAMPLERS["pde"]}, {"walk": 3, "pde": 8}, KEY)
    assert source.stateful
    with pytest.raises(ValueError, match="'walk' has a sampler with state: use `draw`"):
        source(0)
    state = source.init()
    assert tuple(state) == ("walk",)
    for step in range(3):
        state, batch = source.draw(state, step, None)
        keys = jax.random.split(jax.random.fold_in(KEY, step), 2)
        np.testing.assert_allclose(
            batch["walk"].coordinates["x"], step + 2 + jax.random.uniform(keys[0], (3,)), rtol=1e-6
        )
        assert same(batch["pde"], SAMPLERS["pde"].sample(keys[1], 8))


class Keyed(eqx.Module):
    """A sampler whose state and points are drawn from the keys that it is given."""

    def init(self, key):
        return jax.random.uniform(key)

    def sample(self, state, key, n):
        return state, Points({"x": jax.random.uniform(key, (n,))})


def test_a_sampler_with_state_has_the_key_of_its_place():
    source = NamedBatchSource({"first": Uniform(), "kept": Keyed()}, {"first": 3, "kept": 3}, KEY)
    state = source.init()
    before = jax.random.split(jax.random.split(jax.random.fold_in(KEY, 2**32 - 1), 2)[1])
    assert state["kept"].own == jax.random.uniform(before[0])
    np.testing.assert_array_equal(state["kept"].points.coordinates["x"], jax.random.uniform(before[1], (3,)))
    _, batch = source.draw(state, 5, None)
    own = jax.random.split(jax.random.fold_in(KEY, 5), 2)[1]
    np.testing.assert_array_equal(batch["kept"].coordinates["x"], jax.random.uniform(own, (3,)))


def test_a_sampler_with_a_period_is_asked_at_its_steps_alone():
    source = NamedBatchSource({"walk": Walk(period=3)}, {"walk": 2}, KEY)
    state, seen = source.init(), []
    draw = jax.jit(lambda state, step: source.draw(state, step, None))
    for step in range(7):
        state, batch = draw(state, step)
        seen.append(np.asarray(batch["walk"].coordinates["x"]))
    assert [len({seen[i].tobytes() for i in group}) for group in ((0, 1, 2), (3, 4, 5), (6,))] == [1, 1, 1]
    assert np.all(seen[3] > seen[0] + 0.0)
    assert float(state["walk"].own) == 4  # once at the beginning, then at steps 0, 3 and 6


class Short(eqx.Module):
    def sample(self, key, n):
        return Points({"x": jnp.zeros(n - 1)})


class Lost:
    pass


@pytest.mark.parametrize(
    ("samplers", "sizes", "message"),
    [
        ({"walls": Uniform()}, {"walls": 0}, "'walls': 0 points were asked for; give a whole number of at least 1"),
        ({"walls": Uniform()}, {"walls": 2.5}, "'walls': 2.5 points were asked for"),
        ({"walls": Uniform()}, {"walls": True}, "'walls': True points were asked for"),
        ({"walls": Uniform()}, {}, "'walls' has a sampler but no number of points"),
        (
            {"walls": Uniform()},
            {"walls": 1, "wall": 2},
            "sizes name 'wall', for which there is no sampler; did you mean",
        ),
        ({"walls": Short()}, {"walls": 5}, "'walls': its sampler was asked for 5 points and gave 4"),
        ({"walls": Lost()}, {"walls": 5}, r"the sampler of 'walls' is .*; a sampler has a method sample\(key, n\)"),
    ],
)
def test_what_gives_no_exact_batch_is_refused_by_name(samplers, sizes, message):
    with pytest.raises(ValueError, match=message):
        NamedBatchSource(samplers, sizes, KEY)


def test_pools_that_are_missing_or_too_small_are_refused_by_name():
    pools = {"sensors": np.arange(4.0)}
    with pytest.raises(ValueError, match="there is no pool for 'sensor'; did you mean 'sensors'"):
        NamedBatchSource.from_pools(pools, {"sensors": 2}, KEY, names=["sensor"])
    with pytest.raises(ValueError, match="'sensors': the pool has 4 rows, fewer than the 5 asked for"):
        NamedBatchSource.from_pools(pools, {"sensors": 5}, KEY)
    with pytest.raises(ValueError, match="'sensors': the arrays of a pool must have one length"):
        NamedBatchSource.from_pools({"sensors": {"x": np.zeros(2), "u": np.zeros(3)}}, {"sensors": 2}, KEY)


def test_a_data_module_of_samplers_gives_the_batches_that_an_objective_reads():
    module = SamplerDataModule(SAMPLERS, SIZES)
    assert isinstance(module, DataModule)
    source = module.train_batch_source(("walls", "pde"), KEY)
    assert same(source(2), NamedBatchSource({n: SAMPLERS[n] for n in ("walls", "pde")}, {"walls": 6, "pde": 8}, KEY)(2))
    with pytest.raises(ValueError, match="no sampler is named 'wall', which the objective reads; did you mean 'walls'"):
        module.train_batch_source(("wall",), KEY)


@pytest.mark.parametrize(
    "sampler",
    [
        lambda base: Held(base, every=10),
        lambda base: ResidualAdaptive(base, period=10),
        lambda base: RetainResampleRelease(base, period=10),
        lambda base: ResidualRefinement(base, start=16, add=4, period=10),
    ],
    ids=["held", "adaptive", "retained", "refined"],
)
def test_unseen_points_are_none_of_those_that_are_held(sampler):
    source = NamedBatchSource({"pde": sampler(RegionSampler(geo.Interval(x, 0, 1)))}, {"pde": 32}, jax.random.key(4))
    draw = jax.jit(lambda state, step: source.draw(state, step, lambda name, points: points.coordinates["x"]))
    state, seen = source.init(), []
    for step in range(8):
        state, batch = draw(state, step)
        seen.append(np.asarray(batch["pde"].coordinates["x"]))
    assert np.array_equal(seen[1], seen[7])  # held
    points = jax.jit(lambda step: source.unseen(step))(8)["pde"]
    new = np.asarray(points.coordinates["x"])
    assert not np.isin(new, np.concatenate(seen)).any()
    weights = np.ones(32) if points.weights is None else np.asarray(points.weights)
    assert np.average(new, weights=weights) == pytest.approx(0.5, abs=0.2)
