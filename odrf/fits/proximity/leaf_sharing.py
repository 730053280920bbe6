"""Proximities of the rows of a fit: which training rows share leaves with them."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.checks import checked_choice
from odrf.engine.factors import Matrix
from odrf.engine.trees.quantiles import leaf_members
from odrf.engine.trees.routing import leaf_nodes
from odrf.errors import InputError
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.out_of_bag_values import require_out_of_bag
from odrf.fits.prediction.empty_cells import reading_empty_cells
from odrf.fits.prediction.training_rows import leaves_rows_out
from odrf.statistics.proximity import (
    leaf_indicators,
    most_pairs,
    prediction_weights,
    shared,
    shared_out_of_bag,
)

__all__ = ["OOB", "PLAIN", "TYPES", "WEIGHTS", "indicators_of", "proximities"]

PLAIN, OOB, WEIGHTS = "plain", "oob", "weights"
TYPES = (PLAIN, OOB, WEIGHTS)
MOST_PAIRS = 2**28


def indicators_of(
    fit: AnyFit, X: Matrix, used: NDArray[np.bool_] | None = None
) -> scipy.sparse.csr_array:
    """Return which nodes of all trees the rows of X (p, n) reach as leaves, (n, nodes)."""
    reading, X = reading_empty_cells(fit, X)
    leaves = leaf_nodes(reading.forest, X, fit.control.n_jobs)
    return leaf_indicators(leaves, reading.forest.n_nodes, used)


def proximities(fit: AnyFit, X: Matrix | None, type: str) -> scipy.sparse.csr_array:
    """Return proximities (m, n) of new rows, or of the training rows, to the n training rows.

    Parameters
    ----------
    fit : AnyFit
    X : Matrix (p, m) or None
        New rows; None for the training rows.
    type : str
        "plain", "oob" or "weights".

    Raises
    ------
    InputError
        The type is unknown, or the fit or the rows have none of it; too many rows share leaves.
    """
    checked_choice("type", type, TYPES)
    if type == WEIGHTS:
        return _weights(fit, X)
    if type == OOB:
        return _out_of_bag(fit, X)
    own = indicators_of(fit, fit.data.X)
    rows = own if X is None else indicators_of(fit, X)
    _require_few(most_pairs(rows, own))
    return shared(rows, own, fit.forest.n_trees)


def _out_of_bag(fit: AnyFit, X: Matrix | None) -> scipy.sparse.csr_array:
    if X is not None:
        raise InputError(
            'type="oob" is for the training rows: no tree drew new rows; leave newdata= out, or '
            'use type="plain"'
        )
    if not isinstance(fit, Fit):
        raise InputError('type="oob" needs trees that draw rows: use type="plain"')
    require_out_of_bag(fit, "Proximities out of bag", ', or use type="plain"')
    unseen = fit.draws.all_unseen()
    indicators = indicators_of(fit, fit.data.X, unseen)
    _require_few(most_pairs(indicators, indicators))
    return shared_out_of_bag(indicators, unseen)


def _weights(fit: AnyFit, X: Matrix | None) -> scipy.sparse.csr_array:
    if not isinstance(fit, Fit):
        raise InputError(
            'type="weights" needs predictions that are means of training rows, and trees of a '
            'guided forest vote: use type="plain"'
        )
    data = fit.data
    unseen = fit.draws.all_unseen() if X is None and leaves_rows_out(fit) else None
    rows = indicators_of(fit, data.X if X is None else X, unseen)
    return prediction_weights(rows, leaf_members(fit.forest, data.X, fit.draws), data.n_rows)


def _require_few(pairs: int) -> None:
    if pairs > MOST_PAIRS:
        raise InputError(
            f"up to {pairs:.2g} pairs of rows share a leaf, more than the {MOST_PAIRS:.2g} that "
            "are kept in memory: use proximity() with fewer rows as newdata=, or with "
            'type="weights"'
        )
