"""Fits without their training rows, and with trees that keep only what predicts."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from odrf.design.withheld import WithheldData
from odrf.engine.rows.coded import with_rows
from odrf.engine.trees.compact_forest import CompactForest, compact_forest_of
from odrf.errors import InputError
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.fit import Fit
from odrf.fits.prediction.expected_response import expected_response

__all__ = ["compacted_fit", "is_compact", "without_rows"]

Compactable = TypeVar("Compactable", Fit, BoostedFit)
# So many numbers of 32 bits are no more than those of 16.
MOST_OF_16 = 2**16
# Training rows that are predicted by both fits.
COMPARED = 5000


def without_rows(fit: Compactable) -> Compactable:
    """Return the fit without its training rows, and without those of the fit before pruning."""
    data = WithheldData.instead_of(fit.data)
    if isinstance(fit, BoostedFit):
        return replace(fit, data=data, offset=replace(fit.offset, values=np.empty(0)))
    if fit.pruning is None:
        return replace(fit, data=data)
    grown = without_rows(fit.pruning.grown)
    return replace(fit, data=data, pruning=replace(fit.pruning, grown=grown))


def is_compact(fit: object) -> bool:
    """Return whether the trees of a fit keep only what predicts."""
    return isinstance(fit, Fit | BoostedFit) and isinstance(fit.forest, CompactForest)


def compacted_fit(fit: Compactable, bits: int) -> Compactable:
    """Return the fit with trees that keep only what predicts, leaves in so many `bits`.

    Raises
    ------
    InputError
        It is compact already, or needs what would be forgotten.
    """
    forest = fit.forest
    if is_compact(fit):
        raise InputError("compact(): the trees are compact already")
    if isinstance(fit, BoostedFit) and fit.boosted.stages:
        raise InputError(
            'compact(): with leaf_values="refit" each round has values of its own for all leaves, '
            "and only those of the last round would be kept: use save()"
        )
    pruning = fit.pruning if isinstance(fit, Fit) else None
    if pruning is not None and pruning.choice is not None and fit.data.has_rows:
        raise InputError(
            "compact() forgets the trees before pruning, and out-of-bag predictions of this "
            "forest need them: use without_data().compact()"
        )
    value = forest.value[forest.is_leaf()]
    with np.errstate(over="ignore"):  # which is refused below
        singles = value.astype(np.float32)
    if value.shape[1] == 1 and len(np.unique(singles)) <= MOST_OF_16:
        bits = 32  # no more room, and nothing lost
    small = compact_forest_of(
        [forest],
        fit.design.no_rows(),
        value.shape[1],
        bool(forest.ordered),
        bits,
        (float(value.min()), float(value.max())),
    )
    return _compared(fit, _with_trees(fit, small), small)


def _with_trees(fit: Compactable, forest: CompactForest) -> Compactable:
    if isinstance(fit, BoostedFit):
        return replace(fit, boosted=fit.boosted._replace(forest=forest))
    return replace(fit, forest=forest, pruning=None, changes=None, n_at_split=None)


def _compared(before: Compactable, after: Compactable, forest: CompactForest) -> Compactable:
    """Return the compact fit, with what it changes in predictions of some training rows."""
    if not before.data.has_rows:
        return after
    rows = np.unique(np.linspace(0, before.data.n_rows - 1, COMPARED).astype(np.int64))
    X = with_rows(before.data.X, rows)
    change = np.abs(expected_response(after, X) - expected_response(before, X))
    compaction = forest.compaction._replace(
        largest=float(change.max()), mean=float(change.mean()), rows=len(rows)
    )
    return _with_trees(after, forest.saying(compaction))
