"""Points, the samplers that draw them, and the source that gives every step its batch."""

from phijax.sampling.adaptive import ResidualAdaptive as ResidualAdaptive
from phijax.sampling.by_piece import ByPiece as ByPiece
from phijax.sampling.corners import CornerWeights as CornerWeights
from phijax.sampling.datamodule import DataModule as DataModule
from phijax.sampling.datamodule import SamplerDataModule as SamplerDataModule
from phijax.sampling.importance import ImportanceSampler as ImportanceSampler
from phijax.sampling.points import Points as Points
from phijax.sampling.refinement import ResidualRefinement as ResidualRefinement
from phijax.sampling.retention import RetainResampleRelease as RetainResampleRelease
from phijax.sampling.samplers import Grid as Grid
from phijax.sampling.samplers import Held as Held
from phijax.sampling.samplers import PoolSampler as PoolSampler
from phijax.sampling.samplers import RegionSampler as RegionSampler
from phijax.sampling.samplers import Sampler as Sampler
from phijax.sampling.source import NamedBatchSource as NamedBatchSource
