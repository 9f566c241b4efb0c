"""Solutions in files that other programs read."""

from phijax.evaluation.export.formats import FORMATS as FORMATS
from phijax.evaluation.export.formats import export as export
from phijax.evaluation.export.tables import write_columns as write_columns
