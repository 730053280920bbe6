"""What the curves of the leaves of a survival forest will take, by those of pilot trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.engine.rows.draws import Draws
from odrf.engine.survival.leaf_curves import TOGETHER, leaf_curves
from odrf.engine.trees.forest_arrays import Forest, joined
from odrf.evaluation.foresight.forecast import Bytes
from odrf.fits.files.costs import bytes_in_memory
from odrf.fits.fit import Fit
from odrf.fits.saving import saved_bytes
from odrf.fits.survival.survival_fit import as_survival_fit, with_curves
from odrf.options.control import Control

__all__ = ["bytes_of_curves", "curves_of_pilots", "saved_share"]


def curves_of_pilots(
    trees: list[Forest], control: Control, data: TrainingData, streams: NDArray[np.uint64]
) -> float:
    """Return the bytes of the curves of a tree, the mean over `trees` grown on `data`.

    0 if the response is no time to an event.
    """
    if data.times is None:
        return 0.0
    draws = Draws(
        data.weights, [control.sampling] * len(trees), streams, control.n_jobs, data.codes
    )
    found = leaf_curves(joined(trees, len(trees)), data.X, data.times.ranks, draws)
    return bytes_in_memory(found) / len(trees)


def saved_share(fit: Fit) -> float:
    """Return how many bytes a byte of the curves of a fit of few trees takes in a file."""
    whole = with_curves(fit)
    without = as_survival_fit(whole)
    of_curves = bytes_in_memory(whole.curves)
    return (saved_bytes(whole, False) - saved_bytes(without, False)) / of_curves


def bytes_of_curves(n_trees: int, n: int, of_tree: float, saved: float) -> Bytes:
    """Return the bytes of the curves of all trees on n rows.

    Those of single trees are there until they are joined; leaves of rows are found for some trees
    at a time.
    """
    fitted = n_trees * of_tree
    leaves = 8.0 * min(max(n, TOGETHER), n * n_trees)
    return Bytes(2 * fitted + leaves, fitted, fitted * saved)
