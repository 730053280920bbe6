"""The mean of the predictions over rows at each point, and its covariance over training samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.fits.curves.curve_rows import DECIMALS, curves_of_rows
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.raw_rows import RawRows
from odrf.statistics.curves import CurveSpread
from odrf.statistics.effects import functional_covariance
from odrf.statistics.jackknife import degrees_of_freedom, distinguishes_rows

__all__ = ["MeanCurve", "mean_curve", "spread_of", "why_no_errors"]


@dataclass(frozen=True, eq=False)
class MeanCurve:
    """Mean predictions at G points.

    Attributes
    ----------
    mean : (G, K) float64
        Mean responses (K = 1), or class probabilities.
    of_trees : (B, G, K) float64 or None
        The same of each tree, if the mean is that of the trees and they show how it varies.
    """

    mean: NDArray[np.float64]
    of_trees: NDArray[np.float64] | None


def mean_curve(
    fit: AnyFit, rows: RawRows, points: Mapping[str, Any], advance: Callable[[int], object]
) -> MeanCurve:
    """Return the weighted mean over the rows of the predictions at each of the points (G,).

    `points` are those of `odrf.fits.curves.curve_rows.curves_of_rows`; `advance` counts rows.
    """
    total: Any = 0.0
    of_trees: Any = 0.0
    for block in curves_of_rows(fit, rows, points, advance):
        total = total + np.einsum("m,mgk->gk", rows.weights[block.rows], block.predicted)
        of_trees = of_trees + block.of_trees
    weight = rows.weights.sum()
    mean = np.asarray(total) / weight
    varying = None if why_no_errors(fit) else np.asarray(of_trees) / weight
    if varying is not None and fit.design.response.classes is not None:
        varying = np.round(varying, DECIMALS)
    return MeanCurve(mean, varying)


def why_no_errors(fit: AnyFit) -> str | None:
    """Return why the trees do not show how means of them vary; None if they do."""
    if not isinstance(fit, Fit):
        return "only forests of odrf() tell how estimates vary: their trees leave rows out"
    if fit.forest.n_trees < 2:
        return "one tree does not tell how estimates vary: use a forest of odrf()"
    if not fit.data.has_rows:
        return "the fit has no training rows, and which of them the trees drew is not known"
    if not distinguishes_rows(fit.draws):
        return 'every tree draws all rows: fit with resample="bootstrap", or fewer rows for a tree'
    return None


def spread_of(fit: AnyFit, of_trees: NDArray[np.float64] | None) -> CurveSpread | None:
    """Return how the means over the trees of values (B, M) vary over samples; None if unknown.

    See `odrf.statistics.effects`.
    """
    if of_trees is None or not isinstance(fit, Fit):
        return None
    kinds = np.zeros(len(of_trees), dtype=np.int64) if fit.blend is None else fit.blend.of_tree
    found = functional_covariance(of_trees, kinds, fit.draws)
    return CurveSpread(found.total, found.raw, found.n_rows, degrees_of_freedom(fit.draws))
