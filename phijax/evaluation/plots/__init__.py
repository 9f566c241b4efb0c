"""Pictures of a solution and of its training, drawn without pyplot, so that no global state of matplotlib is touched."""

from phijax.evaluation.plots.fields import solution_figure as solution_figure
from phijax.evaluation.plots.history import ensemble_history_figure as ensemble_history_figure
from phijax.evaluation.plots.history import ensemble_parameter_figure as ensemble_parameter_figure
from phijax.evaluation.plots.history import history_figure as history_figure
from phijax.evaluation.plots.history import parameter_figure as parameter_figure
from phijax.evaluation.plots.panels import save_figure as save_figure
from phijax.evaluation.plots.residuals import residual_figure as residual_figure
