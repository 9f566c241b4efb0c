"""What all network specifications have in common."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
from jaxtyping import PRNGKeyArray

from phijax._options import real, to_config, whole

# Any function of this signature serves as a network; those of this package can also be written in a configuration.
NetworkFactory = Callable[[PRNGKeyArray, int, int], Callable[..., Any]]


class NetworkSpec(abc.ABC):
    """A network before it has sizes and parameters: a frozen dataclass of options, compared and hashed by value."""

    @abc.abstractmethod
    def __call__(self, key: PRNGKeyArray, in_size: int, out_size: int) -> eqx.Module:
        """A new network (in_size,) -> (out_size,), called as `network(x, *, key=None)`, with parameters from `key`."""

    def to_config(self) -> dict[str, Any]:
        """{"kind": ..., option: value}, which `network_from_config` reads back."""
        return to_config(self)


def check_sizes(owner: str, in_size: int, out_size: int) -> tuple[int, int]:
    """Sizes of the input and output as positive ints."""
    return whole(owner, "in_size", in_size, least=1), whole(owner, "out_size", out_size, least=1)


# Of the logarithms of the units' scales, where factorization is asked for by True alone (Wang, Sankaran, Wang & Perdikaris
# 2023).
MEAN, DEVIATION = 0.5, 0.1


def check_factorized(owner: str, factorized: Any) -> tuple[float, float] | None:
    """Mean and deviation of random weight factorization, None for False."""
    if factorized is False or factorized is None:
        return None
    if factorized is True:
        return MEAN, DEVIATION
    if not isinstance(factorized, tuple | list) or len(factorized) != 2:
        raise ValueError(
            f"{owner}: factorized={factorized!r} must be True, False, or the mean and the deviation of the logarithms of "
            f"the units' scales, such as ({MEAN}, {DEVIATION})."
        )
    mean, deviation = factorized
    deviation = real(owner, "deviation of factorized", deviation, "of at least 0", lambda number: number >= 0)
    return real(owner, "mean of factorized", mean), deviation
