"""Plots of fits, studies and simulated problems; each module is imported at its first use."""

from typing import TYPE_CHECKING

from odrf.loading import loaded_later

if TYPE_CHECKING:
    from odrf.plots.averaged.effects_with_intervals import plot_effects as plot_effects
    from odrf.plots.boosted import plot_loss as plot_loss
    from odrf.plots.consistency import plot_consistency as plot_consistency
    from odrf.plots.curves.effects import plot_effect as plot_effect
    from odrf.plots.curves.individual import plot_individual as plot_individual
    from odrf.plots.curves.interaction_ranks import plot_interactions as plot_interactions
    from odrf.plots.curves.surfaces import plot_effect_surface as plot_effect_surface
    from odrf.plots.elements.means import plot_means as plot_means
    from odrf.plots.elements.panels import draw_panels as draw_panels
    from odrf.plots.evaluation.approximation import plot_approximation as plot_approximation
    from odrf.plots.evaluation.bias_variance import plot_bias_variance as plot_bias_variance
    from odrf.plots.evaluation.learning import plot_learning as plot_learning
    from odrf.plots.evaluation.ranks import plot_ranks as plot_ranks
    from odrf.plots.evaluation.tuning import plot_candidates as plot_candidates
    from odrf.plots.evaluation.tuning import plot_option as plot_option
    from odrf.plots.forest import plot_error as plot_error
    from odrf.plots.growth import plot_growth as plot_growth
    from odrf.plots.guided import plot_guided_growth as plot_guided_growth
    from odrf.plots.importance import plot_importance as plot_importance
    from odrf.plots.parts import plot_parts as plot_parts
    from odrf.plots.path import plot_error_path as plot_error_path
    from odrf.plots.path import plot_path as plot_path
    from odrf.plots.pixels import plot_pixels as plot_pixels
    from odrf.plots.probabilities.reliability_diagram import plot_maps as plot_maps
    from odrf.plots.probabilities.reliability_diagram import plot_reliability as plot_reliability
    from odrf.plots.probabilities.threshold_curves import plot_benefit as plot_benefit
    from odrf.plots.probabilities.threshold_curves import plot_thresholds as plot_thresholds
    from odrf.plots.problems import plot_curves as plot_curves
    from odrf.plots.problems import plot_images as plot_images
    from odrf.plots.problems import plot_regions as plot_regions
    from odrf.plots.problems import plot_rings as plot_rings
    from odrf.plots.problems import plot_surface as plot_surface
    from odrf.plots.projections import plot_projections as plot_projections
    from odrf.plots.proximity.row_map import plot_row_map as plot_row_map
    from odrf.plots.residuals.check_plots import plot_check as plot_check
    from odrf.plots.residuals.influence_plot import plot_influence as plot_influence
    from odrf.plots.selection import plot_elimination as plot_elimination
    from odrf.plots.selection import plot_knockoffs as plot_knockoffs
    from odrf.plots.selection import plot_shadows as plot_shadows
    from odrf.plots.sensitivity import plot_sensitivity as plot_sensitivity
    from odrf.plots.shapley.all_terms import plot_shapley_sizes as plot_shapley_sizes
    from odrf.plots.shapley.all_terms import plot_shapley_swarm as plot_shapley_swarm
    from odrf.plots.shapley.one_row import plot_shapley_row as plot_shapley_row
    from odrf.plots.shapley.one_term import plot_shapley_term as plot_shapley_term
    from odrf.plots.strength import plot_strength as plot_strength
    from odrf.plots.survival.bands_of_curves import plot_survival_bands as plot_survival_bands
    from odrf.plots.survival.calibration_plot import (
        plot_survival_calibration as plot_survival_calibration,
    )
    from odrf.plots.survival.curves_in_leaves import CurvesInLeaves as CurvesInLeaves
    from odrf.plots.survival.curves_in_leaves import plot_survival_tree as plot_survival_tree
    from odrf.plots.survival.curves_of_groups import plot_risk_groups as plot_risk_groups
    from odrf.plots.survival.predicted_curves import plot_predicted_curves as plot_predicted_curves
    from odrf.plots.survival.roc_plot import plot_areas_along_time as plot_areas_along_time
    from odrf.plots.survival.roc_plot import plot_roc_at as plot_roc_at
    from odrf.plots.tree import plot_tree as plot_tree

__getattr__ = loaded_later(
    __name__,
    {
        "draw_panels": "odrf.plots.elements.panels",
        "plot_approximation": "odrf.plots.evaluation.approximation",
        "plot_bias_variance": "odrf.plots.evaluation.bias_variance",
        "plot_benefit": "odrf.plots.probabilities.threshold_curves",
        "plot_candidates": "odrf.plots.evaluation.tuning",
        "plot_check": "odrf.plots.residuals.check_plots",
        "plot_influence": "odrf.plots.residuals.influence_plot",
        "plot_consistency": "odrf.plots.consistency",
        "plot_curves": "odrf.plots.problems",
        "plot_effects": "odrf.plots.averaged.effects_with_intervals",
        "plot_effect": "odrf.plots.curves.effects",
        "plot_effect_surface": "odrf.plots.curves.surfaces",
        "plot_elimination": "odrf.plots.selection",
        "plot_error": "odrf.plots.forest",
        "plot_error_path": "odrf.plots.path",
        "plot_growth": "odrf.plots.growth",
        "plot_guided_growth": "odrf.plots.guided",
        "plot_images": "odrf.plots.problems",
        "plot_importance": "odrf.plots.importance",
        "plot_individual": "odrf.plots.curves.individual",
        "plot_interactions": "odrf.plots.curves.interaction_ranks",
        "plot_knockoffs": "odrf.plots.selection",
        "plot_learning": "odrf.plots.evaluation.learning",
        "plot_loss": "odrf.plots.boosted",
        "plot_maps": "odrf.plots.probabilities.reliability_diagram",
        "plot_means": "odrf.plots.elements.means",
        "plot_option": "odrf.plots.evaluation.tuning",
        "plot_parts": "odrf.plots.parts",
        "plot_path": "odrf.plots.path",
        "plot_pixels": "odrf.plots.pixels",
        "plot_projections": "odrf.plots.projections",
        "plot_ranks": "odrf.plots.evaluation.ranks",
        "plot_regions": "odrf.plots.problems",
        "plot_reliability": "odrf.plots.probabilities.reliability_diagram",
        "plot_rings": "odrf.plots.problems",
        "plot_row_map": "odrf.plots.proximity.row_map",
        "plot_sensitivity": "odrf.plots.sensitivity",
        "plot_shadows": "odrf.plots.selection",
        "plot_shapley_row": "odrf.plots.shapley.one_row",
        "plot_shapley_term": "odrf.plots.shapley.one_term",
        "plot_shapley_sizes": "odrf.plots.shapley.all_terms",
        "plot_shapley_swarm": "odrf.plots.shapley.all_terms",
        "plot_strength": "odrf.plots.strength",
        "plot_surface": "odrf.plots.problems",
        "CurvesInLeaves": "odrf.plots.survival.curves_in_leaves",
        "plot_survival_tree": "odrf.plots.survival.curves_in_leaves",
        "plot_thresholds": "odrf.plots.probabilities.threshold_curves",
        "plot_risk_groups": "odrf.plots.survival.curves_of_groups",
        "plot_survival_bands": "odrf.plots.survival.bands_of_curves",
        "plot_predicted_curves": "odrf.plots.survival.predicted_curves",
        "plot_survival_calibration": "odrf.plots.survival.calibration_plot",
        "plot_roc_at": "odrf.plots.survival.roc_plot",
        "plot_areas_along_time": "odrf.plots.survival.roc_plot",
        "plot_tree": "odrf.plots.tree",
    },
)
