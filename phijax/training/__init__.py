"""Training: state, random streams, compiled steps, checkpoints, callbacks and the Trainer that conducts them."""

from phijax.training.callbacks import Average, Callback, EarlyStopping, Event, KeepBest
from phijax.training.checkpoint import CheckpointError, CheckpointStore
from phijax.training.determinism import determinism_report
from phijax.training.keys import root_key
from phijax.training.metrics import History, read_metrics
from phijax.training.module import Block, Module, Objective
from phijax.training.predict import predict_rows
from phijax.training.progress import Progress
from phijax.training.result import EnsembleResult, FitResult
from phijax.training.stages import Stage
from phijax.training.state import TrainState, initialize_train_state
from phijax.training.tensorboard import TensorBoard
from phijax.training.timer import Timer
from phijax.training.trainer import Trainer

__all__ = [
    "Average",
    "Block",
    "Callback",
    "CheckpointError",
    "CheckpointStore",
    "EarlyStopping",
    "EnsembleResult",
    "Event",
    "FitResult",
    "History",
    "KeepBest",
    "Module",
    "Objective",
    "Progress",
    "Stage",
    "TensorBoard",
    "Timer",
    "TrainState",
    "Trainer",
    "determinism_report",
    "initialize_train_state",
    "predict_rows",
    "read_metrics",
    "root_key",
]
