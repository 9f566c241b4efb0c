"""From sympy to JAX: derivatives are planned, nodes emitted by a table, fields laid out over networks."""

from phijax.lowering.exact import ExactLayout as ExactLayout
from phijax.lowering.faults import LoweringError as LoweringError
from phijax.lowering.layout import FieldModel as FieldModel
from phijax.lowering.layout import Layout as Layout
from phijax.lowering.parameters import value_of as value_of
from phijax.lowering.residual import Expressions as Expressions
from phijax.lowering.residual import constraint_expressions as constraint_expressions
