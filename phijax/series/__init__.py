"""Derivatives carried through networks: what a layer's `series` rule is written with."""

from phijax.series.base import Series as Series
from phijax.series.build import carries_series as carries_series
from phijax.series.build import concatenate as concatenate
from phijax.series.build import coordinates as coordinates
from phijax.series.build import known as known
from phijax.series.channels import Channel as Channel
from phijax.series.channels import Channels as Channels
from phijax.series.channels import Combination as Combination
from phijax.series.channels import Orders as Orders
