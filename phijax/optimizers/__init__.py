"""Optimizers that optax does not have: least squares with curvature, and preconditioned first order."""

from phijax.optimizers.base import LeastSquaresOptimizer as LeastSquaresOptimizer
from phijax.optimizers.base import StepInfo as StepInfo
from phijax.optimizers.config import FIRST_ORDER_STEPS as FIRST_ORDER_STEPS
from phijax.optimizers.config import optimizer_from_config as optimizer_from_config
from phijax.optimizers.config import optimizer_to_config as optimizer_to_config
from phijax.optimizers.config import steps_of as steps_of
from phijax.optimizers.config import warmed_adam as warmed_adam
from phijax.optimizers.gauss_newton import GaussNewton as GaussNewton
from phijax.optimizers.levenberg_marquardt import LevenbergMarquardt as LevenbergMarquardt
from phijax.optimizers.linear import LinearLeastSquares as LinearLeastSquares
from phijax.optimizers.quasi_newton import SSBFGS as SSBFGS
from phijax.optimizers.quasi_newton import SSBroyden as SSBroyden
from phijax.optimizers.race import Race as Race
from phijax.optimizers.soap import soap as soap
from phijax.optimizers.spring import SPRING as SPRING
from phijax.optimizers.system import LeastSquaresSystem as LeastSquaresSystem
