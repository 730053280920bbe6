"""Plots of fits, studies and simulated problems; each module is imported at its first use."""

from typing import TYPE_CHECKING

from odrf.loading import loaded_later

if TYPE_CHECKING:
    from odrf.plots.checks import plot_benefit as plot_benefit
    from odrf.plots.checks import plot_check as plot_check
    from odrf.plots.checks import plot_influence as plot_influence
    from odrf.plots.checks import plot_maps as plot_maps
    from odrf.plots.checks import plot_reliability as plot_reliability
    from odrf.plots.checks import plot_thresholds as plot_thresholds
    from odrf.plots.curves import plot_effect as plot_effect
    from odrf.plots.curves import plot_effect_surface as plot_effect_surface
    from odrf.plots.curves import plot_individual as plot_individual
    from odrf.plots.curves import plot_interactions as plot_interactions
    from odrf.plots.effects import plot_effects as plot_effects
    from odrf.plots.evaluation import plot_approximation as plot_approximation
    from odrf.plots.evaluation import plot_bias_variance as plot_bias_variance
    from odrf.plots.evaluation import plot_candidates as plot_candidates
    from odrf.plots.evaluation import plot_learning as plot_learning
    from odrf.plots.evaluation import plot_option as plot_option
    from odrf.plots.evaluation import plot_ranks as plot_ranks
    from odrf.plots.fits import plot_consistency as plot_consistency
    from odrf.plots.fits import plot_error as plot_error
    from odrf.plots.fits import plot_guided_growth as plot_guided_growth
    from odrf.plots.fits import plot_loss as plot_loss
    from odrf.plots.fits import plot_parts as plot_parts
    from odrf.plots.fits import plot_strength as plot_strength
    from odrf.plots.importance import plot_elimination as plot_elimination
    from odrf.plots.importance import plot_importance as plot_importance
    from odrf.plots.importance import plot_knockoffs as plot_knockoffs
    from odrf.plots.importance import plot_pixels as plot_pixels
    from odrf.plots.importance import plot_projections as plot_projections
    from odrf.plots.importance import plot_shadows as plot_shadows
    from odrf.plots.problems import plot_curves as plot_curves
    from odrf.plots.problems import plot_images as plot_images
    from odrf.plots.problems import plot_regions as plot_regions
    from odrf.plots.problems import plot_rings as plot_rings
    from odrf.plots.problems import plot_surface as plot_surface
    from odrf.plots.proximity import plot_row_map as plot_row_map
    from odrf.plots.pruning import plot_error_path as plot_error_path
    from odrf.plots.pruning import plot_growth as plot_growth
    from odrf.plots.pruning import plot_path as plot_path
    from odrf.plots.sensitivity import plot_sensitivity as plot_sensitivity
    from odrf.plots.shapley import plot_shapley_row as plot_shapley_row
    from odrf.plots.shapley import plot_shapley_sizes as plot_shapley_sizes
    from odrf.plots.shapley import plot_shapley_swarm as plot_shapley_swarm
    from odrf.plots.shapley import plot_shapley_term as plot_shapley_term
    from odrf.plots.style import draw_panels as draw_panels
    from odrf.plots.style import plot_means as plot_means
    from odrf.plots.survival import CurvesInLeaves as CurvesInLeaves
    from odrf.plots.survival import plot_areas_along_time as plot_areas_along_time
    from odrf.plots.survival import plot_predicted_curves as plot_predicted_curves
    from odrf.plots.survival import plot_risk_groups as plot_risk_groups
    from odrf.plots.survival import plot_roc_at as plot_roc_at
    from odrf.plots.survival import plot_survival_bands as plot_survival_bands
    from odrf.plots.survival import plot_survival_calibration as plot_survival_calibration
    from odrf.plots.survival import plot_survival_tree as plot_survival_tree
    from odrf.plots.tree import plot_tree as plot_tree

MODULES = {
    "checks": "plot_benefit plot_check plot_influence plot_maps plot_reliability plot_thresholds",
    "curves": "plot_effect plot_effect_surface plot_individual plot_interactions",
    "effects": "plot_effects",
    "evaluation": "plot_approximation plot_bias_variance plot_candidates plot_learning plot_option "
    "plot_ranks",
    "fits": "plot_consistency plot_error plot_guided_growth plot_loss plot_parts plot_strength",
    "importance": "plot_elimination plot_importance plot_knockoffs plot_pixels plot_projections "
    "plot_shadows",
    "problems": "plot_curves plot_images plot_regions plot_rings plot_surface",
    "proximity": "plot_row_map",
    "pruning": "plot_error_path plot_growth plot_path",
    "sensitivity": "plot_sensitivity",
    "shapley": "plot_shapley_row plot_shapley_sizes plot_shapley_swarm plot_shapley_term",
    "style": "draw_panels plot_means",
    "survival": "CurvesInLeaves plot_areas_along_time plot_predicted_curves plot_risk_groups "
    "plot_roc_at plot_survival_bands plot_survival_calibration plot_survival_tree",
    "tree": "plot_tree",
}
__getattr__ = loaded_later(
    __name__,
    {name: f"odrf.plots.{module}" for module, names in MODULES.items() for name in names.split()},
)
