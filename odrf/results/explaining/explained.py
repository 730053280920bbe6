"""All explanations that every fit has."""

from __future__ import annotations

from odrf.results.explaining.averaged import AveragedResults
from odrf.results.explaining.curved import CurveResults
from odrf.results.explaining.judged_probabilities import CalibrationResults
from odrf.results.explaining.locally_read import LocalResults

__all__ = ["Explained"]


class Explained(AveragedResults, CurveResults, LocalResults, CalibrationResults):
    """Base class of results with effects, curves and what else explains any fit."""
