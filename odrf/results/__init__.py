"""What a fit is and what it can say."""

from odrf.results.base import TreeResults
from odrf.results.fit import Fit
from odrf.results.forest import ODRFResults
from odrf.results.growth_path import GrowthPath
from odrf.results.path import PruningPath
from odrf.results.tree import ODTResults

__all__ = ["Fit", "GrowthPath", "ODRFResults", "ODTResults", "PruningPath", "TreeResults"]
