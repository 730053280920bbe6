"""Proximities of the rows of a fit, and what follows from them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from odrf.checks import checked_choice
from odrf.design.missing import filled, learn_fills
from odrf.design.new_rows import training_frame
from odrf.engine.factors import Matrix
from odrf.engine.running import row_blocks
from odrf.engine.trees.quantiles import leaf_members
from odrf.engine.trees.routing import leaf_nodes
from odrf.errors import InputError
from odrf.fits.estimands import holds_numbers
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.missing import reading_empty_cells
from odrf.fits.responses import leaves_rows_out, require_out_of_bag
from odrf.statistics.proximity import (
    covering_rows,
    leaf_indicators,
    most_pairs,
    outlier_scores,
    prediction_weights,
    shared,
    shared_out_of_bag,
)
from odrf.text.names import free_name

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
    """Return proximities (m, n) of new rows X (p, m), or of the training rows, to these n rows."""
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
            'type="oob" is for the training rows: no tree sampled new rows; leave newdata= out, or '
            'use type="plain"'
        )
    if not isinstance(fit, Fit):
        raise InputError('type="oob" needs trees that sample rows: use type="plain"')
    require_out_of_bag(fit, "Proximities out of bag", ', or use type="plain"')
    out_of_bag = fit.draws.all_unseen()
    indicators = indicators_of(fit, fit.data.X, out_of_bag)
    _require_few(most_pairs(indicators, indicators))
    return shared_out_of_bag(indicators, out_of_bag)


def _weights(fit: AnyFit, X: Matrix | None) -> scipy.sparse.csr_array:
    if not isinstance(fit, Fit):
        raise InputError(
            'type="weights" needs predictions that are means of training rows, and trees of a '
            'guided forest vote: use type="plain"'
        )
    data = fit.data
    out_of_bag = fit.draws.all_unseen() if X is None and leaves_rows_out(fit) else None
    rows = indicators_of(fit, data.X if X is None else X, out_of_bag)
    return prediction_weights(rows, leaf_members(fit.forest, data.X, fit.draws), data.n_rows)


def _require_few(pairs: int) -> None:
    if pairs > MOST_PAIRS:
        raise InputError(
            f"up to {pairs:.2g} pairs of rows share a leaf, more than the {MOST_PAIRS:.2g} that "
            "are kept in memory: use proximity() with fewer rows as newdata=, or with "
            'type="weights"'
        )


# Rows with missing cells that are compared with all training rows at once.
ROWS_AT_ONCE = 512


def imputed(fit: AnyFit, frame: pd.DataFrame, rounds: int) -> pd.DataFrame:
    """Return the variables of rows, `frame`, with their missing cells imputed.

    First by the median or most frequent level; then, in each of the `rounds`, by that of the
    training rows, weighted by the share of trees in which they share a leaf with the row (Breiman
    2003).
    """
    training = training_frame(fit.design, fit.data)
    empty = frame.isna()
    where = np.flatnonzero(empty.to_numpy().any(axis=1))
    complete = filled(frame, learn_fills(training, list(frame.columns)))
    if not len(where):
        return complete
    own = indicators_of(fit, fit.data.X)
    for _ in range(rounds):
        parts = [where[block] for block in row_blocks(len(where), ROWS_AT_ONCE)]
        of_parts = [
            _fills(fit, complete.iloc[part], empty.iloc[part], training, own) for part in parts
        ]
        for name in frame.columns[empty.any()]:
            column = complete[name].astype(object)
            for part, fills in zip(parts, of_parts, strict=True):
                at = part[empty[name].to_numpy()[part]]
                column.iloc[at] = fills[name]
            # whole numbers become floats
            dtype = np.float64 if holds_numbers(complete[name]) else complete[name].dtype
            complete[name] = column.astype(dtype)
    return complete


def _fills(
    fit: AnyFit,
    rows: pd.DataFrame,
    empty: pd.DataFrame,
    training: pd.DataFrame,
    own: scipy.sparse.csr_array,
) -> dict[str, list[Any]]:
    """Return by variable the values imputed for missing cells of the rows, in their order."""
    X, _ = fit.design.matrix(rows)
    near = shared(indicators_of(fit, X), own, fit.forest.n_trees)
    fills = {}
    for name in rows.columns[empty.any()]:
        known = training[name].notna().to_numpy()
        weights = near[np.flatnonzero(empty[name].to_numpy())][:, np.flatnonzero(known)]
        fills[name] = _weighted(training[name][known], weights)
    return fills


def _weighted(known: pd.Series, weights: scipy.sparse.csr_array) -> list[Any]:
    """Return the weighted mean of numbers, or the level of the largest weight, for each row."""
    total = np.asarray(weights.sum(axis=1)).ravel()
    if holds_numbers(known):
        values = known.to_numpy(dtype=np.float64)
        sums = np.asarray(weights @ values)
        return list(np.where(total > 0, sums / np.where(total > 0, total, 1.0), np.median(values)))
    codes, levels = pd.factorize(known, sort=True)
    sums = np.asarray(weights @ (codes[:, None] == np.arange(len(levels))).astype(np.float64))
    usual = int(np.bincount(codes).argmax())
    return list(levels.take(np.where(total > 0, sums.argmax(axis=1), usual)))


# Prototypes and outliers among the training rows.
Sparse: TypeAlias = "scipy.sparse.csr_array"
SCORE, ROWS = "score", "rows"


def prototype_table(fit: AnyFit, proximity: Sparse, k: int) -> pd.DataFrame:
    """Return k training rows, of classes k of each, that are near the other rows."""
    chosen: list[int] = []
    for rows in _groups(fit):
        inside = scipy.sparse.csr_array(proximity[rows][:, rows])
        chosen += rows[covering_rows(inside, fit.data.weights[rows], k)].tolist()
    near = scipy.sparse.csr_array(proximity[:, chosen])
    largest, place = near.max(axis=1).toarray().ravel(), np.ravel(near.argmax(axis=1))
    best = np.where(largest > 0, place, -1)
    covered = np.bincount(best[best >= 0], minlength=len(chosen))
    frame = training_frame(fit.design, fit.data).iloc[chosen]
    response = free_name(fit.design.response.name, (ROWS, *frame))
    frame = frame.rename(columns={ROWS: free_name(ROWS, (ROWS, response, *frame))})
    frame.insert(0, ROWS, covered)
    frame.insert(0, response, _responses(fit)[chosen])
    return frame


def outlier_table(fit: AnyFit, proximity: Sparse) -> pd.DataFrame:
    """Return the outlier score of each training row, the largest first."""
    group = np.empty(fit.data.n_rows, dtype=np.int64)
    for code, rows in enumerate(_groups(fit)):
        group[rows] = code
    table = pd.DataFrame(
        {
            SCORE: outlier_scores(proximity, group, fit.forest.n_trees**-2),
            free_name(fit.design.response.name, (SCORE,)): _responses(fit),
        },
        index=fit.data.index,
    )
    return table.sort_values(SCORE, ascending=False, kind="stable")


def _groups(fit: AnyFit) -> list[NDArray[np.int64]]:
    """Return the numbers of the rows of each class; all rows for numbers."""
    if fit.design.response.classes is None:
        return [np.arange(fit.data.n_rows)]
    return [np.flatnonzero(fit.data.y == code) for code in np.unique(fit.data.y)]


def _responses(fit: AnyFit) -> NDArray:
    classes = fit.design.response.classes
    return fit.data.y if classes is None else np.asarray(classes)[fit.data.y.astype(np.int64)]
