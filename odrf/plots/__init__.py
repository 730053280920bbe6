"""Plots of fits, studies and simulated problems."""

from typing import TYPE_CHECKING

from odrf.loading import modules_of

if TYPE_CHECKING:
    from odrf.plots import checks as checks
    from odrf.plots import curves as curves
    from odrf.plots import effects as effects
    from odrf.plots import evaluation as evaluation
    from odrf.plots import fits as fits
    from odrf.plots import importance as importance
    from odrf.plots import problems as problems
    from odrf.plots import proximity as proximity
    from odrf.plots import pruning as pruning
    from odrf.plots import sensitivity as sensitivity
    from odrf.plots import shapley as shapley
    from odrf.plots import style as style
    from odrf.plots import survival as survival
    from odrf.plots import tree as tree

__getattr__ = modules_of(__name__)
