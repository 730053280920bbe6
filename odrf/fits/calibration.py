"""A fit with maps from its class probabilities to calibrated ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.design.folds import fold_of_groups
from odrf.errors import InputError
from odrf.fits.fit import AnyFit, BoostedFit, Fit, GuidedFit
from odrf.fits.stack.fit import StackedFit
from odrf.statistics import calibration

Floats = NDArray[np.float64]

# One map for each class, or one for all.
Maps = tuple[calibration.Steps | calibration.LogOdds, ...] | tuple[calibration.Power]

FOLDS = 5


@dataclass(frozen=True, eq=False)
class Recalibration:
    """A fit of K classes, maps that calibrate it, and Brier scores (K,) `before` and `after`."""

    fit: Fit | GuidedFit | BoostedFit | StackedFit
    method: str
    maps: Maps
    before: Floats
    after: Floats
    rows: str

    def calibrated(self, p: Floats) -> Floats:
        """Return calibrated probabilities (n, K) for those of the fit, p (n, K)."""
        return _mapped(p, self.maps)


def recalibration(fit: AnyFit, rows: calibration.EvaluatedRows, method: str) -> Recalibration:
    """Return the maps of a fit of K classes, learned from rows that it has not learned from."""
    maps = _maps(rows, method, np.ones(len(rows.code), dtype=np.bool_))
    indicators = rows.code[:, None] == np.arange(len(rows.classes))
    before, after = (
        np.average((p - indicators) ** 2, axis=0, weights=rows.weights)
        for p in (rows.probabilities, _cross_fitted(rows, method, fit.control.seed))
    )
    assert isinstance(fit, Fit | GuidedFit | BoostedFit | StackedFit)
    source = f"{len(rows.code)} rows {rows.source}"
    return Recalibration(fit, method, maps, before, after, source)


def _maps(rows: calibration.EvaluatedRows, method: str, used: NDArray[np.bool_]) -> Maps:
    """Return the map of each class, or that of all, learned from the rows that are `used` (n,)."""
    if not used.any():
        raise InputError(
            f"calibrate() has too few rows {rows.source} to learn from: fit on more rows, or with "
            "more trees"
        )
    p, code, weights = rows.probabilities[used], rows.code[used], rows.weights[used]
    if method == calibration.POWER:
        return (calibration.power_map(p, code, weights),)
    return tuple(
        calibration.recalibration_map(method, p[:, k], (code == k).astype(np.float64), weights)
        for k in range(p.shape[1])
    )


def _mapped(p: Floats, maps: Maps) -> Floats:
    """Return calibrated probabilities (n, K); those of several classes are made to add up to 1."""
    first = maps[0]
    if isinstance(first, calibration.Power):
        return first(p)
    if len(maps) == 2:
        second = maps[1](p[:, 1])
        return np.stack([1 - second, second], axis=1)
    each = np.stack([one(p[:, k]) for k, one in enumerate(maps)], axis=1)
    total = each.sum(axis=1, keepdims=True)
    return np.where(total > 0, each / np.where(total > 0, total, 1.0), p)


def _cross_fitted(rows: calibration.EvaluatedRows, method: str, seed: int) -> Floats:
    """Return for each row (n, K) the calibrated probabilities by maps learned on other rows."""
    fold = np.random.default_rng(seed).permutation(len(rows.code)) % FOLDS
    if rows.groups is not None:
        groups = np.unique(rows.groups, return_inverse=True)[1]
        fold = fold_of_groups(groups, np.zeros_like(groups), FOLDS, seed)
    out = np.empty_like(rows.probabilities)
    for f in np.unique(fold):
        held = fold == f
        out[held] = _mapped(rows.probabilities[held], _maps(rows, method, ~held))
    return out
