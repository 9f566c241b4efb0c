"""Loss balancers: how the terms of the loss are weighed against each other."""

from .base import BalancerState as BalancerState
from .base import LossBalancer as LossBalancer
from .causal import Causal as Causal
from .config import balancer_from_config as balancer_from_config
from .gradnorm import GradNorm as GradNorm
from .ntk import NTK as NTK
from .relobralo import ReLoBRaLo as ReLoBRaLo
from .residuals import RowwiseResiduals as RowwiseResiduals
from .residuals import kernel_traces as kernel_traces
from .softadapt import SoftAdapt as SoftAdapt
from .static import Static as Static
