"""Shapley values: a prediction divided among the predictors."""

from __future__ import annotations

from odrf.public import public
from odrf.results.fitted import FittedResults

__all__ = ["ShapleyResults"]


@public
class ShapleyResults(FittedResults):
    """Base class of results with Shapley values."""
