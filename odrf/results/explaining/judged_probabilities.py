"""How well predictions are calibrated, and how well they tell classes apart."""

from __future__ import annotations

from odrf.public import public
from odrf.results.fitted import FittedResults

__all__ = ["CalibrationResults"]


@public
class CalibrationResults(FittedResults):
    """Base class of results with calibration, discrimination and residuals."""
