"""One prediction explained: paths, neighbours, nearest changes."""

from __future__ import annotations

from odrf.public import public
from odrf.results.fitted import FittedResults

__all__ = ["LocalResults"]


@public
class LocalResults(FittedResults):
    """Base class of results that explain single predictions."""
