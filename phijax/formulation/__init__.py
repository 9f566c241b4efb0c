"""Problems: named constraints on regions, read, checked, printed and stored."""

from phijax.formulation.ansatz import Ansatz as Ansatz
from phijax.formulation.ansatz import build_ansatz as build_ansatz
from phijax.formulation.conditions import data as data
from phijax.formulation.conditions import free as free
from phijax.formulation.conditions import on as on
from phijax.formulation.conditions import periodic as periodic
from phijax.formulation.constraint import Constraint as Constraint
from phijax.formulation.constraint import Term as Term
from phijax.formulation.contradictions import contradicting_corners as contradicting_corners
from phijax.formulation.evolution import Evolution as Evolution
from phijax.formulation.evolution import carries_waves as carries_waves
from phijax.formulation.evolution import evolution_of as evolution_of
from phijax.formulation.evolution import is_linear as is_linear
from phijax.formulation.faults import DeclarationError as DeclarationError
from phijax.formulation.faults import DeclarationWarning as DeclarationWarning
from phijax.formulation.faults import Fault as Fault
from phijax.formulation.manufactured import manufactured as manufactured
from phijax.formulation.problem import Problem as Problem
from phijax.formulation.reference import Reference as Reference
from phijax.formulation.scales import value_scale as value_scale
