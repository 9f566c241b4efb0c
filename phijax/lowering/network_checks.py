"""What a network of the user's own must give, known before any training. Ours are taken as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from phijax.series import Channels, carries_series, coordinates

_FACTORY = "a function (key, inputs, outputs) that gives a callable of one point"
_CALL = "__call__(self, x) in jax.numpy, x of shape (inputs,)"
_SERIES = "series(self, x), which maps a Series to one"
RULE_TOLERANCE = 1e-3  # of the largest number; a wrong rule is wrong by far more


def check_network(fields: Sequence[str], factory: Callable, inputs: int, outputs: int) -> None:
    """ValueError, naming the fields, for a factory whose network does not give `outputs` real numbers at one point."""
    if type(factory).__module__.split(".")[0] == "phijax":
        return
    who = f"the network of {', '.join(map(repr, fields))}"
    key = jax.random.key(0)
    network = _asked(who, _FACTORY, lambda: eqx.filter_eval_shape(factory, key, inputs, outputs))
    if not callable(network):
        raise ValueError(f"{who} is {type(network).__name__}, which cannot be called; give {_FACTORY}.")
    point = jnp.linspace(-0.5, 0.5, inputs + 2)[1:-1]
    found = _asked(who, _CALL, lambda: eqx.filter_eval_shape(lambda net, x: net(x), network, point))
    if isinstance(found, tuple | list) and all(getattr(one, "shape", None) == () for one in found):
        shape, dtype = (len(found),), jnp.result_type(*found)
    elif hasattr(found, "shape"):
        shape, dtype = found.shape, found.dtype
    else:
        raise ValueError(
            f"{who} gives {type(found).__name__} at one point; it must give an array of shape ({outputs},)."
        )
    if shape != (outputs,):
        raise ValueError(
            f"{who} gives shape {shape} at one point; it must give ({outputs},), a number for each real field and two for "
            f"a complex one."
        )
    if not jnp.issubdtype(dtype, jnp.floating):
        raise ValueError(f"{who} gives {dtype}; it must give real floating-point numbers, two for a complex field.")
    if carries_series(network):
        _check_rule(who, factory(key, inputs, outputs), point)


def _check_rule(who: str, network: Any, point: Any) -> None:
    """ValueError where the `series` rule disagrees with the call, in values or first derivatives."""
    units = np.eye(len(point), dtype=int)
    channels = Channels.of(tuple(int(order) for order in unit) for unit in units)

    def carried(point: Any) -> Any:
        series = network.series(coordinates(point, channels))
        return jnp.stack([series.derivative(channel) for channel in (channels.zero, *map(tuple, units.tolist()))])

    def called(point: Any) -> Any:
        function = lambda x: jnp.stack(list(network(x)))
        return jnp.concatenate([function(point)[None], jax.jacfwd(function)(point).T])

    found = np.asarray(_asked(who, _SERIES, lambda: carried(point)))
    right = np.asarray(called(point))
    if found.shape != right.shape or np.any(np.abs(found - right) > RULE_TOLERANCE * max(np.abs(right).max(), 1e-30)):
        what = "values" if found.shape != right.shape or not np.allclose(found[0], right[0], 1e-2) else "derivatives"
        raise ValueError(
            f"{who} has a series rule that gives other {what} than its __call__; mend the rule, or leave it out, and "
            f"derivatives are taken by JAX."
        )


def _asked(who: str, needs: str, function: Callable) -> Any:
    try:
        return function()
    except Exception as error:  # whatever a user's code raises
        first = str(error).strip().split("\n", 1)[0].rstrip(".")
        raise ValueError(f"{who} fails: {type(error).__name__}: {first}. It needs {needs}.") from error
