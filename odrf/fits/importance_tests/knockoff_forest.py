"""Importances of predictors and of their knockoffs, in one forest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import beside
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.growing import grow_fit
from odrf.statistics.importance import out_of_bag_importance
from odrf.statistics.importance_tests import gaussian_knockoffs

__all__ = ["knockoff_differences"]


def knockoff_differences(fit: Fit) -> NDArray[np.float64]:
    """Return for each predictor its importance less that of its knockoff (P,).

    A forest is grown by the fit's options, all trees of one kind, on predictors and knockoffs; the
    importances are those by out-of-bag rows.  The order of a predictor and its knockoff is drawn,
    so that no rule for ties favours one.

    Raises
    ------
    InputError
        A predictor is not one column of numbers without empty cells.
    """
    design, data = fit.design, fit.data
    P = len(design.predictors)
    wide = np.flatnonzero((np.diff(design.first) != 1) | (design.types != 0))
    if len(wide):
        raise InputError(
            f"predictor {design.predictors[wide[0]]!r} is not a column of numbers without empty "
            'cells, and only these have knockoffs: use importance("conditional"), or leave it out'
        )
    rng = np.random.default_rng([fit.control.seed, P])
    values = np.array(data.X[np.arange(P)], dtype=np.float64).T
    copies = gaussian_knockoffs(values, rng).T.astype(np.float32)
    swapped = rng.random(P) < 0.5
    own = np.array(data.X[np.arange(P)], dtype=np.float32)
    first = np.where(swapped[:, None], copies, own)
    second = np.where(swapped[:, None], own, copies)
    both = replace(data, X=beside([first, second]))
    twice = design.keeping([*range(P), *range(P)])
    request = replace(fit.request, blend=False, alpha=None)
    grown = grow_fit("", twice, both, request)
    importance = out_of_bag_importance(grown.forest, both.X, data.y, twice.first, grown.draws)
    difference = importance[:P] - importance[P:]
    return np.where(swapped, -difference, difference)
