"""What all network specifications have in common."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
from jaxtyping import PRNGKeyArray

from phijax._options import to_config, whole

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
