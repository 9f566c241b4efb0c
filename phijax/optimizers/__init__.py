"""Optimizers that optax does not have: least squares with curvature."""

from phijax.optimizers.base import LeastSquaresOptimizer as LeastSquaresOptimizer
from phijax.optimizers.base import StepInfo as StepInfo
from phijax.optimizers.gauss_newton import GaussNewton as GaussNewton
from phijax.optimizers.system import LeastSquaresSystem as LeastSquaresSystem
