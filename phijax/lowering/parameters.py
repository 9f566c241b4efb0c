"""Parameters as unconstrained variables of about unit size: what an optimizer moves is not the parameter itself."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from phijax.symbolic import Parameter


def initial_raw(parameter: Parameter) -> Array:
    """The unconstrained variable at the parameter's initial value, of shape ()."""
    if parameter.positive_only:
        raw = math.log(parameter.initial / parameter.scale)
    elif parameter.bounds is not None:
        low, high = parameter.bounds
        share = (parameter.initial - low) / (high - low)
        raw = math.log(share / (1 - share))
    else:
        raw = parameter.initial / parameter.scale
    return jnp.asarray(raw, jnp.zeros(()).dtype)


def value_of(parameter: Parameter, raw: Any) -> Any:
    """The parameter's value: scale * exp(raw) where positive, a sigmoid inside bounds, else scale * raw."""
    if parameter.positive_only:
        return parameter.scale * jnp.exp(raw)
    if parameter.bounds is not None:
        low, high = parameter.bounds
        return low + (high - low) * jax.nn.sigmoid(raw)
    return parameter.scale * raw
