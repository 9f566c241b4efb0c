"""Network specifications as plain dictionaries, for a run's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phijax._options import from_config

from .fourier import FourierFeatures
from .mlp import MLP
from .modified_mlp import ModifiedMLP
from .random_features import RandomFeatures
from .residual import PirateNet, ResNet
from .separable import Separable
from .siren import SIREN
from .specification import NetworkSpec

_SPECIFICATIONS = (MLP, ModifiedMLP, ResNet, PirateNet, SIREN, Separable, FourierFeatures, RandomFeatures)
_KINDS: dict[str, type] = {kind.__name__: kind for kind in _SPECIFICATIONS}


def network_to_config(network: Any) -> dict[str, Any] | None:
    """The table of a specification, or of one for each field; None for a function of the user's own."""
    if isinstance(network, NetworkSpec):
        return network.to_config()
    if isinstance(network, Mapping) and all(isinstance(own, NetworkSpec) for own in network.values()):
        return {field: own.to_config() for field, own in network.items()}
    return None


def network_from_config(config: Mapping[str, Any]) -> NetworkSpec:
    """The specification whose `to_config()` is `config`; an unknown kind or option is refused by name."""
    return from_config(config, _KINDS, "network")
