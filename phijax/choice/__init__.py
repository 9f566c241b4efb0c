"""Choice: what `solve` settles where its caller did not, by rule or by trial, and the sentences that say why."""

from .choice import Choice as Choice
from .features import settled as settled
from .rules import choose as choose
from .rules import parameter_count as parameter_count
from .samplers import samplers_of as samplers_of
