"""phijax: solve partial differential equations with physics-informed neural networks on JAX."""

from importlib.metadata import PackageNotFoundError as _NotInstalled
from importlib.metadata import version as _version

import phijax._dependencies  # noqa: F401  # isort: skip

from phijax.balancing import NTK as NTK

# Sample, build, balance.
from phijax.balancing import Causal as Causal
from phijax.balancing import GradNorm as GradNorm
from phijax.balancing import LossBalancer as LossBalancer
from phijax.balancing import ReLoBRaLo as ReLoBRaLo
from phijax.balancing import SoftAdapt as SoftAdapt
from phijax.balancing import Static as Static

# See.
from phijax.drawing import plot as plot

# Solve and evaluate.
from phijax.evaluation import Ensemble as Ensemble
from phijax.evaluation import EnsembleReport as EnsembleReport
from phijax.evaluation import Report as Report
from phijax.evaluation import RunDirectory as RunDirectory
from phijax.evaluation import Solution as Solution
from phijax.evaluation import fresh_loss as fresh_loss
from phijax.evaluation import load_ensemble as load_ensemble
from phijax.evaluation import load_solution as load_solution
from phijax.evaluation import reference_error as reference_error

# Declare.
from phijax.formulation import DeclarationError as DeclarationError
from phijax.formulation import DeclarationWarning as DeclarationWarning
from phijax.formulation import Problem as Problem
from phijax.formulation import Reference as Reference
from phijax.formulation import data as data
from phijax.formulation import free as free
from phijax.formulation import manufactured as manufactured
from phijax.formulation import on as on
from phijax.formulation import periodic as periodic
from phijax.geometry import Annulus as Annulus
from phijax.geometry import Ball as Ball
from phijax.geometry import Box as Box
from phijax.geometry import Circle as Circle
from phijax.geometry import Curve as Curve
from phijax.geometry import Cylinder as Cylinder
from phijax.geometry import Disk as Disk
from phijax.geometry import Ellipse as Ellipse
from phijax.geometry import Ellipsoid as Ellipsoid
from phijax.geometry import Interval as Interval
from phijax.geometry import ParametricSurface as ParametricSurface
from phijax.geometry import Point as Point
from phijax.geometry import PointCloud as PointCloud
from phijax.geometry import Polygon as Polygon
from phijax.geometry import Rectangle as Rectangle
from phijax.geometry import Region as Region
from phijax.geometry import Simplex as Simplex
from phijax.geometry import Solid as Solid
from phijax.geometry import Sphere as Sphere
from phijax.geometry import Surface as Surface
from phijax.geometry import Triangle as Triangle
from phijax.geometry import interface as interface
from phijax.geometry import read_mesh as read_mesh
from phijax.geometry import where as where
from phijax.networks import MLP as MLP
from phijax.networks import SIREN as SIREN
from phijax.networks import FourierFeatures as FourierFeatures
from phijax.networks import ModifiedMLP as ModifiedMLP
from phijax.networks import PirateNet as PirateNet
from phijax.networks import RandomFeatures as RandomFeatures
from phijax.networks import ResNet as ResNet
from phijax.networks import Separable as Separable
from phijax.networks import frozen as frozen

# Train.
from phijax.optimizers import SPRING as SPRING
from phijax.optimizers import SSBFGS as SSBFGS
from phijax.optimizers import GaussNewton as GaussNewton
from phijax.optimizers import LeastSquaresOptimizer as LeastSquaresOptimizer
from phijax.optimizers import LevenbergMarquardt as LevenbergMarquardt
from phijax.optimizers import LinearLeastSquares as LinearLeastSquares
from phijax.optimizers import Race as Race
from phijax.optimizers import SSBroyden as SSBroyden
from phijax.optimizers import soap as soap
from phijax.sampling import ByPiece as ByPiece
from phijax.sampling import CornerWeights as CornerWeights
from phijax.sampling import DataModule as DataModule
from phijax.sampling import Grid as Grid
from phijax.sampling import Held as Held
from phijax.sampling import ImportanceSampler as ImportanceSampler
from phijax.sampling import NamedBatchSource as NamedBatchSource
from phijax.sampling import Points as Points
from phijax.sampling import PoolSampler as PoolSampler
from phijax.sampling import RegionSampler as RegionSampler
from phijax.sampling import ResidualAdaptive as ResidualAdaptive
from phijax.sampling import ResidualRefinement as ResidualRefinement
from phijax.sampling import RetainResampleRelease as RetainResampleRelease
from phijax.sampling import SamplerDataModule as SamplerDataModule
from phijax.solve import resume as resume
from phijax.solve import solve as solve
from phijax.symbolic import coordinate as coordinate
from phijax.symbolic import coordinates as coordinates
from phijax.symbolic import curl as curl
from phijax.symbolic import cylindrical as cylindrical
from phijax.symbolic import div as div
from phijax.symbolic import dt as dt
from phijax.symbolic import field as field
from phijax.symbolic import fields as fields
from phijax.symbolic import function as function
from phijax.symbolic import grad as grad
from phijax.symbolic import integral as integral
from phijax.symbolic import laplacian as laplacian
from phijax.symbolic import normal as normal
from phijax.symbolic import normal_derivative as normal_derivative
from phijax.symbolic import parameter as parameter
from phijax.symbolic import polar as polar
from phijax.symbolic import spherical as spherical
from phijax.symbolic import time as time
from phijax.training import Average as Average
from phijax.training import Callback as Callback
from phijax.training import EarlyStopping as EarlyStopping
from phijax.training import EnsembleResult as EnsembleResult
from phijax.training import FitResult as FitResult
from phijax.training import KeepBest as KeepBest
from phijax.training import Module as Module
from phijax.training import Objective as Objective
from phijax.training import Stage as Stage
from phijax.training import TensorBoard as TensorBoard
from phijax.training import Timer as Timer
from phijax.training import Trainer as Trainer
from phijax.training import TrainState as TrainState
from phijax.training import determinism_report as determinism_report
from phijax.training import initialize_train_state as initialize_train_state
from phijax.training.compiling import Compiled as Compiled
from phijax.training.compiling import compile as compile
from phijax.training.slabs import Slabs as Slabs

try:
    __version__ = _version("phijax")
except _NotInstalled:  # a bare checkout on the path
    __version__ = "0.1.0"
