"""Evaluation: solutions, reports, errors, pictures and run directories."""

from phijax.evaluation.ensemble import Ensemble as Ensemble
from phijax.evaluation.ensemble_report import EnsembleReport as EnsembleReport
from phijax.evaluation.environment import environment as environment
from phijax.evaluation.errors import FieldError as FieldError
from phijax.evaluation.evaluator import Evaluator as Evaluator
from phijax.evaluation.evaluator import OutsideDomainWarning as OutsideDomainWarning
from phijax.evaluation.measures import fresh_loss as fresh_loss
from phijax.evaluation.measures import reference_error as reference_error
from phijax.evaluation.report import Report as Report
from phijax.evaluation.residuals import TermResidual as TermResidual
from phijax.evaluation.run_directory import Dated as Dated
from phijax.evaluation.run_directory import RunDirectory as RunDirectory
from phijax.evaluation.run_directory import RunDirectoryError as RunDirectoryError
from phijax.evaluation.solution import Solution as Solution
from phijax.evaluation.stored import load_ensemble as load_ensemble
from phijax.evaluation.stored import load_run as load_run
from phijax.evaluation.stored import load_solution as load_solution
