"""Averaged predictions, comparisons and slopes of a fit."""

from __future__ import annotations

from odrf.public import public
from odrf.results.fitted import FittedResults

__all__ = ["AveragedResults"]


@public
class AveragedResults(FittedResults):
    """Base class of results with averaged predictions, comparisons and slopes."""
