"""Reports: the objects, tables and texts that methods of results return, made from fits."""

from typing import TYPE_CHECKING

from odrf.loading import modules_of

if TYPE_CHECKING:
    from odrf.reports import checks as checks
    from odrf.reports import chunks as chunks
    from odrf.reports import consistency as consistency
    from odrf.reports import curves as curves
    from odrf.reports import data_summary as data_summary
    from odrf.reports import effects as effects
    from odrf.reports import explain as explain
    from odrf.reports import importance as importance
    from odrf.reports import importance_tests as importance_tests
    from odrf.reports import individual_curves as individual_curves
    from odrf.reports import interactions as interactions
    from odrf.reports import paths as paths
    from odrf.reports import proximity as proximity
    from odrf.reports import selection as selection
    from odrf.reports import sensitivity as sensitivity
    from odrf.reports import shapley as shapley
    from odrf.reports import stack as stack
    from odrf.reports import summaries as summaries
    from odrf.reports import survival as survival
    from odrf.reports import tree as tree

__getattr__ = modules_of(__name__)
