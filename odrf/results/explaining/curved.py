"""Curves: partial dependence, accumulated local effects, interactions."""

from __future__ import annotations

from odrf.public import public
from odrf.results.fitted import FittedResults

__all__ = ["CurveResults"]


@public
class CurveResults(FittedResults):
    """Base class of results with curves of the prediction over a predictor."""
