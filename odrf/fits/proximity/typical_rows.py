"""Prototypes and outliers among the training rows."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from odrf.design.new_rows import training_frame
from odrf.fits.fit import AnyFit
from odrf.statistics.proximity import covering_rows, outlier_scores
from odrf.text.names import free_name

__all__ = ["outlier_table", "prototype_table"]

Sparse: TypeAlias = "scipy.sparse.csr_array"
SCORE, ROWS = "score", "rows"


def prototype_table(fit: AnyFit, proximity: Sparse, k: int) -> pd.DataFrame:
    """Return k training rows, of classes k of each, that are near the other rows.

    Parameters
    ----------
    fit : AnyFit
    proximity : (n, n)
        Proximities of the training rows.
    k : int
    """
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
