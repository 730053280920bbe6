"""Proximity of rows, and what follows from it."""

from __future__ import annotations

from odrf.public import public
from odrf.results.fitted import FittedResults

__all__ = ["ProximityResults"]


@public
class ProximityResults(FittedResults):
    """Base class of results with proximities of rows."""
