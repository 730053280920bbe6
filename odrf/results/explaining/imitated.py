"""One tree that imitates a fit."""

from __future__ import annotations

from odrf.public import public
from odrf.results.fitted import FittedResults

__all__ = ["SurrogateTreeResults"]


@public
class SurrogateTreeResults(FittedResults):
    """Base class of results that one tree can imitate."""
