"""The result classes: predictions, errors, importances, pruning, plots and reports of a fit."""

from typing import TYPE_CHECKING

from odrf.fits.fit import Fit
from odrf.loading import loaded_later
from odrf.results.base import FittedResults
from odrf.results.forest import ODRFResults
from odrf.results.models import TreeResults
from odrf.results.tree import ODTResults

if TYPE_CHECKING:
    from odrf.reports.paths import GrowthPath, PruningPath
    from odrf.results.guided import GRAFResults

__all__ = [
    "Fit",
    "FittedResults",
    "GRAFResults",
    "GrowthPath",
    "ODRFResults",
    "ODTResults",
    "PruningPath",
    "TreeResults",
]

__getattr__ = loaded_later(
    __name__,
    {
        "GRAFResults": "odrf.results.guided",
        "GrowthPath": "odrf.reports.paths",
        "PruningPath": "odrf.reports.paths",
    },
)
