"""Optimizers that optax does not have: least squares with curvature."""

from phijax.optimizers.base import LeastSquaresOptimizer as LeastSquaresOptimizer
from phijax.optimizers.base import StepInfo as StepInfo
from phijax.optimizers.config import FIRST_ORDER_STEPS as FIRST_ORDER_STEPS
from phijax.optimizers.config import optimizer_from_config as optimizer_from_config
from phijax.optimizers.config import warmed_adam as warmed_adam
from phijax.optimizers.gauss_newton import GaussNewton as GaussNewton
from phijax.optimizers.linear import LinearLeastSquares as LinearLeastSquares
from phijax.optimizers.system import LeastSquaresSystem as LeastSquaresSystem
