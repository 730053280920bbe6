"""The result classes: predictions, errors, importances, pruning, plots and reports of a fit."""

from odrf.fits.fit import Fit
from odrf.reports.paths import GrowthPath, PruningPath
from odrf.results.base import FittedResults
from odrf.results.forest import ODRFResults
from odrf.results.guided import GRAFResults
from odrf.results.tree import ODTResults
from odrf.results.trees import TreeResults

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
