"""Balancers as plain dictionaries, for a run's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phijax._options import from_config

from .base import LossBalancer
from .gradnorm import GradNorm
from .ntk import NTK
from .relobralo import ReLoBRaLo
from .softadapt import SoftAdapt
from .static import Static

_KINDS: dict[str, type] = {kind.__name__: kind for kind in (Static, GradNorm, NTK, ReLoBRaLo, SoftAdapt)}


def balancer_from_config(config: Mapping[str, Any]) -> LossBalancer:
    """The balancer whose `to_config()` is `config`; an unknown kind or option is refused by name."""
    return from_config(config, _KINDS, "balancer")
